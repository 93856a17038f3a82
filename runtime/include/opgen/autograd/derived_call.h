// derived_call.h: the views of a call that generated nodes of derivatives.yaml use: Recording while
// it is recorded, BackwardCall and OutputGradients in backward(), ForwardCall in forward(); and
// DerivedNode, their base class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/forward.h"
#include "opgen/autograd/saved.h"
#include "opgen/registration/tracked_call.h"

namespace opgen::autograd {

template <class T>
class OutputGradientsAs;

// functional: returns new tensors. inplace: writes argument 0. inplace_view: changes the sizes and
// strides of argument 0, not its elements. view: returns views of argument 0. writes: any other
// operator that writes arguments. foreach_inplace: writes the list that is argument 0, by the
// formulas of the operator for one tensor.
enum class Kind : std::uint8_t { functional, inplace, inplace_view, view, writes, foreach_inplace };

class ForwardCall;

namespace internal {

using opgen::detail::TensorSpan;

// The facts about an operator that its Autograd kernel uses. Positions are those of arguments.
struct DerivedOperator {
  const OperatorSlot* slot;
  const std::uint8_t* inputs;  // positions of the arguments with a formula
  const std::uint8_t*
      others;  // tensor arguments without a formula that are not declared non_differentiable
  std::uint8_t input_count;
  std::uint8_t other_count;
  Kind kind;
  bool has_forward;
  bool leads_with_self;  // in-place operator whose argument 0 has no formula: edge 0 is still that
                         // of argument 0
};

}  // namespace internal

// A call that may be recorded.
class Recording {
 public:
  // Returns whether input `i` (an index into the node's Inputs) needs a gradient; for a list,
  // whether any element does.
  [[nodiscard]] bool needs(std::size_t i) const noexcept { return (needs_ >> i & 1) != 0; }
  [[nodiscard]] bool records() const noexcept { return needs_ != 0; }
  [[nodiscard]] bool has_tangents() const noexcept { return has_tangents_; }
  // Whether there is nothing to do but to call the operator.
  [[nodiscard]] bool is_idle() const noexcept { return needs_ == 0 && !has_tangents_; }
  // A result without a gradient has no tangent either.
  void ignore_gradients() noexcept {
    needs_ = 0;
    has_tangents_ = false;
  }

 protected:
  std::uint64_t needs_ = 0;
  bool has_tangents_ = false;
};

// The base class of the nodes of operators with formulas.
class OPGEN_API DerivedNode : public Node {
 public:
  DerivedNode();
  ~DerivedNode() override;
  [[nodiscard]] std::string name() const final { return label(); }
  [[nodiscard]] Gradients apply(Gradients gradients) final;
  void release_saved() final;

  // Adds the edges of the operator's inputs.
  void connect(const internal::DerivedOperator& op, const internal::TensorSpan* arguments);
  // Returns the edges of input `i`: the first, and one past the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> edges_of(std::size_t i) const noexcept {
    if (ends_.empty()) return {i + lead_, i + lead_ + 1};
    return {i == 0 ? lead_ : ends_[i - 1], ends_[i]};
  }

 protected:
  [[nodiscard]] virtual const char* label() const noexcept = 0;
  virtual void run(BackwardCall& call, const OutputGradientsAs<Tensor>& gradients) = 0;
  virtual void release(internal::Released& released) = 0;
  [[nodiscard]] virtual bool takes_zeros() const noexcept = 0;

 private:
  friend class internal::SavedVariable;
  // Protects the saved tensors. Not held while formulas run.
  class Lock;

  const internal::DerivedOperator* op_ = nullptr;
  std::vector<std::uint32_t>
      ends_;  // empty unless an input is a list; for each input, one past its last edge
  std::uint32_t lead_ = 0;
  mutable Atomic<std::uint8_t> locked_ = 0;
};

// The gradients of a node's outputs, undefined for zero, as the class Tensor of a library.
template <class T>
class OutputGradientsAs {
 public:
  explicit OutputGradientsAs(const Gradients& gradients) noexcept
      : first_(gradients.data()), count_(gradients.size()) {}
  template <class U>
  OutputGradientsAs(const OutputGradientsAs<U>& other) noexcept  // NOLINT
      : first_(other.data()), count_(other.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  // A T is a TensorBase with methods.
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(first_); }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + count_; }
  template <class U>
  operator std::vector<U>() const {  // NOLINT
    return std::vector<U>(begin(), end());
  }

 private:
  const TensorBase* first_;
  std::size_t count_;
};
using OutputGradients = OutputGradientsAs<Tensor>;

