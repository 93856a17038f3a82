// kernels.cpp: kernels of the operators for measuring Python calls.
#include <opgen/kernel.h>

#include <called/ops/add_native.h>
#include <called/ops/empty_native.h>
#include <called/ops/noop_native.h>

using namespace opgen::types;

OPGEN_KERNEL(noop)(const Tensor&, const Tensor&) {}

OPGEN_KERNEL(empty)
(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>,
 std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat>) {
  return opgen::empty_contiguous(size, dtype.value_or(opgen::get_default_dtype()),
                                 device.value_or(Device(opgen::kCPU)));
}

OPGEN_META_FUNC2(add, Tensor)(const Tensor& self, const Tensor& other, const Scalar&) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_UFUNC(add)(T self, T other, T alpha) {
  if constexpr (std::is_same_v<T, bool>) {
    return self || (alpha && other);
  } else {
    return static_cast<T>(self + alpha * other);
  }
}
