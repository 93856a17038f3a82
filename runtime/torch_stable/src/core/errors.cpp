// errors.cpp: errors about dtypes and options in PyTorch's words.
#include "dtype_names.h"

#include "opgen/core/scalar.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/tensor/tensor_options.h"

namespace opgen::detail {

namespace {

const char* overflow_name(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::Byte:
      return "uint8_t";
    case ScalarType::Char:
      return "int8_t";
    case ScalarType::Short:
      return "int16_t";
    case ScalarType::Int:
      return "int32_t";
    case ScalarType::Long:
      return "int64_t";
    default:
      return cpp_name(type);
  }
}

}  // namespace

void throw_unsupported_dtype(const char* name, ScalarType dtype) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "\"", name, "\" not implemented for '", dtype, "'");
  __builtin_unreachable();
}

void throw_scalar_overflow(ScalarType target) {
  OPGEN_CHECK(false, "value cannot be converted to type ", overflow_name(target),
              " without overflow");
  __builtin_unreachable();
}
void throw_requires_grad() {
  OPGEN_CHECK(false,
              "Operators taking TensorOptions cannot take a TensorOptions with "
              "options.requires_grad set as true. This isn't implemented yet.");
  __builtin_unreachable();
}
void throw_format_twice() {
  OPGEN_CHECK(false,
              "Cannot set memory_format both in tensor options and explicit argument; please "
              "delete the redundant setter.");
  __builtin_unreachable();
}

const char* cpp_name(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::Byte:
      return "unsigned char";
    case ScalarType::Char:
      return "signed char";
    case ScalarType::Short:
      return "short int";
    case ScalarType::Int:
      return "int";
    case ScalarType::Long:
      return "long int";
    case ScalarType::Half:
      return "c10::Half";
    case ScalarType::Float:
      return "float";
    case ScalarType::Double:
      return "double";
    case ScalarType::ComplexFloat:
      return "c10::complex<float>";
    case ScalarType::ComplexDouble:
      return "c10::complex<double>";
    case ScalarType::Bool:
      return "bool";
    case ScalarType::BFloat16:
      return "c10::BFloat16";
    case ScalarType::Undefined:
      break;
  }
  return toString(type);
}

}  // namespace opgen::detail