// One run of a node's backward().
class BackwardCall {
 public:
  using GivenType = TensorBase;  // see given.h

  BackwardCall(DerivedNode& node, Gradients& results) noexcept : node_(node), results_(results) {}

  // Whether the gradient of input `i` is used.
  [[nodiscard]] OPGEN_API bool computes(std::size_t i) const noexcept;
  [[nodiscard]] OPGEN_API bool retain_variables() const noexcept;
  [[nodiscard]] DerivedNode& node() const noexcept { return node_; }

  // Notes that the formula for input `i` is computed next.
  void start(std::size_t i) noexcept { started_ = i; }
  [[nodiscard]] std::size_t started() const noexcept { return started_; }

  // Sets the gradients of inputs. The value is a tensor for one input, a list for an input that is
  // a list, and a tuple for several inputs.
  template <std::size_t... input, class Value>
  void give(Value&& value) {
    if constexpr (sizeof...(input) == 1) {
      (put(input, std::forward<Value>(value)), ...);
    } else {
      give_all(value, std::index_sequence<input...>(),
               std::make_index_sequence<sizeof...(input)>());
    }
  }
  // Sets the gradients of an input that is a list: that of element i is compute(i).
  template <std::size_t input, class Compute>
  void give_each(std::size_t count, const Compute& compute) {
    const auto [first, end] = node_.edges_of(input);
    for (std::size_t i = 0; i < count && first + i < end; ++i) {
      if (node_.computes(first + i)) results_[first + i] = compute(i);
    }
  }

 private:
  template <class Value, std::size_t... input, std::size_t... k>
  void give_all(Value& value, std::index_sequence<input...>, std::index_sequence<k...>) {
    if constexpr (requires { std::tuple_size<std::remove_cvref_t<Value>>::value; }) {
      (put(input, std::get<k>(value)), ...);
    } else {
      OPGEN_CHECK(value.size() >= sizeof...(k), "a formula for ", sizeof...(k),
                  " gradients returned ", value.size());
      (put(input, value[k]), ...);
    }
  }
  template <class Value>
  void put(std::size_t input, Value&& value) {
    if constexpr (std::is_base_of_v<TensorBase, std::remove_cvref_t<Value>>) {
      put_tensor(input, TensorBase(std::forward<Value>(value)));
    } else if constexpr (requires { value.has_value(); }) {
      if (value.has_value()) put(input, *value);
    } else {
      check_count(input, value.size());
      for (std::size_t i = 0; i < value.size(); ++i) put_element(input, i, value[i]);
    }
  }
  // Throws Error if a formula has another number of gradients than the input has tensors.
  OPGEN_API void check_count(std::size_t input, std::size_t given) const;
  OPGEN_API void put_tensor(std::size_t input, TensorBase value);
  OPGEN_API void put_element(std::size_t input, std::size_t i, const TensorBase& value);

  DerivedNode& node_;
  Gradients& results_;
  std::size_t started_ = 0;
};

namespace internal {

// Argument 0 of an in-place operator, as it was before the call.
template <class T>
struct BeforeAs {
  T primal;
  T tangent;
};
using Before = BeforeAs<TensorBase>;
template <class T>
inline constexpr bool kIsBefore = requires(const T& value) {
  value.primal;
};

// Zeros share one element if the tensor has no tangent, those of the second one do not.
[[nodiscard]] OPGEN_API TensorBase tangent_or_zeros(const TensorBase& tensor);
[[nodiscard]] OPGEN_API TensorBase tangent_or_new_zeros(const TensorBase& tensor);
// Returns a copy with the history of `tensor`.
[[nodiscard]] OPGEN_API TensorBase clone_with_history(const TensorBase& tensor);
// Returns a copy with the history and a copy of the tangent.
[[nodiscard]] OPGEN_API TensorBase clone_with_tangent(const TensorBase& tensor);

}  // namespace internal

// The computation of tangents after the operator has run.
class ForwardCall {
 public:
  using GivenType = TensorBase;  // see given.h

