// boxing_test.cpp: values of every type of the schema language are passed from unboxed to boxed
// code and back.
#include <functional>
#include <string>

#include "check.h"
#include "opgen/boxing.h"
#include "opgen/cpu/cpu_generator.h"
#include "opgen/library.h"
#include "opgen/schema/function_schema.h"
#include "opgen/tensor.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace {

Tensor fresh() {
  return detail::empty({2});
}

// A boxed kernel that calls the unboxed kernel of Meta, so each call is converted from unboxed to
// boxed and back.
void hand_over(const OperatorHandle& op, DispatchKeySet, Stack& stack) {
  op.redispatch_boxed(DispatchKeySet(DispatchKey::Meta), stack);
}

template <class Signature>
struct RoundTrip {
  RoundTrip(const char* schema, const CppFunction& kernel) {
    FunctionSchema parsed = parse_schema(schema, "box");
    auto& d = Dispatcher::singleton();
    handles.push_back(
        d.register_schema(parsed.name, parsed.overload_name, schema, "", "test", nullptr));
    handles.push_back(d.register_kernel(parsed.name, parsed.overload_name, DispatchKey::Meta,
                                        kernel.kernel(), "test"));
    handles.push_back(d.register_kernel(parsed.name, parsed.overload_name, DispatchKey::CPU,
                                        KernelFunction::from_boxed(&hand_over), "test"));
    op = d.findSchema(parsed.name, parsed.overload_name);
  }
  template <class... A>
  decltype(auto) operator()(A&&... arguments) {
    return op->typed<Signature>().redispatch(DispatchKeySet(DispatchKey::CPU),
                                             std::forward<A>(arguments)...);
  }
  std::vector<RegistrationHandle> handles;
  std::optional<OperatorHandle> op;
};

}  // namespace

TEST(tensors) {
  using S = Tensor(const Tensor&, const std::optional<Tensor>&, TensorList,
                   const List<std::optional<Tensor>>&);
  RoundTrip<S> call(
      "a(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d) -> Tensor",
      +[](const Tensor& a, const std::optional<Tensor>& b, TensorList c,
          const List<std::optional<Tensor>>& d) {
        CHECK(!b.has_value() && c.size() == 2 && d.size() == 2);
        CHECK(!d[0].has_value() && d[1]->is_same(c[1]));
        CHECK(!c[0].defined());
        return a;
      });
  Tensor a = fresh(), c[] = {Tensor(), fresh()};
  CHECK(call(a, std::nullopt, c, List<std::optional<Tensor>>{std::nullopt, c[1]}).is_same(a));
  CHECK_EQ(a.use_count(), 1u);
}

TEST(numbers_and_lists) {
  using S = std::tuple<std::int64_t, double, bool, Scalar>(
      std::int64_t, double, bool, const Scalar&, const std::optional<Scalar>&,
      std::optional<std::int64_t>, IntArrayRef, OptionalIntArrayRef, ArrayRef<double>,
      std::optional<ArrayRef<double>>, std::array<bool, 3>, ArrayRef<Scalar>, std::string_view,
      std::optional<std::string_view>, std::optional<double>);
  RoundTrip<S> call(
      "b(int a, float b, bool c, Scalar d, Scalar? e, int? f, int[] g, int[2]? h, float[] i, "
      "float[]? j, bool[3] k, Scalar[] l, str m, str? n, float? o) -> (int, float, bool, Scalar)",
      +[](std::int64_t a, double b, bool c, const Scalar& d, const std::optional<Scalar>& e,
          std::optional<std::int64_t> f, IntArrayRef g, OptionalIntArrayRef h, ArrayRef<double> i,
          std::optional<ArrayRef<double>> j, std::array<bool, 3> k, ArrayRef<Scalar> l,
          std::string_view m, std::optional<std::string_view> n, std::optional<double> o) {
        CHECK(e->isComplex() && !f.has_value() && g.equals({1, 2, 3}) && h->equals({4}) &&
              i.equals({0.5}) && j->empty());
        CHECK(k[0] && !k[1] && k[2] && l.size() == 2 && l[1].isBoolean() && m == "text" &&
              !n.has_value() && *o == 1.5);
        return std::tuple(a, b, c, d);
      });
  const Scalar list[] = {1, true};
  std::int64_t one_dim[] = {4};
  std::vector<double> halves{0.5}, none;
  auto [a, b, c, d] = call(
      std::int64_t(-7), 2.5, true, Scalar(3), std::optional<Scalar>(complex<double>(1, 2)),
      std::nullopt, IntArrayRef({1, 2, 3}), OptionalIntArrayRef(one_dim), ArrayRef<double>(halves),
      std::optional<ArrayRef<double>>(none), std::array<bool, 3>{true, false, true},
      ArrayRef<Scalar>(list), std::string_view("text"), std::nullopt, 1.5);
  CHECK(a == -7 && b == 2.5 && c && d.isIntegral(false) && d.equal(3));
}

