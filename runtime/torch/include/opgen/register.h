// register.h: the templates that generated registrations use: kernels in the form that the
// dispatcher takes, and adapters of their signatures.
#pragma once

#include <ATen/core/dispatch/DispatchKeyExtractor.h>
#include <torch/library.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opgen/dispatch/operator.h"
#include "opgen/dispatch/registration.h"
#include "opgen/registration/meta_kernel.h"
#include "opgen/registration/served_kernels.h"
#include "opgen/stub.h"
#include "opgen/symbolic/symbolic_iterator.h"

namespace opgen {

// Passes the function as a pointer, not as a type of its own: PyTorch then compiles one dispatch
// entry and one boxed call for each signature, instead of one for each kernel, Meta kernel,
// composite and functionalization.
template <class Op, typename Op::schema* function>
constexpr auto kernel() {
  return function;
}
template <class Op>
constexpr auto kernel(DirectKernel<Op> kernel) {
  return kernel.function;
}
// A row without a function: the call continues with the next key.
template <class Op>
torch::CppFunction fallthrough() {
  return torch::CppFunction::makeFallthrough();
}
// Whether the functions of a row for another device are part of the build.
struct OtherDevice {
  bool is_built;
  const char* name;
};
// Has PyTorch's messages name an existing function in place of the generated source, and the
// devices for which its operator has rows that are left out.
template <class Function>
torch::CppFunction named(Function* function, std::string name,
                         std::initializer_list<OtherDevice> others = {}) {
  for (const OtherDevice& other : others) {
    if (!other.is_built) name.append("; built without ").append(other.name);
  }
  const auto& library = detail::Registrations::of_this_library();
  return torch::CppFunction(function).debug("registered at " + library.place(name));
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

// Registers custom classes of namespace `name` before the schemas and kernels that name them. It
// runs once, even if several sources of a shared library request it.
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

// Converts an argument from the dispatcher's type to the kernel's type. It lives until the call
// returns.
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
// If the operator writes an argument of type `Tensor?`, the dispatcher passes it as `Tensor&`.
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

// Adapts a kernel whose signature differs from the operator's.
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

// Checks that the tensors at the positions `checked` are on the same device, then runs the kernel
// with the device of the argument at `guarded` current. `guarded` is the position of a tensor, a
// list of tensors or a Device?; -1 means none.
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

// Checks that the tensors at the positions `checked` are on the same device, then runs a structured
// kernel, which makes the device of its outputs current.
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

// The Meta kernel of an in-place operator for which the author has written none. The sizes do not
// change.
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

// The Meta kernel of an operator that returns only arguments that it writes. It computes nothing,
// and the sizes do not change. `Returned` contains the positions of the returned arguments.
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

// Selects the backend of a library's operator by the device argument of the call (a Device or a
// Device? at position `device`) and by its tensors, if any.
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

// Selects the backend of a factory from its options. dtype, layout and device are at the positions
// `dtype`, `dtype` + 1 and `dtype` + 2.
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
