// output_sinks.h: OutputSink, the outputs of one call of a structured operator: new tensors, the
// caller's tensors, or views of arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/core/dispatch_key.h"
#include "opgen/device/device_guard.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

// Which outputs of a kernel may share memory with its inputs. An output that would be resized must
// never share its storage with an input, and two outputs must never share elements.
enum class Aliasing : std::uint8_t {
  // None: out= operators throw Error, and in-place operators write to a temporary.
  Apart,
  // Only an output that is exactly the first tensor argument.
  Inplace,
  // The class makes its own checks. Iterators do: their operands may be the same elements.
  Checked,
};

namespace detail {

// Visits the tensors among a call's arguments, each with the position of its argument.
using VisitTensor = void(void* context, const TensorBase& tensor, std::size_t position);
using VisitTensors = void(const void* arguments, VisitTensor* visit, void* context);

inline constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);

// An operator that writes the caller's tensors.
struct WrittenCall {
  const char* schema;     // for messages; if null, they name positions
  VisitTensors* visit;    // the inputs
  std::size_t first_out;  // position of the first output, or of `self` for in-place operators
  std::size_t skipped;    // position of a visited argument that is not an input
  Aliasing aliasing;
};

[[noreturn]] OPGEN_API OPGEN_COLD void throw_not_built(const char* op);
// Returns whether a kernel must write to stand-ins instead of the caller's outputs. Throws Error
// if two outputs share elements. With `elementwise`, if the inputs broadcast to the sizes of the
// outputs, an output may be exactly one of the inputs.
[[nodiscard]] OPGEN_API bool needs_stand_ins(const WrittenCall& inputs, VisitTensors* outputs,
                                             const void* arguments, bool elementwise);
// Returns a new tensor with the sizes and strides of an output; its elements are uninitialised.
[[nodiscard]] OPGEN_API TensorBase make_stand_in(const TensorBase& output);
// Copies the elements of the stand-in to the output. Throws Error if the kernel resized the
// stand-in.
OPGEN_API void copy_stand_in(const WrittenCall& inputs, std::size_t position,
                             const TensorBase& output, const TensorBase& stand_in);

// Makes the device of the outputs current until it is destroyed; does nothing for CPU and Meta.
class SinkGuard {
 public:
  explicit SinkGuard(DispatchKey key) noexcept
      : active_(key != DispatchKey::CPU && key != DispatchKey::Meta) {}
  void enter(Device device) {
    if (OPGEN_UNLIKELY(active_)) enter_device(device);
  }

 private:
  void enter_device(Device device);

  bool active_;
  OptionalDeviceGuard guard_;
};

}  // namespace detail

class OPGEN_API OutputSink {
 public:
  enum class Kind : std::uint8_t {
    Fresh,        // tensors are allocated
    Out,          // given tensors are resized
    Inplace,      // the given tensor must already have the result's shape
    Prepared,     // dtype, device and shape were checked by the caller
    View,         // all or some outputs are views of arguments; used by ViewSink
    InplaceView,  // the given tensor gets new sizes and strides
    // Out and Inplace for a CheckedSink.
    CheckedOut,
    CheckedInplace,
  };

  // For new tensors, which are created when meta sets them.
  OutputSink(TensorBase* fresh, DispatchKey key) noexcept
      : fresh_(fresh), kind_(Kind::Fresh), guard_(key) {}
  // For the caller's tensors. proxies[i] becomes defined if the kernel must write output i to a
  // temporary.
  OutputSink(TensorBase* const* given, TensorBase* proxies, DispatchKey key, Kind kind) noexcept
      : fresh_(proxies), given_(given), kind_(kind), guard_(key) {}
  OutputSink(const OutputSink&) = delete;
  OutputSink& operator=(const OutputSink&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const TensorBase& output(std::int64_t index) const noexcept {
    return given_ == nullptr || fresh_[index].defined() ? fresh_[index] : *given_[index];
  }
  // Sets an output. If `strides` is empty, it is contiguous or has options.memory_format. `exact`
  // means that the kernel relies on these strides.
  void set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool exact);
  // For a Fresh sink: creates a row-major tensor on a device without a guard. The caller then calls
  // note_set().
  const TensorBase& set_contiguous(std::int64_t index, IntArrayRef sizes, ScalarType dtype,
                                   Device device);
  // Strides and offset count elements. Throws Error if the view reaches beyond the storage.
  void set_view(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                std::int64_t storage_offset);
  // Records that an output is set without set_output(), because the caller's tensor is right.
  void note_set(std::int64_t index) noexcept { set_ |= bit(index); }
  // Throws Error, which names `op`, if meta did not set all of `count` outputs.
  void check_set(std::size_t count, const char* op) const {
    const std::uint64_t all = bit(static_cast<std::int64_t>(count)) - 1;
    if (OPGEN_UNLIKELY((set_ & all) != all)) throw_not_set(op);
  }
  // Copies temporaries to the caller's tensors. Call it after impl.
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
  std::uint64_t set_ = 0;  // bit i is set if meta has set output i
  Kind kind_;
  detail::SinkGuard guard_;
};

// A sink for the caller's tensors, for a kernel that does not itself check whether they share
// memory with inputs.
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
  // Returns whether the kernel may write to the caller's tensor directly.
  [[nodiscard]] bool check_inplace(std::int64_t index) const;

  const detail::WrittenCall* call_ = nullptr;
  const void* arguments_ = nullptr;
};

// A sink for outputs of which some are views.
class OPGEN_API ViewSink : public OutputSink {
 public:
  // bases[i] is the tensor of which output i is a view, or null for a new tensor.
  ViewSink(TensorBase* made, const TensorBase* const* bases, DispatchKey key) noexcept
      : OutputSink(made, key, Kind::View), bases_(bases) {}

 private:
  friend class OutputSink;
  const TensorBase* const* bases_;
};

}  // namespace opgen