TEST(enumerations_and_handles) {
  using S = std::tuple<ScalarType, QScheme>(
      ScalarType, std::optional<ScalarType>, Layout, Device, std::optional<Device>, DeviceIndex,
      MemoryFormat, QScheme, Storage, Stream, std::optional<Generator>, Generator);
  RoundTrip<S> call(
      "c(ScalarType a, ScalarType? b, Layout c, Device d, Device? e, DeviceIndex f, MemoryFormat "
      "g, QScheme h, Storage i, Stream j, Generator? k, Generator l) -> (ScalarType, QScheme)",
      +[](ScalarType a, std::optional<ScalarType> b, Layout c, Device d, std::optional<Device> e,
          DeviceIndex f, MemoryFormat g, QScheme h, Storage i, Stream j, std::optional<Generator> k,
          Generator l) {
        CHECK(!b.has_value() && c == kSparse && d == Device("cuda:3") && !e.has_value() && f == -1);
        CHECK(g == MemoryFormat::ChannelsLast && i.nbytes() == 99 && j == Stream(kCUDA, 12) &&
              !k.has_value());
        CHECK(l == opgen::default_cpu_generator());
        return std::tuple(a, h);
      });
  auto [a, h] =
      call(kBFloat16, std::nullopt, kSparse, Device("cuda:3"), std::nullopt, DeviceIndex(-1),
           MemoryFormat::ChannelsLast, QScheme::PerChannelAffine, Storage(99, kCPU),
           Stream(kCUDA, 12), std::nullopt, opgen::default_cpu_generator());
  CHECK(a == kBFloat16 && h == QScheme::PerChannelAffine);
}

namespace {

bool equal(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  if (a.has_elements()) {
    return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(),
                      b.elements().end(),
                      [](const IValue& x, const IValue& y) { return equal(x, y); });
  }
  if (a.isNone()) return true;
  if (a.isBool() || a.isInt() || a.isDouble() || a.isComplexDouble()) {
    return a.toScalar().toComplexDouble() == b.toScalar().toComplexDouble();
  }
  if (a.isString()) return a.toStringView() == b.toStringView();
  if (a.isDevice()) return a.toDevice() == b.toDevice();
  if (a.isTensor()) return a.toTensor().is_same(b.toTensor());
  switch (a.tag()) {
    case IValue::Tag::Stream:
      return a.toStream() == b.toStream();
    case IValue::Tag::Generator:
      return a.toGenerator() == b.toGenerator();
    case IValue::Tag::Storage:
      return a.toStorage().is_alias_of(b.toStorage());
    default:
      return a.toCustom() == b.toCustom();
  }
}

int checked_types = 0;
IValue given;

