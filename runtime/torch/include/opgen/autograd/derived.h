// derived.h: the Autograd kernels of operators with a formula in derivatives.yaml. Generated code
// contains the formulas and the values that they read; the kernels, their graph nodes and forward
// mode are here.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/library.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/derived_formulas.h"
#include "opgen/autograd/derived_forward.h"
#include "opgen/autograd/derived_node.h"
#include "opgen/autograd/derived_saved.h"
#include "opgen/autograd/given.h"
#include "opgen/dispatch/operator.h"
#include "opgen/dispatch/registration.h"

namespace opgen::autograd {

// What an operator does with its arguments.
enum class Kind {
  functional,
  inplace,       // writes its first argument, and returns it or nothing
  inplace_view,  // changes the sizes and strides of its first argument, not its elements
  view,          // returns views of its first argument
  writes,        // writes arguments in any other way
  // Writes the elements of its first argument, a list. Each element has a node of the operator for
  // one tensor, whose formulas are in D.
  foreach_inplace,
};

namespace detail {

inline bool requires_grad(const at::Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad();
}
template <class T>
bool any_requires_grad(const T& argument) {
  bool any = false;
  for_each_slot(argument, [&](const at::Tensor& tensor) { any = any || requires_grad(tensor); });
  return any;
}
template <class T>
std::size_t slots_of(const T& argument) {
  if constexpr (std::is_convertible_v<const T&, const at::Tensor&>) {
    return 1;
  } else {
    std::size_t count = 0;
    for_each_slot(argument, [&](const at::Tensor&) { ++count; });
    return count;
  }
}

// The name without namespace and overload, as ATen's errors spell it.
inline std::string short_name(const char* name) {
  const std::string full = name;
  const std::size_t start = full.rfind(':') == std::string::npos ? 0 : full.rfind(':') + 1;
  return full.substr(start, full.find('.') - start);
}
[[noreturn]] inline void fail_not_differentiable(const char* name, std::size_t position) {
  TORCH_CHECK(false, "The function '", short_name(name),
              "' is not differentiable with respect to argument '",
              schema_of(name).arguments().at(position).name(),
              "'. This input cannot have requires_grad True.");
}
[[noreturn]] inline void fail_forward(const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Trying to use forward AD with ", name,
                              " that does not support it because it has not been implemented "
                              "yet");
}

// The use of each argument by an operator of kind `writes`, and for each result the position of the
// argument that it is, or the number of arguments.
struct Written {
  std::vector<bool> written;
  std::vector<bool> returned;
  std::vector<std::size_t> results;
};
inline Written written_of(const char* name) {
  const c10::FunctionSchema& schema = schema_of(name);
  Written all;
  for (const c10::Argument& argument : schema.arguments()) {
    const auto* alias = argument.alias_info();
    const bool written = alias != nullptr && alias->isWrite();
    bool returned = false;
    for (const c10::Argument& result : schema.returns()) {
      returned = returned || (written && result.alias_info() != nullptr &&
                              result.alias_info()->beforeSets() == alias->beforeSets());
    }
    all.written.push_back(written);
    all.returned.push_back(returned);
  }
  for (const c10::Argument& result : schema.returns()) {
    std::size_t i = 0;
    while (
        i < schema.arguments().size() &&
        (result.alias_info() == nullptr || schema.arguments()[i].alias_info() == nullptr ||
         result.alias_info()->beforeSets() != schema.arguments()[i].alias_info()->beforeSets())) {
      ++i;
    }
    all.results.push_back(i);
  }
  return all;
}

inline bool is_recorded_view(const at::Tensor& tensor) {
  const auto* view = torch::autograd::impl::get_view_autograd_meta(tensor);
  return view != nullptr && view->has_bw_view();
}
// `rebases`: the operator wrote the tensor. `in_place`: it is the first argument, and nothing else
// has a history.
inline void add_history(const at::Tensor& tensor, const NodePointer& node, bool rebases,
                        bool in_place) {
  if (!tensor.defined() || !torch::autograd::isDifferentiableType(tensor.scalar_type())) {
    node->add_input_metadata(torch::autograd::Node::undefined_input());
  } else if (rebases && !in_place && is_recorded_view(tensor)) {
    // The history of a base has one place for a node: one with a single output, whose first edge is
    // that of the old view. So the new values are copied, as PyTorch's copy_ records it.
    auto copy = opgen::detail::make_node<NodePointer, torch::autograd::CopyBackwards>();
    auto& fields = static_cast<torch::autograd::CopyBackwards&>(*copy);
    fields.src_options = tensor.options();
    const auto output = node->add_input_metadata(tensor);
    copy->set_next_edges({torch::autograd::impl::gradient_edge(tensor), {node, output}});
    // Asking for the edge made the old history that of the new version. The view's history is made
    // again once its base has the new one.
    auto* view = torch::autograd::impl::get_view_autograd_meta(tensor);
    view->set_attr_version(view->get_attr_version() - 1);
    torch::autograd::rebase_history(tensor, copy);
  } else if (rebases) {
    const auto output = node->add_input_metadata(tensor);
    torch::autograd::impl::rebase_history(tensor, {node, output});
  } else {
    const auto output = node->add_input_metadata(tensor);
    torch::autograd::impl::set_gradient_edge(tensor, {node, output});
  }
}

template <std::size_t position, std::size_t... all>
constexpr bool is_among(std::index_sequence<all...>) {
  return (false || ... || (position == all));
}

// The types of the results of an operator.
template <class R>
struct ResultsOf {
  using type = std::tuple<R>;
};
template <class... R>
struct ResultsOf<std::tuple<R...>> {
  using type = std::tuple<std::remove_cvref_t<R>...>;
};

template <class R>
auto results_of(R& result) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    return std::apply([](auto&... each) { return std::tie(std::as_const(each)...); }, result);
  } else {
    return std::tuple<const R&>(result);
  }
}

}  // namespace detail

