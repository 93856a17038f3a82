// derived_forward.h: the forward mode of an operator with a formula.
#pragma once

#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/zeros.h>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/derived_saved.h"

namespace opgen::autograd {

namespace detail {

// Calls `f` with each tensor of an argument or of a result. A tensor that is not given is
// undefined.
template <class T, class F>
void for_each_slot([[maybe_unused]] const T& argument, [[maybe_unused]] const F& f) {
  if constexpr (std::is_convertible_v<const T&, const at::Tensor&>) {
    f(static_cast<const at::Tensor&>(argument));
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    f(argument.has_value() ? *argument : at::Tensor());
  } else if constexpr (std::is_same_v<T, std::optional<at::TensorList>>) {
    if (argument.has_value()) for_each_slot(*argument, f);
  } else if constexpr (kIsTensorList<T> || std::is_convertible_v<const T&, at::TensorList>) {
    for (const auto& each : argument) {
      if constexpr (kIsOptionalTensorList<T>) {
        const std::optional<at::Tensor> tensor = each;
        f(tensor.has_value() ? *tensor : at::Tensor());
      } else {
        f(each);
      }
    }
  }
}

inline at::Tensor tangent_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor._fw_grad(/*level=*/0) : at::Tensor();
}
template <class T>
bool has_tangent(const T& argument) {
  bool has = false;
  for_each_slot(argument,
                [&](const at::Tensor& tensor) { has = has || tangent_of(tensor).defined(); });
  return has;
}

inline bool is_wrapped_number(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->is_wrapped_number();
}
inline at::Tensor primal_of(const at::Tensor& tensor) {
  return !tensor.defined() || is_wrapped_number(tensor) ? tensor : tensor._fw_primal(/*level=*/0);
}

}  // namespace detail

// What becomes of the tangent that an output has already: a new output has none; an operator that
// writes an argument also writes its tangent, and one that reshapes it also reshapes its tangent.
enum class OldTangent { none, written, reshaped };

// One call in forward mode: the values and tangents of its arguments, and the tangents that
// formulas compute.
class ForwardCall {
 public:
  using GivenType = at::Tensor;  // see given.h

  explicit ForwardCall(OldTangent old = OldTangent::none) : old_(old) {}

  template <class... T>
  bool has_tangent(const T&... arguments) const {
    return (false || ... || detail::has_tangent(arguments));
  }

  // Returns the value without its tangent; for a list, those of its elements.
  template <class T>
  auto primal(const T& argument) const {
    if constexpr (requires { argument.before(); }) {
      return primal(argument.before());
    } else {
      return for_each<T>(argument, &detail::primal_of);
    }
  }
  // Returns the tangent, or zeros; for a list, those of its elements.
  template <class T>
  auto tangent(const T& argument) const {
    if constexpr (requires { argument.before(); }) {
      return for_each<T>(argument, [this](const at::Tensor& tensor) {
        if (!tensor.defined()) return at::Tensor();
        const at::Tensor tangent = detail::tangent_of(tensor);
        // The tangent is written after the formula, so clone it: the tensors that the formula
        // records must not change.
        const bool clones = old_ != OldTangent::reshaped && at::GradMode::is_enabled();
        if (tangent.defined()) return clones ? tangent.clone() : tangent;
        return at::zeros_symint(tensor.sym_sizes(), tensor.options());
      });
    } else {
      return for_each<T>(argument, [](const at::Tensor& tensor) {
        at::Tensor tangent = detail::tangent_of(tensor);
        if (tangent.defined() || !tensor.defined()) return tangent;
        tangent = at::_efficientzerotensor_symint(tensor.sym_sizes(), tensor.options());
        if (detail::is_wrapped_number(tensor)) {
          tangent.unsafeGetTensorImpl()->set_wrapped_number(true);
        }
        return tangent;
      });
    }
  }

  // Sets the tangent of one output (a position in D::Outputs), or a tuple with those of several.
  template <std::size_t output, std::size_t... more, class T>
  void give(const T& tangent) {
    if constexpr (sizeof...(more) > 0) {
      give_several<output, more...>(tangent, std::make_index_sequence<1 + sizeof...(more)>());
    } else {
      Given given{output, {}};
      detail::for_each_slot(tangent,
                            [&](const at::Tensor& each) { given.tangents.push_back(each); });
      given_.push_back(std::move(given));
    }
  }
  // Sets the tangents of a list: `tangent_of(i)` may be undefined.
  template <std::size_t output, class F>
  void give_each(std::size_t count, const F& tangent_of) {
    Given given{output, {}};
    for (std::size_t i = 0; i < count; ++i) given.tangents.push_back(tangent_of(i));
    given_.push_back(std::move(given));
  }

  // Sets the tangents of output `output`, after all formulas ran.
  template <class T>
  void set(std::size_t output, const T& result, const char* name) const {
    for (const Given& given : given_) {
      if (given.output != output) continue;
      std::size_t i = 0;
      detail::for_each_slot(result, [&](const at::Tensor& tensor) {
        TORCH_CHECK(i < given.tangents.size(), name, ": a formula returned ", given.tangents.size(),
                    " tangents, but the operator returned more tensors");
        set_one(tensor, given.tangents[i++]);
      });
    }
  }

 private:
  struct Given {
    std::size_t output;
    std::vector<at::Tensor> tangents;
  };

  template <class T, class F>
  static auto for_each(const T& argument, const F& f) {
    if constexpr (detail::kIsTensor<T> || std::is_convertible_v<const T&, const at::Tensor&>) {
      at::Tensor found;
      detail::for_each_slot(argument, [&](const at::Tensor& tensor) { found = f(tensor); });
      return found;
    } else {
      std::vector<at::Tensor> found;
      detail::for_each_slot(argument,
                            [&](const at::Tensor& tensor) { found.push_back(f(tensor)); });
      return found;
    }
  }
  template <std::size_t... outputs, class T, std::size_t... positions>
  void give_several(const T& tangents, std::index_sequence<positions...>) {
    (give<outputs>(std::get<positions>(tangents)), ...);
  }
  void set_one(const at::Tensor& tensor, at::Tensor tangent) const {
    if (!tensor.defined() || !tangent.defined()) return;
    if (old_ != OldTangent::none) {
      // It must stay the same object.
      const at::Tensor old = detail::tangent_of(tensor);
      if (old.defined() && !old.is_same(tangent)) {
        if (old_ == OldTangent::reshaped) {
          old.as_strided__symint(tangent.sym_sizes(), tangent.sym_strides());
        }
        tangent = old.copy_(tangent);
      }
    }
    tensor._set_fw_grad(tangent, /*level=*/0, /*is_inplace_op=*/old_ != OldTangent::none);
  }

  OldTangent old_;
  std::vector<Given> given_;
};

}  // namespace opgen::autograd