  // `outputs` are the outputs with a gradient.
  ForwardCall(Kind kind, const internal::TensorSpan* outputs) noexcept
      : outputs_(outputs), kind_(kind) {}

  // Returns the value without its tangent; for a list, a list of values.
  template <class T>
  [[nodiscard]] static auto primal(const T& value) {
    if constexpr (internal::kIsBefore<T>) {
      return value.primal;
    } else {
      return each(value, [](const TensorBase& tensor) { return primal_of(tensor); });
    }
  }
  // Returns the tangent: zeros for a tensor that has none, and undefined for an undefined tensor.
  template <class T>
  [[nodiscard]] static auto tangent(const T& value) {
    if constexpr (internal::kIsBefore<T>) {
      using Tensor = decltype(value.primal);
      return value.tangent.defined() || !value.primal.defined()
                 ? value.tangent
                 : Tensor(internal::tangent_or_new_zeros(value.primal));
    } else {
      return each(value,
                  [](const TensorBase& tensor) { return internal::tangent_or_zeros(tensor); });
    }
  }
  template <class... T>
  [[nodiscard]] static bool has_tangent(const T&... values) {
    return (false || ... || has_one(values));
  }

  // Takes the tangents of outputs, which are given as indices into the node's Outputs.
  template <std::size_t... output, class Value>
  void give(Value&& value) {
    if constexpr (sizeof...(output) == 1) {
      (put(output, value), ...);
    } else {
      give_all(value, std::index_sequence<output...>(),
               std::make_index_sequence<sizeof...(output)>());
    }
  }
  template <std::size_t output, class Compute>
  void give_each(std::size_t count, const Compute& compute) {
    for (std::size_t i = 0; i < count; ++i) put(output, i, compute(i));
  }
  // Sets them, after the last formula has been computed: a formula may read the values of other
  // outputs, and must not see their tangents.
  OPGEN_API void finish();

 private:
  struct Given {
    std::size_t output, i;
    TensorBase tangent;
  };

  template <class T, class F>
  static auto each(const T& value, F f) {
    if constexpr (std::is_convertible_v<const T&, const TensorBase&>) {
      return T(f(value));
    } else if constexpr (!opgen::detail::HoldsTensors<T>::value && !requires {
                           requires std::is_base_of_v<TensorBase, typename T::value_type>;
                         }) {
      return value;
    } else if constexpr (requires { value.has_value(); }) {
      using Tensor = typename T::value_type;
      return Tensor(value.has_value() ? f(*value) : f(TensorBase()));
    } else {
      using Item = decltype(each(value[0], f));
      std::vector<Item> items;
      items.reserve(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) items.push_back(each(value[i], f));
      return items;
    }
  }
  template <class T>
  static bool has_one(const T& value) {
    if constexpr (internal::kIsBefore<T>) {
      return value.tangent.defined();
    } else if constexpr (std::is_convertible_v<const T&, const TensorBase&>) {
      return autograd::has_tangent(value);
    } else if constexpr (requires { value.has_value(); }) {
      return value.has_value() && has_one(*value);
    } else if constexpr (requires {
                           value.size();
                           value[0];
                         }) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (has_one(value[i])) return true;
      }
      return false;
    } else {
      return false;
    }
  }
  template <class Value, std::size_t... output, std::size_t... k>
  void give_all(Value& value, std::index_sequence<output...>, std::index_sequence<k...>) {
    if constexpr (requires { std::tuple_size<std::remove_cvref_t<Value>>::value; }) {
      (put(output, std::get<k>(value)), ...);
    } else {
      (put(output, value[k]), ...);
    }
  }
  template <class Value>
  void put(std::size_t output, const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, const TensorBase&>) {
      put(output, 0, value);
    } else if constexpr (requires { value.has_value(); }) {
      if (value.has_value()) put(output, *value);
    } else {
      for (std::size_t i = 0; i < value.size(); ++i) put(output, i, value[i]);
    }
  }
  OPGEN_API void put(std::size_t output, std::size_t i, const TensorBase& tangent);
  void set(const TensorBase& tensor, const TensorBase& given) const;

  const internal::TensorSpan* outputs_;
  Kind kind_;
  std::vector<Given> given_;
};

}  // namespace opgen::autograd
