// spellings.cpp: one kernel for each C++ spelling of a type from which PyTorch's registry infers a
// schema. spellings.py calls all of them.
#include "spellings.h"

#include <torch/library.h>

namespace spelt {

using at::Tensor;
using c10::List;

// Tensors that are read: by reference, by value, and by a non-const reference.
Tensor add_reference(const Tensor& a, const Tensor& b) { return a + b; }
Tensor add_value(Tensor a, Tensor b) { return a + b; }
Tensor add_mutable(Tensor& a, Tensor& b) { return a + b; }

// Tensors that are written.
void scale_nothing(Tensor& x, double by) { x.mul_(by); }
void scale_const(const Tensor& x, double by) { x.mul_(by); }
void scale_value(Tensor x, double by) { x.mul_(by); }
Tensor& scale_reference(Tensor& x, double by) { return x.mul_(by); }
Tensor scale_returned(Tensor x, double by) { return x.mul_(by); }
const Tensor& scale_const_returned(const Tensor& x, double by) { return x.mul_(by); }
Tensor& add_out(const Tensor& a, const Tensor& b, Tensor& out) { return at::add_out(out, a, b); }
std::tuple<Tensor&, Tensor&> swap(Tensor& x, Tensor& y) {
  Tensor kept = x.clone();
  x.copy_(y);
  y.copy_(kept);
  return {x, y};
}
std::tuple<Tensor, Tensor> beside(Tensor& x, const Tensor& y) {
  x.add_(y);
  return {x * 2, y * 2};
}

// Optional ones.
Tensor or_zero(std::optional<Tensor> x) { return x.has_value() ? *x : at::zeros({1}); }
Tensor or_one(const std::optional<Tensor>& x) { return x.has_value() ? *x : at::ones({1}); }
Tensor or_two(const c10::optional<Tensor>& x) { return x ? *x : at::full({1}, 2.0); }

// Lists of tensors.
Tensor sum_list(at::TensorList xs) { return at::stack(xs).sum(0); }
Tensor sum_array(c10::ArrayRef<Tensor> xs) { return at::stack(xs).sum(0); }
Tensor sum_vector(std::vector<Tensor> xs) { return at::stack(xs).sum(0); }
Tensor sum_vector_reference(const std::vector<Tensor>& xs) { return at::stack(xs).sum(0); }
Tensor sum_c10(const List<Tensor>& xs) { return at::stack(xs.vec()).sum(0); }
Tensor sum_i_list(const at::ITensorListRef& xs) {
  Tensor sum = at::zeros({1});
  for (const Tensor& x : xs) sum = sum + x;
  return sum;
}
Tensor count_given(const List<std::optional<Tensor>>& xs) {
  int64_t count = 0;
  for (const std::optional<Tensor>& x : xs) count += x.has_value();
  return at::full({1}, count);
}
Tensor count_vector(std::vector<std::optional<Tensor>> xs) {
  int64_t count = 0;
  for (const auto& x : xs) count += x.has_value();
  return at::full({1}, count);
}
Tensor sum_maybe(const Tensor& x, const std::optional<std::vector<Tensor>>& xs) {
  return xs.has_value() ? x + at::stack(*xs).sum(0) : x;
}
void scale_each(at::TensorList xs, double by) {
  for (const Tensor& x : xs) x.mul_(by);
}
void scale_all(std::vector<Tensor> xs, double by) {
  for (const Tensor& x : xs) x.mul_(by);
}

// Numbers.
Tensor numbers(const Tensor& x, int64_t n, double f, bool b, const at::Scalar& s) {
  return x * n + f + at::full({1}, b ? 100.0 : 0.0) + s;
}
Tensor scalar_value(const Tensor& x, at::Scalar s, std::optional<at::Scalar> t) {
  return x * s + (t.has_value() ? *t : at::Scalar(7));
}
Tensor maybe_numbers(const Tensor& x, std::optional<int64_t> n, std::optional<double> f,
                     std::optional<bool> b) {
  return x * n.value_or(2) + f.value_or(0.5) + at::full({1}, b.value_or(false) ? 100.0 : 0.0);
}
Tensor fill_int(int64_t n, double value) { return at::full({n}, value); }
Tensor fill_sym(c10::SymInt n, double value) { return at::full_symint({n}, value); }
Tensor fill_sizes(at::IntArrayRef sizes, double value) { return at::full(sizes, value); }
Tensor fill_vector(std::vector<int64_t> sizes, double value) { return at::full(sizes, value); }
Tensor fill_symbols(c10::SymIntArrayRef sizes, double value) {
  return at::full_symint(sizes, value);
}
Tensor take(const Tensor& x, const std::vector<int64_t>& dims) { return x.sum(dims); }
Tensor take_c10(const Tensor& x, List<int64_t> dims) { return x.sum(dims.vec()); }
Tensor take_array(const Tensor& x, std::array<int64_t, 2> dims) { return x.sum(dims); }
Tensor take_maybe(const Tensor& x, at::OptionalIntArrayRef dims) { return x.sum(dims); }
Tensor take_vector(const Tensor& x, std::optional<std::vector<int64_t>> dims) {
  return dims.has_value() ? x.sum(*dims) : x.sum();
}
Tensor floats(const Tensor& x, std::vector<double> fs) { return x * fs[0] + fs[1]; }
Tensor floats_array(const Tensor& x, at::ArrayRef<double> fs) { return x * fs[0] + fs[1]; }
Tensor floats_maybe(const Tensor& x, std::optional<std::vector<double>> fs) {
  return fs.has_value() ? x * (*fs)[0] : x;
}
Tensor bools(const Tensor& x, std::array<bool, 2> bs) { return x * (bs[0] ? 3 : 1) + bs[1]; }
Tensor bools_c10(const Tensor& x, List<bool> bs) { return x * (bs.get(0) ? 3 : 1); }

// Strings.
Tensor word(const Tensor& x, std::string w) { return x * static_cast<double>(w.size()); }
Tensor word_reference(const Tensor& x, const std::string& w) {
  return x * static_cast<double>(w.size());
}
Tensor word_view(const Tensor& x, std::string_view w) { return x * static_cast<double>(w.size()); }
Tensor word_c10(const Tensor& x, c10::string_view w) { return x * static_cast<double>(w.size()); }
Tensor word_maybe(const Tensor& x, std::optional<std::string> w) {
  return w.has_value() ? x * static_cast<double>(w->size()) : x;
}
Tensor word_view_maybe(const Tensor& x, std::optional<std::string_view> w) {
  return w.has_value() ? x * static_cast<double>(w->size()) : x;
}
Tensor words(const Tensor& x, std::vector<std::string> ws) {
  double length = 0;
  for (const std::string& w : ws) length += static_cast<double>(w.size());
  return x * length;
}
Tensor by_name(const Tensor& x, c10::Dict<std::string, Tensor> named) {
  return x + named.at("one");
}

// Descriptions of tensors.
Tensor described(const Tensor& x, at::ScalarType dtype, std::optional<at::ScalarType> other,
                 at::Device device, std::optional<at::MemoryFormat> format) {
  return x.to(other.value_or(dtype)).to(device).contiguous(
      format.value_or(at::MemoryFormat::Contiguous));
}
Tensor drawn(const Tensor& x, std::optional<at::Generator> generator) {
  return at::rand(x.sizes(), generator, x.options());
}

// Results.
std::tuple<Tensor, Tensor> halves(const Tensor& x) { return {x / 2, x / 2}; }
std::tuple<Tensor, int64_t, double, bool, std::string> mixed(const Tensor& x) {
  return {x, x.numel(), 0.5, true, "word"};
}
std::vector<Tensor> pieces(const Tensor& x, int64_t n) { return x.chunk(n); }
List<Tensor> pieces_c10(const Tensor& x, int64_t n) { return List<Tensor>(x.chunk(n)); }
std::tuple<std::vector<Tensor>, Tensor> pieces_beside(const Tensor& x, int64_t n) {
  return {x.chunk(n), x * 2};
}
std::optional<Tensor> maybe(const Tensor& x, bool wanted) {
  return wanted ? std::optional<Tensor>(x * 2) : std::nullopt;
}
int64_t count(const Tensor& x) { return x.numel(); }
double first(const Tensor& x) { return x.flatten()[0].item<double>(); }
bool is_empty(const Tensor& x) { return x.numel() == 0; }
std::string shape(const Tensor& x) { return std::to_string(x.dim()) + "d"; }
at::Scalar largest(const Tensor& x) { return x.max().item(); }
std::vector<int64_t> sizes(const Tensor& x) { return x.sizes().vec(); }
std::vector<std::string> names(const Tensor& x) {
  return std::vector<std::string>(x.dim(), "dim");
}
c10::SymInt rows(const Tensor& x) { return x.sym_size(0); }

template <typename T>
Tensor times(const Tensor& x, double by) {
  return x * static_cast<T>(by);
}
template Tensor times<int>(const Tensor& x, double by);
template Tensor times<double>(const Tensor& x, double by);

}  // namespace spelt

