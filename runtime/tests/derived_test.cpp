// derived_test.cpp: the Autograd kernels of operators with formulas, with nodes of the same form as
// those that opgen generates from a derivatives.yaml.
#include "opgen/autograd/derived.h"

#include <cmath>
#include <functional>
#include <thread>

#include "check.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/boxing.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator.h"
#include "opgen/register.h"
#include "tensors.h"

using namespace opgen;
using tensors::values;
using Values = std::vector<double>;
using opgen::autograd::Gradients;
using opgen::autograd::Kind;

// ---- Operators
// -----------------------------------------------------------------------------------

#define OPERATOR(struct_name, op_name, overload, ...)                           \
  struct struct_name : Operator<struct_name, __VA_ARGS__> {                     \
    static constexpr const char* name = op_name;                                \
    static constexpr const char* overload_name = overload;                      \
    static OperatorSlot slot;                                                   \
  };                                                                            \
  OperatorSlot struct_name::slot {                                              \
    struct_name::name, struct_name::overload_name, &boxing<struct_name::schema> \
  }

namespace d::_ops {
using Tensors = std::vector<Tensor>;
using OptionalTensors = List<std::optional<Tensor>>;
OPERATOR(mul, "d::mul", "", Tensor(const Tensor&, const Tensor&));
OPERATOR(mul_, "d::mul_", "", Tensor&(Tensor&, const Tensor&));
OPERATOR(mul_out, "d::mul", "out", Tensor&(const Tensor&, const Tensor&, Tensor&));
OPERATOR(add, "d::add", "", Tensor(const Tensor&, const Tensor&));
OPERATOR(add_, "d::add_", "", Tensor&(Tensor&, const Tensor&));
OPERATOR(conj, "d::conj", "", Tensor(const Tensor&));
OPERATOR(exp, "d::exp", "", Tensor(const Tensor&));
OPERATOR(exp_, "d::exp_", "", Tensor&(Tensor&));
OPERATOR(row, "d::row", "", Tensor(const Tensor&, std::int64_t));
OPERATOR(rows, "d::rows", "", Tensors(const Tensor&));
OPERATOR(unrow, "d::unrow", "", Tensor(const Tensor&, IntArrayRef, std::int64_t));
OPERATOR(stack, "d::stack", "", Tensor(TensorList));
OPERATOR(largest, "d::largest", "", std::tuple<Tensor, Tensor>(const Tensor&));
OPERATOR(both, "d::both", "", std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&));
OPERATOR(weighted, "d::weighted", "", Tensor(const Tensor&, const std::optional<Tensor>&));
OPERATOR(pick, "d::pick", "", Tensor(const Tensor&, const OptionalTensors&));
OPERATOR(accumulate, "d::accumulate", "", Tensor&(const Tensor&, Tensor&, Tensor&));
OPERATOR(floor, "d::floor", "", Tensor(const Tensor&, const Tensor&));
OPERATOR(scaled, "d::scaled", "", Tensor(const Tensor&, double, bool));
OPERATOR(muls_, "d::muls_", "", void(TensorList, const Tensor&));
OPERATOR(each_mul_, "d::each_mul_", "", void(TensorList, TensorList));
}  // namespace d::_ops

namespace d {
inline Tensor mul(const Tensor& a, const Tensor& b) {
  return _ops::mul::call(a, b);
}
inline Tensor& mul_(Tensor& a, const Tensor& b) {
  return _ops::mul_::call(a, b);
}
inline Tensor add(const Tensor& a, const Tensor& b) {
  return _ops::add::call(a, b);
}
inline Tensor& add_(Tensor& a, const Tensor& b) {
  return _ops::add_::call(a, b);
}
inline Tensor conj(const Tensor& a) {
  return _ops::conj::call(a);
}
inline Tensor exp(const Tensor& a) {
  return _ops::exp::call(a);
}
inline Tensor row(const Tensor& a, std::int64_t i) {
  return _ops::row::call(a, i);
}
inline std::vector<Tensor> rows(const Tensor& a) {
  return _ops::rows::call(a);
}
inline Tensor unrow(const Tensor& a, IntArrayRef sizes, std::int64_t i) {
  return _ops::unrow::call(a, sizes, i);
}
inline Tensor stack(TensorList list) {
  return _ops::stack::call(list);
}
}  // namespace d

// ---- Kernels: no autograd code
// -------------------------------------------------------------------

namespace {

template <class F>
Tensor& loop(Tensor& out, const Tensor& a, const Tensor& b, F f) {
  TensorIteratorConfig config;
  config.add_output(out).add_const_input(a).add_const_input(b);
  config.promote_inputs_to_common_dtype(true).cast_common_dtype_to_outputs(true);
  TensorIterator iter = config.build();
  out = Tensor(iter.output());
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "d", [&] {
    cpu_kernel(iter, [f](scalar_t x, scalar_t y) { return f(x, y); });
  });
  return out;
}
constexpr auto plus = [](auto x, auto y) { return x + y; };
constexpr auto times = [](auto x, auto y) { return x * y; };

