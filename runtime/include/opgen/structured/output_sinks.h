// output_sinks.h: OutputSink, the outputs of one call of a structured operator: new tensors, the
// caller's tensors, or views of arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/structured/sink_guard.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// Which outputs of a kernel may share memory with its inputs. In any case, an output that would be
// resized may not share its storage with an input, and no two outputs may share elements.
enum class Aliasing : std::uint8_t {
  // None: out= refuses them, and in-place operators write to a temporary.
  Apart,
  // Only an output that is exactly the first tensor argument.
  Inplace,
  // The class checks by itself: an iterator, whose operands may be equal element by element.
  Checked,
};

namespace detail {

// Visits the tensors among a call's arguments, each with the position of its argument.
using VisitTensor = void(void* context, const TensorBase& tensor, std::size_t position);
using VisitTensors = void(const void* arguments, VisitTensor* visit, void* context);

inline constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);

// An operator that writes the caller's tensors.
struct WrittenCall {
  const char* schema;     // for messages; null: messages name positions
  VisitTensors* visit;    // the inputs
  std::size_t first_out;  // position of the first output, or of self in place
  std::size_t skipped;    // position of a visited argument that is not an input
  Aliasing aliasing;
};

// The meta function of an iterator operator called no build_..._op().
[[noreturn]] OPGEN_API OPGEN_COLD void throw_not_built(const char* op);
}  // namespace detail

class OPGEN_API OutputSink {
 public:
  enum class Kind : std::uint8_t {
    Fresh,        // tensors are allocated
    Out,          // given tensors are resized
    Inplace,      // the given tensor must have the result's shape already
    Prepared,     // dtype, device and shape were checked by the caller
    View,         // some outputs, or all, are views of arguments: a ViewSink
    InplaceView,  // the given tensor gets new sizes and strides
    // Out and Inplace of a CheckedSink.
    CheckedOut,
    CheckedInplace,
  };

  // New tensors, created when meta sets them.
  OutputSink(TensorBase* fresh, DispatchKey key) noexcept
      : fresh_(fresh), kind_(Kind::Fresh), guard_(key) {}
  // The caller's tensors. proxies[i] is defined if the kernel writes output i to a temporary.
  OutputSink(TensorBase* const* given, TensorBase* proxies, DispatchKey key, Kind kind) noexcept
      : fresh_(proxies), given_(given), kind_(kind), guard_(key) {}
  OutputSink(const OutputSink&) = delete;
  OutputSink& operator=(const OutputSink&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const TensorBase& output(std::int64_t index) const noexcept {
    return given_ == nullptr || fresh_[index].defined() ? fresh_[index] : *given_[index];
  }
  // Empty `strides`: contiguous, or options.memory_format. `exact`: the kernel relies on these
  // strides.
  void set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool exact);
  // For a Fresh sink: creates a row-major tensor on a device without a guard. The caller then calls
  // note_set().
  const TensorBase& set_contiguous(std::int64_t index, IntArrayRef sizes, ScalarType dtype,
                                   Device device);
  // Strides and offset count elements of the viewed storage. Throws Error if the view reaches
  // outside.
  void set_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                std::int64_t storage_offset);
  // Records that output `index` is set, although set_output() was not called: the caller's tensor
  // may be right as it is.
  void note_set(std::int64_t index) noexcept { set_ |= bit(index); }
  // Throws Error, naming `op`, if meta did not set one of `count` outputs.
  void check_set(std::size_t count, const char* op) const {
    const std::uint64_t all = bit(static_cast<std::int64_t>(count)) - 1;
    if (OPGEN_UNLIKELY((set_ & all) != all)) throw_not_set(op);
  }
  // For the caller's tensors, after impl: copies temporaries back.
  void finish(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (OPGEN_UNLIKELY(fresh_[i].defined())) copy_back(i);
    }
  }

 private:
  friend class CheckedSink;
  friend class ViewSink;
  OutputSink(TensorBase* fresh, DispatchKey key, Kind kind) noexcept
      : fresh_(fresh), kind_(kind), guard_(key) {}
  void copy_back(std::size_t index);
  [[nodiscard]] static constexpr std::uint64_t bit(std::int64_t index) noexcept {
    return std::uint64_t{1} << (index & 63);
  }
  [[noreturn]] OPGEN_COLD void throw_not_set(const char* op) const;

  TensorBase* fresh_;
  TensorBase* const* given_ = nullptr;
  std::uint64_t set_ = 0;  // bit i: meta has set output i
  Kind kind_;
  detail::SinkGuard guard_;
};

// The caller's tensors, for a kernel that does not check by itself whether they share memory with
// inputs.
class OPGEN_API CheckedSink : public OutputSink {
 public:
  using OutputSink::OutputSink;
  // Both must outlive the sink.
  void set_call(const detail::WrittenCall& call, const void* arguments) noexcept {
    call_ = &call;
    arguments_ = arguments;
  }

 private:
  friend class OutputSink;
  void check_out(std::int64_t index, IntArrayRef sizes) const;
  // Whether the kernel may write to the caller's tensor directly.
  [[nodiscard]] bool check_inplace(std::int64_t index) const;

  const detail::WrittenCall* call_ = nullptr;
  const void* arguments_ = nullptr;
};

// Outputs some of which are views.
class OPGEN_API ViewSink : public OutputSink {
 public:
  // bases[i]: the tensor that output i is a view of; null if it is a new tensor.
  ViewSink(TensorBase* made, const TensorBase* const* bases, DispatchKey key) noexcept
      : OutputSink(made, key, Kind::View), bases_(bases) {}

 private:
  friend class OutputSink;
  const TensorBase* const* bases_;
};

}  // namespace opgen
