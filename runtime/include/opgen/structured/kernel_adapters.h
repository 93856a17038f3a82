// kernel_adapters.h: functions that generated code registers around a kernel or instead of one:
// conversion of the signature, device checks and guards, Meta kernels that keep the sizes, and the
// selection of a factory's backend.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/device/device_guard.h"
#include "opgen/dispatch/operator.h"

namespace opgen {

namespace detail {

// Converts an argument from the dispatcher's type to the kernel's. Valid until the call returns.
template <class To, class From>
struct Adapted {
  From&& value;
  operator To() { return static_cast<To>(static_cast<From&&>(value)); }  // NOLINT
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
    return static_cast<R>(function(detail::Adapted<NA, A>{std::forward<A>(arguments)}...));
  }
};

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
      (detail::check_common_device(common, std::get<checked>(all), Op::name, checked), ...);
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
    if constexpr (requires { tensor.is_meta(); }) {
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

namespace detail {

inline bool is_dense_cpu(std::optional<Layout> layout, std::optional<Device> device) noexcept {
  return (!layout.has_value() || *layout == kStrided) && (!device.has_value() || device->is_cpu());
}

}  // namespace detail

// Selects the backend of a factory by its options. dtype, layout and device are the arguments at
// `dtype`, `dtype` + 1 and `dtype` + 2.
template <class Op, std::size_t dtype, class Schema = typename Op::schema>
struct BackendSelect;
template <class Op, std::size_t dtype, class R, class... A>
struct BackendSelect<Op, dtype, R(A...)> {
  static R call(A... arguments) {
    if constexpr (!has_tensors) {
      // The most frequent case. The key is a constant and nothing else is called, so the arguments
      // stay in their registers and the compiler calls the kernel with a jump.
      auto all = std::forward_as_tuple(arguments...);
      if (OPGEN_LIKELY(detail::is_dense_cpu(std::get<dtype + 1>(all), std::get<dtype + 2>(all)))) {
        return Op::redispatch(DispatchKeySet(DispatchKey::CPU), std::forward<A>(arguments)...);
      }
    }
    return choose(std::forward<A>(arguments)...);
  }

 private:
  static constexpr bool has_tensors =
      (false || ... || detail::TensorsOf<std::remove_cvref_t<A>>::value);

  OPGEN_NOINLINE static R choose(A... arguments) {
    auto all = std::forward_as_tuple(arguments...);
    DispatchKeySet keys(compute_dispatch_key(std::get<dtype>(all), std::get<dtype + 1>(all),
                                             std::get<dtype + 2>(all)));
    if constexpr (has_tensors) {
      keys |= detail::with_local_keys((std::uint64_t(0) | ... | detail::keys_of(arguments))) &
              DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect);
    }
    return Op::redispatch(keys, std::forward<A>(arguments)...);
  }
};

// Does the same for an operator without tensors that has only a Device or Device? argument. An
// absent device means the CPU.
template <class Op, std::size_t device, class Schema = typename Op::schema>
struct BackendSelectByDevice;
template <class Op, std::size_t device, class R, class... A>
struct BackendSelectByDevice<Op, device, R(A...)> {
  static R call(A... arguments) {
    const std::optional<Device> given = std::get<device>(std::forward_as_tuple(arguments...));
    const DispatchKey key = compute_dispatch_key(std::nullopt, std::nullopt, given);
    return Op::redispatch(DispatchKeySet(key), std::forward<A>(arguments)...);
  }
};

}  // namespace opgen
