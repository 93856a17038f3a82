// concrete.h: converts the dispatcher's arguments for meta and impl: sizes become int64_t;
// optional tensors and numbers become references.
#pragma once

#include <optional>

#include "opgen/tensor/tensor.h"

namespace opgen::detail {

template <class T>
const T& concrete(const T& argument) {
  return argument;
}
inline std::int64_t concrete(const SymInt& size) {
  return size.guard_int(__FILE__, __LINE__);
}
inline IntArrayRef concrete(SymIntArrayRef sizes) {
  return C10_AS_INTARRAYREF_SLOW(sizes);
}
inline std::optional<std::int64_t> concrete(const std::optional<SymInt>& size) {
  if (!size.has_value()) return std::nullopt;
  return concrete(*size);
}
inline std::optional<IntArrayRef> concrete(const at::OptionalSymIntArrayRef& sizes) {
  if (!sizes.has_value()) return std::nullopt;
  return concrete(*sizes);
}
inline OptionalScalarRef concrete(const std::optional<Scalar>& scalar) {
  return scalar.has_value() ? OptionalScalarRef(*scalar) : OptionalScalarRef();
}
inline OptionalTensorRef concrete(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? OptionalTensorRef(*tensor) : OptionalTensorRef();
}

}  // namespace opgen::detail
