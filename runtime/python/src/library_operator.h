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
// not, a view of its bytes needs no operator: view_of().
[[nodiscard]] bool needs_operators(const TensorBase& tensor);
// The same, but not for autograd: for operations that gradients and tangents do not pass.
[[nodiscard]] bool is_transformed(const TensorBase& tensor);

// Records a view for autograd, like an operator.
[[nodiscard]] TensorBase recorded_view(TensorBase view, const TensorBase& from);

// Checks that `what`, which reads the elements, does not lose a tangent, and warns if it is not
// part of the trace that the thread records.
void check_elements_read(const TensorBase& tensor, const char* what);

// Returns item() of a tensor of one element.
[[nodiscard]] Scalar item_of(const TensorBase& tensor);

}  // namespace opgen::python
