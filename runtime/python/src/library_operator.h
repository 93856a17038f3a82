// library_operator.h: operators that class Tensor needs and a library brings, by their schema
// names.
#pragma once

#include <optional>

#include "opgen/dispatcher.h"

namespace opgen::python {

// Looked up when it is called first. Used with the GIL held.
class LibraryOperator {
 public:
  constexpr LibraryOperator(const char* name, const char* overload, const char* use)
      : name_(name), overload_(overload), use_(use) {}

  [[nodiscard]] bool exists();
  // The first result. NotImplementedError if no library that is imported has the operator.
  IValue call(Stack arguments);

 private:
  const char* name_;
  const char* overload_;
  const char* use_;  // what needs it: "indexing by tensors"
  std::optional<OperatorHandle> found_;
};

// Whether something above the backends wants to see what is done with this tensor: a tracer, vmap,
// autograd. Else views of its bytes can be made without an operator.
[[nodiscard]] bool needs_operators(const TensorBase& tensor);

// item() of a tensor of one element.
[[nodiscard]] Scalar item_of(const TensorBase& tensor);

}  // namespace opgen::python
