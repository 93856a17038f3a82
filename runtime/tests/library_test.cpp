// library_test.cpp: kernels with captures, schemas inferred from C++ types, and C++ types checked
// against schemas.
#include "opgen/library.h"
#include "opgen/schema/function_schema.h"

#include <atomic>
#include <memory>
#include <thread>

#include "check.h"
#include "opgen/boxing.h"
#include "opgen/tensor.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace {

Tensor fresh() {
  return detail::empty({2});
}
OperatorHandle find(const char* name, const char* overload = "") {
  return Dispatcher::singleton().findSchemaOrThrow(name, overload);
}
std::string schema_of(const char* name, const char* overload = "") {
  return find(name, overload).schema().str();
}

}  // namespace

TEST(lambdas_with_captures) {
  auto alive = std::make_shared<int>(0);
  {
    Library m(Library::Kind::Fragment, "lib", DispatchKey::Undefined, "x.cpp", 1);
    std::string before = "<";
    m.def("count(Tensor self, int by) -> int",
          [alive, before](const Tensor& self, std::int64_t by) {
            *alive += static_cast<int>(by * self.numel());
            return static_cast<std::int64_t>(before.size()) + *alive;
          });
    CHECK_EQ(alive.use_count(), 2);  // one is in the registration
    auto op = find("lib::count").typed<std::int64_t(const Tensor&, std::int64_t)>();
    CHECK_EQ(op.call(fresh(), 3), 7);
    Stack stack{IValue(fresh()), IValue(1)};
    op.callBoxed(stack);
    CHECK_EQ(stack[0].toInt(), 9);
  }
  CHECK_EQ(alive.use_count(), 1);  // the registration was removed
  {                                // the first argument is the key set, and the lambda has state
    Library m(Library::Kind::Fragment, "lib", DispatchKey::Undefined, "x.cpp", 2);
    m.def("keyed(Tensor self) -> int");
    std::int64_t calls = 0;
    m.impl("keyed", DispatchKey::CPU, [&calls](DispatchKeySet keys, const Tensor&) {
      ++calls;
      return std::int64_t(keys.has(DispatchKey::CPU));
    });
    m.impl("keyed", DispatchKey::Meta,
           [n = std::int64_t(0)](const Tensor&) mutable noexcept { return ++n; });
    auto op = find("lib::keyed").typed<std::int64_t(const Tensor&)>();
    CHECK_EQ(op.call(fresh()), 1);
    CHECK_EQ(calls, 1);
    Tensor meta = detail::empty({2}, kMeta);
    CHECK_EQ(op.call(meta) + op.call(meta), 3);
    Stack stack{IValue(meta)};
    op.callBoxed(stack);
    CHECK_EQ(stack[0].toInt(), 3);
    CHECK(op.dump_registrations().find("CPU: functor, from x.cpp:2") != std::string::npos);
    // Two functors of the same type are two kernels.
    CHECK(op.hasKernelForDispatchKey(DispatchKey::CPU));
    CHECK(!op.hasKernelForDispatchKey(DispatchKey::CUDA));
  }
}

TEST(destructors_of_captures_may_use_the_dispatcher) {
  auto inner = std::make_shared<Library>(Library::Kind::Fragment, "inner", DispatchKey::Undefined,
                                         "x.cpp", 1);
  inner->def("f() -> int", [] { return std::int64_t(1); });
  {
    Library outer(Library::Kind::Fragment, "outer", DispatchKey::Undefined, "x.cpp", 2);
    outer.def("f() -> int", [inner = std::move(inner)] { return std::int64_t(2); });
    CHECK(find("inner::f").has_schema());
  }
  CHECK(!Dispatcher::singleton().findSchema("inner::f", "").has_value());
}

TEST(schemas_are_inferred) {
  Library m(Library::Kind::Fragment, "infer", DispatchKey::Undefined, "x.cpp", 1);
  m.def("a", [](const Tensor& x, const std::optional<Tensor>&, TensorList,
                const List<std::optional<Tensor>>&) { return x; });
  CHECK_EQ(schema_of("infer::a"),
           "infer::a(Tensor _0, Tensor? _1, Tensor[] _2, Tensor?[] _3) -> Tensor");
  m.def("b.out", [](const Tensor& x, Tensor& out) -> Tensor& {
    static_cast<void>(x);
    return out;
  });
  CHECK_EQ(schema_of("infer::b", "out"), "infer::b.out(Tensor _0, Tensor(b!) _1) -> Tensor(b!)");
  m.def("c", [](std::int64_t, double, bool, std::string_view, const Scalar&, IntArrayRef,
                OptionalIntArrayRef, std::array<bool, 3>, ArrayRef<double>, ArrayRef<Scalar>) {});
  CHECK_EQ(
      schema_of("infer::c"),
      "infer::c(int _0, float _1, bool _2, str _3, Scalar _4, int[] _5, int[]? _6, bool[3] _7, "
      "float[] _8, Scalar[] _9) -> ()");
  m.def("d", [](std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>,
                std::optional<MemoryFormat>, std::optional<Generator>, Storage, Stream, QScheme,
                DeviceIndex) { return std::tuple<Tensor, std::int64_t, std::vector<Tensor>>(); });
  CHECK_EQ(schema_of("infer::d"),
           "infer::d(ScalarType? _0, Layout? _1, Device? _2, MemoryFormat? _3, Generator? _4, "
           "Storage _5, Stream _6, QScheme _7, DeviceIndex _8) -> (Tensor, int, Tensor[])");
  CHECK_THROWS(Error, "from which no schema can be inferred",
               m.def("e", CppFunction::makeFromBoxedFunction(
                              [](const OperatorHandle&, DispatchKeySet, Stack&) {})));
  CHECK_THROWS(Error, "argument 0 is an IValue", m.def("f", [](IValue) {}));
  auto op = find("infer::b", "out").typed<Tensor&(const Tensor&, Tensor&)>();
  Tensor out = fresh();
  CHECK(&op.call(fresh(), out) == &out);
}

