// resize.h: resizes out= arguments to the shape of the result.
#pragma once

#include <type_traits>

#include "opgen/symbolic/symbolic_sizes.h"
#include "opgen/tensor/tensor.h"

// Declared here as in ATen/native/Resize.h, which includes more text than all other headers
// together.
namespace at::native {
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
TORCH_API bool resize_output_symint(const Tensor& output, SymIntArrayRef shape);
}  // namespace at::native

namespace opgen {

// Resizes `out` and returns whether it had another shape. Warns if it had elements.
inline bool resize_output(const Tensor& out, IntArrayRef sizes) {
  if (out.sizes() == sizes) return false;
  return at::native::resize_output(out, sizes);
}
// The same, for symbolic sizes. Sizes that are unknown while a program is traced are assumed to be
// equal; the compiled program checks them.
inline bool resize_output_symint(const Tensor& out, SymIntArrayRef sizes) {
  const SymIntArrayRef own = out.sym_sizes();
  if (detail::known_different(own, sizes)) return at::native::resize_output_symint(out, sizes);
  TORCH_CHECK(detail::expect_equal(own, sizes), "expected an out tensor with sizes ", sizes,
              ", but got ", own);
  return false;
}
// This is a template, so that `{2, 3}` means numbers.
template <class Sizes>
requires std::is_same_v<Sizes, SymIntArrayRef>
bool resize_output(const Tensor& out, Sizes sizes) {
  return opgen::resize_output_symint(out, sizes);
}

}  // namespace opgen
