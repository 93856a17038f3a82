// kernels.cu: the CUDA kernels of operators.yaml as an author writes them: nvcc compiles this file,
// g++ all others.
#include <opgen/kernel.h>

#include <ATen/AccumulateType.h>
#include <ATen/cuda/detail/OffsetCalculator.cuh>
#include <ATen/native/ReduceOpsUtils.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <opgen/device/reduction.h>

#include <gpu/ops/gather_native.h>
#include <gpu/ops/plus_native.h>
#include <gpu/ops/ramp_native.h>
#include <gpu/ops/rms_norm_native.h>
#include <gpu/ops/sum_of_native.h>
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

// One block per row: the sum of squares is reduced in shared memory, in float or wider.
template <class T, class Wide>
__global__ void rms_norm_kernel(int64_t columns, Wide eps, const T* in, const T* weight, T* out) {
  __shared__ Wide sums[kThreads];
  const T* const row = in + blockIdx.x * columns;
  Wide sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) {
    const Wide x = static_cast<Wide>(row[i]);
    sum += x * x;
  }
  sums[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  const Wide scale = ::rsqrt(sums[0] / static_cast<Wide>(columns) + eps);
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) {
    const Wide normal = static_cast<Wide>(row[i]) * scale * static_cast<Wide>(weight[i]);
    out[blockIdx.x * columns + i] = static_cast<T>(normal);
  }
}

template <class Element>
__global__ void each_kernel(int64_t n, Element element) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x;
  if (i < n) element(i);
}

// The form that opgen's loops for devices need: element(i) for every i < n.
struct Launch {
  template <class Element>
  void operator()(int64_t n, const Element& element) const {
    const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    each_kernel<<<blocks, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(n, element);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
};

}  // namespace

// With opgen's loop for devices.
OPGEN_IMPL_FUNC(sum_of_cuda)(const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
  at::TensorIterator iter =
      at::meta::make_reduction(self, out, at::OptionalIntArrayRef(dim), keepdim, out.scalar_type());
  OPGEN_DISPATCH_ALL_BUT_BOOL(out.scalar_type(), "sum_of", [&] {
    opgen::device_reduce(
        iter, Launch{}, scalar_t(0),
        [] __host__ __device__(scalar_t sum, scalar_t x) { return static_cast<scalar_t>(sum + x); },
        [] __host__ __device__(scalar_t sum) { return sum; });
  });
}

OPGEN_IMPL_FUNC(rms_norm_cuda)
(const Tensor& self, const Tensor& weight, double eps, const Tensor& out) {
  const Tensor rows = self.contiguous(), weights = weight.to(self.scalar_type()).contiguous();
  const Tensor to = out.is_contiguous() ? out : opgen::empty(out.sizes(), out.options());
  const int64_t columns = rows.size(-1), count = columns == 0 ? 0 : rows.numel() / columns;
  if (count == 0) return;
  OPGEN_DISPATCH_FLOATING_TYPES_AND2(Half, BFloat16, rows.scalar_type(), "rms_norm", [&] {
    using Wide = at::acc_type<scalar_t, /*is_cuda=*/true>;
    const auto stream = c10::cuda::getCurrentCUDAStream();
    rms_norm_kernel<scalar_t, Wide><<<static_cast<unsigned>(count), kThreads, 0, stream>>>(
        columns, static_cast<Wide>(eps), rows.const_data_ptr<scalar_t>(),
        weights.const_data_ptr<scalar_t>(), to.data_ptr<scalar_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  if (!to.is_same(out)) opgen::copy_(out, to);
}

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
