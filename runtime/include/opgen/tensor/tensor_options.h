// tensor_options.h: TensorOptions, the dtype, layout, device and other options of a factory.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/core/dispatch_key_set.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/scalar_type.h"
#include "opgen/device/device.h"
#include "opgen/tensor/promotion.h"

namespace opgen {

// Each option may be absent. A setter returns a changed copy:
// TensorOptions().dtype(kLong).device(kMeta).
class TensorOptions {
 public:
  constexpr TensorOptions() noexcept = default;
  constexpr TensorOptions(ScalarType value) noexcept : dtype_(value), present_(kDtype) {}  // NOLINT
  constexpr TensorOptions(Layout value) noexcept : layout_(value), present_(kLayout) {}    // NOLINT
  constexpr TensorOptions(Device value) noexcept : device_(value), present_(kDevice) {}    // NOLINT
  constexpr TensorOptions(DeviceType value) noexcept : TensorOptions(Device(value)) {}     // NOLINT
  constexpr TensorOptions(MemoryFormat value) noexcept
      : format_(value), present_(kFormat) {}  // NOLINT

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> value) const noexcept {
    return with(kDtype, &TensorOptions::dtype_, value);
  }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout> value) const noexcept {
    return with(kLayout, &TensorOptions::layout_, value);
  }
  [[nodiscard]] constexpr TensorOptions device(std::optional<Device> value) const noexcept {
    return with(kDevice, &TensorOptions::device_, value);
  }
  [[nodiscard]] constexpr TensorOptions device(DeviceType type,
                                               DeviceIndex index = -1) const noexcept {
    return device(Device(type, index));
  }
  [[nodiscard]] constexpr TensorOptions memory_format(
      std::optional<MemoryFormat> value) const noexcept {
    return with(kFormat, &TensorOptions::format_, value);
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> value) const noexcept {
    return with(kPinned, &TensorOptions::pinned_memory_, value);
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> value) const noexcept {
    return with(kRequiresGrad, &TensorOptions::requires_grad_, value);
  }

  // These return the value or its default.
  [[nodiscard]] ScalarType dtype() const noexcept {
    return has_dtype() ? dtype_ : get_default_dtype();
  }
  [[nodiscard]] constexpr Layout layout() const noexcept { return layout_; }
  [[nodiscard]] constexpr Device device() const noexcept { return device_; }
  [[nodiscard]] constexpr DeviceIndex device_index() const noexcept { return device_.index(); }
  [[nodiscard]] constexpr bool pinned_memory() const noexcept { return pinned_memory_; }
  [[nodiscard]] constexpr bool requires_grad() const noexcept { return requires_grad_; }

  [[nodiscard]] constexpr std::optional<ScalarType> dtype_opt() const noexcept {
    return get(kDtype, dtype_);
  }
  [[nodiscard]] constexpr std::optional<Layout> layout_opt() const noexcept {
    return get(kLayout, layout_);
  }
  [[nodiscard]] constexpr std::optional<Device> device_opt() const noexcept {
    return get(kDevice, device_);
  }
  [[nodiscard]] constexpr std::optional<MemoryFormat> memory_format_opt() const noexcept {
    return get(kFormat, format_);
  }
  [[nodiscard]] constexpr std::optional<bool> pinned_memory_opt() const noexcept {
    return get(kPinned, pinned_memory_);
  }
  [[nodiscard]] constexpr bool has_dtype() const noexcept { return (present_ & kDtype) != 0; }
  [[nodiscard]] constexpr bool has_layout() const noexcept { return (present_ & kLayout) != 0; }
  [[nodiscard]] constexpr bool has_device() const noexcept { return (present_ & kDevice) != 0; }
  [[nodiscard]] constexpr bool has_memory_format() const noexcept {
    return (present_ & kFormat) != 0;
  }

  // Returns whether all options except dtype and device are absent or have their default.
  [[nodiscard]] constexpr bool is_plain() const noexcept {
    return layout_ == kStrided && (present_ & kFormat) == 0 && !pinned_memory_ && !requires_grad_;
  }

  // Returns these options, but takes all options that `other` has from `other`.
  [[nodiscard]] constexpr TensorOptions merge_in(TensorOptions other) const noexcept {
    TensorOptions merged = *this;
    if (other.has_dtype()) merged = merged.dtype(other.dtype_);
    if (other.has_layout()) merged = merged.layout(other.layout_);
    if (other.has_device()) merged = merged.device(other.device_);
    if (other.has_memory_format()) merged = merged.memory_format(other.format_);
    if ((other.present_ & kPinned) != 0) merged = merged.pinned_memory(other.pinned_memory_);
    if ((other.present_ & kRequiresGrad) != 0) merged = merged.requires_grad(other.requires_grad_);
    return merged;
  }

 private:
  // The members have eight bytes, so that they are passed in one register. An absent option
  // contains its default.
  enum Present : std::uint8_t {
    kDtype = 1,
    kLayout = 2,
    kDevice = 4,
    kFormat = 8,
    kPinned = 16,
    kRequiresGrad = 32
  };

  template <class T>
  [[nodiscard]] constexpr TensorOptions with(Present part, T TensorOptions::*member,
                                             std::optional<T> value) const noexcept {
    TensorOptions changed = *this;
    changed.*member = value.has_value() ? *value : TensorOptions().*member;
    changed.present_ =
        static_cast<std::uint8_t>(value.has_value() ? present_ | part : present_ & ~part);
    return changed;
  }
  template <class T>
  [[nodiscard]] constexpr std::optional<T> get(Present part, T value) const noexcept {
    if ((present_ & part) == 0) return std::nullopt;
    return value;
  }

  Device device_;
  ScalarType dtype_ = ScalarType::Undefined;
  Layout layout_ = kStrided;
  MemoryFormat format_ = MemoryFormat::Contiguous;
  bool pinned_memory_ = false;
  bool requires_grad_ = false;
  std::uint8_t present_ = 0;
};

// Returns the dispatch key of a tensor with these options, e.g. (Sparse, cuda) -> SparseCUDA.
[[nodiscard]] OPGEN_API DispatchKey compute_dispatch_key(std::optional<ScalarType> dtype,
                                                         std::optional<Layout> layout,
                                                         std::optional<Device> device);
[[nodiscard]] OPGEN_API BackendComponent backend_of_device(DeviceType type) noexcept;

namespace detail {
[[noreturn]] OPGEN_API OPGEN_COLD void throw_requires_grad();
[[noreturn]] OPGEN_API OPGEN_COLD void throw_format_twice();
}  // namespace detail

// Returns the memory format of an operator that takes it both in TensorOptions and as an argument.
// Throws Error if both have it.
[[nodiscard]] inline std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> format) {
  if (OPGEN_UNLIKELY(options.requires_grad())) detail::throw_requires_grad();
  if (OPGEN_LIKELY(!options.has_memory_format())) return format;
  if (OPGEN_UNLIKELY(format.has_value())) detail::throw_format_twice();
  return options.memory_format_opt();
}

}  // namespace opgen
