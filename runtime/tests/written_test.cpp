// written_test.cpp: operators in forms that libraries outside of PyTorch use (without results, with
// several written arguments, without tensors), with every key above the backends.
#include <string>

#include "check.h"
#include "operators.h"
#include "opgen/autograd.h"
#include "opgen/autograd/autograd_fallback.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/transforms/autocast.h"
#include "opgen/transforms/composite_compliance.h"
#include "opgen/transforms/profiler.h"
#include "opgen/transforms/tracer.h"
#include "opgen/transforms/vmap.h"

using namespace opgen;
using tensors::arange;
using tensors::full;
using tensors::values;
using Values = std::vector<double>;

namespace {

// Computes out = a + b elementwise, unless the tensors have no elements.
void put_sum(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (!out.is_meta()) opgen::copy_(out, ops::add_kernel(a, b));
}

void one(Tensor& out, const Tensor& x) {
  put_sum(out, x, x);
}
void two(const Tensor& x, Tensor& a, const Tensor& y, Tensor& b) {
  put_sum(a, x, y);
  put_sum(b, y, y);
}
void maybe(const std::optional<Tensor>& out, const Tensor& x) {
  if (out.has_value()) put_sum(*out, x, x);
}
void list(TensorList outs, const Tensor& x) {
  for (const Tensor& out : outs) put_sum(out, out, x);
}
Tensor fresh(Tensor& count, const Tensor& x) {
  put_sum(count, count, x);
  return detail::clone(x);
}
// Returns, by value, a written argument that is not the first.
Tensor returned(const Tensor& x, Tensor& y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) put_sum(y, y, x);
  return y;
}
std::tuple<Tensor, Tensor> both(const Tensor& x, Tensor& y) {
  put_sum(y, y, x);
  return {y, detail::clone(x)};
}

void register_kernels(Library& m) {
  m.impl("one", one).impl("two", two).impl("maybe", maybe).impl("list", list);
  m.impl("list_mark", list).impl("fresh", fresh).impl("returned", returned).impl("both", both);
}

template <class Signature>
auto op(const char* name) {
  return ops::op<Signature>((std::string("w::") + name).c_str());
}
void call_one(Tensor& out, const Tensor& x) {
  op<void(Tensor&, const Tensor&)>("one").call(out, x);
}
void call_two(const Tensor& x, Tensor& a, const Tensor& y, Tensor& b) {
  op<decltype(two)>("two").call(x, a, y, b);
}
void call_maybe(const std::optional<Tensor>& out, const Tensor& x) {
  op<decltype(maybe)>("maybe").call(out, x);
}
void call_list(const char* name, const std::vector<Tensor>& outs, const Tensor& x) {
  op<decltype(list)>(name).call(TensorList(outs), x);
}
Tensor call_fresh(Tensor& count, const Tensor& x) {
  return op<decltype(fresh)>("fresh").call(count, x);
}
Tensor call_returned(const Tensor& x, Tensor& y, std::int64_t n) {
  return op<decltype(returned)>("returned").call(x, y, n);
}

Tensor leaf(IntArrayRef sizes) {
  Tensor tensor = arange(sizes);
  autograd::set_requires_grad(tensor, true);
  return tensor;
}
std::string warning;
void keep(const char* text) {
  warning = text;
}

}  // namespace

OPGEN_LIBRARY(w, m) {
  m.def("one(Tensor! out, Tensor x) -> ()");
  m.def("two(Tensor x, Tensor(a!) a, Tensor y, Tensor! b) -> ()");
  m.def("maybe(Tensor!? out, Tensor x) -> ()");
  m.def("list(Tensor![] outs, Tensor x) -> ()");
  m.def("list_mark(Tensor[](xs!) outs, Tensor x) -> ()");
  m.def("fresh(Tensor! count, Tensor x) -> Tensor");
  m.def("returned(Tensor x, Tensor(y!) y, int n) -> Tensor(y!)");
  m.def("both(Tensor x, Tensor(a!) y) -> (Tensor(a!), Tensor)");
  m.def("composite(Tensor! out, Tensor x) -> ()", [](Tensor& out, const Tensor& x) {
    call_one(out, x);
    call_list("list", {out}, x);
  });
  m.def("describe(int n, str[] words) -> str");
  m.def("place(int n, Device device, Dict(str, int) options) -> int[]");
  m.def("pick(Tensor? x=None, Tensor[] y=[], Device? device=None) -> int");
}
OPGEN_LIBRARY_IMPL(w, CPU, m) {
  register_kernels(m);
  m.impl("describe", [](std::int64_t, const List<std::string>&) { return std::string(); });
  m.impl("place", [](std::int64_t n, Device, const Dict<std::string, std::int64_t>& options) {
    return std::vector<std::int64_t>{n, options.at("k")};
  });
  m.impl("pick", [](const std::optional<Tensor>&, TensorList, std::optional<Device>) {
    return std::int64_t(1);
  });
}
OPGEN_LIBRARY_IMPL(w, Meta, m) {
  register_kernels(m);
}
OPGEN_LIBRARY_IMPL(w, Autograd, m) {
  for (const char* name :
       {"one", "two", "maybe", "list", "list_mark", "fresh", "returned", "both"}) {
    m.impl(name, autogradNotImplementedFallback());
  }
}

