// tvm_ffi.h: TvmFunction, the function that TVM-FFI calls for the operators of one name, and the
// macro OPGEN_TVM_FFI, one row for each of them in generated code.
#pragma once

#include <tvm/ffi/c_api.h>

#include <vector>

#include "opgen/core/atomic.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/schema/function_schema.h"

namespace opgen::frameworks {

class TvmFunction {
 public:
  // `operators` are full names, with blanks between them; without any, `doc` says why TVM-FFI
  // cannot call the operator. `metadata` is JSON. Registers the function "library.name" with
  // TVM-FFI, where its stub generator finds it, unless there is one of this name.
  TvmFunction(const char* name, const char* operators, const char* metadata, const char* doc);

  // Returns 0, or -1 with TVM-FFI's error set. No exception leaves it.
  int call(const TVMFFIAny* arguments, std::int32_t count, TVMFFIAny* result) const noexcept;
  static int text(const char* text, TVMFFIAny* result) noexcept;
  [[nodiscard]] const char* metadata() const noexcept { return metadata_; }
  [[nodiscard]] const char* doc() const noexcept { return doc_; }

  // An operator, and the numbers of arguments that it takes.
  struct Overload {
    OperatorHandle op;
    const FunctionSchema* schema;
    std::int32_t least, most, out;
  };

 private:
  [[nodiscard]] const std::vector<Overload>& overloads() const;

  const char* name_;
  const char* operators_;
  const char* metadata_;
  const char* doc_;
  // Set by the first call, and never deleted.
  mutable Atomic<const std::vector<Overload>*> overloads_ = nullptr;
};

}  // namespace opgen::frameworks

#define OPGEN_TVM_FFI_SYMBOL(SYMBOL, BODY)                                                     \
  extern "C" __attribute__((visibility("default"))) int SYMBOL(                                \
      void*, [[maybe_unused]] const TVMFFIAny* arguments, [[maybe_unused]] std::int32_t count, \
      TVMFFIAny* result) {                                                                     \
    return BODY;                                                                               \
  }

#define OPGEN_TVM_FFI(LIBRARY, NAME, OPERATORS, METADATA, DOC)                                     \
  static ::opgen::frameworks::TvmFunction opgen_tvm_##NAME(LIBRARY "." #NAME, OPERATORS, METADATA, \
                                                           DOC);                                   \
  OPGEN_TVM_FFI_SYMBOL(__tvm_ffi_##NAME, opgen_tvm_##NAME.call(arguments, count, result))          \
  OPGEN_TVM_FFI_SYMBOL(__tvm_ffi__metadata_##NAME,                                                 \
                       opgen_tvm_##NAME.text(opgen_tvm_##NAME.metadata(), result))                 \
  OPGEN_TVM_FFI_SYMBOL(__tvm_ffi__doc_##NAME, opgen_tvm_##NAME.text(opgen_tvm_##NAME.doc(), result))