TEST(kernels_are_checked_against_schemas) {
  Library m(Library::Kind::Fragment, "fit", DispatchKey::Undefined, "def.cpp", 1);
  m.def("f(Tensor self, int n, float[] scales=[]) -> Tensor");
  auto refused = [&](const char* why, const CppFunction& function) {
    CHECK_THROWS(Error, why, m.impl("f", DispatchKey::CPU, function));
    CHECK(!find("fit::f").hasKernelForDispatchKey(DispatchKey::CPU));
  };
  // The message shows both sides and their origins.
  refused(
      "fit::f: the kernel for CPU does not match the schema: argument n is int, but the function "
      "takes float\n"
      "  schema:   fit::f(Tensor self, int n, float[] scales=[]) -> Tensor, from def.cpp:1\n"
      "  function: (Tensor, float, float[]) -> Tensor, from def.cpp:1",
      [](const Tensor& self, double, ArrayRef<double>) { return self; });
  refused("the schema has 3 arguments, but the function has 1",
          [](const Tensor& self) { return self; });
  refused("argument scales is float[], but the function takes int[]",
          [](const Tensor& self, std::int64_t, IntArrayRef) { return self; });
  refused("the schema has 1 result, but the function has 0",
          [](const Tensor&, std::int64_t, ArrayRef<double>) {});
  refused("result 0 is Tensor, but the function returns int",
          [](const Tensor&, std::int64_t n, ArrayRef<double>) { return n; });
  refused("the schema has 1 result, but the function has 2",
          [](const Tensor& t, std::int64_t, ArrayRef<double>) { return std::tuple(t, t); });
  refused("argument self is Tensor, but the function takes Tensor?",
          [](const std::optional<Tensor>&, std::int64_t, ArrayRef<double>) { return fresh(); });
  m.impl("f", DispatchKey::CPU,
         [](const Tensor& self, std::int64_t, ArrayRef<double>) { return self; });
  // All kernels of an operator must have the same C++ type.
  CHECK_THROWS(Error, "has the C++ signature opgen::Tensor (opgen::Tensor, long",
               m.impl("f", DispatchKey::Meta,
                      [](Tensor self, std::int64_t, ArrayRef<double>) { return self; }));
}

TEST(a_schema_is_checked_against_earlier_kernels) {
  Library early(Library::Kind::Impl, "later", DispatchKey::CPU, "early.cpp", 1);
  early.impl("g", [](const Tensor& self) { return self; });
  Library m(Library::Kind::Fragment, "later", DispatchKey::Undefined, "late.cpp", 2);
  CHECK_THROWS(Error,
               "argument self is Tensor[], but the function takes Tensor\n"
               "  schema:   later::g(Tensor[] self) -> Tensor, from late.cpp:2\n"
               "  function: (Tensor) -> Tensor, from early.cpp:1",
               m.def("g(Tensor[] self) -> Tensor"));
  CHECK(!Dispatcher::singleton().findSchema("later::g", "").has_value());
  m.def("g(Tensor self) -> Tensor");
  Tensor x = fresh();
  CHECK(find("later::g").typed<Tensor(const Tensor&)>().call(x).is_same(x));
}

TEST(types_that_share_a_cpp_type) {
  Library m(Library::Kind::Fragment, "share", DispatchKey::Undefined, "x.cpp", 1);
  m.def("f(SymInt a, SymInt[] b, int[2] c, bool[2] d, DeviceIndex e, Tensor(a!) f, int? g) -> ()",
        [](std::int64_t, SymIntArrayRef, IntArrayRef, std::array<bool, 2>, std::int64_t, Tensor&,
           std::optional<std::int64_t>) {});
  CHECK_THROWS(Error, "argument d is bool[3], but the function takes bool[2]",
               m.def("g(bool[3] d) -> ()", [](std::array<bool, 2>) {}));
  // An IValue accepts any type of the schema, including custom classes.
  m.def("h(__torch__.torch.classes.my.Class c, int n) -> ()", [](IValue, IValue) {});
}

TEST(registrations_with_captures_race_with_calls) {
  Library m(Library::Kind::Fragment, "race", DispatchKey::Undefined, "x.cpp", 1);
  std::atomic<std::int64_t> calls = 0;
  m.def("f(Tensor self) -> int");
  m.impl("f", DispatchKey::CPU, [&calls](const Tensor&) { return ++calls; });
  std::atomic<bool> stop = false;
  std::thread registrar([&] {
    for (int i = 0; i < 200; ++i) {
      Library other(Library::Kind::Impl, "race", DispatchKey::Meta, "y.cpp", 1);
      other.impl("f", [&calls, i](const Tensor&) { return calls + i; });
      Library added(Library::Kind::Fragment, "added", DispatchKey::Undefined, "y.cpp", 2);
      added.def("op" + std::to_string(i), [i] { return std::int64_t(i); });
    }
    stop = true;
  });
  auto op = find("race::f").typed<std::int64_t(const Tensor&)>();
  Tensor x = fresh();
  std::int64_t made = 0;
  do {
    op.call(x);
    Stack stack{IValue(x)};
    op.callBoxed(stack);
    made += 2;
  } while (!stop);
  registrar.join();
  CHECK_EQ(calls.load(), made);
}