// Calls f(T x) -> T with an argument of type P, through a boxed kernel and an unboxed one.
template <class P, class R = P>
void both_ways(const char* type, const std::type_identity_t<P>& value) {
  given = detail::box<std::remove_cvref_t<P>>(value);
  std::string schema = std::string("every(") + type + " x) -> (" + type + ")";
  RoundTrip<R(P)> call(
      schema.c_str(), +[](P x) -> R {
        CHECK(equal(detail::box<std::remove_cvref_t<P>>(x), given));
        return detail::Unbox<R>::from(given);
      });
  R back = call(value);
  if (!equal(detail::box<std::remove_cvref_t<R>>(back), given)) {
    check::fail(__FILE__, __LINE__, std::string("a different value is returned: ") + type);
  }
  ++checked_types;
}
// Does the same for types that borrow their elements, which cannot be results.
template <class P>
void arrives(const char* type, const std::type_identity_t<P>& value) {
  given = detail::box(value);
  std::string schema = std::string("every(") + type + " x) -> bool";
  RoundTrip<bool(P)> call(
      schema.c_str(), +[](P x) { return equal(detail::box(x), given); });
  if (!call(value))
    check::fail(__FILE__, __LINE__, std::string("the kernel receives a different value: ") + type);
  ++checked_types;
}
// Tests a type alone, as an optional, and in lists of any length and of length two.
template <class T, class P = T>
void alone_and_in_containers(const std::string& type, const T& a, const T& b) {
  both_ways<P, T>(type.c_str(), a);
  std::string maybe = type + "?", list = type + "[]", maybe_list = type + "[]?";
  both_ways<std::optional<T>>(maybe.c_str(), std::optional<T>(b));
  both_ways<std::optional<T>>(maybe.c_str(), std::nullopt);
  const T two[] = {a, b};
  both_ways<ArrayRef<T>, std::vector<T>>(list.c_str(), ArrayRef<T>(two));
  both_ways<ArrayRef<T>, std::vector<T>>(list.c_str(), ArrayRef<T>());
  both_ways<std::optional<ArrayRef<T>>, std::optional<std::vector<T>>>(maybe_list.c_str(),
                                                                       std::nullopt);
}

}  // namespace

// Each type is tested alone, as an optional and in a list, as argument and as result.
TEST(every_type_of_the_schema_language) {
  alone_and_in_containers<std::int64_t>("int", -3, std::int64_t(1) << 62);
  alone_and_in_containers<std::int64_t>("SymInt", 5, 0);
  alone_and_in_containers<double>("float", 0.5, -1e300);
  alone_and_in_containers<Scalar, const Scalar&>("Scalar", Scalar(2.5), Scalar(true));
  alone_and_in_containers<ScalarType>("ScalarType", kBFloat16, kLong);
  alone_and_in_containers<Layout>("Layout", kSparse, kStrided);
  alone_and_in_containers<MemoryFormat>("MemoryFormat", MemoryFormat::ChannelsLast,
                                        MemoryFormat::Contiguous);
  alone_and_in_containers<QScheme>("QScheme", QScheme::PerTensorAffine, QScheme::PerChannelAffine);
  alone_and_in_containers<Device>("Device", Device("cuda:3"), Device(kCPU));
  alone_and_in_containers<DeviceIndex>("DeviceIndex", DeviceIndex(-1), DeviceIndex(7));
  alone_and_in_containers<Stream>("Stream", Stream(kCUDA, 12), Stream());
  alone_and_in_containers<Generator>("Generator", opgen::default_cpu_generator(),
                                     opgen::default_cpu_generator());
  alone_and_in_containers<Storage>("Storage", Storage(99, kCPU), Storage(1, kCPU));
  alone_and_in_containers<Tensor, const Tensor&>("Tensor", fresh(), fresh());

  both_ways<bool>("bool", true);
  both_ways<bool>("SymBool", false);
  both_ways<std::optional<bool>>("bool?", false);
  both_ways<std::array<bool, 3>>("bool[3]", {true, false, true});
  arrives<std::string_view>("str", "text");
  arrives<std::optional<std::string_view>>("str?", std::nullopt);
  const std::string_view words[] = {"a", ""};
  arrives<ArrayRef<std::string_view>>("str[]", ArrayRef<std::string_view>(words));
  arrives<IntArrayRef>("DimVector", IntArrayRef({1, 2}));
  both_ways<const List<std::optional<Tensor>>&, List<std::optional<Tensor>>>(
      "Tensor?[]", List<std::optional<Tensor>>{std::nullopt, fresh()});
  // Custom classes are passed unchanged.
  IValue object{Ref<HeapValue>::adopt(new HeapValue)};
  both_ways<IValue>("__torch__.torch.classes.my.Class", object);
  both_ways<IValue>("GraphModule", object);
  CHECK(checked_types > 90);
}

