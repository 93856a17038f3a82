// tvm_ffi_by_hand.cpp: operators of examples/everywhere as an author binds them to TVM-FFI without
// opgen: those named call_... call the same kernels, those named loop_... contain a loop over float
// arrays of one shape. Also two functions by which the script counts instructions.
#include <everywhere/ops/blend.h>
#include <everywhere/ops/momentum_step_.h>
#include <opgen/tensor_functions.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>
#include <valgrind/callgrind.h>

#include <cstdlib>

namespace {

using tvm::ffi::TensorView;

struct Malloc {
  void AllocData(DLTensor* tensor) {
    tensor->data = std::aligned_alloc(64, (tvm::ffi::GetDataSize(*tensor) + 63) / 64 * 64);
  }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

tvm::ffi::Tensor allocate(const TensorView& like) {
  if (TVMFFIEnvGetDLPackManagedTensorAllocator() == nullptr) {
    return tvm::ffi::Tensor::FromNDAlloc(Malloc(), like.shape(), like.dtype(), like.device());
  }
  return tvm::ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, like.shape(), like.dtype(),
                                        like.device());
}

opgen::Tensor wrap(const TensorView& tensor) {
  TVM_FFI_CHECK(tensor.device().device_type == kDLCPU, ValueError) << "not on the CPU";
  TVM_FFI_CHECK(tensor.dtype().code == kDLFloat && tensor.dtype().bits == 32, TypeError)
      << "not float32";
  const auto sizes = tensor.shape(), strides = tensor.strides();
  return opgen::from_blob(tensor.data_ptr(), {sizes.data(), sizes.size()},
                          {strides.data(), strides.size()}, opgen::kFloat);
}

void call_blend_out(TensorView self, TensorView other, double weight, TensorView out) {
  opgen::Tensor result = wrap(out);
  everywhere::blend_out(result, wrap(self), wrap(other), weight);
}
tvm::ffi::Tensor call_blend(TensorView self, TensorView other, double weight) {
  tvm::ffi::Tensor out = allocate(self);
  call_blend_out(self, other, weight, out);
  return out;
}
void call_momentum_step(TensorView parameter, TensorView velocity, TensorView grad, double lr,
                        double momentum) {
  opgen::Tensor p = wrap(parameter), v = wrap(velocity);
  everywhere::momentum_step_(p, v, wrap(grad), lr, momentum);
}

const float* floats(const TensorView& tensor, const TensorView& like) {
  TVM_FFI_CHECK(tensor.device().device_type == kDLCPU, ValueError) << "not on the CPU";
  TVM_FFI_CHECK(tensor.dtype().code == kDLFloat && tensor.dtype().bits == 32, TypeError)
      << "not float32";
  TVM_FFI_CHECK(tensor.IsContiguous(), ValueError) << "not contiguous";
  TVM_FFI_CHECK(tensor.numel() == like.numel(), ValueError) << "another shape";
  return static_cast<const float*>(tensor.data_ptr());
}

void loop_blend_out(TensorView self, TensorView other, double weight, TensorView out) {
  const float *a = floats(self, out), *b = floats(other, out);
  float* to = const_cast<float*>(floats(out, out));
  const std::int64_t size = out.numel();
  for (std::int64_t i = 0; i < size; ++i) {
    to[i] = static_cast<float>((1 - weight) * a[i] + weight * b[i]);
  }
}
tvm::ffi::Tensor loop_blend(TensorView self, TensorView other, double weight) {
  tvm::ffi::Tensor out = allocate(self);
  loop_blend_out(self, other, weight, out);
  return out;
}
void loop_momentum_step(TensorView parameter, TensorView velocity, TensorView grad, double lr,
                        double momentum) {
  const float* g = floats(grad, parameter);
  float* p = const_cast<float*>(floats(parameter, parameter));
  float* v = const_cast<float*>(floats(velocity, parameter));
  const std::int64_t size = parameter.numel();
  for (std::int64_t i = 0; i < size; ++i) {
    v[i] = static_cast<float>(momentum) * v[i] + g[i];
    p[i] -= static_cast<float>(lr) * v[i];
  }
}

void start() {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}
void stop(const tvm::ffi::String& name) {
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_blend, call_blend);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_blend_out, call_blend_out);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_momentum_step, call_momentum_step);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(loop_blend, loop_blend);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(loop_blend_out, loop_blend_out);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(loop_momentum_step, loop_momentum_step);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(start, start);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stop, stop);
