// copy.h: moving data without operators: copy_, fill_, zero_, clone, to, contiguous. CPU and Meta
// are built in; other devices register their copy.
#pragma once

#include <optional>

#include "opgen/device.h"
#include "opgen/memory_format.h"
#include "opgen/scalar.h"
#include "opgen/scalar_type.h"

namespace opgen {

class TensorBase;

namespace detail {

// dst[...] = src[...]: broadcasts src, converts elements, any strides. Overlap is allowed only if
// it is total.
OPGEN_API void copy_(const TensorBase& dst, const TensorBase& src, bool non_blocking = false);
OPGEN_API void fill_(const TensorBase& self, const Scalar& value);
OPGEN_API void zero_(const TensorBase& self);

// A copy; Preserve (the default) keeps the strides of a dense tensor and the order of strides of
// another.
[[nodiscard]] OPGEN_API TensorBase clone(const TensorBase& self,
                                         std::optional<MemoryFormat> format = std::nullopt);
// The tensor itself if it is so already.
[[nodiscard]] OPGEN_API TensorBase contiguous(const TensorBase& self,
                                              MemoryFormat format = MemoryFormat::Contiguous);
[[nodiscard]] OPGEN_API TensorBase to_dtype(const TensorBase& self, ScalarType dtype);
// The tensor itself if it is there already; the device of a copy is the one that is named.
[[nodiscard]] OPGEN_API TensorBase to_device(const TensorBase& self, Device device);
// The value of a tensor of one element.
[[nodiscard]] OPGEN_API Scalar item(const TensorBase& self);

// A device's copy: called when dst or src lives there. fill may be null: then values are copied
// from the CPU.
struct DeviceCopy {
  void (*copy)(const TensorBase& dst, const TensorBase& src, bool non_blocking);
  void (*fill)(const TensorBase& self, const Scalar& value);
};
OPGEN_API void register_device_copy(DeviceType type, const DeviceCopy* functions) noexcept;

}  // namespace detail
}  // namespace opgen
