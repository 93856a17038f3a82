// kernel_adapters.h: functions that generated code registers around a kernel or instead of one:
// conversion of the signature, device checks and guards, and Meta kernels that keep the sizes.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/device/device_guard.h"
#include "opgen/dispatch/operator.h"
#include "opgen/dispatch/own_tensor.h"
#include "opgen/registration/common_device.h"
#include "opgen/registration/concrete.h"

namespace opgen {

namespace detail {

// Converts an argument from the dispatcher's type to the kernel's. Valid until the call returns.
template <class To, class From>
struct Adapted {
  From&& value;
  operator To() {  // NOLINT
    if constexpr (std::is_convertible_v<From&&, To>) {
      return static_cast<To>(static_cast<From&&>(value));
    } else {
      return static_cast<To>(concrete(value));
    }
  }
};
// For the dispatcher, a `Tensor?` that is written has the type `Tensor&`.
template <class T>
struct Adapted<std::optional<T>&, T&> {
  explicit Adapted(T& tensor) : value(tensor) {}
  operator std::optional<T>&() { return value; }  // NOLINT
  std::optional<T> value;
};

}  // namespace detail

// Gives a kernel the operator's signature, if its own differs.
template <class Op, class FunctionPointer, FunctionPointer function,
          class Schema = typename Op::schema>
struct Adapt;
template <class Op, class NR, class... NA, NR (*function)(NA...), class R, class... A>
struct Adapt<Op, NR (*)(NA...), function, R(A...)> {
  static_assert(sizeof...(NA) == sizeof...(A),
                "the kernel must take as many arguments as the operator");
  static R call(A... arguments) {
    if constexpr (std::is_same_v<typename detail::WithTensor<Tensor, NR(NA...)>::type, R(A...)>) {
      // The library's class Tensor only adds methods, so the functions are called alike.
      return reinterpret_cast<R (*)(A...)>(reinterpret_cast<void*>(function))(
          std::forward<A>(arguments)...);
    } else {
      return static_cast<R>(function(detail::Adapted<NA, A>{std::forward<A>(arguments)}...));
    }
  }
};

namespace detail {

// The device of an argument, or of the first tensor in it.
template <class T>
std::optional<Device> device_to_guard(const T& argument) {
  if constexpr (std::is_same_v<T, Device>) {
    return argument;
  } else if constexpr (requires {
                         argument.defined();
                         argument.device();
                       }) {
    if (!argument.defined()) return std::nullopt;
    return argument.device();
  } else if constexpr (requires { argument.has_value(); }) {
    if (!argument.has_value()) return std::nullopt;
    return device_to_guard(*argument);
  } else {
    for (const auto& element : argument) {
      if (std::optional<Device> device = device_to_guard(element)) return device;
    }
    return std::nullopt;
  }
}

}  // namespace detail

// Checks that the tensors at `checked` share a device, then runs the kernel with the device of
// argument `guarded` current. `guarded` is a tensor-like argument or a Device?; -1 means none.
template <class Op, class FunctionPointer, FunctionPointer function, bool check, class Checked,
          int guarded, class Schema = typename Op::schema>
struct DeviceGuarded;
template <class Op, class FunctionPointer, FunctionPointer function, bool check,
          std::size_t... checked, int guarded, class R, class... A>
struct DeviceGuarded<Op, FunctionPointer, function, check, std::index_sequence<checked...>, guarded,
                     R(A...)> {
  static R call(A... arguments) {
    [[maybe_unused]] auto all = std::forward_as_tuple(arguments...);
    if constexpr (check) {
      std::optional<Device> common;
      (detail::check_common_device<Op>(common, std::get<checked>(all), checked), ...);
    }
    OptionalDeviceGuard guard;
    if constexpr (guarded >= 0) guard.reset_device(detail::device_to_guard(std::get<guarded>(all)));
    return Adapt<Op, FunctionPointer, function>::call(std::forward<A>(arguments)...);
  }
};

// The Meta kernel of an in-place operator that has none of its own. It keeps the sizes.
template <class Op, class Schema = typename Op::schema>
struct MetaInplaceStub;
template <class Op, class R, class First, class... A>
struct MetaInplaceStub<Op, R(First, A...)> {
  static R call(First self, A...) {
    const auto& tensor = self;
    // A fake of target torch-stable is on the device of the tensor that it stands for.
    if constexpr (
        requires { tensor.is_meta(); } && !requires { tensor.unsafeGetTensorImpl()->fake(); }) {
      OPGEN_CHECK_NOT_IMPLEMENTED(tensor.is_meta(), Op::name, ": the Meta kernel got a tensor on ",
                                  tensor.device());
    }
    return static_cast<R>(self);
  }
};

// The Meta kernel of an operator that returns only arguments that it writes: It computes nothing
// and keeps the sizes. `Returned` are the positions of the returned arguments.
template <class Op, class Returned, class Schema = typename Op::schema>
struct MetaOfWritten;
template <class Op, std::size_t... returned, class R, class... A>
struct MetaOfWritten<Op, std::index_sequence<returned...>, R(A...)> {
  static R call(A... arguments) {
    [[maybe_unused]] const std::tuple<A&...> all(arguments...);
    if constexpr (std::is_void_v<R>) {
      return;
    } else {
      return R(value(std::get<returned>(all))...);
    }
  }

 private:
  template <class T>
  static decltype(auto) value(T& argument) {
    if constexpr (requires { argument.vec(); }) {
      return argument.vec();
    } else {
      return (argument);
    }
  }
};

}  // namespace opgen