Tensor mul_kernel(const Tensor& a, const Tensor& b) {
  Tensor out;
  return loop(out, a, b, times);
}
Tensor& mul_inplace(Tensor& a, const Tensor& b) {
  return loop(a, a, b, times);
}
Tensor& mul_out_kernel(const Tensor& a, const Tensor& b, Tensor& out) {
  return loop(out, a, b, times);
}
Tensor add_kernel(const Tensor& a, const Tensor& b) {
  Tensor out;
  return loop(out, a, b, plus);
}
Tensor& add_inplace(Tensor& a, const Tensor& b) {
  return loop(a, a, b, plus);
}
Tensor conj_kernel(const Tensor& a) {
  Tensor out = opgen::contiguous(a);
  if (!a.is_complex()) return opgen::clone(a);
  out = opgen::clone(out);
  auto* data = out.mutable_data_ptr<complex<double>>();
  for (std::int64_t i = 0; i < out.numel(); ++i) data[i] = {data[i].real(), -data[i].imag()};
  return out;
}
Tensor map(const Tensor& a, double (*f)(double)) {
  Tensor out = opgen::clone(a, MemoryFormat::Contiguous);
  double* data = out.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) data[i] = f(data[i]);
  return out;
}
Tensor exp_kernel(const Tensor& a) {
  return map(a, [](double x) { return std::exp(x); });
}
Tensor& exp_inplace(Tensor& a) {
  opgen::copy_(a, exp_kernel(a));
  return a;
}
Tensor row_kernel(const Tensor& self, std::int64_t i) {
  return opgen::detail::alias_with_sizes_and_strides(self, self.sizes().slice(1),
                                                     self.strides().slice(1),
                                                     self.storage_offset() + i * self.stride(0));
}
std::vector<Tensor> rows_kernel(const Tensor& self) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < self.size(0); ++i) rows.push_back(row_kernel(self, i));
  return rows;
}
Tensor unrow_kernel(const Tensor& self, IntArrayRef sizes, std::int64_t i) {
  Tensor out = opgen::full(sizes, 0, self.options());
  opgen::copy_(row_kernel(out, i), self);
  return out;
}
Tensor stack_kernel(TensorList list) {
  DimVector sizes(list[0].sizes());
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(list.size()));
  Tensor out = opgen::empty(sizes, list[0].options());
  for (std::size_t i = 0; i < list.size(); ++i) {
    opgen::copy_(row_kernel(out, static_cast<std::int64_t>(i)), list[i]);
  }
  return out;
}
// Returns the largest element and its index.
std::tuple<Tensor, Tensor> largest_kernel(const Tensor& self) {
  Values all = values(self);
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) best = all[i] > all[best] ? i : best;
  return {opgen::full({}, all[best], self.options()),
          opgen::full({}, static_cast<std::int64_t>(best), TensorOptions().dtype(kLong))};
}
std::tuple<Tensor, Tensor> both_kernel(const Tensor& a, const Tensor& b) {
  return {mul_kernel(a, b), add_kernel(a, b)};
}
Tensor weighted_kernel(const Tensor& self, const std::optional<Tensor>& weight) {
  return weight.has_value() ? mul_kernel(self, *weight) : opgen::clone(self);
}
Tensor pick_kernel(const Tensor& self, const List<std::optional<Tensor>>& factors) {
  Tensor out = opgen::clone(self);
  for (const auto& factor : factors) {
    if (factor.has_value()) out = mul_kernel(out, *factor);
  }
  return out;
}
// Adds `value` to `total`, and 1 to `count`, which has no gradient.
Tensor& accumulate_kernel(const Tensor& value, Tensor& total, Tensor& count) {
  add_inplace(count, opgen::full({}, 1, count.options()));
  return add_inplace(total, value);
}
Tensor floor_kernel(const Tensor& self, const Tensor&) {
  return map(self, [](double x) { return std::floor(x); });
}
Tensor scaled_kernel(const Tensor& self, double factor, bool) {
  return mul_kernel(self, opgen::full({}, factor, self.options()));
}
void each_mul_inplace(TensorList list, TensorList factors) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    Tensor tensor = list[i];
    mul_inplace(tensor, factors[i]);
  }
}
void muls_inplace(TensorList list, const Tensor& factor) {
  for (Tensor tensor : list) mul_inplace(tensor, factor);
}

}  // namespace

// ---- Nodes, as generated
// -------------------------------------------------------------------------

