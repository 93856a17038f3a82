// tensor_options.h: TensorOptions, what a factory is told about the tensor to make.
#pragma once

#include <optional>

#include "opgen/device.h"
#include "opgen/dispatch_key_set.h"
#include "opgen/layout.h"
#include "opgen/memory_format.h"
#include "opgen/promotion.h"
#include "opgen/scalar_type.h"

namespace opgen {

// Each part may be absent. A setter returns a changed copy: TensorOptions().dtype(kLong).device(kMeta).
class TensorOptions {
 public:
  constexpr TensorOptions() noexcept = default;
  constexpr TensorOptions(ScalarType dtype) noexcept : dtype_(dtype) {}       // NOLINT
  constexpr TensorOptions(Layout layout) noexcept : layout_(layout) {}        // NOLINT
  constexpr TensorOptions(Device device) noexcept : device_(device) {}        // NOLINT
  constexpr TensorOptions(DeviceType device) noexcept : device_(device) {}    // NOLINT
  constexpr TensorOptions(MemoryFormat format) noexcept : format_(format) {}  // NOLINT

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> value) const noexcept {
    TensorOptions copy = *this;
    copy.dtype_ = value;
    return copy;
  }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout> value) const noexcept {
    TensorOptions copy = *this;
    copy.layout_ = value;
    return copy;
  }
  [[nodiscard]] constexpr TensorOptions device(std::optional<Device> value) const noexcept {
    TensorOptions copy = *this;
    copy.device_ = value;
    return copy;
  }
  [[nodiscard]] constexpr TensorOptions device(DeviceType type, DeviceIndex index = -1) const noexcept {
    return device(Device(type, index));
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> value) const noexcept {
    TensorOptions copy = *this;
    copy.pinned_memory_ = value;
    return copy;
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> value) const noexcept {
    TensorOptions copy = *this;
    copy.requires_grad_ = value;
    return copy;
  }
  [[nodiscard]] constexpr TensorOptions memory_format(std::optional<MemoryFormat> value) const noexcept {
    TensorOptions copy = *this;
    copy.format_ = value;
    return copy;
  }

  // The value or its default.
  [[nodiscard]] ScalarType dtype() const noexcept {
    return dtype_.has_value() ? *dtype_ : get_default_dtype();
  }
  [[nodiscard]] constexpr Layout layout() const noexcept { return layout_.value_or(kStrided); }
  [[nodiscard]] constexpr Device device() const noexcept { return device_.value_or(Device(kCPU)); }
  [[nodiscard]] constexpr DeviceIndex device_index() const noexcept { return device().index(); }
  [[nodiscard]] constexpr bool pinned_memory() const noexcept {
    return pinned_memory_.value_or(false);
  }
  [[nodiscard]] constexpr bool requires_grad() const noexcept {
    return requires_grad_.value_or(false);
  }

  [[nodiscard]] constexpr std::optional<ScalarType> dtype_opt() const noexcept { return dtype_; }
  [[nodiscard]] constexpr std::optional<Layout> layout_opt() const noexcept { return layout_; }
  [[nodiscard]] constexpr std::optional<Device> device_opt() const noexcept { return device_; }
  [[nodiscard]] constexpr std::optional<bool> pinned_memory_opt() const noexcept {
    return pinned_memory_;
  }
  [[nodiscard]] constexpr std::optional<bool> requires_grad_opt() const noexcept {
    return requires_grad_;
  }
  [[nodiscard]] constexpr std::optional<MemoryFormat> memory_format_opt() const noexcept {
    return format_;
  }
  [[nodiscard]] constexpr bool has_dtype() const noexcept { return dtype_.has_value(); }
  [[nodiscard]] constexpr bool has_layout() const noexcept { return layout_.has_value(); }
  [[nodiscard]] constexpr bool has_device() const noexcept { return device_.has_value(); }
  [[nodiscard]] constexpr bool has_memory_format() const noexcept { return format_.has_value(); }

  // What `other` says wins.
  [[nodiscard]] constexpr TensorOptions merge_in(TensorOptions other) const noexcept {
    TensorOptions merged = other;
    if (!merged.dtype_) merged.dtype_ = dtype_;
    if (!merged.layout_) merged.layout_ = layout_;
    if (!merged.device_) merged.device_ = device_;
    if (!merged.pinned_memory_) merged.pinned_memory_ = pinned_memory_;
    if (!merged.requires_grad_) merged.requires_grad_ = requires_grad_;
    if (!merged.format_) merged.format_ = format_;
    return merged;
  }

 private:
  std::optional<Device> device_;
  std::optional<ScalarType> dtype_;
  std::optional<Layout> layout_;
  std::optional<MemoryFormat> format_;
  std::optional<bool> pinned_memory_;
  std::optional<bool> requires_grad_;
};

// The key under which a tensor of this kind is dispatched, e.g. (Sparse, cuda) -> SparseCUDA.
[[nodiscard]] OPGEN_API DispatchKey compute_dispatch_key(
    std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device);
[[nodiscard]] OPGEN_API BackendComponent backend_of_device(DeviceType type) noexcept;

// What operators that take both say: the format given apart, if any; it is an error to give it twice.
[[nodiscard]] OPGEN_API std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> format);

}  // namespace opgen
