// existing.h: registers existing C++ functions of PyTorch's stable types as kernels. PyTorch calls
// them as TORCH_BOX does, so that a call costs what it cost before; direct functions convert.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "opgen/dispatch/operator.h"
#include "opgen/registration/built_devices.h"
#include "opgen/registration/registration_tables.h"
#include "opgen/stable_tensor.h"
#include "opgen/symbolic/symbolic.h"

namespace opgen::detail {

// Conversions for the templates below, which look for them: both of tensors, of sizes, and of the
// enumerations that the two libraries number differently.
template <class To>
requires std::is_same_v<To, torch::stable::Tensor> To concrete_as(const TensorBase& tensor) {
  return to_stable(tensor);
}
template <class To>
requires kIsTensor<To> To concrete_as(const torch::stable::Tensor& tensor) {
  return To(from_stable(tensor));
}
template <class To>
requires std::is_same_v<To, std::int64_t> To concrete_as(const SymInt& size) {
  return size.guard_int(__FILE__, __LINE__);
}
template <class To>
requires std::is_same_v<To, torch::headeronly::ScalarType> To concrete_as(ScalarType dtype) {
  return static_cast<To>(Words::code_of_scalar_type(dtype));
}
template <class To>
requires std::is_same_v<To, ScalarType> To concrete_as(torch::headeronly::ScalarType dtype) {
  return Words::scalar_type_of_code(static_cast<std::int32_t>(dtype));
}
template <class To>
requires std::is_same_v<To, torch::stable::Device> To concrete_as(const Device& device) {
  return To(static_cast<torch::headeronly::DeviceType>(device.type()), device.index());
}

}  // namespace opgen::detail

#include "../../../../include/opgen/registration/existing.h"

namespace opgen {
namespace detail {

template <class T, class From>
struct StoredAs<torch::headeronly::HeaderOnlyArrayRef<T>, From> {
  using type = std::vector<T>;
};

// Whether a type is one of opgen's, which PyTorch cannot convert.
template <class T>
inline constexpr bool kIsOwn =
    kIsTensor<T> || std::is_same_v<T, Scalar> || std::is_same_v<T, SymInt> ||
    std::is_same_v<T, Generator> || std::is_same_v<T, ScalarType> || std::is_same_v<T, Device>;
template <template <class...> class Template, class... T>
inline constexpr bool kIsOwn<Template<T...>> = (kIsOwn<std::remove_cvref_t<T>> || ...);
template <class T>
inline constexpr bool kIsOwn<ArrayRef<T>> = true;

template <class Function>
inline constexpr bool kIsBoxable = false;
template <class R, class... A>
inline constexpr bool kIsBoxable<R (*)(A...)> =
    !kIsOwn<std::remove_cvref_t<R>> && !(kIsOwn<std::remove_cvref_t<A>> || ...);

}  // namespace detail

// Returns the row of an existing function; `typed` calls it with opgen's types.
template <class Op, auto function, typename Op::ptr_schema typed>
KernelRow existing() noexcept {
  if constexpr (detail::kIsBoxable<decltype(function)>) {
    constexpr BoxedFunction boxed = &TORCH_BOX(function);
    return {Op::name, Op::overload_name, boxed, boxed, boxed, reinterpret_cast<void*>(typed),
            nullptr,  nullptr,           true};
  } else {
    return kernel<Op, typed>();
  }
}

}  // namespace opgen
