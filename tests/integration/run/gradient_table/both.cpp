// both.cpp: the kernel of both.yaml.
#include <opgen/kernel.h>

#include <forms/ops/multiply_into_native.h>

using namespace opgen::types;

// Multiplies `total` by `x`, and returns ten times that.
OPGEN_KERNEL(multiply_into)(const Tensor& x, Tensor& total) {
  Tensor ten = opgen::empty_symint(total.sym_sizes(), total.options());
  if (total.is_meta()) return {ten, total};
  OPGEN_CHECK(x.is_contiguous() && total.is_contiguous(), "multiply_into: gaps");
  const double* const factors = x.data_ptr<double>();
  double* const totals = total.data_ptr<double>();
  double* const tens = ten.data_ptr<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    totals[i] *= factors[i];
    tens[i] = 10 * totals[i];
  }
  return {ten, total};
}