namespace detail {

template <class D>
constexpr auto without_gradient() {
  if constexpr (requires { typename D::WithoutGradient; }) {
    return typename D::WithoutGradient();
  } else {
    return std::index_sequence<>();
  }
}
template <class D>
constexpr bool reads_self() {
  if constexpr (requires { D::kReadsSelf; }) return D::kReadsSelf;
  return false;
}
template <class D, class... T>
inline constexpr bool kHasForward = requires(ForwardCall& call, const T&... each) {
  D::forward(call, each...);
};

template <std::size_t... positions, class Arguments, class F>
void for_positions(std::index_sequence<positions...>, const Arguments& all, const F& f) {
  (f(std::get<positions>(all)), ...);
}
template <class D, class Arguments, class F>
void for_each_input(const Arguments& all, const F& f) {
  for_positions(typename D::Inputs(), all, f);
}

// Whether a call is recorded: a differentiable argument requires a gradient.
template <class D, class Arguments>
bool wants_history(const Arguments& all) {
  bool wants = false;
  for_each_input<D>(all,
                    [&](const auto& input) { wants = wants || detail::any_requires_grad(input); });
  return wants;
}

template <class D, class... T>
bool has_gradient([[maybe_unused]] const T&... each) {
  [[maybe_unused]] const Recording recording;
  if constexpr (requires { D::has_gradient(recording, each...); }) {
    return D::has_gradient(recording, each...);
  } else {
    return true;
  }
}

// A node, and which gradients it needs.
template <class D>
struct Made {
  NodePointer pointer;
  Recording recording;

