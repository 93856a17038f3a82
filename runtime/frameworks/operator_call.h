// operator_call.h: OperatorCall, a boxed call whose results are written into memory that a
// framework has allocated. All frameworks share it.
#pragma once

#include <string_view>
#include <vector>

#include "opgen/core/small_vector.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/schema/function_schema.h"

namespace opgen::frameworks {

// Returns a tensor on row-major memory of the framework, which must outlive it. The storage cannot
// grow, so a kernel that resizes it gets an error.
[[nodiscard]] TensorBase borrow(void* data, IntArrayRef sizes, ScalarType dtype);

// Returns an operator by its full name, "mylib::add.out" for example. Throws Error if there is
// none.
[[nodiscard]] OperatorHandle find_operator(std::string_view name);

class OperatorCall {
 public:
  // `schema` is that of `op`. Takes no lock.
  OperatorCall(OperatorHandle op, const FunctionSchema& schema);

  [[nodiscard]] const FunctionSchema& schema() const { return *schema_; }
  // The schema's next argument, whose value is the next to be added.
  [[nodiscard]] const SchemaArgument& next_argument() const;
  void add(IValue&& value) { stack_.push_back(std::move(value)); }
  void add_default();
  // Adds a tensor that the operator writes. Its shape must be the same after the call.
  void add_written(TensorBase tensor);

  // Calls the operator, and returns one value for each return of its schema. Throws ValueError if a
  // written tensor was resized.
  [[nodiscard]] const Stack& call();
  // Does the same, and returns the results, except those that are arguments. Lists of tensors are
  // flattened.
  [[nodiscard]] std::vector<TensorBase> run();

 private:
  struct Written {
    explicit Written(const TensorBase& one)
        : tensor(one), data(one.data_ptr()), sizes(one.sizes()) {}
    TensorBase tensor;
    void* data;
    DimVector sizes;
  };

  OperatorHandle op_;
  const FunctionSchema* schema_;
  Stack stack_;
  SmallVector<Written, 3> written_;
};

// Copies a result to the framework's tensor, and converts its elements. Throws ValueError if the
// shape is not the one that the Meta kernel has promised.
void deliver(const TensorBase& result, const TensorBase& destination, const FunctionSchema& schema);

}  // namespace opgen::frameworks
