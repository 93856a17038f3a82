// kernels.cpp: operators that do little, so that a call shows what they were given.
#include <opgen/kernel.h>

#include <calls/Functions.h>
#include <calls/NativeFunctions.h>


namespace {
using namespace opgen::types;

// A tensor of numbers that were seen.
Tensor seen(std::initializer_list<double> values) {
  Tensor result = opgen::empty({static_cast<std::int64_t>(values.size())},
                                       TensorOptions(opgen::kDouble));
  double* to = result.mutable_data_ptr<double>();
  for (double value : values) *to++ = value;
  return result;
}

void add_doubles(const Tensor& self, const Tensor& other, double alpha, const Tensor& out) {
  const double* b = other.const_data_ptr<double>();
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    out.mutable_data_ptr<double>()[i] =
        self.const_data_ptr<double>()[i] + alpha * b[other.numel() == 1 ? 0 : i];
  }
}
Tensor as_double(const Tensor& self) {
  return opgen::to_dtype(self, opgen::kDouble);
}

}  // namespace

OPGEN_KERNEL(add)(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  Tensor result = opgen::clone(as_double(self));
  add_doubles(result, as_double(other), alpha.toDouble(), result);
  return result;
}
OPGEN_KERNEL(add_out)(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  add_doubles(as_double(self), as_double(other), alpha.toDouble(), out);
  return out;
}
OPGEN_KERNEL(add_)(Tensor& self, const Tensor& other, const Scalar& alpha) {
  add_doubles(self, as_double(other), alpha.toDouble(), self);
  return self;
}

OPGEN_KERNEL(zeros)
(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
 std::optional<Device> device, std::optional<bool>) {
  return opgen::full(
      size, 0.0,
      TensorOptions().dtype(dtype.value_or(opgen::kFloat)).layout(layout).device(device));
}
OPGEN_KERNEL(zeros_out)(IntArrayRef, Tensor& out) {
  opgen::zero_(out);
  return out;
}

OPGEN_KERNEL(describe)
(const Scalar& x, int64_t i, double f, bool b, std::string_view s, std::optional<int64_t> n) {
  return seen({x.toDouble(), double(i), f, double(b), double(s.size()), double(n.value_or(-1))});
}
OPGEN_KERNEL(describe)(IntArrayRef pair, IntArrayRef more, std::optional<ArrayRef<double>> floats) {
  return seen({double(pair.size()), double(pair[0]), double(pair[1]), double(more.size()),
               floats.has_value() ? (*floats)[0] : -1});
}
OPGEN_KERNEL(describe)
(const Tensor& x, const std::optional<Tensor>& weight, std::optional<MemoryFormat> format) {
  return seen({double(x.numel()), weight.has_value() ? double(weight->numel()) : -1,
               format.has_value() ? double(int(*format)) : -1});
}
OPGEN_KERNEL(describe)(TensorList xs, const List<std::optional<Tensor>>& ys) {
  return seen({double(xs.size()), double(ys.size()), double(ys[0].has_value())});
}

OPGEN_KERNEL(extremes)(const Tensor& self) {
  return {self, opgen::clone(self)};
}
OPGEN_KERNEL(extremes_out)(const Tensor&, Tensor& low, Tensor& high) {
  return {low, high};
}
OPGEN_KERNEL(halves)(const Tensor& self) {
  return {opgen::clone(self), opgen::clone(self)};
}
OPGEN_KERNEL(_foreach_double_)(TensorList self) {
  for (const Tensor& one : self) add_doubles(one, one, 1, one);
}
OPGEN_KERNEL(count)(const Tensor& self) {
  return self.numel();
}
OPGEN_KERNEL(same)(const Tensor& self) {
  return self;
}
OPGEN_KERNEL(where)(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return seen({double(condition.numel()), double(self.numel()), other.toDouble()});
}
OPGEN_KERNEL(refuse)(const Tensor& self, int64_t kind) {
  OPGEN_CHECK_VALUE(kind != 1, "one is refused");
  OPGEN_CHECK_INDEX(kind != 2, "two is refused");
  OPGEN_CHECK_NOT_IMPLEMENTED(kind != 3, "three is refused");
  return self;
}
OPGEN_KERNEL(special_twice)(const Tensor& self) {
  Tensor result = opgen::clone(as_double(self));
  add_doubles(result, result, 1, result);
  return result;
}