  D& derivative() const { return static_cast<DerivedNode<D>&>(*pointer).derivative; }
};

// Makes the node of a call, and saves what its formulas read. `each` are the arguments; those that
// the operator may write are a Before.
template <class D, bool in_place, class Arguments, class... T>
Made<D> make_node(const Arguments& all, const T&... each) {
  static_assert(D::Inputs::size() <= 64);
  Made<D> made{opgen::detail::make_node<NodePointer, DerivedNode<D>>(), {}};
  auto& node = static_cast<DerivedNode<D>&>(*made.pointer);
  if constexpr (in_place) made.recording.run_in_place();
  std::size_t edges_there_are = 0;
  for_each_input<D>(all, [&](const auto& input) { edges_there_are += slots_of(input); });
  torch::autograd::edge_list edges;
  edges.reserve(edges_there_are);
  std::size_t number = 0;
  for_each_input<D>(all, [&](const auto& input) {
    for_each_slot(input, [&](const at::Tensor& tensor) {
      if (tensor.defined()) {
        edges.push_back(torch::autograd::impl::gradient_edge(tensor));
        if (edges.back().is_valid()) made.recording.need(number);
      } else {
        edges.emplace_back();
      }
    });
    node.ends[number++] = static_cast<std::uint32_t>(edges.size());
  });
  node.set_next_edges(std::move(edges));
  if constexpr (requires { node.derivative.save(made.recording, each...); }) {
    node.derivative.save(made.recording, each...);
  }
  return made;
}
template <class D, class... T>
void save_outputs(const Made<D>& made, [[maybe_unused]] const T&... results) {
  if constexpr (requires { made.derivative().save_outputs(made.recording, results...); }) {
    made.derivative().save_outputs(made.recording, results...);
  }
}

template <class D, class Results, std::size_t... outputs, std::size_t... numbers>
void set_tangents(const ForwardCall& call, const Results& results, std::index_sequence<outputs...>,
                  std::index_sequence<numbers...>) {
  (call.set(numbers, std::get<outputs>(results), D::kOperator), ...);
}
template <class D, class Results>
void set_tangents(const ForwardCall& call, const Results& results) {
  set_tangents<D>(call, results, typename D::Outputs(),
                  std::make_index_sequence<D::Outputs::size()>());
}

// Returns a copy of an argument that the operator is about to write, with its history and its
// tangent; and any other argument itself.
template <class D, class T>
auto kept_before(const T& argument, bool is_written) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return is_written && argument.defined() ? argument.clone() : argument;
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    return argument.has_value() ? std::optional(kept_before<D>(*argument, is_written)) : argument;
  } else if constexpr (std::is_same_v<T, at::TensorList>) {
    std::vector<at::Tensor> all;
    for (const at::Tensor& each : argument) all.push_back(kept_before<D>(each, is_written));
    return all;
  } else {
    if (is_written) fail_forward(D::kOperator);
    return std::cref(argument);
  }
}

// The argument, of which a node saves the value before the call.
template <class T>
decltype(auto) before_write(const T& argument, [[maybe_unused]] bool is_written) {
  if constexpr (std::is_same_v<T, at::Tensor> || std::is_same_v<T, at::TensorList>) {
    return Before<T>(argument, is_written);
  } else {
    return (argument);
  }
}

// The argument for element `i` of a list.
template <class T>
decltype(auto) element_of(const T& argument, [[maybe_unused]] std::size_t i) {
  if constexpr (std::is_same_v<T, at::TensorList> || std::is_same_v<T, at::ArrayRef<at::Scalar>>) {
    return argument[i];
  } else {
    return (argument);
  }
}

}  // namespace detail

template <class D, class Op, Kind kind, class Schema = typename Op::schema>
struct Recorded;
template <class D, class Op, Kind kind, class R, class... A>
struct Recorded<D, Op, kind, R(A...)> {
  static R call(c10::DispatchKeySet keys, A... arguments) {
    const Arguments all(arguments...);
    const bool grad_mode = at::GradMode::is_enabled();
    const bool wants = grad_mode && detail::wants_history<D>(all);
    const bool has_tangents = (false || ... || detail::has_tangent(std::as_const(arguments)));
    // A result without a gradient has no tangent either.
    const bool gives = (wants || has_tangents) && detail::has_gradient<D>(arguments...);
    const bool records = wants && gives;
    const bool forward = has_tangents && gives;
    if (grad_mode) check_not_differentiable(all, std::index_sequence_for<A...>());
    if (!records && !forward) return below(keys, arguments...);
    if constexpr (kind == Kind::foreach_inplace) {
      return run_each(keys, arguments...);
    } else if constexpr (kind == Kind::inplace || kind == Kind::inplace_view) {
      return run_in_place(keys, records, forward, std::index_sequence_for<A...>(), arguments...);
    } else {
      return run(keys, records, forward, arguments...);
    }
  }

