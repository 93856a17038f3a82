// output_sinks.h: the outputs of a structured operator: fresh tensors, or tensors that the caller
// gave.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opgen/meta_base.h"
#include "opgen/tensor.h"

namespace opgen::detail {

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

// Fresh tensors.
class OPGEN_API FunctionalSink : public OutputSink {
 public:
  FunctionalSink(TensorBase* outputs, DispatchKey key) noexcept : outputs_(outputs), guard_(key) {}
  void set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool exact) final;
  [[nodiscard]] const TensorBase& output(std::int64_t index) const noexcept final;

 protected:
  ~FunctionalSink() = default;

 private:
  TensorBase* outputs_;
  SinkGuard guard_;
};

// Tensors that the caller gave. proxies[i] is defined where the kernel writes to a temporary.
class OPGEN_API WrittenSink : public OutputSink {
 public:
  enum class Kind : bool { Out, Inplace };
  WrittenSink(TensorBase* const* outputs, TensorBase* proxies, std::size_t count, DispatchKey key,
              Kind kind) noexcept
      : outputs_(outputs), proxies_(proxies), count_(count), kind_(kind), guard_(key) {}
  void set_output(std::int64_t index, IntArrayRef sizes, IntArrayRef strides,
                  const TensorOptions& options, bool exact) final;
  [[nodiscard]] const TensorBase& output(std::int64_t index) const noexcept final;
  // Copies temporaries back.
  void finish();

 protected:
  ~WrittenSink() = default;

 private:
  TensorBase* const* outputs_;
  TensorBase* proxies_;
  std::size_t count_;
  Kind kind_;
  SinkGuard guard_;
};

}  // namespace opgen::detail
