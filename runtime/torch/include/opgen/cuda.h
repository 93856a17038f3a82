// cuda.h: what the generated CUDA kernels have of CUDA's own: a guard and an allocation that are no
// virtual calls. A torch without CUDA has neither: there every CUDA kernel is compiled with what
// goes for all devices, and can be registered, but not reached.
#pragma once

#ifdef OPGEN_TORCH_CUDA

#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAGuard.h>

#include "opgen/outputs.h"

namespace opgen::detail {

template <>
struct DeviceOf<DispatchKey::CUDA> {
  using Guard = c10::cuda::OptionalCUDAGuard;
  static Tensor empty(IntArrayRef sizes, const TensorOptions& options) {
    return at::detail::empty_cuda(sizes, options);
  }
  static Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides,
                              const TensorOptions& options) {
    return at::detail::empty_strided_cuda(sizes, strides, options);
  }
};

}  // namespace opgen::detail

#endif
