// given.h: what a formula gives: a gradient or a tangent. Formulas are arguments of functions that
// are no templates, so the compilers report a value of another type at the formula.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace opgen::autograd {

namespace detail {

template <class T, class Tensor>
concept GivesTensor = std::is_convertible_v<T, Tensor>;
template <class T, class Tensor>
concept GivesOptional = !GivesTensor<T, Tensor> && requires(const std::remove_cvref_t<T>& value) {
  value.has_value();
  { *value } -> GivesTensor<Tensor>;
};
template <class T, class Tensor>
concept GivesList = !GivesTensor<T, Tensor> && requires(const std::remove_cvref_t<T>& value) {
  value.size();
  { *value.begin() } -> GivesTensor<Tensor>;
};

}  // namespace detail

// A tensor, or an optional one.
template <class Tensor>
class GivenTensor {
 public:
  template <detail::GivesTensor<Tensor> T>
  requires(!std::same_as<std::remove_cvref_t<T>, GivenTensor>) GivenTensor(T&& given)
      : tensor_(std::forward<T>(given)) {}  // NOLINT
  template <detail::GivesOptional<Tensor> T>
  GivenTensor(const T& given) {  // NOLINT(google-explicit-constructor)
    if (given.has_value()) tensor_ = *given;
  }

  template <std::size_t number>
  void put(auto& call) {
    call.template give<number>(std::move(tensor_));
  }

 private:
  Tensor tensor_;
};

// A tensor, or a list of tensors.
template <class Tensor>
class GivenTensors {
 public:
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, GivenTensors> &&
           std::is_constructible_v<GivenTensor<Tensor>, T>) GivenTensors(T&& given)
      : one_(std::forward<T>(given)) {}  // NOLINT
  template <detail::GivesList<Tensor> T>
  GivenTensors(const T& given) : one_(Tensor()), is_list_(true) {  // NOLINT
    list_.reserve(given.size());
    for (const auto& each : given) list_.emplace_back(each);
  }

  template <std::size_t number>
  void put(auto& call) {
    if (is_list_) {
      call.template give<number>(std::move(list_));
    } else {
      one_.template put<number>(call);
    }
  }

 private:
  GivenTensor<Tensor> one_;
  std::vector<Tensor> list_;
  bool is_list_ = false;
};

// A tuple of tensors, and of lists of tensors.
template <class Tensor, std::size_t... numbers>
class GivenTuple {
  template <std::size_t>
  using One = GivenTensors<Tensor>;
  using Tuple = std::tuple<One<numbers>...>;

 public:
  template <class T>
  requires(std::tuple_size<std::remove_cvref_t<T>>::value == sizeof...(numbers) &&
           std::is_constructible_v<Tuple, T>) GivenTuple(T&& given)
      : values_(std::forward<T>(given)) {}  // NOLINT

  void put(auto& call) {
    std::apply([&](auto&... each) { (put_one<numbers>(call, each), ...); }, values_);
  }

 private:
  template <std::size_t number>
  static void put_one(auto& call, auto& value) {
    // A gradient that nobody wants may be missing.
    if constexpr (requires { call.computes(number); }) {
      if (!call.computes(number)) return;
    }
    value.template put<number>(call);
  }

  Tuple values_;
};

// Puts the value of a formula into a call, as that of these inputs or outputs.
template <class Call, class Given, std::size_t... numbers>
class Giver {
 public:
  // Constructed before the formula is computed.
  explicit Giver(Call& call) : call_(call) {
    if constexpr (requires { call.start(std::size_t()); }) {
      call.start(std::get<0>(std::tuple(numbers...)));
    }
  }
  void value(Given&& given) const {
    if constexpr (sizeof...(numbers) == 1) {
      (given.template put<numbers>(call_), ...);
    } else {
      given.put(call_);
    }
  }

 private:
  Call& call_;
};

// A formula for one input or output that is a tensor, for one that is a list, and for several.
template <std::size_t number, class Call>
[[nodiscard]] auto gives(Call& call) {
  return Giver<Call, GivenTensor<typename Call::GivenType>, number>(call);
}
template <std::size_t number, class Call>
[[nodiscard]] auto gives_list(Call& call) {
  return Giver<Call, GivenTensors<typename Call::GivenType>, number>(call);
}
template <std::size_t... numbers, class Call>
[[nodiscard]] auto gives_all(Call& call) {
  return Giver<Call, GivenTuple<typename Call::GivenType, numbers...>, numbers...>(call);
}

}  // namespace opgen::autograd