TORCH_LIBRARY(spelt, m) {
  m.def("add_reference(Tensor a, Tensor b) -> Tensor");
  m.def("add_value(Tensor a, Tensor b) -> Tensor");
  m.def("add_mutable(Tensor a, Tensor b) -> Tensor");
  m.def("scale_nothing(Tensor! x, float by) -> ()");
  m.def("scale_const(Tensor! x, float by) -> ()");
  m.def("scale_value(Tensor(a!) x, float by) -> ()");
  m.def("scale_reference(Tensor(a!) x, float by) -> Tensor(a!)");
  m.def("scale_returned(Tensor(a!) x, float by) -> Tensor(a!)");
  m.def("scale_const_returned(Tensor(a!) x, float by) -> Tensor(a!)");
  m.def("add.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("swap(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))");
  m.def("beside(Tensor! x, Tensor y) -> (Tensor, Tensor)");
  m.def("or_zero(Tensor? x) -> Tensor");
  m.def("or_one(Tensor? x=None) -> Tensor");
  m.def("or_two(Tensor? x=None) -> Tensor");
  m.def("sum_list(Tensor[] xs) -> Tensor");
  m.def("sum_array(Tensor[] xs) -> Tensor");
  m.def("sum_vector(Tensor[] xs) -> Tensor");
  m.def("sum_vector_reference(Tensor[] xs) -> Tensor");
  m.def("sum_c10(Tensor[] xs) -> Tensor");
  m.def("sum_i_list(Tensor[] xs) -> Tensor");
  m.def("count_given(Tensor?[] xs) -> Tensor");
  m.def("count_vector(Tensor?[] xs) -> Tensor");
  m.def("sum_maybe(Tensor x, Tensor[]? xs=None) -> Tensor");
  m.def("scale_each(Tensor(a!)[] xs, float by) -> ()");
  m.def("scale_all(Tensor(a!)[] xs, float by) -> ()");
  m.def("numbers(Tensor x, int n, float f, bool b, Scalar s) -> Tensor");
  m.def("scalar_value(Tensor x, Scalar s, Scalar? t=None) -> Tensor");
  m.def("maybe_numbers(Tensor x, int? n=None, float? f=None, bool? b=None) -> Tensor");
  m.def("fill_int(SymInt n, float value) -> Tensor");
  m.def("fill_sym(SymInt n, float value) -> Tensor");
  m.def("fill_sizes(SymInt[] sizes, float value) -> Tensor");
  m.def("fill_vector(SymInt[] sizes, float value) -> Tensor");
  m.def("fill_symbols(SymInt[] sizes, float value) -> Tensor");
  m.def("take(Tensor x, int[] dims) -> Tensor");
  m.def("take_c10(Tensor x, int[] dims) -> Tensor");
  m.def("take_array(Tensor x, int[2] dims) -> Tensor");
  m.def("take_maybe(Tensor x, int[]? dims=None) -> Tensor");
  m.def("take_vector(Tensor x, int[]? dims=None) -> Tensor");
  m.def("floats(Tensor x, float[] fs) -> Tensor");
  m.def("floats_array(Tensor x, float[] fs) -> Tensor");
  m.def("floats_maybe(Tensor x, float[]? fs=None) -> Tensor");
  m.def("bools(Tensor x, bool[2] bs) -> Tensor");
  m.def("bools_c10(Tensor x, bool[] bs) -> Tensor");
  m.def("word(Tensor x, str w) -> Tensor");
  m.def("word_reference(Tensor x, str w) -> Tensor");
  m.def("word_view(Tensor x, str w) -> Tensor");
  m.def("word_c10(Tensor x, str w) -> Tensor");
  m.def("word_maybe(Tensor x, str? w=None) -> Tensor");
  m.def("word_view_maybe(Tensor x, str? w=None) -> Tensor");
  m.def("words(Tensor x, str[] ws) -> Tensor");
  m.def("by_name(Tensor x, Dict(str, Tensor) named) -> Tensor");
  m.def(
      "described(Tensor x, ScalarType dtype, ScalarType? other, Device device, "
      "MemoryFormat? format=None) -> Tensor");
  m.def("drawn(Tensor x, Generator? generator=None) -> Tensor");
  m.def("halves(Tensor x) -> (Tensor, Tensor)");
  m.def("mixed(Tensor x) -> (Tensor, int, float, bool, str)");
  m.def("pieces(Tensor x, int n) -> Tensor[]");
  m.def("pieces_c10(Tensor x, int n) -> Tensor[]");
  m.def("pieces_beside(Tensor x, int n) -> (Tensor[], Tensor)");
  m.def("maybe(Tensor x, bool wanted) -> Tensor?");
  m.def("count(Tensor x) -> int");
  m.def("first(Tensor x) -> float");
  m.def("is_empty(Tensor x) -> bool");
  m.def("shape(Tensor x) -> str");
  m.def("largest(Tensor x) -> Scalar");
  m.def("sizes(Tensor x) -> int[]");
  m.def("names(Tensor x) -> str[]");
  m.def("rows(Tensor x) -> SymInt");
  m.def("times_int(Tensor x, float by) -> Tensor");
  m.def("times_double(Tensor x, float by) -> Tensor");
}

