// meta_kernel.h: MetaKernel, the Meta kernel of one operator, called without the dispatcher. It
// implements the functions in namespace <library>::meta, for both targets.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/core/error.h"
#include "opgen/dispatch/schema_text.h"
#include "opgen/registration/direct_kernel.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

namespace detail {

// Returns a tensor on Meta with the same sizes, strides and dtype.
template <class T>
[[nodiscard]] T tensor_on_meta(const T& tensor) {
  if (!tensor.defined() || tensor.is_meta() || tensor.layout() != kStrided) return tensor;
  T result(detail::empty_strided_symint(tensor.sym_sizes(), tensor.sym_strides(),
                                        tensor.options().device(kMeta)));
  // A wrapped number still counts as a number in type promotion.
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

// Converts an argument of Op's function: tensors become tensors on Meta, and devices become Meta. A
// tensor that the operator writes must already be on Meta.
template <class Op, std::size_t position, class A, class Type = std::remove_cvref_t<A>>
struct MetaArgument {
  explicit MetaArgument(A argument) : value(std::forward<A>(argument)) {}
  operator A() { return std::forward<A>(value); }  // NOLINT(google-explicit-constructor)
  A value;
};

template <class Op, std::size_t position>
void check_written(const TensorBase& tensor) {
  static constexpr ArgumentText argument = schema_argument(Op::schema_str, position);
  if constexpr (argument.is_written()) {
    OPGEN_CHECK_VALUE(!tensor.defined() || tensor.is_meta(), Op::name, " on Meta writes '",
                      argument.name, "', which is on ", tensor.device(),
                      ": pass a tensor on device meta");
  }
}
template <class Op, std::size_t position, class T>
[[nodiscard]] T argument_on_meta(const T& tensor) {
  check_written<Op, position>(tensor);
  return tensor_on_meta(tensor);
}
template <class Op, std::size_t position, class T>
[[nodiscard]] std::optional<T> argument_on_meta(const std::optional<T>& tensor) {
  if (!tensor.has_value()) return std::nullopt;
  return argument_on_meta<Op, position>(*tensor);
}

// Passes a reference to the caller's handle, because the operator may resize or replace the tensor.
template <class Op, std::size_t position>
struct MetaArgument<Op, position, Tensor&, Tensor> {
  explicit MetaArgument(Tensor& argument) : value(argument) {
    check_written<Op, position>(argument);
  }
  operator Tensor&() { return value; }  // NOLINT(google-explicit-constructor)
  Tensor& value;
};
template <class Op, std::size_t position, class T>
requires std::is_same_v<T, Tensor>
struct MetaArgument<Op, position, std::optional<T>&, std::optional<T>> {
  explicit MetaArgument(std::optional<T>& argument) : value(argument) {
    if (argument.has_value()) check_written<Op, position>(*argument);
  }
  operator std::optional<T>&() { return value; }  // NOLINT(google-explicit-constructor)
  std::optional<T>& value;
};

// Converts a tensor, an optional tensor or a device.
template <class Op, std::size_t position, class A, class Type>
requires std::is_same_v<Type, Tensor> || std::is_same_v<Type, std::optional<Tensor>>
struct MetaArgument<Op, position, A, Type> {
  explicit MetaArgument(const Type& argument) : value(argument_on_meta<Op, position>(argument)) {}
  operator A() { return static_cast<A>(value); }  // NOLINT(google-explicit-constructor)
  Type value;
};
template <class Op, std::size_t position, class A, class Type>
requires std::is_same_v<Type, Device> || std::is_same_v<Type, std::optional<Device>>
struct MetaArgument<Op, position, A, Type> {
  explicit MetaArgument(const Type&) : value(Device(kMeta)) {}
  operator A() { return static_cast<A>(value); }  // NOLINT(google-explicit-constructor)
  Type value;
};

template <class T>
struct ListElement {
  static constexpr bool holds_tensors = false;
};
template <class T>
requires requires(const T& list) {
  list.begin();
  list.end();
  list.size();
}
struct ListElement<T> {
  using Iterated = std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>;
  static constexpr bool holds_optionals = std::is_convertible_v<Iterated, std::optional<Tensor>> &&
                                          !std::is_convertible_v<Iterated, const Tensor&>;
  static constexpr bool holds_tensors =
      std::is_convertible_v<Iterated, const Tensor&> || holds_optionals;
  using type = std::conditional_t<holds_optionals, std::optional<Tensor>, Tensor>;
};

// Converts a list of tensors or optional tensors.
template <class Op, std::size_t position, class A, class Type>
requires ListElement<Type>::holds_tensors struct MetaArgument<Op, position, A, Type> {
  using Element = typename ListElement<Type>::type;
  explicit MetaArgument(const Type& argument) : elements(moved(argument)), value(elements) {}
  operator A() { return static_cast<A>(value); }  // NOLINT(google-explicit-constructor)

  static std::vector<Element> moved(const Type& argument) {
    std::vector<Element> result;
    result.reserve(argument.size());
    for (const auto& element : argument) {
      const Element& tensor = static_cast<const Element&>(element);
      result.push_back(argument_on_meta<Op, position>(tensor));
    }
    return result;
  }
  std::vector<Element> elements;
  Type value;
};
template <class Op, std::size_t position, class A, class List>
requires ListElement<List>::holds_tensors struct MetaArgument<Op, position, A,
                                                              std::optional<List>> {
  explicit MetaArgument(const std::optional<List>& argument) {
    if (argument.has_value()) {
      list.emplace(*argument);
      value = static_cast<List>(*list);
    }
  }
  operator A() { return static_cast<A>(value); }  // NOLINT(google-explicit-constructor)
  std::optional<MetaArgument<Op, position, List, List>> list;
  std::optional<List> value;
};

}  // namespace detail

// Takes tensors on any device, and returns tensors on Meta. Allocates no memory for elements,
// unless the author's own Meta kernel does.
template <class Op, class Schema = typename Op::schema>
struct MetaKernel;
template <class Op, class R, class... A>
struct MetaKernel<Op, R(A...)> : DirectKernel<Op> {
  using DirectKernel<Op>::DirectKernel;

  decltype(auto) operator()(A... arguments) const {
    return call(std::index_sequence_for<A...>{}, std::forward<A>(arguments)...);
  }

 private:
  template <std::size_t... I>
  decltype(auto) call(std::index_sequence<I...>, A... arguments) const {
    return DirectKernel<Op>::operator()(
        detail::MetaArgument<Op, I, A>(std::forward<A>(arguments))...);
  }
};

}  // namespace opgen