// Lists of other types, containers in containers, tuples and dicts, as in the generated headers of
// a library.
TEST(every_container) {
  checked_types = 0;
  const Tensor a = fresh(), b = fresh();
  alone_and_in_containers<complex<double>>("complex", complex<double>(1, -2), complex<double>());
  both_ways<const List<bool>&, List<bool>>("bool[]", List<bool>{true, false, true});
  both_ways<const List<bool>&, List<bool>>("bool[]", List<bool>());
  both_ways<const List<std::string>&, List<std::string>>("str[]", List<std::string>{"a", ""});
  both_ways<const List<std::string>&, std::vector<std::string>>("str[]", List<std::string>{"a"});
  const std::string words[] = {"a", "b c"};
  both_ways<ArrayRef<std::string>, std::vector<std::string>>("str[]", ArrayRef<std::string>(words));
  both_ways<std::optional<List<bool>>>("bool[]?", std::nullopt);
  both_ways<std::optional<List<std::string>>>("str[]?", List<std::string>{"x"});
  using Counts = List<std::optional<std::int64_t>>;
  both_ways<const Counts&, Counts>("int?[]", Counts{1, std::nullopt});
  both_ways<const Counts&, std::vector<std::optional<std::int64_t>>>("int?[]", Counts{2});
  using Tensors = List<List<Tensor>>;
  both_ways<const Tensors&, Tensors>("Tensor[][]", Tensors{List<Tensor>{a, b}, List<Tensor>()});
  both_ways<const List<List<std::int64_t>>&, List<List<std::int64_t>>>(
      "int[][]", List<List<std::int64_t>>{List<std::int64_t>{1, 2}});
  const Tensor tensors[] = {a, b};
  both_ways<std::optional<TensorList>, std::optional<std::vector<Tensor>>>("Tensor[]?",
                                                                           TensorList(tensors));
  using Pair = std::tuple<Tensor, std::int64_t>;
  both_ways<const List<Pair>&, List<Pair>>("(Tensor, int)[]", List<Pair>{Pair(a, 1), Pair(b, 2)});
  both_ways<const List<Pair>&, std::vector<Pair>>("(Tensor, int)[]", List<Pair>{Pair(a, 1)});
  using Nested = std::tuple<std::int64_t, std::tuple<std::string, bool>>;
  both_ways<std::optional<Nested>>("(int, (str, bool))?", Nested(1, {"x", true}));
  arrives<Pair>("(Tensor, int)", Pair(a, 3));
  using Weights = Dict<std::string, Tensor>;
  both_ways<const Weights&, Weights>("Dict(str, Tensor)", Weights{{"w", a}, {"b", b}});
  both_ways<const Weights&, Weights>("Dict(str, Tensor)", Weights());
  using Table = Dict<std::int64_t, std::vector<double>>;
  both_ways<const Table&, Table>("Dict(int, float[])", Table{{3, {0.5}}});
  both_ways<std::optional<Weights>>("Dict(str, Tensor)?", std::nullopt);
  both_ways<const IValue&, IValue>("Any", IValue::dict({"a", IValue::tuple({1, 2.5})}));
  both_ways<std::optional<IValue>>("Any?", std::nullopt);
  both_ways<std::optional<IValue>>("Any?", IValue("x"));
  both_ways<const List<IValue>&, List<IValue>>("Any[]", List<IValue>{1, "x", IValue()});
  CHECK_EQ(checked_types, 30);
}

// Passes the result of an operator without arguments through boxed code.
template <class R>
void comes_back(const char* type, const R& result) {
  static R held;
  held = result;
  std::string schema = std::string("gives(int x) -> ") + type;
  RoundTrip<R(std::int64_t)> call(
      schema.c_str(), +[](std::int64_t) -> R { return held; });
  R back = call(std::int64_t(1));
  if (!equal(detail::box(back), detail::box(result))) {
    check::fail(__FILE__, __LINE__, std::string("a different value is returned: ") + type);
  }
}