 private:
  using Arguments = std::tuple<const std::remove_reference_t<A>&...>;

  // An argument without a formula must not require a gradient, unless the author declares it.
  template <std::size_t... positions>
  static void check_not_differentiable(const Arguments& all, std::index_sequence<positions...>) {
    const auto check = [&]<std::size_t position>() {
      if constexpr (!detail::is_among<position>(typename D::Inputs()) &&
                    !detail::is_among<position>(detail::without_gradient<D>())) {
        if (detail::any_requires_grad(std::get<position>(all))) [[unlikely]] {
          detail::fail_not_differentiable(D::kOperator, position);
        }
      }
    };
    (check.template operator()<positions>(), ...);
  }
  // An argument without a formula must not have a tangent either.
  template <bool has_formulas>
  static void check_forward(const Arguments& all) {
    check_forward<has_formulas>(all, std::index_sequence_for<A...>());
  }
  template <bool has_formulas, std::size_t... positions>
  static void check_forward(const Arguments& all, std::index_sequence<positions...>) {
    const auto check = [&]<std::size_t position>() {
      if constexpr (!detail::is_among<position>(detail::without_gradient<D>()) &&
                    !(has_formulas && detail::is_among<position>(typename D::Inputs()))) {
        if (detail::has_tangent(std::get<position>(all))) detail::fail_forward(D::kOperator);
      }
    };
    (check.template operator()<positions>(), ...);
  }

  // Runs the kernels below autograd. Kernels of ADInplaceOrView are needed for views and writes.
  static R below(c10::DispatchKeySet keys, std::remove_reference_t<A>&... arguments) {
    if constexpr (kind == Kind::functional) {
      const at::AutoDispatchBelowADInplaceOrView guard;
      return Op::redispatch(keys & c10::after_ADInplaceOrView_keyset, arguments...);
    } else {
      const at::AutoDispatchBelowAutograd guard;
      return Op::redispatch(keys & c10::after_autograd_keyset, arguments...);
    }
  }