namespace d::derivatives {
using namespace opgen::types;
using namespace opgen::autograd::formulas;
using opgen::autograd::BackwardCall;
using opgen::autograd::ForwardCall;
using opgen::autograd::OutputGradients;
using opgen::autograd::Recording;
using opgen::autograd::Saved;

struct MulBackward0 {
  static constexpr const char* kName = "MulBackward0";
  static constexpr const char* kOperator = "d::mul";
  using Inputs = std::index_sequence<0, 1>;
  using Outputs = std::index_sequence<0>;
  static constexpr bool kReadsSelf = true;
  Saved<Tensor> other_;
  Saved<Tensor> self_;
  Saved<ScalarType> self_scalar_type_;
  void for_each_saved(auto&& f) {
    f(other_);
    f(self_);
    f(self_scalar_type_);
  }
  void save(const Recording& opgen_call, const auto& self, const auto& other) {
    if (opgen_call.needs(0)) other_.save(other);
    if (opgen_call.needs(1)) self_.save(self);
    self_scalar_type_.save(self.scalar_type());
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto other = other_.get(opgen_call);
    const auto self = self_.get(opgen_call);
    const auto self_scalar_type = self_scalar_type_.get(opgen_call);
    if (opgen_call.computes(0)) {
      opgen_call.give<0>(handle_r_to_c(self_scalar_type, mul(grad, conj(other))));
    }
    if (opgen_call.computes(1)) opgen_call.give<1>(mul(grad, conj(self)));
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto& other, const auto&) {
    const auto self_p = opgen_call.primal(self);
    const auto self_t = opgen_call.tangent(self);
    const auto other_p = opgen_call.primal(other);
    const auto other_t = opgen_call.tangent(other);
    if (opgen_call.has_tangent(self, other)) {
      opgen_call.give<0>(add(mul(other_t, self_p), mul(self_t, other_p)));
    }
  }
};
struct AddBackward0 {
  static constexpr const char* kName = "AddBackward0";
  static constexpr const char* kOperator = "d::add";
  using Inputs = std::index_sequence<0, 1>;
  using Outputs = std::index_sequence<0>;
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    if (opgen_call.computes(0)) opgen_call.give<0>(grad);
    if (opgen_call.computes(1)) opgen_call.give<1>(grad);
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto& other, const auto&) {
    const auto self_t = opgen_call.tangent(self);
    const auto other_t = opgen_call.tangent(other);
    if (opgen_call.has_tangent(self, other)) opgen_call.give<0>(add(self_t, other_t));
  }
};
struct ConjBackward0 {
  static constexpr const char* kName = "ConjBackward0";
  static constexpr const char* kOperator = "d::conj";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    if (opgen_call.computes(0)) opgen_call.give<0>(conj(grad));
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto&) {
    const auto self_t = opgen_call.tangent(self);
    if (opgen_call.has_tangent(self)) opgen_call.give<0>(conj(self_t));
  }
};
struct ExpBackward0 {
  static constexpr const char* kName = "ExpBackward0";
  static constexpr const char* kOperator = "d::exp";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<Tensor> result_;
  void for_each_saved(auto&& f) { f(result_); }
  void save_outputs(const Recording& opgen_call, const auto& result) {
    result_.save_output(opgen_call, result);
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto result = result_.get(opgen_call);
    if (opgen_call.computes(0)) opgen_call.give<0>(mul(grad, result));
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto& result) {
    const auto self_t = opgen_call.tangent(self);
    if (opgen_call.has_tangent(self)) opgen_call.give<0>(mul(self_t, result));
  }
};
struct RowBackward0 {
  static constexpr const char* kName = "RowBackward0";
  static constexpr const char* kOperator = "d::row";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<SymIntArrayRef> self_sym_sizes_;
  Saved<std::int64_t> i_;
  void for_each_saved(auto&& f) {
    f(self_sym_sizes_);
    f(i_);
  }
  void save(const Recording&, const auto& self, const auto& i) {
    self_sym_sizes_.save(self.sym_sizes());
    i_.save(i);
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto self_sym_sizes = self_sym_sizes_.get(opgen_call);
    const auto i = i_.get(opgen_call);
    if (opgen_call.computes(0)) opgen_call.give<0>(unrow(grad, self_sym_sizes, i));
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto& i, const auto&) {
    const auto self_t = opgen_call.tangent(self);
    if (opgen_call.has_tangent(self)) opgen_call.give<0>(row(self_t, i));
  }
};
struct RowsBackward0 {
  static constexpr const char* kName = "RowsBackward0";
  static constexpr const char* kOperator = "d::rows";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  static constexpr bool kZeros = true;
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    if (opgen_call.computes(0)) opgen_call.give<0>(stack(grads));
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto&) {
    const auto self_t = opgen_call.tangent(self);
    if (opgen_call.has_tangent(self)) opgen_call.give<0>(rows(self_t));
  }
};
struct UnrowBackward0 {
  static constexpr const char* kName = "UnrowBackward0";
  static constexpr const char* kOperator = "d::unrow";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<std::int64_t> i_;
  void for_each_saved(auto&& f) { f(i_); }
  void save(const Recording&, const auto&, const auto&, const auto& i) { i_.save(i); }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto i = i_.get(opgen_call);
    if (opgen_call.computes(0)) opgen_call.give<0>(row(grad, i));
  }
};
struct StackBackward0 {
  static constexpr const char* kName = "StackBackward0";
  static constexpr const char* kOperator = "d::stack";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<TensorList> tensors_;
  Saved<std::vector<std::vector<std::int64_t>>> sizes_;
  void for_each_saved(auto&& f) {
    f(tensors_);
    f(sizes_);
  }
  void save(const Recording&, const auto& tensors) {
    tensors_.save(tensors);
    sizes_.save(to_args_sizes(tensors));
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto tensors = tensors_.get(opgen_call);
    const auto sizes = sizes_.get(opgen_call);
    CHECK_EQ(TensorList(tensors)[0].sizes(), IntArrayRef(sizes[0]));
    if (opgen_call.computes(0)) opgen_call.give<0>(rows(grad));
  }
  static void forward(ForwardCall& opgen_call, const auto& tensors, const auto&) {
    const auto tensors_t = opgen_call.tangent(tensors);
    if (opgen_call.has_tangent(tensors)) opgen_call.give<0>(stack(tensors_t));
  }
};
struct LargestBackward0 {
  static constexpr const char* kName = "LargestBackward0";
  static constexpr const char* kOperator = "d::largest";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<SymIntArrayRef> self_sym_sizes_;
  Saved<Tensor> result1_;
  void for_each_saved(auto&& f) {
    f(self_sym_sizes_);
    f(result1_);
  }
  void save(const Recording&, const auto& self) { self_sym_sizes_.save(self.sym_sizes()); }
  void save_outputs(const Recording& opgen_call, const auto&, const auto& result1) {
    result1_.save_output(opgen_call, result1);
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto self_sym_sizes = self_sym_sizes_.get(opgen_call);
    const auto result1 = result1_.get(opgen_call);
    const auto i = opgen::item(result1).template to<std::int64_t>();
    if (opgen_call.computes(0)) opgen_call.give<0>(unrow(grad, self_sym_sizes, i));
  }
};
struct BothBackward0 {
  static constexpr const char* kName = "BothBackward0";
  static constexpr const char* kOperator = "d::both";
  using Inputs = std::index_sequence<0, 1>;
  using Outputs = std::index_sequence<0, 1>;
  static constexpr bool kZeros = true;
  Saved<Tensor> self_;
  Saved<Tensor> other_;
  void for_each_saved(auto&& f) {
    f(self_);
    f(other_);
  }
  void save(const Recording&, const auto& self, const auto& other) {
    self_.save(self);
    other_.save(other);
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto self = self_.get(opgen_call);
    const auto other = other_.get(opgen_call);
    if (opgen_call.computes(0) || opgen_call.computes(1)) {
      const std::array<bool, 2> grad_input_mask{opgen_call.computes(0), opgen_call.computes(1)};
      opgen_call.give<0, 1>(std::tuple<Tensor, Tensor>(
          grad_input_mask[0] ? add(mul(grads[0], other), grads[1]) : Tensor(),
          grad_input_mask[1] ? add(mul(grads[0], self), grads[1]) : Tensor()));
    }
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto& other,
                      const auto& result0, const auto& result1) {
    const auto self_p = opgen_call.primal(self);
    const auto self_t = opgen_call.tangent(self);
    const auto other_p = opgen_call.primal(other);
    const auto other_t = opgen_call.tangent(other);
    if (opgen_call.has_tangent(self, other)) {
      opgen_call.give<0, 1>(
          std::make_tuple(add(mul(other_t, self_p), mul(self_t, other_p)), add(self_t, other_t)));
    }
    // The formula of another output may read these.
    CHECK(!opgen_call.has_tangent(result0, result1));
  }
};
struct WeightedBackward0 {
  static constexpr const char* kName = "WeightedBackward0";
  static constexpr const char* kOperator = "d::weighted";
  using Inputs = std::index_sequence<0, 1>;
  using Outputs = std::index_sequence<0>;
  Saved<Tensor> self_;
  Saved<Tensor> weight_;
  Saved<OptionalSymIntArrayRef> weight_sym_sizes_;
  void for_each_saved(auto&& f) {
    f(self_);
    f(weight_);
    f(weight_sym_sizes_);
  }
  void save(const Recording&, const auto& self, const auto& weight) {
    self_.save(self);
    weight_.save(weight);
    weight_sym_sizes_.save(weight.has_value() ? std::optional<SymIntArrayRef>(weight->sym_sizes())
                                              : std::nullopt);
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto self = self_.get(opgen_call);
    const auto weight = weight_.get(opgen_call);
    const auto weight_sym_sizes = weight_sym_sizes_.get(opgen_call);
    const OptionalSymIntArrayRef as_argument = weight_sym_sizes;
    CHECK_EQ(as_argument.has_value(), weight.defined());
    if (opgen_call.computes(0)) opgen_call.give<0>(weight.defined() ? mul(grad, weight) : grad);
    if (opgen_call.computes(1)) opgen_call.give<1>(mul(grad, self));
  }
};
struct PickBackward0 {
  static constexpr const char* kName = "PickBackward0";
  static constexpr const char* kOperator = "d::pick";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<List<std::optional<Tensor>>> factors_;
  void for_each_saved(auto&& f) { f(factors_); }
  void save(const Recording&, const auto&, const auto& factors) { factors_.save(factors); }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto factors = factors_.get(opgen_call);
    if (opgen_call.computes(0)) opgen_call.give<0>(_ops::pick::call(grad, factors));
  }
};
struct AccumulateBackward0 {
  static constexpr const char* kName = "AccumulateBackward0";
  static constexpr const char* kOperator = "d::accumulate";
  using Inputs = std::index_sequence<0, 1>;
  using Outputs = std::index_sequence<0>;
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    if (opgen_call.computes(0)) opgen_call.give<0>(grads[0]);
    if (opgen_call.computes(1)) opgen_call.give<1>(grads[0]);
  }
  // The tangent of a product, to see which value of `total` a formula reads.
  static void forward(ForwardCall& opgen_call, const auto& value, const auto& total, const auto&,
                      const auto&) {
    opgen_call.give<0>(Tensor(mul(opgen_call.tangent(value), opgen_call.primal(total))));
  }
};
struct FloorBackward0 {
  static constexpr const char* kName = "FloorBackward0";
  static constexpr const char* kOperator = "d::floor";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  using WithoutGradient = std::index_sequence<1>;
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    if (opgen_call.computes(0)) opgen_call.give<0>(zeros_like(grad));
  }
};
struct ScaledBackward0 {
  static constexpr const char* kName = "ScaledBackward0";
  static constexpr const char* kOperator = "d::scaled";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  Saved<double> factor_;
  void for_each_saved(auto&& f) { f(factor_); }
  static bool has_gradient(const Recording&, const auto&, const auto&, const auto& differentiable) {
    return differentiable;
  }
  void save(const Recording&, const auto&, const auto& factor, const auto&) {
    factor_.save(factor);
  }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto& grad = grads[0];
    const auto factor = factor_.get(opgen_call);
    const bool retain_variables = opgen_call.retain_variables();
    // This formula reuses memory only if the graph is not retained.
    const double times = retain_variables ? factor : factor * 10;
    if (opgen_call.computes(0)) opgen_call.give<0>(_ops::scaled::call(grad, times, true));
  }
};
struct MulsBackward0 {
  static constexpr const char* kName = "MulsBackward0";
  static constexpr const char* kOperator = "d::muls_";
  using Inputs = std::index_sequence<0>;
  using Outputs = std::index_sequence<0>;
  using WithoutGradient = std::index_sequence<1>;
  Saved<Tensor> factor_;
  void for_each_saved(auto&& f) { f(factor_); }
  void save(const Recording&, const auto&, const auto& factor) { factor_.save(factor); }
  void backward(BackwardCall& opgen_call, const OutputGradients& grads) {
    const auto factor = factor_.get(opgen_call);
    if (opgen_call.computes(0)) {
      opgen_call.give_each<0>(grads.size(), [&](std::size_t i) {
        return grads[i].defined() ? Tensor(mul(grads[i], factor)) : Tensor();
      });
    }
  }
  static void forward(ForwardCall& opgen_call, const auto& self, const auto& factor,
                      const auto& result) {
    if (opgen_call.has_tangent(self)) {
      opgen_call.give_each<0>(result.size(), [&](std::size_t i) -> Tensor {
        if (!opgen_call.has_tangent(self[i])) return Tensor();
        const auto self_t = opgen_call.tangent(self[i]);
        return mul(self_t, factor);
      });
    }
  }
};

}  // namespace d::derivatives