TORCH_LIBRARY_IMPL(spelt, CPU, m) {
  m.impl("add_reference", &spelt::add_reference);
  m.impl("add_value", &spelt::add_value);
  m.impl("add_mutable", &spelt::add_mutable);
  m.impl("scale_nothing", &spelt::scale_nothing);
  m.impl("scale_const", &spelt::scale_const);
  m.impl("scale_value", &spelt::scale_value);
  m.impl("scale_reference", &spelt::scale_reference);
  m.impl("scale_returned", &spelt::scale_returned);
  m.impl("scale_const_returned", &spelt::scale_const_returned);
  m.impl("add.out", &spelt::add_out);
  m.impl("swap", &spelt::swap);
  m.impl("beside", &spelt::beside);
  m.impl("or_zero", &spelt::or_zero);
  m.impl("sum_list", &spelt::sum_list);
  m.impl("sum_array", &spelt::sum_array);
  m.impl("sum_vector", &spelt::sum_vector);
  m.impl("sum_vector_reference", &spelt::sum_vector_reference);
  m.impl("sum_c10", &spelt::sum_c10);
  m.impl("sum_i_list", &spelt::sum_i_list);
  m.impl("count_given", &spelt::count_given);
  m.impl("count_vector", &spelt::count_vector);
  m.impl("sum_maybe", &spelt::sum_maybe);
  m.impl("scale_each", &spelt::scale_each);
  m.impl("scale_all", &spelt::scale_all);
  m.impl("numbers", &spelt::numbers);
  m.impl("scalar_value", &spelt::scalar_value);
  m.impl("maybe_numbers", &spelt::maybe_numbers);
  m.impl("take", &spelt::take);
  m.impl("take_c10", &spelt::take_c10);
  m.impl("take_array", &spelt::take_array);
  m.impl("take_maybe", &spelt::take_maybe);
  m.impl("take_vector", &spelt::take_vector);
  m.impl("floats", &spelt::floats);
  m.impl("floats_array", &spelt::floats_array);
  m.impl("floats_maybe", &spelt::floats_maybe);
  m.impl("bools", &spelt::bools);
  m.impl("bools_c10", &spelt::bools_c10);
  m.impl("word", &spelt::word);
  m.impl("word_reference", &spelt::word_reference);
  m.impl("word_view", &spelt::word_view);
  m.impl("word_c10", &spelt::word_c10);
  m.impl("word_maybe", &spelt::word_maybe);
  m.impl("word_view_maybe", &spelt::word_view_maybe);
  m.impl("words", &spelt::words);
  m.impl("by_name", &spelt::by_name);
  m.impl("described", &spelt::described);
  m.impl("drawn", &spelt::drawn);
  m.impl("halves", &spelt::halves);
  m.impl("mixed", &spelt::mixed);
  m.impl("pieces", &spelt::pieces);
  m.impl("pieces_c10", &spelt::pieces_c10);
  m.impl("pieces_beside", &spelt::pieces_beside);
  m.impl("maybe", &spelt::maybe);
  m.impl("count", &spelt::count);
  m.impl("first", &spelt::first);
  m.impl("is_empty", &spelt::is_empty);
  m.impl("shape", &spelt::shape);
  m.impl("largest", &spelt::largest);
  m.impl("sizes", &spelt::sizes);
  m.impl("names", &spelt::names);
  m.impl("rows", &spelt::rows);
  m.impl("times_int", &spelt::times<int>);
  m.impl("times_double", &spelt::times<double>);
}

TORCH_LIBRARY_IMPL(spelt, CompositeExplicitAutograd, m) {
  m.impl("or_one", &spelt::or_one);
  m.impl("or_two", &spelt::or_two);
  m.impl("fill_int", &spelt::fill_int);
  m.impl("fill_sym", &spelt::fill_sym);
  m.impl("fill_sizes", &spelt::fill_sizes);
  m.impl("fill_vector", &spelt::fill_vector);
  m.impl("fill_symbols", &spelt::fill_symbols);
}
