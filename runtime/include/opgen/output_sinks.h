// output_sinks.h: OutputSink, the outputs of one call of a structured operator: fresh tensors,
// tensors that the caller gave, or views of the arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/tensor.h"

namespace opgen {

// Which tensors that a caller gives as outputs a kernel is right with. None that would be resized
// may share its storage with an input, and no two outputs may share elements.
enum class Aliasing : std::uint8_t {
  Apart,    // no output shares elements with an input: refused for out=, in place a temporary is
            // written
  Inplace,  // the same, but an output may be exactly the first tensor argument
  Checked,  // the class looks itself: an iterator, whose operands may be the same element by
            // element
};

namespace detail {

// The tensors among a call's arguments, each with the position of the argument that it is in.
using VisitTensor = void(void* context, const TensorBase& tensor, std::size_t position);
using VisitTensors = void(const void* arguments, VisitTensor* visit, void* context);

inline constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);

// What is known of an operator that writes tensors which the caller gave.
struct WrittenCall {
  const char* schema;     // for messages; null: positions are named
  VisitTensors* visit;    // the inputs
  std::size_t first_out;  // position of the first output; that of self in place
  std::size_t skipped;    // position of an argument that is no input, though it is visited
  Aliasing aliasing;
};

// Makes a device current for as long as the sink lives, once it is known; nothing for CPU and Meta.
class OPGEN_API SinkGuard {
 public:
  explicit SinkGuard(DispatchKey key) noexcept
      : active_(key != DispatchKey::CPU && key != DispatchKey::Meta) {}
  ~SinkGuard() {
    if (OPGEN_UNLIKELY(set_)) restore();
  }
  SinkGuard(const SinkGuard&) = delete;
  SinkGuard& operator=(const SinkGuard&) = delete;

  void enter(Device device) {
    if (OPGEN_UNLIKELY(active_)) enter_device(device);
  }

 private:
  void enter_device(Device device);
  void restore() noexcept;

  bool active_;
  bool set_ = false;
  Device current_;
  Device original_;
};

}  // namespace detail

namespace detail {
// The meta function of an iterator operator called no build_..._op().
[[noreturn]] OPGEN_API OPGEN_COLD void throw_not_built(const char* op);
}  // namespace detail

class OPGEN_API OutputSink {
 public:
  enum class Kind : std::uint8_t {
    Fresh,        // tensors are allocated
    Out,          // given tensors are resized
    Inplace,      // the given tensor must have the result's shape already
    Prepared,     // no dtype, device or shape is looked at: the caller has seen to it
    View,         // some outputs, or all, are views of arguments: a ViewSink
    InplaceView,  // the given tensor is laid out anew
    // As Out and Inplace, of a CheckedSink.
    CheckedOut,
    CheckedInplace,
  };

  // Tensors that are made as they are asked for.
  OutputSink(TensorBase* fresh, DispatchKey key) noexcept
      : fresh_(fresh), kind_(Kind::Fresh), guard_(key) {}
  // Tensors that the caller gave. proxies[i] is defined where the kernel writes to a temporary.
  OutputSink(TensorBase* const* given, TensorBase* proxies, DispatchKey key, Kind kind) noexcept
      : fresh_(proxies), given_(given), kind_(kind), guard_(key) {}
  OutputSink(const OutputSink&) = delete;
  OutputSink& operator=(const OutputSink&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const TensorBase& output(std::int64_t index) const noexcept {
    return given_ == nullptr || fresh_[index].defined() ? fresh_[index] : *given_[index];
  }
  // `strides` empty: contiguous, or as options.memory_format says. `exact`: others will not do.
  void set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool exact);
  // For a Fresh sink: a row-major tensor on a device without a guard. Who calls this notes it.
  const TensorBase& set_contiguous(std::int64_t index, IntArrayRef sizes, ScalarType dtype,
                                   Device device);
  // Strides and offset count elements of the storage that is viewed. Throws if they lie outside.
  void set_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                std::int64_t storage_offset);
  // Output `index` is as meta wants it, though set_output() was not called: what a caller gave may
  // be as it must be.
  void note_set(std::int64_t index) noexcept { set_ |= bit(index); }
  // Error in the name of `op` if meta left one of `count` outputs out.
  void check_set(std::size_t count, const char* op) const {
    const std::uint64_t all = bit(static_cast<std::int64_t>(count)) - 1;
    if (OPGEN_UNLIKELY((set_ & all) != all)) throw_not_set(op);
  }
  // For given tensors, at the end: temporaries are copied back.
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
  std::uint64_t set_ = 0;  // bit i: meta has said what output i is; there are few
  Kind kind_;
  detail::SinkGuard guard_;
};

// Given tensors of a kernel that does not look itself whether they share memory with the inputs.
class OPGEN_API CheckedSink : public OutputSink {
 public:
  using OutputSink::OutputSink;
  // Both live as long as the sink.
  void set_call(const detail::WrittenCall& call, const void* arguments) noexcept {
    call_ = &call;
    arguments_ = arguments;
  }

 private:
  friend class OutputSink;
  void check_out(std::int64_t index, IntArrayRef sizes) const;
  // Whether the kernel may write to the given tensor.
  [[nodiscard]] bool check_inplace(std::int64_t index) const;

  const detail::WrittenCall* call_ = nullptr;
  const void* arguments_ = nullptr;
};

// Outputs of which some are views.
class OPGEN_API ViewSink : public OutputSink {
 public:
  // bases[i]: what output i is a view of; null if it is a tensor of its own.
  ViewSink(TensorBase* made, const TensorBase* const* bases, DispatchKey key) noexcept
      : OutputSink(made, key, Kind::View), bases_(bases) {}

 private:
  friend class OutputSink;
  const TensorBase* const* bases_;
};

}  // namespace opgen
