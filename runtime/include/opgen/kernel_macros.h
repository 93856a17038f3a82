// kernel_macros.h: the macros that define meta functions and kernels. The generated headers of an
// operator declare the class that each name stands for, so a definition with other parameters does
// not compile.
//
//   OPGEN_META_FUNC(neg)(const Tensor& self) { … }
//   OPGEN_META_FUNC2(add, Tensor)(const Tensor& self, …) { … }
//   OPGEN_PRECOMPUTE_META_FUNC(cat)(…) { return precompute_out<>().set_dim(…); }
//   OPGEN_IMPL_FUNC(add_out_cpu)(const Tensor& self, …, const Tensor& out) { … }
//   OPGEN_KERNEL(foo_cpu)(const Tensor& self) { … }
//       an unstructured kernel; the macro names the return type
//   OPGEN_KERNEL2(foo_cpu, overload)(…) { … }
//       the same, if overloads with one name return different types
//   OPGEN_UFUNC(add)(T self, T other, T alpha) { … }
//       one element; T is float for Half and BFloat16
//
// static_assert(true) makes `static`, `inline` or a template in front of a definition an error.
//
// The macros are arranged for short compiler errors (docs/guides/compiler-errors.md shows them). In
// a system header g++ reports an error in a macro at the line that uses the macro. clang++ shows
// the macro's last line, with its comment. A name that no header declares appears in the error
// together with the header that would declare it.
#pragma once
#pragma GCC system_header

// clang-format off
#define OPGEN_META_FUNC(name) \
  static_assert(true);        \
  void OPGEN_NativeMetaFunctions_h_META_##name::meta  // in <namespace>/NativeMetaFunctions.h; opgen stub prints every name
#define OPGEN_META_FUNC2(name, overload) \
  static_assert(true);                   \
  void OPGEN_NativeMetaFunctions_h_META_##name##_##overload::meta  // in <namespace>/NativeMetaFunctions.h; opgen stub prints every name
#define OPGEN_PRECOMPUTE_META_FUNC(name) \
  static_assert(true);                   \
  OPGEN_NativeMetaFunctions_h_PRECOMPUTE_META_##name::meta  // in <namespace>/NativeMetaFunctions.h; opgen stub prints every name
#define OPGEN_PRECOMPUTE_META_FUNC2(name, overload) \
  static_assert(true);                              \
  OPGEN_NativeMetaFunctions_h_PRECOMPUTE_META_##name##_##overload::meta  // in <namespace>/NativeMetaFunctions.h; opgen stub prints every name
#define OPGEN_IMPL_FUNC(kernel) \
  static_assert(true);          \
  void OPGEN_NativeFunctions_h_IMPL_##kernel::impl  // in <namespace>/NativeFunctions.h; opgen stub prints every name
#define OPGEN_KERNEL(kernel) \
  static_assert(true);       \
  OPGEN_NativeFunctions_h_KERNEL_##kernel::kernel  // in <namespace>/NativeFunctions.h; opgen stub prints every name
#define OPGEN_KERNEL2(kernel, overload) \
  static_assert(true);                  \
  OPGEN_NativeFunctions_h_KERNEL2_##kernel::opgen_ret_##overload OPGEN_NativeFunctions_h_KERNEL2_##kernel::kernel  // in <namespace>/NativeFunctions.h; opgen stub prints every name
#define OPGEN_UFUNC(name) \
  static_assert(true);    \
  OPGEN_NativeFunctions_h_UFUNC_##name::name  // in <namespace>/NativeFunctions.h; opgen stub prints every name
// clang-format on