namespace {

using opgen::autograd::recorded;
using namespace d::_ops;
namespace nodes = d::derivatives;

const SchemaRow schemas[] = {
    {&mul::slot, "mul(Tensor self, Tensor other) -> Tensor", ""},
    {&mul_::slot, "mul_(Tensor(a!) self, Tensor other) -> Tensor(a!)", ""},
    {&mul_out::slot, "mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", ""},
    {&add::slot, "add(Tensor self, Tensor other) -> Tensor", ""},
    {&add_::slot, "add_(Tensor(a!) self, Tensor other) -> Tensor(a!)", ""},
    {&conj::slot, "conj(Tensor self) -> Tensor", ""},
    {&d::_ops::exp::slot, "exp(Tensor self) -> Tensor", ""},
    {&exp_::slot, "exp_(Tensor(a!) self) -> Tensor(a!)", ""},
    {&row::slot, "row(Tensor(a) self, int i) -> Tensor(a)", ""},
    {&rows::slot, "rows(Tensor(a -> *) self) -> Tensor(a)[]", ""},
    {&unrow::slot, "unrow(Tensor self, int[] sizes, int i) -> Tensor", ""},
    {&stack::slot, "stack(Tensor[] tensors) -> Tensor", ""},
    {&largest::slot, "largest(Tensor self) -> (Tensor, Tensor)", ""},
    {&both::slot, "both(Tensor self, Tensor other) -> (Tensor, Tensor)", ""},
    {&weighted::slot, "weighted(Tensor self, Tensor? weight) -> Tensor", ""},
    {&pick::slot, "pick(Tensor self, Tensor?[] factors) -> Tensor", ""},
    {&accumulate::slot,
     "accumulate(Tensor value, Tensor(a!) total, Tensor(b!) count) -> Tensor(a!)", ""},
    {&d::_ops::floor::slot, "floor(Tensor self, Tensor unused) -> Tensor", ""},
    {&scaled::slot, "scaled(Tensor self, float factor, bool differentiable) -> Tensor", ""},
    {&muls_::slot, "muls_(Tensor(a!)[] self, Tensor factor) -> ()", ""},
    {&each_mul_::slot, "each_mul_(Tensor(a!)[] self, Tensor[] other) -> ()", ""},
};
const SchemaTable schema_table("d", "derived_test", schemas);

const KernelRow cpu_rows[] = {
    opgen::kernel<mul>(&mul_kernel),
    opgen::kernel<mul_>(&mul_inplace),
    opgen::kernel<mul_out>(&mul_out_kernel),
    opgen::kernel<add>(&add_kernel),
    opgen::kernel<add_>(&add_inplace),
    opgen::kernel<conj>(&conj_kernel),
    opgen::kernel<d::_ops::exp>(&exp_kernel),
    opgen::kernel<exp_>(&exp_inplace),
    opgen::kernel<row>(&row_kernel),
    opgen::kernel<rows>(&rows_kernel),
    opgen::kernel<unrow>(&unrow_kernel),
    opgen::kernel<stack>(&stack_kernel),
    opgen::kernel<largest>(&largest_kernel),
    opgen::kernel<both>(&both_kernel),
    opgen::kernel<weighted>(&weighted_kernel),
    opgen::kernel<pick>(&pick_kernel),
    opgen::kernel<accumulate>(&accumulate_kernel),
    opgen::kernel<d::_ops::floor>(&floor_kernel),
    opgen::kernel<scaled>(&scaled_kernel),
    opgen::kernel<muls_>(&muls_inplace),
    opgen::kernel<each_mul_>(&each_mul_inplace),
};
const KernelTable cpu_table("derived_test", DispatchKey::CPU, cpu_rows);

const KernelRow autograd_rows[] = {
    recorded<nodes::MulBackward0, mul, Kind::functional>(),
    recorded<nodes::MulBackward0, mul_, Kind::inplace>(),
    opgen::autograd::refuses_out<mul_out>(),
    recorded<nodes::AddBackward0, add, Kind::functional>(),
    recorded<nodes::AddBackward0, add_, Kind::inplace>(),
    recorded<nodes::ConjBackward0, conj, Kind::functional>(),
    recorded<nodes::ExpBackward0, d::_ops::exp, Kind::functional>(),
    recorded<nodes::ExpBackward0, exp_, Kind::inplace>(),
    recorded<nodes::RowBackward0, row, Kind::view>(),
    recorded<nodes::RowsBackward0, rows, Kind::view>(),
    recorded<nodes::UnrowBackward0, unrow, Kind::functional>(),
    recorded<nodes::StackBackward0, stack, Kind::functional>(),
    recorded<nodes::LargestBackward0, largest, Kind::functional>(),
    recorded<nodes::BothBackward0, both, Kind::functional>(),
    recorded<nodes::WeightedBackward0, weighted, Kind::functional>(),
    recorded<nodes::PickBackward0, pick, Kind::functional>(),
    recorded<nodes::AccumulateBackward0, accumulate, Kind::writes>(),
    recorded<nodes::FloorBackward0, d::_ops::floor, Kind::functional>(),
    recorded<nodes::ScaledBackward0, scaled, Kind::functional>(),
    recorded<nodes::MulsBackward0, muls_, Kind::inplace>(),
    recorded<nodes::MulBackward0, each_mul_, Kind::foreach_inplace>(),
};
const KernelTable autograd_table("derived_test", DispatchKey::Autograd, autograd_rows);

// ---- Tests
// ---------------------------------------------------------------------------------------

using opgen::autograd::backward;
using opgen::autograd::grad;
using opgen::autograd::grad_fn;
using opgen::autograd::grad_of;
using opgen::autograd::requires_grad;
using opgen::autograd::set_requires_grad;

Tensor numbers(IntArrayRef sizes, double start = 1) {
  Tensor t = tensors::arange(sizes, kDouble);
  double* data = t.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < t.numel(); ++i) data[i] = 0.25 * data[i] + start;
  return t;
}
Tensor leaf(IntArrayRef sizes, double start = 1) {
  Tensor t = numbers(sizes, start);
  set_requires_grad(t, true);
  return t;
}
Tensor ones(const TensorBase& like) {
  return opgen::full(like.sizes(), 1, like.options());
}
double total(const TensorBase& t) {
  double sum = 0;
  for (double x : values(t)) sum += x;
  return sum;
}
bool close(const Values& a, const Values& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) < 1e-5 * (1 + std::abs(b[i])))) return false;
  }
  return true;
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Compares the gradient of the sum of f with finite differences, for every input.
bool gradients_match(const Function& f, std::vector<Tensor> inputs) {
  for (Tensor& input : inputs) {
    input = opgen::clone(input);
    set_requires_grad(input, true);
  }
  Tensor out = f(inputs);
  std::vector<TensorBase> bases(inputs.begin(), inputs.end());
  const auto found = grad({out}, bases, {ones(out)});
  NoGradGuard no_grad;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Values differences;
    for (std::int64_t i = 0; i < inputs[k].numel(); ++i) {
      double sums[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<Tensor> moved = inputs;
        moved[k] = opgen::clone(inputs[k]);
        moved[k].mutable_data_ptr<double>()[i] += side == 0 ? -1e-6 : 1e-6;
        sums[side] = total(f(moved));
      }
      differences.push_back((sums[1] - sums[0]) / 2e-6);
    }
    if (!close(values(found[k]), differences)) return false;
  }
  return true;
}
// Does the same for the gradient of a gradient.
bool second_gradients_match(const Function& f, const std::vector<Tensor>& inputs) {
  return gradients_match(
      [&](const std::vector<Tensor>& at) {
        std::vector<TensorBase> some;
        for (Tensor t : at) {
          if (!requires_grad(t)) set_requires_grad(t, true);
          some.push_back(t);
        }
        AutoGradMode records(true);
        Tensor out = f(at);
        out = d::mul(out, out);  // so that the gradient depends on the inputs
        const auto first = grad({out}, some, {numbers(out.sizes(), 0.5)}, true, true);
        return d::mul(Tensor(first[0]), numbers(first[0].sizes(), 2));
      },
      inputs);
}
// Compares tangents with finite differences along one direction.
bool tangents_match(const Function& f, std::vector<Tensor> inputs) {
  std::vector<Tensor> directions;
  for (const Tensor& input : inputs) directions.push_back(numbers(input.sizes(), -0.5));
  Tensor sides[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<Tensor> moved;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      moved.push_back(d::add(
          inputs[k],
          d::mul(directions[k], opgen::full({}, side == 0 ? -1e-6 : 1e-6, inputs[k].options()))));
    }
    sides[side] = f(moved);
  }
  Values differences;
  for (std::size_t i = 0; i < values(sides[0]).size(); ++i) {
    differences.push_back((values(sides[1])[i] - values(sides[0])[i]) / 2e-6);
  }
  opgen::autograd::ForwardLevel level;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    inputs[k] = Tensor(opgen::autograd::make_dual(opgen::clone(inputs[k]), directions[k]));
  }
  return close(values(opgen::autograd::tangent_of(f(inputs))), differences);
}
bool all_match(const Function& f, const std::vector<Tensor>& inputs) {
  const bool first = gradients_match(f, inputs);
  const bool second = second_gradients_match(f, inputs);
  const bool forward = tangents_match(f, inputs);
  if (!first || !second || !forward) std::fprintf(stderr, "%d %d %d\n", first, second, forward);
  return first && second && forward;
}

}  // namespace