TEST(results_that_are_not_tensors) {
  comes_back("str", std::string("a long text that is not kept in place"));
  comes_back("str[]", std::vector<std::string>{"a", "b"});
  comes_back("float[]", std::vector<double>{0.5, 2});
  comes_back("int[]", std::vector<std::int64_t>{1, 2});
  comes_back("bool[]", List<bool>{true, false});
  comes_back("bool", true);
  comes_back("int", std::int64_t(7));
  comes_back("float", 2.5);
  comes_back("Scalar", Scalar(2.5));
  comes_back("ScalarType", kHalf);
  comes_back("Device", Device("cuda:1"));
  comes_back("Layout", kStrided);
  comes_back("complex", complex<double>(1, 2));
  comes_back("int?[]", std::vector<std::optional<std::int64_t>>{1, std::nullopt});
  comes_back("Tensor[]?", std::optional<std::vector<Tensor>>(std::vector<Tensor>{fresh()}));
  comes_back("Dict(str, int)", Dict<std::string, std::int64_t>{{"a", 1}});
  comes_back("Any", IValue("x"));
  comes_back("NoneType", IValue());
  using Pair = std::tuple<Tensor, std::int64_t>;
  comes_back("((Tensor, int))", std::tuple<Pair>(Pair(fresh(), 2)));
  using Several = std::tuple<std::string, std::vector<double>, Dict<std::int64_t, bool>>;
  RoundTrip<Several()> several(
      "several() -> (str, float[], Dict(int, bool))", +[]() {
        return Several("x", {1.5}, {{1, true}});
      });
  auto [text, numbers, dict] = several();
  CHECK(text == "x" && numbers.size() == 1 && dict.at(1));
}

namespace {

template <class Signature>
std::string why(const char* schema) {
  return cpp_signature<Signature>->mismatch(parse_schema(schema));
}

}  // namespace

// Kernels' C++ types are compared with the schema. Checks the message for each mismatch.
TEST(kernels_are_checked_against_their_schemas) {
  using Counts = List<std::optional<std::int64_t>>;
  using Weights = Dict<std::string, Tensor>;
  using Pair = std::tuple<std::int64_t, Tensor>;
  CHECK_EQ((why<void(Tensor&, const std::optional<Tensor>&, TensorList, std::optional<TensorList>)>(
               "f(Tensor! a, Tensor!? b, Tensor![] c, Tensor[](a!)? d) -> ()")),
           "");
  CHECK_EQ((why<Tensor(const Tensor&, Tensor&, std::int64_t)>(
               "f(Tensor x, Tensor(a!) y, int n) -> Tensor(a!)")),
           "");
  CHECK_EQ((why<std::string(const List<bool>&, ArrayRef<double>, const List<std::string>&,
                            ArrayRef<Device>, const Counts&, const List<List<Tensor>>&,
                            OptionalIntArrayRef)>("f(bool[] a, float[] b, str[] c, Device[] d, "
                                                  "int?[] e, Tensor[][] f, int[]? g) -> str")),
           "");
  CHECK_EQ((why<Dict<std::int64_t, std::vector<double>>(
                Pair, const List<std::tuple<std::int64_t, std::string>>&, const Weights&,
                const IValue&, std::optional<IValue>, complex<double>)>(
               "f((int, Tensor) a, (int, str)[] b, Dict(str, Tensor) c, Any d, Any? e, complex f) "
               "-> Dict(int, float[])")),
           "");
  CHECK_EQ((why<void(std::tuple<std::int64_t>)>("f((int, Tensor) a) -> ()")),
           "argument a is (int, Tensor), but the function takes (int)");
  CHECK_EQ((why<void(const Dict<std::string, double>&)>("f(Dict(str, int) a) -> ()")),
           "argument a is Dict(str, int), but the function takes Dict(str, float)");
  CHECK_EQ((why<void(const Tensor&)>("f(Any a) -> ()")),
           "argument a is Any, but the function takes Tensor");
  CHECK_EQ((why<std::int64_t(std::int64_t)>("f(int a) -> int?")),
           "result 0 is int?, but the function returns int");
  CHECK_EQ((cpp_signature<void(const List<bool>&, std::tuple<std::int64_t, double>, const Weights&,
                               complex<double>)>->infer_schema("f")),
           "f(bool[] _0, (int, float) _1, Dict(str, Tensor) _2, complex _3) -> ()");
}