  static R run(c10::DispatchKeySet keys, bool records, bool forward,
               std::remove_reference_t<A>&... arguments) {
    const Arguments all(arguments...);
    if constexpr (kind == Kind::writes) check_written(all, records);
    const auto check = [&](auto results) { check_forward<has_forward(results)>(all); };
    detail::Made<D> made;
    if (records) made = make_node(all, std::index_sequence_for<A...>());
    if constexpr (std::is_void_v<R>) {
      if (forward) check(std::type_identity<std::tuple<>>());
      below(keys, arguments...);
    } else {
      if (forward) check(std::type_identity<typename detail::ResultsOf<std::decay_t<R>>::type>());
      const auto given = given_to_forward(forward, all, std::index_sequence_for<A...>());
      // A reference, or a tuple of references, if arguments are returned.
      R result = below(keys, arguments...);
      if constexpr (kind == Kind::writes) return_arguments(all, result);
      const auto results = detail::results_of(result);
      if (records) {
        detail::for_positions(typename D::Outputs(), results, [&](const auto& output) {
          detail::for_each_slot(output, [&](const at::Tensor& tensor) {
            detail::add_history(tensor, made.pointer,
                                kind == Kind::writes && is_one_of(tensor, all), /*in_place=*/false);
          });
        });
      }
      if (forward) set_forward(*given, results);
      if (records) {
        std::apply([&](const auto&... each) { detail::save_outputs(made, each...); }, results);
      }
      return result;
    }
  }
  template <std::size_t... positions>
  static detail::Made<D> make_node(const Arguments& all, std::index_sequence<positions...>) {
    if constexpr (kind == Kind::writes) {
      const std::vector<bool>& written = written_arguments().written;
      return detail::make_node<D, false>(
          all, detail::before_write(std::get<positions>(all), written[positions])...);
    } else {
      return detail::make_node<D, false>(all, std::get<positions>(all)...);
    }
  }
  template <class... Result>
  static constexpr bool has_forward(std::type_identity<std::tuple<Result...>>) {
    return detail::kHasForward<D, std::remove_cvref_t<A>..., Result...>;
  }
  // Returns the arguments that forward formulas read, as they are before the call.
  template <std::size_t... positions>
  static auto given_to_forward([[maybe_unused]] bool forward, const Arguments& all,
                               std::index_sequence<positions...>) {
    using Results = typename detail::ResultsOf<std::decay_t<R>>::type;
    if constexpr (kind == Kind::writes && has_forward(std::type_identity<Results>())) {
      const auto keep = [&] {
        const std::vector<bool>& written = written_arguments().written;
        return std::make_tuple(
            detail::kept_before<D>(std::get<positions>(all), written[positions])...);
      };
      return forward ? std::optional(keep()) : std::nullopt;
    } else {
      return std::optional(all);
    }
  }
  template <class Given, class Results>
  static void set_forward(const Given& given, const Results& results) {
    const auto set = [&]<class... T>(const T&... each) {
      if constexpr (detail::kHasForward<D, T...>) {
        ForwardCall call(kind == Kind::writes ? OldTangent::written : OldTangent::none);
        D::forward(call, each...);
        detail::set_tangents<D>(call, results);
      }
    };
    std::apply(
        [&](const auto&... each) {
          std::apply([&](const auto&... result) { set(each..., result...); }, results);
        },
        given);
  }

  // Sets history and tangents of one written argument. `more` are the others.
  template <class Self, class... T>
  class InPlace {
   public:
    InPlace(const Self& self, bool records, bool forward, const T&... more)
        : self_(self), before_(self), forward_(forward) {
      if (records) {
        detail::for_each_slot(self, [&](const at::Tensor& tensor) {
          torch::autograd::check_inplace(tensor, /*requires_grad=*/true);
        });
        const std::tuple<const Self&, const T&...> all(self, more...);
        made_ = detail::make_node<D, true>(all, before_, more...);
      }
      if (kHasForward && detail::reads_self<D>() && forward) before_.copy();
    }
    static constexpr bool kHasForward = detail::kHasForward<D, Before<Self>, T..., Self>;

    // After the operator ran.
    void finish(const T&... more) const {
      const bool records = static_cast<bool>(made_.pointer);
      if (records) {
        detail::for_each_slot(self_, [&](const at::Tensor& tensor) {
          detail::add_history(tensor, made_.pointer, /*rebases=*/true, /*in_place=*/true);
        });
      }
      if constexpr (kHasForward) {
        if (forward_) {
          ForwardCall call(kind == Kind::inplace_view ? OldTangent::reshaped : OldTangent::written);
          const auto written = call.primal(self_);
          D::forward(call, before_, more..., static_cast<const Self&>(written));
          detail::set_tangents<D>(call, std::tuple<const Self&>(self_));
        }
      }
      if (records) detail::save_outputs(made_, self_);
    }

   private:
    const Self& self_;
    Before<Self> before_;
    bool forward_;
    detail::Made<D> made_;
  };

