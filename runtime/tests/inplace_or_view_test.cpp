// inplace_or_view_test.cpp: version counters, views and inference mode, with hand-registered
// operators that contain no code for them; weak references.
#include "opgen/autograd/inplace_or_view.h"

#include <thread>
#include <tuple>

#include "check.h"
#include "operators.h"
#include "opgen/autograd/grad_mode.h"
#include "opgen/transforms/weak_tensor.h"

using namespace opgen;
using tensors::arange;
using tensors::values;

TEST(in_place_and_out_calls_count_once) {
  Tensor a = arange({2, 3});
  CHECK_EQ(a._version(), 0);
  CHECK_EQ(&ops::add_(a, a), &a);
  CHECK_EQ(a._version(), 1);
  ops::add_out(a, arange({2, 3}), arange({3}));
  CHECK_EQ(a._version(), 2);
  Tensor b = ops::add(a, a);
  CHECK(a._version() == 2 && b._version() == 0);
}

TEST(views_share_the_counter_and_know_their_base) {
  Tensor a = arange({2, 3});
  CHECK(!is_view(a) && !view_base(a).defined());
  Tensor row = ops::row(a, 1);
  CHECK(is_view(row) && view_base(row).is_same(a));
  CHECK(creation_meta(row) == CreationMeta::Default);
  ops::add_(row, arange({3}));
  CHECK(a._version() == 1 && row._version() == 1);
  CHECK_EQ(values(a), (std::vector<double>{0, 1, 2, 3, 5, 7}));
  Tensor element = ops::row(row, 0);
  CHECK(view_base(element).is_same(a));
  // The base lives as long as a view of it.
  a.reset();
  CHECK_EQ(view_base(element).numel(), 6);
}

TEST(creation_meta_of_views) {
  Tensor a = arange({2, 3});
  std::vector<Tensor> rows = ops::rows(a);
  CHECK(is_view(rows[1]) && creation_meta(rows[1]) == CreationMeta::MultiOutput);
  CHECK(creation_meta(ops::row(rows[1], 0)) == CreationMeta::MultiOutput);
  NoGradGuard no_grad;
  CHECK(creation_meta(ops::row(a, 0)) == CreationMeta::NoGradMode);
}