TEST(every_written_argument_is_counted) {
  Tensor x = arange({3}), y = full({3}, 10), a = full({3}, 0), b = full({3}, 0);
  call_one(a, x);
  CHECK(a._version() == 1 && x._version() == 0);
  CHECK_EQ(values(a), (Values{0, 2, 4}));
  call_two(x, a, y, b);
  CHECK(a._version() == 2 && b._version() == 1 && x._version() == 0 && y._version() == 0);
  CHECK_EQ(values(a), (Values{10, 11, 12}));
  call_maybe(a, x);
  CHECK_EQ(a._version(), 3);
  call_maybe(std::nullopt, x);
  for (const char* name : {"list", "list_mark"}) call_list(name, {a, b}, x);
  CHECK(a._version() == 5 && b._version() == 3 && x._version() == 0);
  CHECK(call_fresh(b, x)._version() == 0 && b._version() == 4);
  Tensor same = call_returned(x, b, 2);
  CHECK(same.is_same(b) && b._version() == 5);
  CHECK_EQ(values(same), values(b));
  auto [first, second] = op<decltype(both)>("both").call(x, a);
  CHECK(first.is_same(a) && !second.is_same(x) && a._version() == 6);
  // Also from boxed code, and through a view.
  Tensor all = arange({2, 3}), row = ops::row(all, 0);
  Stack stack;
  stack.push_back(IValue(row));
  stack.push_back(IValue(x));
  Dispatcher::singleton().findSchemaOrThrow("w::one", "").call_boxed(stack);
  CHECK(stack.empty() && all._version() == 1);
  CHECK_EQ(values(all), (Values{0, 2, 4, 3, 4, 5}));
}

TEST(inference_tensors_are_guarded) {
  Tensor made;
  {
    InferenceMode mode;
    made = full({3}, 0);
    call_one(made, arange({3}));
  }
  Tensor normal = full({3}, 0);
  CHECK_THROWS(Error, "w::list would change a tensor that was made in inference mode",
               call_list("list", {normal, made}, arange({3})));
  CHECK_THROWS(Error, "w::maybe would change", call_maybe(made, arange({3})));
}

TEST(a_trace_has_calls_without_results) {
  Graph graph = trace(
      [](const Tensor& x, const Tensor& y) {
        Tensor a = ops::mul(x, y), b = ops::mul(y, y);
        call_one(a, x);
        call_two(x, a, y, b);
        call_maybe(std::nullopt, x);
        call_list("list", {a, b}, y);
        Tensor made = call_fresh(b, x);
        return std::vector<Tensor>{call_returned(made, a, 2), b};
      },
      arange({2}), full({2}, 5));
  CHECK_EQ(graph.str(), R"(graph(%0: Float[2] on cpu, %1: Float[2] on cpu):
  %2 = t::mul(%0, %1)  # Float[2] on cpu
  %3 = t::mul(%1, %1)  # Float[2] on cpu
  w::one(%2, %0)
  w::two(%0, %2, %1, %3)
  w::maybe(None, %0)
  w::list([%2, %3], %1)
  %4 = w::fresh(%3, %0)  # Float[2] on cpu
  %5 = w::returned(%4, %2, 2)  # Float[2] on cpu
  return %5, %3
)");
  std::vector<TensorBase> again = graph.replay({full({2}, 1), full({2}, 2)});
  CHECK_EQ(values(Tensor(again[0])), (Values{7, 7}));  // (1 + 2) + 2, and 1 twice
  CHECK_EQ(values(Tensor(again[1])), (Values{7, 7}));  // (2 + 2) + 2 + 1
  CHECK(graph.replay({tensors::meta({4}), tensors::meta({4})})[0].is_meta());
}

