// kernels.cpp: the backend's kernels, on memory that the CPU can read; the kernel of abs is left to
// its stub.
#include <opgen/kernel.h>

#include <aten/PrivateUse1NativeFunctions.h>

namespace my_device {
namespace {

template <class F>
Tensor map(const Tensor& self, std::int64_t begin, std::int64_t end, F f) {
  Tensor result(opgen::empty({end - begin}, self.options()));
  for (std::int64_t i = begin; i < end; ++i) {
    result.mutable_data_ptr<float>()[i - begin] = f(self.const_data_ptr<float>()[i], i);
  }
  return result;
}

}  // namespace

Tensor Kernels::plus(const Tensor& self, const Tensor& other) {
  const float* first = self.const_data_ptr<float>();
  return map(other, 0, other.numel(), [&](float x, std::int64_t i) { return first[i] + x; });
}
Tensor Kernels::ramp(int64_t end, std::optional<ScalarType> dtype, std::optional<Layout>,
                     std::optional<Device> device, std::optional<bool>) {
  Tensor result(opgen::empty({end}, TensorOptions().dtype(dtype).device(device)));
  return map(result, 0, end, [](float, std::int64_t i) { return static_cast<float>(i); });
}
std::tuple<Tensor, Tensor> Kernels::halves(const Tensor& self) {
  const auto same = [](float x, std::int64_t) { return x; };
  const std::int64_t half = self.numel() / 2;
  return {map(self, 0, half, same), map(self, half, self.numel(), same)};
}
std::vector<Tensor> Kernels::_foreach_neg(TensorList self) {
  std::vector<Tensor> results;
  for (const Tensor& t : self) {
    results.push_back(map(t, 0, t.numel(), [](float x, std::int64_t) { return -x; }));
  }
  return results;
}

}  // namespace my_device
