// tensors.cpp: create, resize, view, copy and fill tensors on pocket. PyTorch has no structured
// kernels for these operators.

#include <ATen/EmptyTensor.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

#include <opgen/dispatch_macros.h>
#include <pocket/PrivateUse1NativeFunctions.h>
#include <torch/library.h>

#include <cmath>

#include "device.h"

namespace pocket {

namespace {

// Kernels and the allocator use the current device.
c10::Device device_or_current(std::optional<c10::Device> device) {
  if (device.has_value() && device->has_index()) return *device;
  return {kPocket, current_device()};
}

at::TensorIterator iterate(const Tensor& to, const Tensor& from) {
  return at::TensorIteratorConfig()
      .add_output(to)
      .add_const_input(from)
      .resize_outputs(false)
      .check_all_same_dtype(false)
      .check_all_same_device(false)
      .build();
}

template <class T>
T read_as(T element, bool conjugate, bool negate) {
  if constexpr (c10::is_complex<T>::value) {
    if (conjugate) element = std::conj(element);
  }
  return negate ? static_cast<T>(-element) : element;
}

// Copy between tensors of pocket with any dtypes and strides, also if they have the conjugate or
// negative bit.
void copy_on_device(const Tensor& to, const Tensor& from) {
  const c10::DeviceGuard guard(to.device());
  at::TensorIterator iter = iterate(to, from);
  const bool conjugate = to.is_conj() != from.is_conj();
  const bool negate = to.is_neg() != from.is_neg();
  opgen::dispatch<opgen::NumberTypes, bool>(to.scalar_type(), "copy_", [&]<class scalar_t> {
    pointwise(iter,
              [=](scalar_t element) -> scalar_t { return read_as(element, conjugate, negate); });
  });
}
Tensor plain(const Tensor& tensor) {
  if (tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) return tensor;
  const Tensor copy = at::empty(tensor.sizes(), tensor.options());
  copy_on_device(copy, tensor);
  return copy;
}

// Transfer row-major memory of one dtype between the devices; convert and permute on either side.
void copy_bytes(const Tensor& to, const Tensor& from) {
  if (to.numel() != 0) std::memcpy(to.data_ptr(), from.const_data_ptr(), from.nbytes());
}
void copy_from_host(const Tensor& to, const Tensor& from) {
  const Tensor bytes =
      from.expand(to.sizes()).to(to.scalar_type()).contiguous().resolve_conj().resolve_neg();
  const Tensor arrived = at::empty(to.sizes(), to.options());
  copy_bytes(arrived, bytes);
  copy_on_device(to, arrived);
}
void copy_to_host(const Tensor& to, const Tensor& from) {
  const Tensor bytes = plain(from);
  const Tensor arrived = at::empty(bytes.sizes(), bytes.options().device(at::kCPU));
  copy_bytes(arrived, bytes);
  to.copy_(arrived);
}

}  // namespace

Tensor Kernels::empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>,
                      std::optional<Device> device, std::optional<bool> pin_memory,
                      std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!pin_memory.value_or(false), "pocket's memory is the host's, so it cannot be pinned");
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_generic(size, &allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(dtype), memory_format);
}
Tensor Kernels::empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype,
                              std::optional<Layout>, std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  TORCH_CHECK(!pin_memory.value_or(false), "pocket's memory is the host's, so it cannot be pinned");
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_strided_generic(size, stride, &allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(dtype));
}