TEST(a_call_is_recorded_if_an_input_needs_a_gradient) {
  Tensor a = leaf({3}), b = numbers({3});
  Tensor out = d::mul(a, b);
  CHECK_EQ(grad_fn(out)->name(), "MulBackward0");
  CHECK(!grad_fn(out)->next_edges()[1].is_valid());
  CHECK(!requires_grad(d::mul(b, b)));
  {
    NoGradGuard no_grad;
    CHECK(!requires_grad(d::mul(a, b)));
  }
  backward(out, ones(out));
  CHECK_EQ(values(grad_of(a)), values(b));
}

TEST(a_view_made_without_recording_is_not_changed_where_calls_are_recorded) {
  Tensor a = leaf({2, 3}), two = numbers({3});
  Tensor base = d::mul(a, a), row;
  {
    NoGradGuard no_grad;
    row = d::row(base, 0);
  }
  CHECK(!requires_grad(row));
  CHECK_THROWS(Error, "d::mul_ would change in place a view that was made in no_grad mode",
               d::mul_(row, two));
  const Tensor list[] = {row}, by[] = {two};
  CHECK_THROWS(Error, "d::each_mul_ would change in place a view",
               d::_ops::each_mul_::call(list, by));
  NoGradGuard no_grad;
  d::mul_(row, two);
}