TEST(values_other_than_tensors_in_a_trace) {
  Library m(Library::Kind::Fragment, "w", DispatchKey::Undefined, "x.cpp", 1);
  m.def(
      "pairs(Dict(str, Tensor) x, (Tensor, int)[] y, Any z) -> ((Tensor, int), Dict(str, Tensor))");
  m.impl("pairs", DispatchKey::CompositeExplicitAutograd,
         [](const Dict<std::string, Tensor>& x, const List<std::tuple<Tensor, std::int64_t>>& y,
            const IValue&) {
           using Pair = std::tuple<Tensor, std::int64_t>;
           return std::tuple<Pair, Dict<std::string, Tensor>>(Pair(x.at("w"), 1),
                                                              {{"first", std::get<0>(y[0])}});
         });
  using Pair = std::tuple<Tensor, std::int64_t>;
  using S = std::tuple<Pair, Dict<std::string, Tensor>>(const Dict<std::string, Tensor>&,
                                                        const List<Pair>&, const IValue&);
  m.def("words(Tensor x) -> str");
  m.impl("words", DispatchKey::CPU, [](const Tensor&) { return std::string("x"); });
  WarningHandler old = set_warning_handler(&keep);
  Graph graph = trace(
      [](const Tensor& x, const Tensor& y) {
        static_cast<void>(ops::op<std::string(const Tensor&)>("w::words").call(x));
        auto [pair, dict] =
            op<S>("pairs").call({{"w", x}}, {Pair(y, 2)}, IValue::tuple({IValue("k"), IValue(x)}));
        return std::vector<Tensor>{std::get<0>(pair), dict.at("first")};
      },
      arange({2}), full({2}, 5));
  set_warning_handler(old);
  CHECK_EQ(graph.str(), R"(graph(%0: Float[2] on cpu, %1: Float[2] on cpu):
  w::words(%0)
  %2, %3 = w::pairs({'w': %0}, [(%1, 2)], ('k', %0))  # Float[2] on cpu, Float[2] on cpu
  return %2, %3
)");
  CHECK_EQ(warning,
           "a trace records w::words, which returns str: values computed from it become constants "
           "of the graph");
  CHECK_EQ(values(Tensor(graph.replay({full({2}, 1), full({2}, 2)})[1])), (Values{2, 2}));
}

TEST(vmap_runs_them_for_each_example) {
  Tensor x = arange({2, 3});
  {
    Tensor a = full({2, 3}, 0), b = full({2, 3}, 1);
    auto f = vmap([](const Tensor& row, const Tensor& first, const Tensor& second) {
      Tensor out = first, other = second;
      call_one(out, row);
      call_list("list", {out, other}, row);
      call_maybe(std::nullopt, row);
      Tensor made = call_fresh(other, row);
      return call_returned(made, out, 1);
    });
    Tensor result = f(x, a, b);
    CHECK_EQ(values(a), (Values{0, 4, 8, 12, 16, 20}));  // 2 x, + x, + x
    CHECK_EQ(values(b), (Values{1, 3, 5, 7, 9, 11}));    // 1, + x, + x
    CHECK_EQ(values(result), values(a));
  }
  Tensor shared = full({3}, 0), batch = full({2, 3}, 0);
  auto writes_shared = [&](const Tensor& row) {
    Tensor out = shared;
    call_one(out, row);
    return row;
  };
  CHECK_THROWS(Error, "w::one would write a result for each example into argument 'out'",
               vmap(writes_shared)(x));
  auto writes_one_of_two = [&](const Tensor& row, const Tensor& own) {
    call_list("list", {own, shared}, row);
    return row;
  };
  CHECK_THROWS(Error, "into argument 'outs', which all examples share",
               vmap(writes_one_of_two)(x, batch));
}

