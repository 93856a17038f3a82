// register.h: what generated registrations are made of: kernels as the dispatcher takes them, and
// adapters of their signatures.
#pragma once

#include <ATen/core/dispatch/DispatchKeyExtractor.h>
#include <torch/library.h>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/operator.h"
#include "opgen/registration.h"
#include "opgen/structured.h"
#include "opgen/stub.h"
#include "opgen/symbolic_iterator.h"

namespace opgen {

// A pointer and no type for each function: PyTorch then makes one entry and one boxed call for each
// signature, where kernels, Meta, composites and functionalization would each have their own.
template <class Op, typename Op::schema* function>
constexpr auto kernel() {
  return function;
}
namespace detail {
template <class Schema>
struct WithKeys;
template <class R, class... A>
struct WithKeys<R(A...)> {
  using type = R(DispatchKeySet, A...);
};
}  // namespace detail
template <class Op, typename detail::WithKeys<typename Op::schema>::type* function>
constexpr auto kernel() {
  return function;
}

// Registers custom classes of namespace `name` before the schemas and kernels that name them, once
// however many sources of a shared library ask for it.
template <auto define>
__attribute__((visibility("hidden"))) bool define_class(const char* name) {
  static const bool done = detail::Registrations::of_this_library().add(
      torch::Library::FRAGMENT, name, std::nullopt, __FILE__, __LINE__,
      [](torch::Library& library) { define(library); });
  return done;
}
#define OPGEN_DEFINE_CLASS(name, define)                                       \
  [[maybe_unused]] static const bool C10_ANONYMOUS_VARIABLE(opgen_class_of_) = \
      opgen::define_class<&define>(#name);

namespace detail {

// An argument on its way from the dispatcher's type to the kernel's. Lives until the call returns.
template <class To, class From>
struct Adapted {
  From&& value;
  operator To() {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_convertible_v<From&&, To>) {
      return static_cast<To>(static_cast<From&&>(value));
    } else {
      return static_cast<To>(concrete(value));
    }
  }
};
// A written `Tensor?` is `Tensor&` to the dispatcher.
template <class T>
struct Adapted<std::optional<T>&, T&> {
  explicit Adapted(T& tensor) : value(tensor) {}
  operator std::optional<T>&() { return value; }  // NOLINT(google-explicit-constructor)
  std::optional<T> value;
};

inline std::optional<Device> device_to_guard(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}
inline std::optional<Device> device_to_guard(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? device_to_guard(*tensor) : std::nullopt;
}
inline std::optional<Device> device_to_guard(const std::optional<Device>& device) {
  return device;
}
inline std::optional<Device> device_to_guard(const Device& device) {
  return device;
}
inline std::optional<Device> device_to_guard(const std::optional<TensorList>& tensors);
template <class T>
std::optional<Device> device_to_guard(const T& tensors) {
  for (const auto& tensor : tensors) {
    if (const std::optional<Device> found = device_to_guard(tensor)) return found;
  }
  return std::nullopt;
}

inline std::optional<Device> device_to_guard(const std::optional<TensorList>& tensors) {
  return tensors.has_value() ? device_to_guard(*tensors) : std::nullopt;
}

}  // namespace detail

// Gives a kernel whose signature differs from the operator's the operator's signature.
template <class Op, class FunctionPointer, FunctionPointer function,
          class Schema = typename Op::schema>
struct Adapt;
template <class Op, class NR, class... NA, NR (*function)(NA...), class R, class... A>
struct Adapt<Op, NR (*)(NA...), function, R(A...)> {
  static_assert(sizeof...(NA) == sizeof...(A),
                "the kernel takes as many arguments as the operator");
  static R call(A... arguments) {
    return static_cast<R>(function(detail::Adapted<NA, A>{std::forward<A>(arguments)}...));
  }
};

// Checks that the tensors at `checked` share a device, then runs the kernel with the device of
// argument `guarded` current. `guarded` is a tensor-like argument or a Device?; -1: none.
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
      (detail::check_device<Op>(common, std::get<checked>(all), checked), ...);
    }
    c10::OptionalDeviceGuard guard;
    if constexpr (guarded >= 0) {
      const std::optional<Device> device = detail::device_to_guard(std::get<guarded>(all));
      if (device.has_value()) guard.reset_device(*device);
    }
    return Adapt<Op, FunctionPointer, function>::call(std::forward<A>(arguments)...);
  }
};