TEST(gradients_of_functional_operators) {
  CHECK(all_match([](const auto& x) { return d::mul(d::mul(x[0], x[1]), x[0]); },
                  {numbers({2, 3}), numbers({3})}));
  CHECK(all_match([](const auto& x) { return d::exp(d::mul(x[0], x[0])); }, {numbers({3}, 0.1)}));
  CHECK(all_match([](const auto& x) { return d::add(d::conj(x[0]), d::mul(x[1], x[1])); },
                  {numbers({3}), numbers({2, 3})}));
}

TEST(gradients_of_in_place_operators) {
  CHECK(all_match(
      [](const auto& x) {
        Tensor y = d::mul(x[0], x[0]);
        d::mul_(y, x[1]);
        d::mul_(y, x[0]);
        return d::_ops::exp_::call(d::add_(y, x[0]));
      },
      {numbers({3}, 0.1), numbers({3}, 0.2)}));
  Tensor a = leaf({3});
  CHECK_THROWS(Error, "d::mul_", d::mul_(a, a));
  const std::int64_t version = numbers({1})._version();
  Tensor y = d::mul(a, a);
  d::mul_(y, a);
  CHECK_EQ(y._version(), version + 1);
  CHECK_EQ(grad_fn(y)->name(), "MulBackward0");
}