TEST(dicts_keep_their_order) {
  Dict<std::string, int> dict{{"b", 1}, {"a", 2}};
  CHECK(!dict.insert("b", 9).second && dict.at("b") == 1);
  dict.insert_or_assign("b", 3);
  CHECK(dict.insert("c", 4).second && dict.size() == 3 && dict.contains("a"));
  std::string order;
  for (const auto& entry : dict) order += entry.key() + std::to_string(entry.value());
  CHECK_EQ(order, "b3a2c4");
  CHECK(dict.erase("a") == 1 && dict.erase("a") == 0 && dict.find("a") == dict.end());
  CHECK_THROWS(IndexError, "no such key", dict.at("a"));
  Dict<Tensor, int> by_tensor;
  Tensor key = fresh();
  by_tensor.insert(key, 1);
  CHECK(by_tensor.contains(key) && !by_tensor.contains(fresh()));
  CHECK_THROWS(ValueError, "has the key 'a' twice",
               IValue::dict({IValue("a"), IValue(1), IValue("a"), IValue(2)}));
  CHECK_THROWS(TypeError, "a list cannot be the key of a dict",
               IValue::dict({IValue(std::vector<IValue>()), IValue(1)}));
}

TEST(tensors_in_containers_select_the_kernel) {
  using Weights = Dict<std::string, Tensor>;
  using Pair = std::tuple<Tensor, std::int64_t>;
  using S =
      std::int64_t(const Weights&, const List<List<Tensor>>&, const IValue&, std::optional<Pair>);
  Library m(Library::Kind::Fragment, "inside", DispatchKey::Undefined, "x.cpp", 1);
  m.def("f(Dict(str, Tensor) a, Tensor[][] b, Any c, (Tensor, int)? d) -> int");
  m.impl("f", DispatchKey::CPU,
         [](const Weights&, const List<List<Tensor>>&, const IValue&, std::optional<Pair>) {
           return std::int64_t(1);
         });
  m.impl("f", DispatchKey::Meta,
         [](const Weights&, const List<List<Tensor>>&, const IValue&, std::optional<Pair>) {
           return std::int64_t(2);
         });
  auto op = Dispatcher::singleton().findSchemaOrThrow("inside::f", "");
  auto f = op.typed<S>();
  const Tensor cpu = fresh(), meta = detail::empty({2}, kMeta);
  CHECK_EQ(f.call({{"w", cpu}}, {}, IValue(), std::nullopt), 1);
  CHECK_EQ(f.call({{"w", cpu}}, {List<Tensor>{meta}}, IValue(), std::nullopt), 2);
  CHECK_EQ(f.call({}, {}, IValue::tuple({IValue(1), IValue(meta)}), std::nullopt), 2);
  CHECK_EQ(f.call({}, {}, IValue(), Pair(meta, 1)), 2);
  Stack stack;
  stack.push_back(IValue::dict({IValue("w"), IValue(meta)}));
  stack.push_back(IValue(std::vector<IValue>()));
  stack.push_back(IValue());
  stack.push_back(IValue());
  op.call_boxed(stack);
  CHECK_EQ(stack[0].toInt(), 2);
}