TEST(autograd_keeps_the_history_of_written_arguments) {
  Tensor x = leaf({3}), out = full({3}, 0), other = full({3}, 0);
  call_one(out, x);
  CHECK_EQ(autograd::grad_fn(out)->name(), "NotImplemented(w::one)");
  CHECK_THROWS(Error, "the derivative for 'w::one' is not implemented",
               autograd::grad({out}, {x}, {full({3}, 1)}));
  call_list("list", {other}, x);
  CHECK_EQ(autograd::grad_fn(other)->name(), "NotImplemented(w::list)");
  Tensor count = full({3}, 0);
  Tensor made = call_fresh(count, x);
  CHECK(autograd::grad_fn(made)->name() == "NotImplemented(w::fresh)" &&
        autograd::requires_grad(count));
  Tensor y = full({3}, 0);
  Tensor same = call_returned(x, y, 1);
  CHECK(same.is_same(y) && autograd::grad_fn(y)->name() == "NotImplemented(w::returned)");
  CHECK_THROWS(Error, "a leaf that requires a gradient", call_one(x, y));
  CHECK_THROWS(Error, "a leaf that requires a gradient", call_maybe(x, y));
  CHECK_THROWS(Error, "a leaf that requires a gradient", call_list("list", {y, x}, y));
}

TEST(autocast_does_not_convert_written_arguments) {
  Library m(Library::Kind::Impl, "w", DispatchKey::AutocastCPU, "x.cpp", 1);
  m.impl("two", autocast::lower_precision());
  m.impl("list", autocast::lower_precision());
  autocast::Mode mode(kCPU, kBFloat16);
  Tensor x = arange({3}), a = full({3}, 0), b = full({3}, 0);
  call_two(x, a, x, b);
  call_list("list", {a}, x);
  CHECK(a.scalar_type() == kFloat && values(a) == (Values{0, 3, 6}));
  CHECK_EQ(values(b), (Values{0, 2, 4}));
}

TEST(observers_and_guards_see_them) {
  Tensor x = arange({3}), a = full({3}, 0);
  Profiler profiler;
  call_one(a, x);
  call_list("list", {a}, x);
  profiler.stop();
  std::string seen;
  for (const Profiler::Row& row : profiler.rows()) seen += row.calls == 1 ? row.op + " " : "?";
  CHECK(seen.find("w::one") != std::string::npos && seen.find("w::list") != std::string::npos);
  CompositeComplianceGuard guard;
  Tensor out = full({3}, 0);
  op<void(Tensor&, const Tensor&)>("composite").call(out, x);
  CHECK_EQ(values(out), (Values{0, 3, 6}));
  CHECK_EQ(out._version(), 2);
}

TEST(calls_without_tensors) {
  auto describe = op<std::string(std::int64_t, const List<std::string>&)>("describe");
  CHECK_THROWS(
      NotImplementedError,
      "w::describe takes no tensors, so nothing selects a backend, and the call cannot reach its "
      "kernels for CPU. Register a kernel for CompositeExplicitAutograd, which serves every call",
      describe.call(1, {}));
  using Options = Dict<std::string, std::int64_t>;
  auto place = op<std::vector<std::int64_t>(std::int64_t, Device, const Options&)>("place");
  CHECK_THROWS(NotImplementedError,
               "every call, or one for BackendSelect, which selects by argument 'device'",
               place.call(1, kCPU, {}));
  auto pick =
      op<std::int64_t(const std::optional<Tensor>&, TensorList, std::optional<Device>)>("pick");
  CHECK_EQ(pick.call(arange({1}), {}, std::nullopt), 1);
  CHECK_THROWS(NotImplementedError,
               "w::pick was called without any of the tensors that it may take",
               pick.call(std::nullopt, {}, std::nullopt));

  Library m(Library::Kind::Fragment, "w", DispatchKey::Undefined, "x.cpp", 1);
  m.impl(
      "describe", DispatchKey::CompositeExplicitAutograd,
      [](std::int64_t n, const List<std::string>& words) { return words[0] + std::to_string(n); });
  CHECK_EQ(describe.call(2, {"a"}), "a2");
  Stack stack{IValue(3), IValue(std::vector<IValue>{"b"})};
  Dispatcher::singleton().findSchemaOrThrow("w::describe", "").call_boxed(stack);
  CHECK_EQ(stack[0].toStringView(), "b3");
  m.impl("place", DispatchKey::BackendSelect,
         [place](std::int64_t n, Device device, const Options& options) {
           DispatchKeySet keys(compute_dispatch_key(std::nullopt, std::nullopt, device));
           return place.redispatch(keys, n, device, options);
         });
  CHECK_EQ(place.call(4, kCPU, {{"k", 5}})[1], 5);
  CHECK_THROWS(NotImplementedError, "w::place has no kernel for Meta", place.call(4, kMeta, {}));
}