TEST(gradients_of_views_and_changes_of_views) {
  CHECK(all_match([](const auto& x) { return d::mul(d::row(x[0], 1), d::row(x[0], 0)); },
                  {numbers({2, 3})}));
  // A view is changed in place, and so is its base. Another view sees the change.
  CHECK(all_match(
      [](const auto& x) {
        Tensor base = d::mul(x[0], x[0]);
        Tensor other = d::row(base, 1);
        Tensor view = d::row(base, 1);
        d::mul_(view, x[1]);
        return d::add(d::mul(base, other), view);
      },
      {numbers({2, 3}), numbers({3}, 0.3)}));
  // A base without a gradient gets one.
  Tensor base = numbers({2, 3}), factor = leaf({3});
  Tensor view = d::row(base, 0);
  d::mul_(view, factor);
  CHECK(requires_grad(base) && requires_grad(view));
  backward(base, ones(base));
  CHECK_EQ(values(grad_of(factor)), values(numbers({3})));
  CHECK(is_view(view));
}

TEST(lists_of_views_and_lists_of_inputs) {
  CHECK(all_match(
      [](const auto& x) {
        std::vector<Tensor> rows = d::rows(x[0]);
        return d::mul(rows[0], rows[2]);  // the gradient of rows[1] is zeros
      },
      {numbers({3, 2})}));
  CHECK(all_match(
      [](const auto& x) {
        return d::mul(d::stack({x[0], x[1], x[0]}), numbers({3, 2}, 0.7));
      },
      {numbers({2}), numbers({2}, 3)}));
  Tensor a = leaf({2});
  Tensor out = d::stack({numbers({2}), a});
  CHECK(!grad_fn(out)->next_edges()[0].is_valid());
  backward(out, numbers({2, 2}));
  CHECK_EQ(values(grad_of(a)), (Values{1.5, 1.75}));
}

TEST(several_outputs) {
  CHECK(all_match([](const auto& x) { return std::get<0>(d::_ops::both::call(x[0], x[1])); },
                  {numbers({3}), numbers({3}, 2)}));
  CHECK(all_match(
      [](const auto& x) {
        auto [product, sum] = d::_ops::both::call(x[0], x[1]);
        return d::mul(product, sum);
      },
      {numbers({3}), numbers({3}, 2)}));
  // An integer output has no history.
  Tensor a = leaf({4});
  auto [largest, number] = d::_ops::largest::call(a);
  CHECK(requires_grad(largest) && !requires_grad(number));
  backward(largest);
  CHECK_EQ(values(grad_of(a)), (Values{0, 0, 0, 1}));
}

TEST(optional_inputs_and_lists_of_optionals) {
  CHECK(gradients_match([](const auto& x) { return d::_ops::weighted::call(x[0], x[1]); },
                        {numbers({3}), numbers({3}, 2)}));
  CHECK(gradients_match([](const auto& x) { return d::_ops::weighted::call(x[0], std::nullopt); },
                        {numbers({3})}));
  Tensor a = leaf({2}), factor = numbers({2}, 4);
  Tensor out = d::_ops::pick::call(a, {std::optional<Tensor>(), std::optional<Tensor>(factor)});
  backward(out, ones(out));
  CHECK_EQ(values(grad_of(a)), values(factor));
  set_requires_grad(factor, true);
  CHECK_THROWS(Error, "d::pick is not differentiable with respect to argument 'factors'",
               d::_ops::pick::call(a, {std::optional<Tensor>(factor)}));
}

TEST(operators_that_write_arguments) {
  Tensor value = leaf({2}), sum = numbers({2}, 0), count = numbers({1}, 0);
  d::_ops::accumulate::call(value, sum, count);
  d::_ops::accumulate::call(value, sum, count);
  CHECK_EQ(grad_fn(sum)->name(), "AccumulateBackward0");
  CHECK(!requires_grad(count));
  backward(sum, ones(sum));
  CHECK_EQ(values(grad_of(value)), (Values{2, 2}));
  // The written argument is a view, and not the first one.
  Tensor old = leaf({2, 2}), whole = d::mul(old, numbers({2, 2})), added = leaf({2});
  Tensor row = d::row(whole, 1);
  d::_ops::accumulate::call(added, row, count);
  backward(whole, numbers({2, 2}, 5));
  CHECK_EQ(values(grad_of(added)), (Values{5.5, 5.75}));
  CHECK_EQ(values(grad_of(old)), values(d::mul(numbers({2, 2}), numbers({2, 2}, 5))));
  {
    opgen::autograd::ForwardLevel level;
    Tensor dual(opgen::autograd::make_dual(numbers({2}), numbers({2}, 3)));
    Tensor target = numbers({2}, 10);
    d::_ops::accumulate::call(dual, target, count);
    CHECK_EQ(values(opgen::autograd::tangent_of(target)),
             values(d::mul(numbers({2}, 3), numbers({2}, 10))));
  }
  Tensor tracked = d::mul(leaf({1}), leaf({1}));
  CHECK_THROWS(Error, "argument 'count'", d::_ops::accumulate::call(value, sum, tracked));
}

TEST(lists_changed_in_place) {
  Tensor a = leaf({2}), factor = numbers({2}, 3);
  Tensor first = d::mul(a, a), second = numbers({2});
  d::_ops::muls_::call({first, second}, factor);
  CHECK_EQ(grad_fn(first)->name(), "MulsBackward0");
  backward(first, ones(first));
  CHECK(close(values(grad_of(a)),
              values(d::mul(d::mul(numbers({2}), factor), opgen::full({}, 2, factor.options())))));
}