TEST(returned_references_are_the_arguments) {
  {
    RoundTrip<Tensor&(Tensor&, const Tensor&)> call(
        "d_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        +[](Tensor& self, const Tensor&) -> Tensor& { return self; });
    Tensor self = fresh(), other = fresh();
    CHECK_EQ(&call(self, other), &self);
  }
  {
    using S = std::tuple<Tensor&, Tensor&>(const Tensor&, Tensor&, Tensor&);
    RoundTrip<S> call(
        "e.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
        +[](const Tensor&, Tensor& x, Tensor& y) { return std::tuple<Tensor&, Tensor&>(x, y); });
    Tensor self = fresh(), x = fresh(), y = fresh();
    auto [rx, ry] = call(self, x, y);
    CHECK(&rx == &x && &ry == &y);
    auto [sx, sy] = call(self, x, x);
    CHECK(sx.is_same(x) && sy.is_same(x));
  }
  {
    RoundTrip<const Tensor&(const Tensor&, IntArrayRef)> call(
        "f_(Tensor(a!) self, int[] size) -> Tensor(a!)",
        +[](const Tensor& self, IntArrayRef) -> const Tensor& { return self; });
    Tensor self = fresh();
    CHECK_EQ(&call(self, IntArrayRef({2})), &self);
  }
}

TEST(other_returns) {
  {
    RoundTrip<void(TensorList)> call(
        "g(Tensor[] x) -> ()", +[](TensorList x) { CHECK_EQ(x.size(), 1u); });
    Tensor x = fresh();
    call(TensorList(x));
  }
  {
    using S = std::tuple<std::vector<Tensor>, std::optional<Tensor>>(const Tensor&);
    RoundTrip<S> call(
        "h(Tensor x) -> (Tensor[], Tensor?)", +[](const Tensor& x) {
          return std::tuple<std::vector<Tensor>, std::optional<Tensor>>({x, x}, std::nullopt);
        });
    Tensor x = fresh();
    auto [list, maybe] = call(x);
    CHECK(list.size() == 2 && list[1].is_same(x) && !maybe.has_value());
  }
}

TEST(wrong_stacks) {
  RoundTrip<Tensor(const Tensor&, std::int64_t)> call(
      "i(Tensor x, int n) -> Tensor", +[](const Tensor& x, std::int64_t) { return x; });
  Stack few{IValue(fresh())};
  CHECK_THROWS(Error, "takes 2 arguments, but the stack has 1", call.op->call_boxed(few));
  Stack wrong{IValue(fresh()), IValue("text")};
  CHECK_THROWS(TypeError, "expected int but got str",
               call.op->redispatch_boxed(DispatchKeySet(DispatchKey::Meta), wrong));
  Stack more{IValue("below"), IValue(fresh()), IValue(3)};
  call.op->call_boxed(more);
  CHECK(more.size() == 2 && more[0].isString() && more[1].isTensor());
}

TEST(values) {
  IValue list(std::vector<IValue>{1, 2.5, true, "x", Device("cuda:1"), IValue(), IValue(fresh()),
                                  IValue(complex<double>(1, -2))});
  struct Sink final : Message {
    using Message::append;
    void append(const char* text, std::size_t size) override { out.append(text, size); }
    std::string out;
  } sink;
  append_message(sink, list);
  CHECK_EQ(sink.out, "[1, 2.5, true, 'x', cuda:1, None, Float[2] on cpu, (1-2j)]");
  sink.out.clear();
  append_message(sink, IValue::tuple({1, IValue::dict({"a", 2, "b", IValue::tuple({})})}));
  CHECK_EQ(sink.out, "(1, {'a': 2, 'b': ()})");
  IValue copy = list, moved = std::move(copy);
  CHECK(copy.isNone() && moved.toList().size() == 8);  // NOLINT
  list = IValue(7);
  CHECK_THROWS(TypeError, "expected Tensor but got int", list.toTensor());
}

namespace {
std::string ran;
Tensor twice(const Tensor& x) {
  ran += "twice ";
  return x;
}
}  // namespace

OPGEN_LIBRARY(handwritten, m) {
  m.def("twice(Tensor x) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", [](const Tensor& x) { return x; });
  m.def("tagged.o(Tensor x) -> Tensor", std::vector<std::string>{"core", "pointwise"});
}
OPGEN_LIBRARY_FRAGMENT(handwritten, m) {
  m.def("more(int n=3) -> int", [](std::int64_t n) { return n * 2; });
}
OPGEN_LIBRARY_IMPL(handwritten, CPU, m) {
  m.impl("twice", twice);
  m.impl("handwritten::tagged.o", [](const Tensor& x) { return x; });
}
OPGEN_LIBRARY_IMPL(handwritten, AutogradCPU, m) {
  m.impl("twice", CppFunction::makeFallthrough());
}
OPGEN_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(
      CppFunction::makeFromBoxedFunction([](const OperatorHandle& op, DispatchKeySet, Stack&) {
        ran += "fallback " + op.full_name();
      }));
}

