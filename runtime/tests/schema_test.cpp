// schema_test.cpp: parsing schema texts, printing them back, defaults, conversion of arguments.
#include "check.h"
#include "opgen/function_schema.h"

using namespace opgen;

TEST(round_trip) {
  const char* schemas[] = {
      "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
      "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
      "max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) "
      "max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
      "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
      "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
      "f(Tensor(a!)? x, Tensor(b!)[] y, Tensor(c|d -> e)? z=None) -> ()",
      "g(SymInt[2] a=0, int[3]? b=None, bool[2] c=[True,False], float[]? d=None, str s='x,)y', "
      "Device? e=None) -> bool",
      "empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
      "h(__torch__.torch.classes.my.Class? x, Stream s, Storage t, QScheme q, Generator? g=None, "
      "DeviceIndex i=0) -> (Scalar, int, float, str)",
      "loss(Tensor self, int reduction=Mean, float eps=1e-05, ScalarType dtype=long, MemoryFormat "
      "m=contiguous_format) -> Tensor",
      "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
      "none() -> ()",
  };
  for (const char* text : schemas) CHECK_EQ(parse_schema(text).str(), text);
  CHECK_EQ(parse_schema("f(Tensor x) -> Tensor", "my").name, "my::f");
  CHECK_EQ(parse_schema("a::f.b(Tensor x) -> Tensor", "my").full_name(), "a::f.b");
  CHECK_EQ(parse_schema(" f ( Tensor x ,int y = 3 )->Tensor").str(),
           "f(Tensor x, int y=3) -> Tensor");
}

TEST(defaults) {
  auto f = parse_schema(
               "f(int[2] a=1, int r=Mean, float e=1e-05, Scalar s=2.5, bool b=True, str "
               "t=\"a\\\"b\\n\", ScalarType d=long, "
               "MemoryFormat m=contiguous_format, int[] l=[-2,-1], Tensor? x=None, Device v='cpu', "
               "int n=-3, float i=1) -> ()",
               "")
               .arguments;
  CHECK_EQ(f[0].default_value->toList().size(), 2u);
  CHECK_EQ(f[0].default_value->toList()[1].toInt(), 1);
  CHECK_EQ(f[1].default_value->toInt(), 1);
  CHECK_EQ(f[2].default_value->toDouble(), 1e-5);
  CHECK_EQ(f[3].default_value->toDouble(), 2.5);
  CHECK(f[4].default_value->toBool());
  CHECK_EQ(f[5].default_value->toStringView(), "a\"b\n");
  CHECK_EQ(f[6].default_value->toInt(), 4);
  CHECK_EQ(f[7].default_value->toInt(), 0);
  CHECK_EQ(f[8].default_value->toList()[0].toInt(), -2);
  CHECK(f[9].default_value->isNone());
  CHECK_EQ(f[11].default_value->toInt(), -3);
  CHECK(f[12].default_value->isDouble());
}

TEST(out_arguments) {
  auto s = parse_schema(
      "f(Tensor self, Tensor(b!) noise, *, int k, Tensor(a!) out, Tensor(c!) more) -> Tensor(a!)");
  std::string outs;
  for (const auto& a : s.arguments) outs += a.is_out ? 'o' : '.';
  CHECK_EQ(outs, "...oo");
  CHECK(s.arguments[2].kwarg_only && !s.arguments[1].kwarg_only);
  CHECK_EQ(*s.find_argument("out"), 3u);
}

TEST(errors_say_where) {
  CHECK_THROWS(ValueError, "character 3: unknown type 'Tensr'",
               parse_schema("f(Tensr x) -> Tensor"));
  CHECK_THROWS(ValueError, "expected '->'", parse_schema("f(Tensor x)"));
  CHECK_THROWS(ValueError, "expected an argument name", parse_schema("f(Tensor) -> Tensor"));
  CHECK_THROWS(ValueError, "same name", parse_schema("f(int x, int x) -> ()"));
  CHECK_THROWS(ValueError, "unexpected text", parse_schema("f() -> Tensor x y"));
  CHECK_THROWS(ValueError, "no default for type int", parse_schema("f(int x=abc) -> ()"));
  CHECK_THROWS(ValueError, "must be in brackets", parse_schema("f(int[] x=1) -> ()"));
  CHECK_THROWS(ValueError, "a string without an end", parse_schema("f(str x='abc) -> ()"));
  CHECK_THROWS(ValueError, "a second '*'", parse_schema("f(*, int x, *, int y) -> ()"));
  CHECK_THROWS(ValueError, "'('", parse_schema("f"));
  CHECK_THROWS(ValueError, "alias set", parse_schema("f(Tensor(1!) x) -> ()"));
  CHECK_THROWS(ValueError, "list size", parse_schema("f(int[x] x) -> ()"));
  // Any prefix of a schema is an error, never a crash.
  std::string text =
      "g.o(Tensor(a!)? x, SymInt[2] a=[0,1], str s='x', *, bool[2] c=[True,False], Tensor(b!) out) "
      "-> (Tensor(b!), int[] y)";
  for (std::size_t n = 0; n < text.size(); ++n) {
    bool threw = false;
    try {
      static_cast<void>(parse_schema(text.substr(0, n)));
    } catch (const ValueError&) {
      threw = true;
    }
    CHECK(threw);
  }
}

TEST(conversion_of_arguments) {
  auto type = [](const char* text) {
    return parse_schema(std::string("f(") + text + " x) -> ()").arguments[0].type;
  };
  CHECK(convert_to_type(IValue(2), type("float")).isDouble());
  CHECK_EQ(convert_to_type(IValue(2), type("int[3]")).toList().size(), 3u);
  CHECK(convert_to_type(IValue(), type("int[3]?")).isNone());
  CHECK(convert_to_type(IValue(2.5), type("Tensor"))
            .toTensor()
            .unsafeGetTensorImpl()
            ->is_wrapped_number());
  CHECK_EQ(convert_to_type(IValue("cuda:1"), type("Device?")).toDevice().index(), 1);
  CHECK_THROWS(TypeError, "expected int, got float", convert_to_type(IValue(2.5), type("int")));
  CHECK_THROWS(TypeError, "expected int[], got int", convert_to_type(IValue(2), type("int[]")));
  CHECK_THROWS(TypeError, "expected Tensor, got None", convert_to_type(IValue(), type("Tensor")));
  CHECK_THROWS(TypeError, "expected bool, got int", convert_to_type(IValue(1), type("bool")));
}