TEST(lists_changed_in_place_by_the_formulas_for_one_tensor) {
  CHECK(all_match(
      [](const auto& x) {
        Tensor base = d::mul(x[0], x[0]);
        std::vector<Tensor> list{d::row(base, 0), d::mul(x[1], x[1])};
        d::_ops::each_mul_::call(list, {x[1], x[1]});
        return d::mul(base, list[1]);
      },
      {numbers({2, 3}), numbers({3}, 0.3)}));
}

TEST(out_variants_have_no_gradient) {
  Tensor a = leaf({2}), plain = numbers({2});
  Tensor out = numbers({2});
  CHECK_THROWS(Error,
               "d::mul(): functions with out=... arguments don't support automatic "
               "differentiation, but one of the arguments requires grad.",
               d::_ops::mul_out::call(a, plain, out));
  d::_ops::mul_out::call(plain, plain, out);
  NoGradGuard no_grad;
  d::_ops::mul_out::call(a, plain, out);
}

TEST(saved_tensors_are_released_and_guarded) {
  Tensor a = leaf({2}), b = numbers({2});
  Tensor out = d::mul(a, b);
  backward(out, ones(out));
  CHECK_THROWS(Error, "Trying to backward through the graph a second time",
               backward(out, ones(out)));
  Tensor again = d::mul(a, b);
  backward(again, ones(again), true);
  backward(again, ones(again));
  // A node that saves no tensor can run again.
  Tensor sum = d::add(a, b);
  backward(sum, ones(sum));
  backward(sum, ones(sum));
  Tensor changed = d::mul(a, b);
  d::add_(b, b);
  CHECK_THROWS(Error, "changed in place", backward(changed, ones(changed)));
  Tensor result = d::exp(a);
  d::add_(result, b);
  // An error in a formula names the operator and the argument.
  CHECK_THROWS(Error, "(in the formula of d::exp for the gradient of 'self')",
               backward(result, ones(result)));
}

TEST(outputs_do_not_own_their_node) {
  Tensor a = leaf({2});
  std::size_t before = a.use_count();
  {
    Tensor out = d::exp(a);
    Tensor copy = d::exp(out);
  }
  CHECK_EQ(a.use_count(), before);
}

TEST(formulas_see_whether_the_graph_is_retained) {
  Tensor a = leaf({1});
  Tensor out = d::_ops::scaled::call(a, 2, true);
  CHECK_EQ(values(grad({out}, {a}, {}, true)[0]), (Values{2}));
  CHECK_EQ(values(grad({out}, {a})[0]), (Values{20}));
  CHECK(!requires_grad(d::_ops::scaled::call(a, 2, false)));
}

TEST(complex_gradients) {
  Tensor z = opgen::full({2}, Scalar(complex<double>(1, 2)), TensorOptions().dtype(kComplexDouble));
  Tensor x = leaf({2});
  Tensor out = d::mul(x, z);
  CHECK_EQ(out.scalar_type(), kComplexDouble);
  const auto found =
      grad({out}, {x}, {opgen::full({2}, Scalar(complex<double>(1, 1)), z.options())});
  // The real part of (1 + i)(1 - 2i).
  CHECK_EQ(found[0].scalar_type(), kDouble);
  CHECK_EQ(values(found[0]), (Values{3, 3}));
}

TEST(tangents_without_a_formula_are_errors_that_name_the_operator) {
  opgen::autograd::ForwardLevel level;
  Tensor dual(opgen::autograd::make_dual(numbers({2}), numbers({2})));
  CHECK_THROWS(NotImplementedError, "d::floor", d::_ops::floor::call(dual, numbers({2})));
  CHECK_THROWS(NotImplementedError, "d::mul", [&] {
    Tensor out = numbers({2});
    return d::_ops::mul_out::call(dual, dual, out);
  }());
  // `floor` is declared to have no gradient, so the tangent is ignored.
  CHECK(!opgen::autograd::has_tangent(d::_ops::floor::call(numbers({2}), dual)));
  // A result that has no gradient in this call has no tangent either.
  CHECK(!opgen::autograd::has_tangent(d::_ops::scaled::call(dual, 2, false)));
  CHECK_THROWS(NotImplementedError, "d::scaled", d::_ops::scaled::call(dual, 2, true));
}

TEST(tangents_of_tensors_changed_in_place_and_their_views) {
  opgen::autograd::ForwardLevel level;
  Tensor x(opgen::autograd::make_dual(numbers({2, 2}), numbers({2, 2}, 5)));
  Tensor y = d::add(x, numbers({2, 2}));
  Tensor view = d::row(y, 0);
  CHECK_EQ(values(opgen::autograd::tangent_of(view)), (Values{5, 5.25}));
  d::mul_(y, opgen::full({}, 2, y.options()));
  CHECK_EQ(values(opgen::autograd::tangent_of(view)), (Values{10, 10.5}));
  CHECK_EQ(values(opgen::autograd::tangent_of(x)), values(numbers({2, 2}, 5)));
  d::mul_(view, opgen::full({}, 2, y.options()));
  CHECK_EQ(values(opgen::autograd::tangent_of(y)), (Values{20, 21, 11, 11.5}));
  std::vector<Tensor> list{Tensor(y)};
  d::_ops::muls_::call(list, opgen::full({}, 0.5, y.options()));
  CHECK_EQ(values(opgen::autograd::tangent_of(y)), (Values{10, 10.5, 5.5, 5.75}));
}

TEST(threads_share_a_graph) {
  Tensor a = leaf({64});
  Tensor out = d::exp(d::mul(a, a));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) static_cast<void>(grad({out}, {a}, {ones(out)}, true));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(close(values(grad({out}, {a}, {ones(out)})[0]),
              values(d::mul(d::mul(out, numbers({64})), opgen::full({}, 2, out.options())))));
}
