// The kernels of input.yaml.
#include <mine/NativeFunctions.h>
#include <opgen/kernel.h>

#include "functions.h"

namespace functions {

void fill_both(opgen::Tensor x, std::optional<opgen::Tensor> y, double value) {
  opgen::fill_(x, value);
  if (y.has_value()) opgen::fill_(*y, value + 1);
}

void fill_each(std::vector<opgen::Tensor> xs, const std::vector<double>& values) {
  for (std::size_t i = 0; i < xs.size(); ++i) opgen::fill_(xs[i], values[i]);
}

std::string describe(std::string text, std::vector<int64_t> sizes, const std::optional<int64_t>& n,
                     std::optional<std::vector<bool>> flags) {
  for (const int64_t size : sizes) text += " " + std::to_string(size);
  if (n.has_value()) text += " n=" + std::to_string(*n);
  if (flags.has_value()) text += " flags=" + std::to_string(flags->size());
  return text;
}

}  // namespace functions

namespace mine::native {

OPGEN_KERNEL(scale_cpu)(Tensor& result, const Tensor& input, double by) {
  for (int64_t i = 0; i < input.numel(); ++i) {
    result.data_ptr<float>()[i] = input.data_ptr<float>()[i] * static_cast<float>(by);
  }
}

OPGEN_KERNEL(mixed_cpu)(Tensor& x, const Tensor& y) {
  opgen::copy_(x, y);
  return {opgen::full({}, x.numel(), opgen::kFloat), x};
}

OPGEN_KERNEL(sum_of)(const Dict<std::string, Tensor>& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += *part.value().data_ptr<float>();
  return sum;
}

OPGEN_KERNEL(plus_one_cpu)(const Tensor& x) {
  return opgen::full(x.sizes(), *x.data_ptr<float>() + 1, opgen::kFloat);
}

OPGEN_KERNEL(plus_one_hpu)(const Tensor& x) {
  return x;
}

}  // namespace mine::native