TEST(libraries_written_by_hand) {
  auto& d = Dispatcher::singleton();
  Tensor x = fresh();
  auto op = d.findSchemaOrThrow("handwritten::twice", "").typed<Tensor(const Tensor&)>();
  CHECK(op.call(x).is_same(x));
  x.unsafeGetTensorImpl()->set_key_set(DispatchKeySet(DispatchKey::PrivateUse1));
  op.call(x);
  CHECK_EQ(ran, "twice fallback handwritten::twice");
  Stack stack{IValue(4)};
  auto more = d.findSchemaOrThrow("handwritten::more", "");
  more.call_boxed(stack);
  CHECK_EQ(stack[0].toInt(), 8);
  CHECK_EQ(d.findSchemaOrThrow("handwritten::tagged", "o").tags()[0], "core");
  CHECK_THROWS(Error, "two libraries define namespace handwritten",
               Library(Library::Kind::Def, "handwritten", DispatchKey::Undefined, "x.cpp", 1));
  Library m(Library::Kind::Impl, "handwritten", DispatchKey::CPU, "x.cpp", 2);
  CHECK_THROWS(Error, "does not belong to namespace", m.impl("other::f", twice));
  CHECK_THROWS(Error, "define operators in", m.def("f() -> ()"));
  CHECK_THROWS(Error, "in a block for CPU", m.impl("twice", DispatchKey::Meta, twice));
  CHECK_THROWS(Error, "serves every namespace", m.fallback(CppFunction::makeFallthrough()));
}

TEST(borrowed_arguments) {
  Library m(Library::Kind::Fragment, "borrow", DispatchKey::Undefined, "x.cpp", 1);
  m.def("f(Tensor a, Tensor b, Tensor? c) -> Tensor");
  std::size_t seen = 0;
  m.impl("f", DispatchKey::CPU,
         [&seen](const Tensor& a, const Tensor& b, const std::optional<Tensor>&) {
           seen = a.use_count();
           return b;
         });
  auto op = Dispatcher::singleton().findSchemaOrThrow("borrow::f", "");
  Tensor a = fresh();
  Tensor b = fresh();
  {
    Stack stack;  // a list of initializers would be copied
    for (const Tensor& tensor : {std::cref(a), std::cref(b), std::cref(a)}) {
      stack.push_back(IValue::borrow(tensor));
    }
    CHECK_EQ(a.use_count(), 1u);
    op.callBoxed(stack);
    CHECK_EQ(seen, 2u);  // the optional holds a reference
    CHECK(stack.size() == 1 && !stack[0].is_borrowed());
    CHECK(stack[0].toTensor().is_same(b));
    CHECK_EQ(b.use_count(), 2u);
  }
  CHECK(a.use_count() == 1 && b.use_count() == 1);
  {  // a value that owns its tensor is not counted twice
    Stack stack{IValue(a), IValue(b), IValue()};
    op.callBoxed(stack);
    CHECK_EQ(seen, 2u);
  }
  {  // copies own a share, moved values stay borrowed, assignment swaps
    IValue borrowed = IValue::borrow(a);
    IValue copy = borrowed;
    CHECK(!copy.is_borrowed() && a.use_count() == 2);
    IValue moved = std::move(borrowed);
    CHECK(moved.is_borrowed() && a.use_count() == 2);
    copy = std::move(moved);
    CHECK(copy.is_borrowed() && a.use_count() == 1);
    copy.own();
    CHECK(!copy.is_borrowed() && a.use_count() == 2);
    std::vector<IValue> items;
    items.push_back(IValue::borrow(b));
    IValue list(std::move(items));
    CHECK_EQ(b.use_count(), 2u);
  }
  CHECK(a.use_count() == 1 && b.use_count() == 1);
  {  // a boxed kernel may keep its arguments
    static std::vector<IValue> kept;
    m.impl(
        "f", DispatchKey::Meta,
        CppFunction::makeFromBoxedFunction([](const OperatorHandle&, DispatchKeySet, Stack& stack) {
          kept = std::move(stack);
          stack.clear();
          stack.push_back(kept[0]);
        }));
    Tensor meta = detail::empty({2}, kMeta);
    Stack stack;
    stack.push_back(IValue::borrow(meta));
    stack.push_back(IValue::borrow(a));
    stack.push_back(IValue());
    op.callBoxed(stack);
    stack.clear();
    CHECK(meta.use_count() == 2 && a.use_count() == 2);
    kept.clear();
    CHECK(meta.use_count() == 1 && a.use_count() == 1);
  }
  Stack wrong{IValue(1), IValue::borrow(a), IValue()};
  CHECK_THROWS(TypeError, "expected", op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), wrong));
}
