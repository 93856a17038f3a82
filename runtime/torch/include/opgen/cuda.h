// cuda.h: CUDA's own device guard and allocation for generated CUDA kernels, without virtual calls.
// A torch without CUDA has neither. There, CUDA kernels compile with the functions for all devices;
// they can be registered, but never run.
#pragma once

#ifdef OPGEN_TORCH_CUDA

#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAGuard.h>

#include "opgen/structured/outputs.h"

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