// Checks that the tensors at `checked` share a device, then runs a structured kernel, which makes
// the device of its outputs current itself.
template <class Op, typename Op::schema* function, class Checked,
          class Schema = typename Op::schema>
struct DeviceChecked;
template <class Op, typename Op::schema* function, std::size_t... checked, class R, class... A>
struct DeviceChecked<Op, function, std::index_sequence<checked...>, R(A...)> {
  static R call(A... arguments) {
    std::tuple<A&...> all(arguments...);
    std::optional<Device> common;
    (detail::check_device<Op>(common, std::get<checked>(all), checked), ...);
    return function(std::forward<A>(arguments)...);
  }
};

// The Meta kernel of an in-place operator whose shape rule nobody wrote: the sizes stay.
template <class Op, class Schema = typename Op::schema>
struct MetaInplaceStub;
template <class Op, class R, class First, class... A>
struct MetaInplaceStub<Op, R(First, A...)> {
  static R call(First self, A...) {
    const auto& tensor = self;
    if constexpr (requires { tensor.is_meta(); }) {
      TORCH_CHECK_NOT_IMPLEMENTED(tensor.is_meta(), Op::name, ": the Meta kernel got a tensor on ",
                                  tensor.device());
    }
    return static_cast<R>(self);
  }
};

// The Meta kernel of an operator that returns nothing but arguments that it writes: nothing is to
// be computed, and the sizes stay. `Returned`: the positions of what it returns.
template <class Op, class Returned, class Schema = typename Op::schema>
struct MetaOfWritten;
template <class Op, std::size_t... returned, class R, class... A>
struct MetaOfWritten<Op, std::index_sequence<returned...>, R(A...)> {
  static R call(A... arguments) {
    [[maybe_unused]] const std::tuple<A&...> all(arguments...);
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (detail::kHoldsReferences<R>) {
      return detail::return_outputs<R>(std::get<returned>(all)...);
    } else {
      return R(value(std::get<returned>(all))...);
    }
  }

 private:
  template <class T>
  static auto value(const T& argument) {
    if constexpr (requires { argument.vec(); }) {
      return argument.vec();
    } else {
      return argument;
    }
  }
};

// Chooses the backend of an operator of a library by the device that a call says, and by its
// tensors, if any. The device, a Device or a Device?, stands at `device`.
template <class Op, std::size_t device, class Schema = typename Op::schema>
struct BackendSelectByDevice;
template <class Op, std::size_t device, class R, class... A>
struct BackendSelectByDevice<Op, device, R(A...)> {
  static R call(A... arguments) {
    const std::optional<Device> given = std::get<device>(std::forward_as_tuple(arguments...));
    DispatchKeySet keys(c10::computeDispatchKey(std::nullopt, std::nullopt, given));
    keys = c10::impl::computeDispatchKeySet(
        keys | c10::detail::multi_dispatch_key_set(arguments...),
        DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect));
    return Op::redispatch(keys, std::forward<A>(arguments)...);
  }
};

// Chooses the backend of a factory from its options. dtype, layout and device stand at `dtype`, + 1
// and + 2.
template <class Op, std::size_t dtype, class Schema = typename Op::schema>
struct BackendSelect;
template <class Op, std::size_t dtype, class R, class... A>
struct BackendSelect<Op, dtype, R(A...)> {
  static R call(A... arguments) {
    auto all = std::forward_as_tuple(arguments...);
    DispatchKeySet keys(c10::computeDispatchKey(std::get<dtype>(all), std::get<dtype + 1>(all),
                                                std::get<dtype + 2>(all)));
    constexpr bool has_tensors = (false || ... || detail::kHoldsTensors<std::remove_cvref_t<A>>);
    if constexpr (has_tensors) {
      keys = c10::impl::computeDispatchKeySet(
          keys | c10::detail::multi_dispatch_key_set(arguments...),
          DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect));
    }
    return Op::redispatch(keys, std::forward<A>(arguments)...);
  }
};

}  // namespace opgen
