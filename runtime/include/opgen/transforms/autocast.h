// autocast.h: mixed precision. In an enabled scope, wrappers at the keys AutocastCPU, AutocastCUDA
// and AutocastXPU convert the arguments of an operator before it runs.
//
//   Tensor mymatmul_autocast(const Tensor& self, const Tensor& other) {
//     ExcludeDispatchKeyGuard no_autocast(DispatchKey::AutocastCPU);
//     Tensor a = autocast::cached_cast(kBFloat16, self);
//     return mymatmul(a, autocast::cached_cast(kBFloat16, other));
//   }
//   OPGEN_LIBRARY_IMPL(myops, AutocastCPU, m) { m.impl("mymatmul", mymatmul_autocast); }
//
// or, if the wrapper follows one of the three usual policies,
//
//   OPGEN_LIBRARY_IMPL(myops, AutocastCPU, m) { m.impl("mymatmul", autocast::lower_precision()); }
//
// An operator without a wrapper is not affected.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/registration/registration_tables.h"
#include "opgen/schema/library.h"

namespace opgen::autocast {

// ---- The scope ---------------------------------------------------------------------------------

// Turns autocast on for one device on this thread; scopes nest. The dtype Undefined means BFloat16,
// or Half for CUDA and XPU. Converted weights are cached until the outermost scope ends.
class OPGEN_API Mode {
 public:
  explicit Mode(DeviceType device = kCPU, ScalarType dtype = ScalarType::Undefined,
                bool enabled = true, bool cache_enabled = true);
  ~Mode();
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;

 private:
  LocalKeysGuard keys_;
  DeviceType device_;
  ScalarType dtype_;
  bool cache_enabled_;
};

// Returns AutocastCPU for cpu, and so on. Throws Error for a device without such a key.
[[nodiscard]] OPGEN_API DispatchKey key_of(DeviceType device);
[[nodiscard]] OPGEN_API bool is_enabled(DeviceType device = kCPU);
// Returns the lower-precision dtype of the scope.
[[nodiscard]] OPGEN_API ScalarType lower_precision_dtype(DeviceType device = kCPU);
OPGEN_API void clear_cache() noexcept;
[[nodiscard]] OPGEN_API std::size_t cache_size() noexcept;

// ---- Casts -------------------------------------------------------------------------------------

// Returns whether autocast may convert the tensor, which must be on the device and have a floating
// dtype other than Double.
[[nodiscard]] OPGEN_API bool is_eligible(const TensorBase& tensor, DeviceType device = kCPU);

namespace internal {
[[nodiscard]] OPGEN_API TensorBase cached_cast(ScalarType to, const TensorBase& tensor,
                                               DeviceType device);
[[nodiscard]] OPGEN_API ScalarType promote_type(ScalarType current, DeviceType device,
                                                const TensorBase& tensor);
}  // namespace internal

// Converts an eligible tensor to `to`; returns any other argument unchanged. A Float leaf that
// requires a gradient (a weight) is converted once per scope, unless it changes in between.
template <class T>
[[nodiscard]] auto cached_cast(ScalarType to, const T& argument, DeviceType device = kCPU) {
  if constexpr (std::is_base_of_v<TensorBase, T>) {
    return T(internal::cached_cast(to, argument, device));
  } else if constexpr (detail::TensorsOf<T>::value && requires { argument.has_value(); }) {
    using Element = typename T::value_type;
    return argument.has_value() ? T(Element(internal::cached_cast(to, *argument, device))) : T();
  } else if constexpr (detail::TensorsOf<T>::value && requires { argument.begin(); }) {
    using Element = std::remove_cvref_t<decltype(*argument.begin())>;
    std::vector<Element> converted;
    for (const Element& each : argument) converted.push_back(cached_cast(to, each, device));
    if constexpr (std::is_constructible_v<T, std::vector<Element>> &&
                  !std::is_trivially_copyable_v<T>) {
      return T(std::move(converted));
    } else {
      return converted;  // owns the elements of an ArrayRef
    }
  } else {
    return argument;
  }
}

// Returns the widest dtype among `current` and the dtypes of the eligible tensors in the arguments
// and in lists. Throws Error for Double.
template <class... T>
[[nodiscard]] ScalarType promote_type(ScalarType current, DeviceType device,
                                      const T&... arguments) {
  auto one = [&](const auto& argument, const auto& self) -> void {
    using A = std::remove_cvref_t<decltype(argument)>;
    if constexpr (std::is_base_of_v<TensorBase, A>) {
      current = internal::promote_type(current, device, argument);
    } else if constexpr (detail::TensorsOf<A>::value && requires { argument.has_value(); }) {
      if (argument.has_value()) self(*argument, self);
    } else if constexpr (detail::TensorsOf<A>::value && requires { argument.begin(); }) {
      for (const auto& each : argument) self(each, self);
    }
  };
  (one(arguments, one), ...);
  return current;
}

// ---- Wrappers ----------------------------------------------------------------------------------

enum class Policy : std::uint8_t {
  LowerPrecision,  // convolutions, matrix products
  Fp32,            // reductions, exponentials
  Promote,         // several floating-point inputs that must agree
};

// The wrapper of a generated operator. Written arguments are not converted.
template <Policy policy, class Op, DeviceType device = kCPU, class Signature = typename Op::schema>
struct Wrapper;
template <Policy policy, class Op, DeviceType device, class R, class... A>
struct Wrapper<policy, Op, device, R(A...)> {
  static R call(A... arguments) {
    ExcludeDispatchKeyGuard no_autocast{DispatchKeySet(key_of(device))};
    ScalarType to = kFloat;
    if constexpr (policy == Policy::LowerPrecision) to = lower_precision_dtype(device);
    if constexpr (policy == Policy::Promote) {
      to = promote_type(lower_precision_dtype(device), device, arguments...);
    }
    return detail::call<R, A...>(Op::slot, cast_argument<A>(to, arguments)...);
  }

 private:
  template <class P, class T>
  static decltype(auto) cast_argument(ScalarType to, T& argument) {
    constexpr bool written =
        std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;
    if constexpr (written || !detail::TensorsOf<std::remove_cvref_t<P>>::value) {
      return static_cast<P>(argument);
    } else {
      return cached_cast(to, argument, device);
    }
  }
};
template <class Op, DeviceType device = kCPU>
using LowerPrecision = Wrapper<Policy::LowerPrecision, Op, device>;
template <class Op, DeviceType device = kCPU>
using Fp32 = Wrapper<Policy::Fp32, Op, device>;
template <class Op, DeviceType device = kCPU>
using Promote = Wrapper<Policy::Promote, Op, device>;

// Returns the row of a generated operator for a KernelTable at AutocastCPU.
template <template <class, DeviceType> class W, class Op, DeviceType device = kCPU>
[[nodiscard]] KernelRow row() noexcept {
  return kernel<Op>(&W<Op, device>::call);
}

// The same policies as boxed kernels, for any operator.
[[nodiscard]] OPGEN_API CppFunction lower_precision();
[[nodiscard]] OPGEN_API CppFunction fp32();
[[nodiscard]] OPGEN_API CppFunction promote();

// Returns the base names of aten's operators that have a policy by default.
[[nodiscard]] OPGEN_API ArrayRef<const char*> eligible_operators(Policy policy);
// Registers boxed wrappers for the operators of these lists that are defined now: all overloads
// except out= and in-place ones. They are removed with the handles.
[[nodiscard]] OPGEN_API std::vector<RegistrationHandle> register_defaults(
    std::string_view ns = "aten", DeviceType device = kCPU);

}  // namespace opgen::autocast
