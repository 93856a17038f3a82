// apart_out.h: ApartOut checks whether the outputs of an out= kernel share memory before it runs
// the kernel.
//
// A kernel that resizes or writes an output in the storage of an input may read elements that it
// has already overwritten, or freed memory. In that case the kernel receives new tensors
// (stand-ins), whose elements are copied to the outputs at the end.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/dispatch/operator.h"
#include "opgen/registration/structured.h"
#include "opgen/structured/output_sinks.h"

namespace opgen {

namespace detail {

// The argument that a kernel receives instead of an output argument, which is a tensor or a list of
// tensors.
template <class T>
struct StandIn {
  explicit StandIn(const TensorBase& output) : tensor(make_stand_in(output)) {}
  T& get() noexcept { return tensor; }
  void copy_to(const T& output, const WrittenCall& inputs, std::size_t position) const {
    copy_stand_in(inputs, position, output, tensor);
  }
  T tensor;
};
template <class T>
struct StandIn<ArrayRef<T>> {
  explicit StandIn(ArrayRef<T> outputs) {
    for (const T& output : outputs) tensors.push_back(T(make_stand_in(output)));
  }
  ArrayRef<T> get() noexcept { return ArrayRef<T>(tensors); }
  void copy_to(ArrayRef<T> outputs, const WrittenCall& inputs, std::size_t position) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      copy_stand_in(inputs, position, outputs[i], tensors[i]);
    }
  }
  std::vector<T> tensors;
};

}  // namespace detail

// The last `outs` arguments are the outputs; `function` has the operator's own signature.
template <class Op, typename Op::schema* function, std::size_t outs, bool elementwise,
          class Signature = typename Op::schema>
struct ApartOut;
template <class Op, typename Op::schema* function, std::size_t outs, bool elementwise, class R,
          class... A>
struct ApartOut<Op, function, outs, elementwise, R(A...)> {
  static R call(A... arguments) {
    const std::tuple<A&...> all(arguments...);
    if (OPGEN_LIKELY(!detail::needs_stand_ins(kInputs, &Outputs::visit, &all, elementwise))) {
      return function(std::forward<A>(arguments)...);
    }
    return call_apart(all, std::make_index_sequence<kFirst>{}, std::make_index_sequence<outs>{});
  }

 private:
  using Arguments = std::tuple<A&...>;
  static constexpr std::size_t kFirst = sizeof...(A) - outs;

  template <class Positions>
  struct Shifted;
  template <std::size_t... O>
  struct Shifted<std::index_sequence<O...>> {
    using type = std::index_sequence<kFirst + O...>;
  };
  using Outputs =
      detail::TensorsAmong<Arguments, typename Shifted<std::make_index_sequence<outs>>::type>;
  static constexpr detail::WrittenCall kInputs{
      detail::schema_of<Op>(),
      &detail::TensorsAmong<Arguments, std::make_index_sequence<kFirst>>::visit, kFirst,
      detail::kNoPosition, Aliasing::Apart};

  template <std::size_t... I, std::size_t... O>
  OPGEN_NOINLINE static R call_apart(const Arguments& all, std::index_sequence<I...>,
                                     std::index_sequence<O...>) {
    std::tuple<detail::StandIn<std::remove_cvref_t<std::tuple_element_t<kFirst + O, Arguments>>>...>
    stand_ins(std::get<kFirst + O>(all)...);
    static_cast<void>(
        function(std::forward<std::tuple_element_t<I, std::tuple<A...>>>(std::get<I>(all))...,
                 std::get<O>(stand_ins).get()...));
    (std::get<O>(stand_ins).copy_to(std::get<kFirst + O>(all), kInputs, kFirst + O), ...);
    return detail::return_outputs<R>(std::get<kFirst + O>(all)...);
  }
};

}  // namespace opgen
