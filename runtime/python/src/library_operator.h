// library_operator.h: operators that class Tensor needs from a library, by schema name.
#pragma once

#include <optional>

#include "opgen/dispatch/dispatcher.h"

namespace opgen::python {

// An operator of any imported library, looked up at the first call. Use it with the GIL held.
class LibraryOperator {
 public:
  constexpr LibraryOperator(const char* name, const char* overload, const char* use)
      : name_(name), overload_(overload), use_(use) {}

  [[nodiscard]] bool exists();
  // Returns the first result. Throws NotImplementedError if no imported library has the operator.
  IValue call(Stack arguments);

 private:
  const char* name_;
  const char* overload_;
  const char* use_;  // what needs it: "indexing by tensors"
  std::optional<OperatorHandle> found_;
};

// Whether a key above the backends (tracer, vmap, autograd) must see operations on this tensor. If
// not, views of its bytes can be made without an operator.
[[nodiscard]] bool needs_operators(const TensorBase& tensor);

// Returns item() of a tensor of one element.
[[nodiscard]] Scalar item_of(const TensorBase& tensor);

}  // namespace opgen::python
