// forms_work.h: the work of the operators of forms.yaml, shared by the generated and the
// hand-written version. It is small, because the benchmark measures the calls.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

namespace work {

using at::Tensor;

inline Tensor like(const Tensor& self) {
  return at::detail::empty_cpu(self.sizes(), self.options());
}

inline void scale(const Tensor& out, const Tensor& in, double by) {
  const float* from = in.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < in.numel(); ++i) to[i] = from[i] * static_cast<float>(by);
}

inline Tensor first_of(at::TensorList tensors) {
  Tensor out = like(tensors[0]);
  scale(out, tensors[0], 1);
  return out;
}

inline std::vector<Tensor> parts(const Tensor& self, int64_t n) {
  std::vector<Tensor> made;
  made.reserve(n);
  for (int64_t i = 0; i < n; ++i) made.push_back(like(self));
  return made;
}

inline Tensor shaped(const Tensor& self, at::IntArrayRef sizes, std::string_view mode, bool flag) {
  Tensor out = at::detail::empty_cpu(sizes, self.options());
  scale(out, self, mode == "double" || flag ? 2 : 1);
  return out;
}

inline Tensor filled(int64_t n, const at::TensorOptions& options) {
  return at::detail::empty_cpu({n}, options);
}

}  // namespace work
