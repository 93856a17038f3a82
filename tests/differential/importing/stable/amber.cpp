// amber.cpp: a library on the stable ABI with one function for each type that it has.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace amber {

using torch::headeronly::IntHeaderOnlyArrayRef;
using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor times(const Tensor& x, double by) {
  Tensor out = torch::stable::empty_like(x);
  if (!x.device().is_cpu()) return out;
  const auto* from = static_cast<const float*>(x.data_ptr());
  auto* to = static_cast<float*>(out.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * static_cast<float>(by);
  return out;
}
Tensor scale(const Tensor& x, int64_t n) {
  return times(x, static_cast<double>(n));
}
Tensor scale_fake(const Tensor& x, int64_t) {
  return torch::stable::empty_like(x);
}
Tensor by_value(Tensor x, bool twice, double by) {
  return times(x, twice ? 2 * by : by);
}
Tensor maybe(const Tensor& x, std::optional<Tensor> w, std::optional<int64_t> k,
             std::optional<double> f) {
  return times(
      x, (w.has_value() ? 10.0 : 0.0) + static_cast<double>(k.value_or(-1)) + f.value_or(0.5));
}
Tensor words(const Tensor& x, std::string name) {
  if (name == "throw") throw std::invalid_argument("a bad name");
  return times(x, static_cast<double>(name.size()));
}
std::vector<Tensor> all(std::vector<Tensor> xs, std::vector<int64_t> by) {
  std::vector<Tensor> made;
  for (size_t i = 0; i < xs.size(); ++i) made.push_back(times(xs[i], static_cast<double>(by[i])));
  return made;
}
Tensor last(const Tensor& x, IntHeaderOnlyArrayRef sizes) {
  return times(x, sizes.size() == 0 ? -1.0 : static_cast<double>(sizes[sizes.size() - 1]));
}
std::tuple<Tensor, Tensor> two(const Tensor& x) {
  return {times(x, 2), times(x, 3)};
}
int64_t count(const Tensor& x) {
  return x.numel();
}
bool is_flat(const Tensor& x) {
  return x.dim() == 1;
}
double half_of(double x) {
  return x / 2;
}
void fill(Tensor& x, double value) {
  auto* to = static_cast<float*>(x.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = static_cast<float>(value);
}
Tensor dtype_code(const Tensor& x, ScalarType dtype) {
  return times(x, static_cast<double>(static_cast<int>(dtype)));
}
Tensor turned(Tensor x) {
  return torch::stable::transpose(x, 0, 1);
}

// Only this file can call these.
namespace {
std::tuple<Tensor, std::vector<Tensor>> hidden(Tensor x, std::vector<Tensor> xs,
                                               IntHeaderOnlyArrayRef by,
                                               std::optional<ScalarType> dtype) {
  xs.push_back(x);
  return {times(x, dtype.has_value() ? 1 : static_cast<double>(by.size())), xs};
}
template <typename T>
Tensor times_as(const Tensor& x, T by) {
  return times(x, static_cast<double>(by));
}
}  // namespace
static void refill(Tensor& x) {
  fill(x, 7);
}

}  // namespace amber

STABLE_TORCH_LIBRARY(amber, m) {
  m.def("scale(Tensor x, int n) -> Tensor");
  m.def("by_value(Tensor x, bool twice, float by=0.5) -> Tensor");
  m.def("maybe(Tensor x, Tensor? w=None, int? k=None, float? f=None) -> Tensor");
  m.def("words(Tensor x, str name) -> Tensor");
  m.def("all(Tensor[] xs, int[] by) -> Tensor[]");
  m.def("last(Tensor x, int[] sizes=[]) -> Tensor");
  m.def("two(Tensor x) -> (Tensor, Tensor)");
  m.def("count(Tensor x) -> int");
  m.def("is_flat(Tensor x) -> bool");
  m.def("half_of(float x) -> float");
  m.def("fill(Tensor(a!) x, float value) -> ()");
  m.def("dtype_code(Tensor x, ScalarType dtype) -> Tensor");
  m.def("turned(Tensor x) -> Tensor");
  m.def("hidden(Tensor x, Tensor[] xs, int[] by, ScalarType? dtype=None) -> (Tensor, Tensor[])");
  m.def("times_int(Tensor x, int by) -> Tensor");
  m.def("times_float(Tensor x, float by) -> Tensor");
  m.def("refill(Tensor(a!) x) -> ()");
}

STABLE_TORCH_LIBRARY_IMPL(amber, CPU, m) {
  m.impl("scale", TORCH_BOX(&amber::scale));
  m.impl("by_value", TORCH_BOX(&amber::by_value));
  m.impl("maybe", TORCH_BOX(amber::maybe));
  m.impl("words", TORCH_BOX(&amber::words));
  m.impl("all", TORCH_BOX(&amber::all));
  m.impl("last", TORCH_BOX(&amber::last));
  m.impl("two", TORCH_BOX(&amber::two));
  m.impl("count", TORCH_BOX(&amber::count));
  m.impl("is_flat", TORCH_BOX(&amber::is_flat));
  m.impl("fill", TORCH_BOX(&amber::fill));
  m.impl("dtype_code", TORCH_BOX(&amber::dtype_code));
  m.impl("hidden", TORCH_BOX(&amber::hidden));
  m.impl("times_int", TORCH_BOX(&amber::times_as<int64_t>));
  m.impl("times_float", TORCH_BOX(&amber::times_as<double>));
  m.impl("refill", TORCH_BOX(&amber::refill));
}

STABLE_TORCH_LIBRARY_IMPL(amber, Meta, m) {
  m.impl("scale", TORCH_BOX(&amber::scale_fake));
}

STABLE_TORCH_LIBRARY_IMPL(amber, CompositeExplicitAutograd, m) {
  m.impl("half_of", TORCH_BOX(&amber::half_of));
}

STABLE_TORCH_LIBRARY_IMPL(amber, CompositeImplicitAutograd, m) {
  m.impl("turned", TORCH_BOX(&amber::turned));
}
