// kernels.cpp: factories for two devices, and one that is dispatched by its tensor argument.
#include <opgen/kernel.h>

#include <cstdio>

#include <aten/Functions.h>
#include <aten/NativeFunctions.h>

OPGEN_KERNEL(filled_cpu)
(IntArrayRef size, const Scalar& value, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool>) {
  std::printf("on the CPU: ");
  return opgen::full(size, value, opgen::TensorOptions().dtype(dtype).layout(layout).device(device));
}

OPGEN_KERNEL(filled_meta)
(IntArrayRef size, const Scalar&, std::optional<ScalarType> dtype, std::optional<Layout>,
 std::optional<Device> device, std::optional<bool>) {
  std::printf("on Meta: ");
  return opgen::empty(size, opgen::TensorOptions().dtype(dtype).device(device));
}

OPGEN_KERNEL(like)
(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool> pin_memory, std::optional<MemoryFormat>) {
  return at::filled(self.sizes(), 7, dtype ? dtype : self.scalar_type(), layout,
                    device ? device : self.device(), pin_memory);
}
