// kernel_macros.h: how meta functions and kernels are defined. The headers that opgen generates for
// an operator say what each name stands for; a parameter list that differs from the declared one
// does not compile.
//
//   OPGEN_META_FUNC(neg)(const Tensor& self) { … }
//   OPGEN_META_FUNC2(add, Tensor)(const Tensor& self, …) { … }
//   OPGEN_PRECOMPUTE_META_FUNC(cat)(…) { return precompute_out<>().set_dim(…); }
//   OPGEN_IMPL_FUNC(add_out_cpu)(const Tensor& self, …, const Tensor& out) { … }
//   OPGEN_KERNEL(foo_cpu)(const Tensor& self) { … }     unstructured; the return type is supplied
//   OPGEN_KERNEL2(foo_cpu, overload)(…) { … }           where one name serves several return types
//   OPGEN_UFUNC(add)(T self, T other, T alpha) { … }    one element; float for Half and BFloat16
// static_assert(true) makes `static`, `inline` or a template in front of a definition an error.
#pragma once

#define OPGEN_META_FUNC(name) \
  static_assert(true);        \
  void OPGEN_META_##name::meta
#define OPGEN_META_FUNC2(name, overload) \
  static_assert(true);                   \
  void OPGEN_META_##name##_##overload::meta
#define OPGEN_PRECOMPUTE_META_FUNC(name) \
  static_assert(true);                   \
  OPGEN_META_##name::meta_return_ty OPGEN_META_##name::meta
#define OPGEN_PRECOMPUTE_META_FUNC2(name, overload) \
  static_assert(true);                              \
  OPGEN_META_##name##_##overload::meta_return_ty OPGEN_META_##name##_##overload::meta
#define OPGEN_IMPL_FUNC(kernel) \
  static_assert(true);          \
  void OPGEN_IMPL_##kernel::impl
#define OPGEN_KERNEL(kernel) \
  static_assert(true);       \
  OPGEN_KERNEL_##kernel::ret OPGEN_KERNEL_##kernel::call
#define OPGEN_KERNEL2(kernel, overload) \
  static_assert(true);                  \
  OPGEN_KERNEL_##kernel::ret_##overload OPGEN_KERNEL_##kernel::call
#define OPGEN_UFUNC(name) \
  static_assert(true);    \
  OPGEN_UFUNC_##name
