// optionals.cpp: the kernels of optionals.yaml.
#include <opgen/kernel.h>

#include <optional>

#include <forms/ops/mul_gaps_native.h>
#include <forms/ops/mul_if_native.h>

using namespace opgen::types;

namespace {

Tensor product(const Tensor& a, const Tensor& b) {
  Tensor result = opgen::empty_symint(a.sym_sizes(), a.options());
  if (result.is_meta()) return result;
  const Tensor left = opgen::contiguous(a);
  const Tensor right = opgen::contiguous(b);
  const double* const x = left.data_ptr<double>();
  const double* const y = right.data_ptr<double>();
  double* const z = result.data_ptr<double>();
  for (std::int64_t i = 0; i < a.numel(); ++i) z[i] = x[i] * y[i];
  return result;
}

}  // namespace

OPGEN_KERNEL(mul_if)(const Tensor& self, const Tensor& other, bool there) {
  return there ? std::optional<Tensor>(product(self, other)) : std::nullopt;
}

// Returns nothing, and the product with the last tensor of the list.
OPGEN_KERNEL(mul_gaps)(const Tensor& self, const List<std::optional<Tensor>>& others) {
  std::optional<Tensor> last;
  for (const std::optional<Tensor>& each : others) {
    if (each.has_value()) last = product(self, *each);
  }
  return {std::nullopt, last};
}
