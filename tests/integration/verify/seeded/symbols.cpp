// Operators in C++ that PyTorch traces with symbols: composites and Meta kernels that call ATen.
// Those whose names end in _ok serve all sizes with one graph; the others do not.
#include <torch/library.h>

#include <ATen/ATen.h>

namespace {

using at::Tensor;

Tensor center(const Tensor& x) {
  return x - x.mean(-1, true);
}
Tensor similarity(const Tensor& x, const Tensor& y) {
  return at::matmul(x, y.transpose(-2, -1));
}
Tensor flat(const Tensor& x) {
  return x.flatten();
}
Tensor swapped(const Tensor& x) {
  return x.transpose(0, -1);
}
Tensor halves(const Tensor& x) {
  return x.unsqueeze(0).expand_symint({2, x.sym_size(0)}).sum(0);
}
Tensor standard(const Tensor& x) {
  return at::layer_norm_symint(x, {x.sym_size(-1)});
}
Tensor weighted(const Tensor& x, const Tensor& w) {
  return at::einsum("ij,j->i", {x, w});
}

// The size becomes a number.
Tensor center_by_number(const Tensor& x) {
  return x.sum(-1, true) / x.size(-1) * -1 + x;
}

Tensor pad_to(const Tensor& x, c10::SymInt n) {
  TORCH_SYM_CHECK(n.sym_ge(0), "n is negative");
  return x.new_zeros_symint({n, x.sym_size(-1)});
}
Tensor pad_to_number(const Tensor& x, c10::SymInt n) {
  const int64_t number = n.guard_int(__FILE__, __LINE__);
  TORCH_CHECK(number >= 0, "n is negative");
  return x.new_zeros_symint({number, x.sym_size(-1)});
}

TORCH_LIBRARY(seeded_symbols, m) {
  m.def("center_ok(Tensor x) -> Tensor", center);
  m.def("similarity_ok(Tensor x, Tensor y) -> Tensor", similarity);
  m.def("flat_ok(Tensor(a) x) -> Tensor(a)", flat);
  m.def("swapped_ok(Tensor(a) x) -> Tensor(a)", swapped);
  m.def("halves_ok(Tensor x) -> Tensor");
  m.def("standard_ok(Tensor x) -> Tensor");
  m.def("weighted_ok(Tensor x, Tensor w) -> Tensor");
  m.def("center_by_number(Tensor x) -> Tensor", center_by_number);
  m.def("pad_to_ok(Tensor x, SymInt n) -> Tensor");
  m.def("pad_to(Tensor x, SymInt n) -> Tensor");
}

#define BOTH(KEY)                              \
  TORCH_LIBRARY_IMPL(seeded_symbols, KEY, m) { \
    m.impl("halves_ok", halves);               \
    m.impl("standard_ok", standard);           \
    m.impl("weighted_ok", weighted);           \
    m.impl("pad_to_ok", pad_to);               \
    m.impl("pad_to", pad_to_number);           \
  }
BOTH(CPU)
BOTH(Meta)

}  // namespace
