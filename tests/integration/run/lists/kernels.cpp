// kernels.cpp: kernels that take lists.
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

OPGEN_META_FUNC(cat)(const ITensorListRef& tensors) {
  std::int64_t total = 0;
  for (const Tensor& t : tensors) total += t.numel();
  set_output_raw_strided(0, {total}, {}, tensors.front().options());
}

OPGEN_IMPL_FUNC(cat_out_cpu)(const ITensorListRef& tensors, const Tensor& out) {
  float* to = out.mutable_data_ptr<float>();
  for (const Tensor& t : tensors) {
    for (std::int64_t i = 0; i < t.numel(); ++i) *to++ = t.const_data_ptr<float>()[i];
  }
}

OPGEN_KERNEL(count_given)(const List<std::optional<Tensor>>& tensors, const std::optional<Tensor>& one) {
  std::int64_t count = one.has_value() ? 100 : 0;
  for (const std::optional<Tensor>& t : tensors) count += t.has_value() && t->defined();
  return count;
}

OPGEN_KERNEL(foreach_clear_)(TensorList self) {
  for (const Tensor& t : self) opgen::zero_(t);
}

OPGEN_KERNEL(masked_cpu)(const Tensor& self, std::array<bool, 2> output_mask) {
  return {output_mask[0] ? self : Tensor(), output_mask[1] ? self : Tensor()};
}