// Shapes do not depend on the device, so these kernels call ATen's exported functions.
Tensor Kernels::as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                           std::optional<std::int64_t> storage_offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, storage_offset);
}
Tensor Kernels::view(const Tensor& self, IntArrayRef size) {
  return at::native::view(self, size);
}
Tensor Kernels::_reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}
Tensor Kernels::unfold(const Tensor& self, std::int64_t dimension, std::int64_t size,
                       std::int64_t step) {
  return at::native::unfold(self, dimension, size, step);
}
Tensor Kernels::view_as_real(const Tensor& self) {
  return at::native::view_as_real(self);
}
Tensor Kernels::view_as_complex(const Tensor& self) {
  return at::native::view_as_complex(self);
}
const Tensor& Kernels::resize_(const Tensor& self, IntArrayRef size,
                               std::optional<MemoryFormat> memory_format) {
  return at::native::resize_(self, size, memory_format);
}
Tensor& Kernels::set_(Tensor& self, Storage source, std::int64_t storage_offset, IntArrayRef size,
                      IntArrayRef stride) {
  return at::native::set_storage_cpu_(self, std::move(source), storage_offset, size, stride);
}
Tensor& Kernels::set_(Tensor& self, Storage source) {
  const auto elements = static_cast<std::int64_t>(source.nbytes() / self.dtype().itemsize());
  return self.set_(std::move(source), 0, elements, {});
}

Tensor Kernels::_copy_from(const Tensor& self, const Tensor& dst, bool) {
  if (!self.device().is_privateuseone()) {
    copy_from_host(dst, self);
  } else if (!dst.device().is_privateuseone()) {
    copy_to_host(dst, self);
  } else {
    copy_on_device(dst, self);
  }
  return dst;
}
Tensor Kernels::_copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  dst.resize_(self.sizes());
  return _copy_from(self, dst, false);
}
Scalar Kernels::_local_scalar_dense(const Tensor& self) {
  return self.cpu().item();
}

Tensor& Kernels::fill_(Tensor& self, const Scalar& value) {
  at::TensorIterator iter = at::TensorIteratorConfig()
                                .set_check_mem_overlap(false)
                                .check_all_same_dtype(false)
                                .add_output(self)
                                .resize_outputs(false)
                                .build();
  opgen::dispatch<opgen::NumberTypes, bool>(self.scalar_type(), "fill_", [&]<class scalar_t> {
    const auto element = value.to<scalar_t>();
    pointwise(iter, [element]() -> scalar_t { return element; });
  });
  return self;
}
Tensor& Kernels::zero_(Tensor& self) {
  return self.fill_(0);
}

// Two outputs with different dtypes.
std::tuple<Tensor&, Tensor&> Kernels::frexp_out(const Tensor& self, Tensor& mantissa,
                                                Tensor& exponent) {
  at::TensorIterator iter = at::TensorIteratorConfig()
                                .add_output(mantissa)
                                .add_output(exponent)
                                .add_const_input(self)
                                .check_all_same_dtype(false)
                                .set_check_mem_overlap(true)
                                .build();
  opgen::dispatch<opgen::FloatingTypes>(self.scalar_type(), "frexp", [&]<class scalar_t> {
    pointwise(iter, [](scalar_t element) -> std::tuple<scalar_t, std::int32_t> {
      int power = 0;
      const auto part = std::frexp(static_cast<at::opmath_type<scalar_t>>(element), &power);
      return {static_cast<scalar_t>(part), power};
    });
  });
  return {mantissa, exponent};
}

// Composed of the operators above.
Tensor& Kernels::hardtanh_out(const Tensor& self, const Scalar& min_val, const Scalar& max_val,
                              Tensor& out) {
  return at::clamp_out(out, self, min_val, max_val);
}
Tensor Kernels::relu(const Tensor& self) {
  return at::clamp_min(self, 0);
}
Tensor& Kernels::relu_(Tensor& self) {
  return at::clamp_min_(self, 0);
}
Tensor Kernels::mse_loss_backward(const Tensor& grad_output, const Tensor& self,
                                  const Tensor& target, std::int64_t reduction) {
  const double elements = reduction == at::Reduction::Mean ? static_cast<double>(self.numel()) : 1;
  return at::sub(self, target).mul_(2.0 / elements).mul_(grad_output);
}

}  // namespace pocket

// PyTorch resolves conjugate and negative bits before it calls any other kernel; only the copy
// itself must handle them.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
