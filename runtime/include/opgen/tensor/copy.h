// copy.h: copies data without operators: copy_, fill_, zero_, clone, to, contiguous. CPU and Meta
// are built in; other devices register their copy.
#pragma once

#include <optional>

#include "opgen/core/enumerations.h"
#include "opgen/core/scalar.h"
#include "opgen/core/scalar_type.h"
#include "opgen/device/device.h"

namespace opgen {

class TensorBase;

namespace tensor_functions {

// Copies src to dst, like dst[...] = src[...]: broadcasts src and converts elements. Both may have
// any strides. Throws Error if they overlap partially.
OPGEN_API void copy_(const TensorBase& dst, const TensorBase& src, bool non_blocking = false);
OPGEN_API void fill_(const TensorBase& self, const Scalar& value);
OPGEN_API void zero_(const TensorBase& self);

// Returns the value of a tensor of one element. Throws Error for any other.
[[nodiscard]] OPGEN_API Scalar item(const TensorBase& self);

// A device's copy functions, called if dst or src is on the device. If `fill` is null, values are
// copied from the CPU. register_device_copy() keeps the pointer: the struct must exist for the life
// of the process.
struct DeviceCopy {
  void (*copy)(const TensorBase& dst, const TensorBase& src, bool non_blocking);
  void (*fill)(const TensorBase& self, const Scalar& value);
};
OPGEN_API void register_device_copy(DeviceType type, const DeviceCopy* functions) noexcept;

}  // namespace tensor_functions

using namespace tensor_functions;  // NOLINT(google-build-using-namespace)

namespace detail {

// Returns a copy. Preserve, the default format, keeps the strides of a dense tensor, and the order
// of the strides of any other tensor.
[[nodiscard]] OPGEN_API TensorBase clone(const TensorBase& self,
                                         std::optional<MemoryFormat> format = std::nullopt);
// Returns the tensor itself if it already has the format.
[[nodiscard]] OPGEN_API TensorBase contiguous(const TensorBase& self,
                                              MemoryFormat format = MemoryFormat::Contiguous);
[[nodiscard]] OPGEN_API TensorBase to_dtype(const TensorBase& self, ScalarType dtype);
// Returns the tensor itself if it is already on the device, else a copy there.
[[nodiscard]] OPGEN_API TensorBase to_device(const TensorBase& self, Device device);
}  // namespace detail
}  // namespace opgen