TEST(inference_tensors_have_no_counter) {
  Tensor normal = arange({3});
  Tensor made;
  {
    InferenceMode mode;
    CHECK(InferenceMode::is_enabled() && !GradMode::is_enabled());
    made = arange({2, 3});
    CHECK(made.is_inference());
    CHECK(!is_view(ops::row(made, 0)) && ops::row(made, 0).is_inference());
    ops::add_(made, made);
    // A normal tensor keeps its version counter, and so do its views.
    ops::add_(normal, normal);
    CHECK_EQ(normal._version(), 1);
    Tensor element = ops::row(normal, 0);
    CHECK(!element.is_inference() && creation_meta(element) == CreationMeta::InferenceMode);
    {
      InferenceMode off(false);
      CHECK(!InferenceMode::is_enabled() && !arange({1}).is_inference());
    }
    CHECK(arange({1}).is_inference());
    CHECK(ops::add(normal, normal).is_inference());
  }
  CHECK(!InferenceMode::is_enabled() && GradMode::is_enabled());
  CHECK_THROWS(Error, "has no version counter", made._version());
  CHECK_THROWS(Error, "t::add_ would change a tensor that was made in inference mode",
               ops::add_(made, made));
  CHECK_THROWS(Error, "clone() it first", increment_version(made));
  CHECK_EQ(values(made), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  CHECK(!ops::add(made, made).is_inference());
  std::thread([] { CHECK(!InferenceMode::is_enabled()); }).join();
}

namespace {

void change_all(TensorList, const std::optional<Tensor>&) {}
void change_some(const List<std::optional<Tensor>>&) {}
std::tuple<Tensor&, Tensor&> two_out(const Tensor&, Tensor& x, Tensor& y) {
  return {x, y};
}
std::tuple<Tensor, std::int64_t, Tensor> row_and_new(const Tensor& self, std::int64_t i) {
  return {ops::row_kernel(self, i), i, arange({1})};
}

}  // namespace

OPGEN_LIBRARY(w, m) {
  m.def("change_all(Tensor(a!)[] xs, Tensor(b!)? y=None) -> ()");
  m.def("change_some(Tensor(a!)?[] xs) -> ()");
  m.def("two.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))");
  m.def("row_and_new(Tensor(a) self, int i) -> (Tensor(a), int, Tensor)");
}
OPGEN_LIBRARY_IMPL(w, CPU, m) {
  m.impl("change_all", change_all).impl("change_some", change_some);
  m.impl("two.out", two_out).impl("row_and_new", row_and_new);
}

// Some kernels redispatch, and some are boxed. The results are the same.
TEST(every_kind_of_written_argument_and_view_is_tracked) {
  Tensor a = arange({2, 2}), b = arange({1}), c = arange({1});
  Tensor both[] = {a, b, Tensor()};
  auto all = ops::op<void(TensorList, const std::optional<Tensor>&)>("w::change_all");
  all.call(both, std::nullopt);
  CHECK(a._version() == 1 && b._version() == 1 && c._version() == 0);
  all.call(both, c);
  CHECK(a._version() == 2 && b._version() == 2 && c._version() == 1);
  auto some = ops::op<void(const List<std::optional<Tensor>>&)>("w::change_some");
  some.call(List<std::optional<Tensor>>(std::vector<std::optional<Tensor>>{a, std::nullopt}));
  CHECK(a._version() == 3 && b._version() == 2);
  auto two =
      ops::op<std::tuple<Tensor&, Tensor&>(const Tensor&, Tensor&, Tensor&)>("w::two", "out");
  auto [x, y] = two.call(a, b, c);
  CHECK(&x == &b && &y == &c && a._version() == 3 && b._version() == 3 && c._version() == 2);
  auto split = ops::op<std::tuple<Tensor, std::int64_t, Tensor>(const Tensor&, std::int64_t)>(
      "w::row_and_new");
  auto [row, i, fresh] = split.call(a, 1);
  CHECK(is_view(row) && view_base(row).is_same(a) && i == 1 && !is_view(fresh));
  CHECK(creation_meta(row) == CreationMeta::Default && a._version() == 3);
  Tensor made;
  {
    InferenceMode mode;
    made = arange({1});
  }
  Tensor refused[] = {a, made};
  CHECK_THROWS(Error, "w::change_all would change a tensor that was made in inference mode",
               all.call(refused, std::nullopt));
  CHECK_EQ(a._version(), 3);
}

TEST(functional_operators_skip_the_key) {
  // A key that is not in the table's mask costs nothing.
  std::string table = ops::op<ops::Binary>("t::add").dump_computed_table();
  CHECK(table.find("ADInplaceOrView") == std::string::npos);
  table = ops::op<Tensor&(Tensor&, const Tensor&)>("t::add_").dump_computed_table();
  CHECK(table.find("ADInplaceOrView: fallback") != std::string::npos);
}

TEST(weak_references) {
  WeakTensor none;
  CHECK(none.expired() && !none.refers_to(Tensor()));
  WeakTensor weak;
  {
    Tensor a = arange({3});
    weak = WeakTensor(a);
    CHECK(!weak.expired() && weak.refers_to(a) && a.use_count() == 1);
    CHECK(WeakTensor(a).refers_to(a) && !weak.refers_to(arange({3})));
  }
  CHECK(weak.expired());
  // The pool returns the same address again.
  for (int i = 0; i < 4; ++i) CHECK(!weak.refers_to(arange({3})));
}

TEST(many_threads_take_weak_references_of_one_tensor) {
  Tensor a = arange({3});
  std::vector<WeakTensor> weak(8);
  std::vector<std::thread> threads;
  for (WeakTensor& w : weak) threads.emplace_back([&w, a] { w = WeakTensor(a); });
  for (std::thread& thread : threads) thread.join();
  for (const WeakTensor& w : weak) CHECK(w.refers_to(a));
  a.reset();
  for (const WeakTensor& w : weak) CHECK(w.expired());
}