  template <std::size_t first, std::size_t... others>
  static R run_in_place(c10::DispatchKeySet keys, bool records, bool forward,
                        std::index_sequence<first, others...>,
                        std::remove_reference_t<A>&... arguments) {
    const Arguments all(arguments...);
    const auto& self = std::get<0>(all);
    using Call = InPlace<std::remove_cvref_t<decltype(self)>,
                         std::remove_cvref_t<decltype(std::get<others>(all))>...>;
    if (forward) check_forward<Call::kHasForward>(all);
    const Call call(self, records, forward, std::get<others>(all)...);
    if constexpr (std::is_void_v<R>) {
      below(keys, arguments...);
      call.finish(std::get<others>(all)...);
    } else {
      R result = below(keys, arguments...);
      call.finish(std::get<others>(all)...);
      return result;
    }
  }

  template <class Self, class... T>
  static R run_each(c10::DispatchKeySet keys, const Self& self, const T&... more) {
    using Call = InPlace<at::Tensor, std::remove_cvref_t<decltype(detail::element_of(more, 0))>...>;
    std::vector<Call> calls;
    calls.reserve(self.size());
    for (std::size_t i = 0; i < self.size(); ++i) {
      const auto add = [&](const at::Tensor& one, const auto&... element) {
        const auto all = std::tie(one, element...);
        const bool records = at::GradMode::is_enabled() && detail::wants_history<D>(all);
        const bool forward = (detail::has_tangent(one) || ... || detail::has_tangent(element));
        if (forward && !Call::kHasForward) detail::fail_forward(D::kOperator);
        calls.emplace_back(one, records, forward, element...);
      };
      add(self[i], detail::element_of(more, i)...);
    }
    {
      const at::AutoDispatchBelowAutograd guard;
      Op::redispatch(keys & c10::after_autograd_keyset, self, more...);
    }
    for (std::size_t i = 0; i < self.size(); ++i) {
      calls[i].finish(detail::element_of(more, i)...);
    }
  }

  static const detail::Written& written_arguments() {
    static const detail::Written written = detail::written_of(D::kOperator);
    return written;
  }
  static void check_written(const Arguments& all, bool records) {
    const detail::Written& written = written_arguments();
    std::size_t position = 0;
    const auto check = [&](const auto& argument) {
      if (written.written[position]) {
        if (written.returned[position]) {
          detail::for_each_slot(argument, [&](const at::Tensor& tensor) {
            torch::autograd::check_inplace(tensor, records);
          });
        } else if (records && detail::any_requires_grad(argument)) {
          detail::fail_not_differentiable(D::kOperator, position);
        }
      }
      ++position;
    };
    std::apply([&](const auto&... each) { (check(each), ...); }, all);
  }
  // Has the results that are arguments be the same objects: torch.func wraps them once more.
  template <class Result>
  static void return_arguments(const Arguments& all, Result& result) {
    const auto result_with = [&](const at::Tensor& argument, std::size_t position) {
      std::size_t i = 0;
      const auto put = [&](auto& one) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, at::Tensor>) {
          if (written_arguments().results[i] == position) one = argument;
        }
        ++i;
      };
      if constexpr (requires { std::tuple_size<Result>::value; }) {
        std::apply([&](auto&... each) { (put(each), ...); }, result);
      } else {
        put(result);
      }
    };
    std::size_t position = 0;
    const auto pass = [&](const auto& argument) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(argument)>, at::Tensor>) {
        result_with(argument, position);
      }
      ++position;
    };
    std::apply([&](const auto&... each) { (pass(each), ...); }, all);
  }
  static bool is_one_of(const at::Tensor& tensor, const Arguments& all) {
    bool is = false;
    std::apply(
        [&](const auto&... each) {
          (detail::for_each_slot(
               each, [&](const at::Tensor& other) { is = is || other.is_same(tensor); }),
           ...);
        },
        all);
    return is && tensor.defined();
  }
};

// The row of an operator with the formulas D, for Autograd or one of its backends' keys.
template <class D, class Op, Kind kind>
torch::CppFunction recorded() {
  using Kernel = Recorded<D, Op, kind>;
  return torch::CppFunction::makeFromUnboxedFunction(
      c10::CompileTimeFunctionPointer<std::remove_pointer_t<decltype(&Kernel::call)>,
                                      &Kernel::call>());
}

}  // namespace opgen::autograd
