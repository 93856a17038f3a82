// derived_node.h: the graph node of an operator with a formula.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/derived_compiled.h"
#include "opgen/autograd/derived_saved.h"

namespace opgen::autograd {

// One backward pass through a node: the gradients that are needed, and those that formulas have
// stored.
class BackwardCall : public Reader {
 public:
  using GivenType = at::Tensor;  // see given.h

  // `ends` holds, for each input, the number of the edge after its last one. Bit i of `needed` is
  // set if the gradient of input i is needed.
  BackwardCall(const Reader& reader, const char* name, at::ArrayRef<std::uint32_t> ends,
               std::uint64_t needed, bool retain_variables)
      : Reader(reader),
        name_(name),
        ends_(ends),
        needed_(needed),
        retain_variables_(retain_variables),
        gradients_(ends.empty() ? 0 : ends.back()) {}

  // The formula for this input is computed next.
  void start(std::size_t input) { started_ = input; }
  std::size_t started() const { return started_; }
  bool computes(std::size_t input) const { return ((needed_ >> input) & 1) != 0; }
  // Whether the graph is kept for another backward pass.
  bool retain_variables() const { return retain_variables_; }

  // Stores the gradient of one input, or a tuple with those of several.
  template <std::size_t input, std::size_t... more, class G>
  void give(const G& gradient) {
    if constexpr (sizeof...(more) > 0) {
      give_several<input, more...>(gradient, std::make_index_sequence<1 + sizeof...(more)>());
    } else if constexpr (std::is_convertible_v<const G&, const at::Tensor&>) {
      check_count(input, 1);
      gradients_[begin(input)] = gradient;
    } else {
      check_count(input, gradient.size());
      std::size_t edge = begin(input);
      for (const at::Tensor& each : gradient) gradients_[edge++] = each;
    }
  }
  // Stores the gradients of a list: calls `gradient_of(i)` for each of `count` elements whose own
  // gradient is defined.
  template <std::size_t input, class F>
  void give_each(std::size_t count, const F& gradient_of) {
    const std::size_t edges = ends_[input] - begin(input);
    if (edges == count) {
      for (std::size_t i = 0; i < count; ++i) {
        if (arrived_[i].defined()) gradients_[begin(input) + i] = gradient_of(i);
      }
      return;
    }
    // The input is a single tensor with which every element of the list was computed.
    check_count(input, 1);
    at::Tensor& sum = gradients_[begin(input)];
    for (std::size_t i = 0; i < count; ++i) {
      if (!arrived_[i].defined()) continue;
      const at::Tensor one = gradient_of(i);
      if (one.defined()) sum = sum.defined() ? sum.add(one) : one;
    }
  }

  void arrive(const Gradients& gradients) { arrived_ = gradients; }
  Gradients take() { return std::move(gradients_); }

 private:
  std::size_t begin(std::size_t input) const { return input == 0 ? 0 : ends_[input - 1]; }
  void check_count(std::size_t input, std::size_t given) const {
    const std::size_t wanted = ends_[input] - begin(input);
    TORCH_CHECK(wanted == given, name_, ": a formula returned ", given,
                " gradients for an argument with ", wanted, " tensors");
  }
  template <std::size_t... inputs, class G, std::size_t... positions>
  void give_several(const G& gradients, std::index_sequence<positions...>) {
    const auto one = [&]<std::size_t input>(const auto& gradient) {
      if (computes(input)) give<input>(gradient);
    };
    (one.template operator()<inputs>(std::get<positions>(gradients)), ...);
  }

  const char* name_;
  at::ArrayRef<std::uint32_t> ends_;
  std::uint64_t needed_;
  bool retain_variables_;
  Gradients gradients_;
  at::TensorList arrived_;
  std::size_t started_ = 0;
};

namespace detail {

inline const c10::FunctionSchema& schema_of(const char* name) {
  const std::string full = name;
  const std::size_t dot = full.find('.');
  const bool overloaded = dot != std::string::npos;
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(full.substr(0, dot).c_str(),
                         overloaded ? full.substr(dot + 1).c_str() : "")
      .schema();
}
// Adds to an error in a formula which one it is. `positions` are those of the inputs.
template <std::size_t... positions>
void add_formula(c10::Error& error, const char* name, std::size_t input,
                 std::index_sequence<positions...>) {
  const std::size_t all[] = {positions..., 0};
  error.add_context("in the formula of " + std::string(name) + " for the gradient of '" +
                    schema_of(name).arguments().at(all[input]).name() + "'");
}

// Members of D that are generated only if they are needed.
template <class D>
constexpr bool fills_zeros() {
  if constexpr (requires { D::kZeros; }) return D::kZeros;
  return false;
}
template <class D, class F>
void for_each_saved([[maybe_unused]] D& derivative, [[maybe_unused]] const F& f) {
  if constexpr (requires { derivative.for_each_saved(f); }) derivative.for_each_saved(f);
}

}  // namespace detail

// The node. D has the formulas and the values that they read.
template <class D>
class DerivedNode final : public torch::autograd::TraceableFunction {
 public:
  using torch::autograd::TraceableFunction::TraceableFunction;

