// kernels.cu: the CUDA kernels of operators.yaml, as an author writes them: nvcc compiles this file,
// g++ all the others.
#include <opgen/kernel.h>

#include <ATen/cuda/detail/OffsetCalculator.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <gpu/ops/gather_native.h>
#include <gpu/ops/plus_native.h>
#include <gpu/ops/ramp_native.h>
#include <gpu/ops/total_native.h>
#include <gpu/ops/unchecked_native.h>
#include <gpu/ops/unguarded_native.h>

namespace {

constexpr int kThreads = 256;

int blocks_for(int64_t n) {
  return static_cast<int>((n + kThreads - 1) / kThreads);
}

template <class T, class Offsets>
__global__ void plus_kernel(int n, T* out, const T* a, const T* b, Offsets offsets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = offsets.get(i);
  out[at[0] / sizeof(T)] = a[at[1] / sizeof(T)] + b[at[2] / sizeof(T)];
}

// One thread per row of a contiguous matrix.
__global__ void total_kernel(int rows, int columns, const float* in, const float* weight,
                             float* out) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) {
    sum += in[row * columns + i] * (weight == nullptr ? 1.0f : weight[i]);
  }
  out[row] = sum;
}

__global__ void ramp_kernel(int n, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(i);
}

}  // namespace

OPGEN_IMPL_FUNC(plus_cuda)(const Tensor&, const Tensor&, const Tensor&) {
  for (auto& part : with_32bit_indexing()) {
    const int n = static_cast<int>(part.numel());
    if (n == 0) continue;
    const auto offsets = make_offset_calculator<3>(part);
    OPGEN_DISPATCH_ALL_BUT_BOOL(part.common_dtype(), "plus", [&] {
      plus_kernel<scalar_t><<<blocks_for(n), kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
          n, static_cast<scalar_t*>(part.data_ptr(0)), static_cast<scalar_t*>(part.data_ptr(1)),
          static_cast<scalar_t*>(part.data_ptr(2)), offsets);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  }
}

OPGEN_IMPL_FUNC(total_cuda)(const Tensor& self, int64_t dim, OptionalTensorRef weight,
                            const Tensor& out) {
  const Tensor rows = self.movedim(dim, -1).contiguous();
  const int columns = static_cast<int>(rows.size(-1)), count = static_cast<int>(out.numel());
  if (count == 0) return;
  Tensor weights, sums = out.is_contiguous() ? out : opgen::empty(out.sizes(), out.options());
  if (weight.has_value()) weights = weight->contiguous();
  total_kernel<<<blocks_for(count), kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
      count, columns, rows.const_data_ptr<float>(),
      weights.defined() ? weights.const_data_ptr<float>() : nullptr, sums.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  if (!sums.is_same(out)) opgen::copy_(out, sums);
}

OPGEN_KERNEL(ramp_cuda)(IntArrayRef size, std::optional<ScalarType>, std::optional<Layout>,
                        std::optional<Device> device, std::optional<bool>) {
  const Tensor out = opgen::empty(size, TensorOptions(kFloat).device(device));
  const int n = static_cast<int>(out.numel());
  if (n > 0) {
    ramp_kernel<<<blocks_for(n), kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        n, out.data_ptr<float>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  return out;
}

OPGEN_KERNEL(gather_cuda)(const Tensor& self, TensorList others, const std::optional<Tensor>&) {
  Tensor sum = opgen::clone(self);
  for (const Tensor& other : others) sum.add_(other);
  return sum;
}

OPGEN_KERNEL(unchecked_cuda)(const Tensor& self, const Tensor& other) {
  return self.add(other.to(self.device()));
}

OPGEN_KERNEL(unguarded_cuda)(const Tensor& self) {
  return opgen::clone(self);
}
