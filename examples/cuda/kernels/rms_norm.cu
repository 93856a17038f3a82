// The kernel for CUDA: nvcc compiles this file, if torch was built for CUDA. opgen has made the
// device of the tensors current; what remains to do is to use its stream and to check the launch.
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <opgen/kernel.h>

#include <norms/ops/rms_norm_native.h>

namespace {

constexpr int kThreads = 256;

// One block per row. The sum of squares is reduced in shared memory.
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
    const Wide x = static_cast<Wide>(row[i]);
    out[blockIdx.x * columns + i] = static_cast<T>(x * scale * static_cast<Wide>(weight[i]));
  }
}

}  // namespace

OPGEN_IMPL_FUNC(rms_norm_cuda)
(const Tensor& self, const Tensor& weight, double eps, const Tensor& out) {
  const Tensor rows = self.contiguous(), weights = weight.contiguous();
  const Tensor to = out.is_contiguous() ? out : opgen::empty(out.sizes(), out.options());
  const int64_t columns = rows.size(-1), count = columns == 0 ? 0 : rows.numel() / columns;
  if (count == 0) return;  // a launch of no blocks is an error
  OPGEN_DISPATCH_FLOATING_TYPES_AND2(Half, BFloat16, rows.scalar_type(), "rms_norm", [&] {
    using Wide = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
    const auto stream = c10::cuda::getCurrentCUDAStream();
    rms_norm_kernel<scalar_t, Wide><<<static_cast<unsigned>(count), kThreads, 0, stream>>>(
        columns, static_cast<Wide>(eps), rows.const_data_ptr<scalar_t>(),
        weights.const_data_ptr<scalar_t>(), to.data_ptr<scalar_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  if (!to.is_same(out)) opgen::copy_(out, to);
}