  std::string name() const override { return D::kName; }

  Gradients apply(Gradients&& gradients) override {
    return compute(std::move(gradients), needed());
  }

  void will_release_variables() override { retain_variables_ = false; }
  void release_variables() override {
    const std::lock_guard lock(mutex_);
    detail::for_each_saved(derivative, [](auto& saved) { saved.release(); });
  }

  void compiled_args(torch::autograd::CompiledNodeArgs& arguments) const override {
    for (const std::uint32_t end : ends) arguments.collect_size(end);
    arguments.cond(retain_variables_);
    // Visits fields, and does not change them.
    D& fields = const_cast<D&>(derivative);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    detail::for_each_saved(fields,
                           [&](auto& saved) { detail::collect(arguments, saved, D::kOperator); });
    if constexpr (detail::fills_zeros<D>()) {
      for (std::size_t i = 0; i < num_inputs(); ++i) arguments.collect(input_metadata(i));
    }
  }
  // Compiled autograd calls `replay` in its graph, with what is packed here.
  Gradients apply_with_saved(const Gradients& gradients,
                             torch::autograd::SwapSavedVariables& swap) override {
    const auto each_output = [&](const auto& f) {
      if constexpr (detail::fills_zeros<D>()) {
        for (std::size_t i = 0; i < num_inputs(); ++i) f(mutable_input_metadata(i));
      }
    };
    detail::for_each_saved(derivative, [&](auto& saved) { detail::before(swap, saved.kept()); });
    each_output([&](auto& metadata) { swap.before(metadata); });
    detail::Packed packed;
    packed.pack(static_cast<std::int64_t>(needed()));
    packed.pack(retain_variables_);
    packed.pack(std::vector<std::int64_t>(ends.begin(), ends.end()));
    const Reader reader{mutex_, *this};
    detail::for_each_saved(derivative, [&](auto& saved) { detail::pack(packed, saved, reader); });
    each_output([&](auto& metadata) { packed.pack(detail::zeros_of(metadata)); });
    Gradients computed = packed.call<&replay>(replay_name(), next_edges(), swap, gradients);
    each_output([&](auto& metadata) { swap.after(metadata); });
    detail::for_each_saved(derivative, [&](auto& saved) { detail::after(swap, saved.kept()); });
    return computed;
  }

  D derivative;
  std::array<std::uint32_t, D::Inputs::size()> ends{};

 private:
  std::uint64_t needed() const {
    std::uint64_t needed = 0;
    std::size_t edge = 0;
    for (std::size_t input = 0; input < ends.size(); ++input) {
      for (; edge < ends[input]; ++edge) {
        if (task_should_compute_output(edge)) needed |= std::uint64_t{1} << input;
      }
    }
    return needed;
  }
  Gradients compute(Gradients&& gradients, std::uint64_t needed) {
    BackwardCall call(Reader{mutex_, *this}, D::kOperator, ends, needed, retain_variables_);
    bool any = false;
    for (const at::Tensor& gradient : gradients) any = any || gradient.defined();
    if (!any) return call.take();
    if constexpr (detail::fills_zeros<D>()) {
      for (std::size_t i = 0; i < num_inputs(); ++i) {
        if (gradients[i].defined() || input_metadata(i).was_default_constructed()) continue;
        gradients[i] = input_metadata(i).zeros_like();
      }
    }
    call.arrive(gradients);
    try {
      derivative.backward(call, gradients);
    } catch (c10::Error& error) {
      detail::add_formula(error, D::kOperator, call.started(), typename D::Inputs());
      throw;
    }
    return call.take();
  }

  static std::string replay_name() { return detail::identifier(D::kOperator, D::kName); }
  // Computes the gradients from what apply_with_saved() packed.
  static Gradients replay(const Gradients& gradients, const std::vector<c10::IValue>& values) {
    detail::Unpacked packed(values);
    const auto pointer = opgen::detail::make_node<NodePointer, DerivedNode>();
    auto& node = static_cast<DerivedNode&>(*pointer);
    const auto needed = static_cast<std::uint64_t>(packed.unpack<std::int64_t>());
    node.retain_variables_ = packed.unpack<bool>();
    const auto ends = packed.unpack<std::vector<std::int64_t>>();
    std::copy(ends.begin(), ends.end(), node.ends.begin());
    detail::for_each_saved(node.derivative, [&](auto& saved) { detail::unpack(packed, saved); });
    Gradients all = gradients;
    if constexpr (detail::fills_zeros<D>()) {
      for (at::Tensor& gradient : all) {
        const auto zeros = packed.unpack<std::optional<torch::autograd::TypeAndSize>>();
        if (gradient.defined() || !zeros.has_value()) continue;
        gradient = at::zeros_symint(zeros->sym_sizes, zeros->options);
      }
    }
    return node.compute(std::move(all), needed);
  }

  bool retain_variables_ = true;
};

}  // namespace opgen::autograd
