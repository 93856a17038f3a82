// schema_test.cpp: parsing and printing schemas, defaults, conversion of arguments.
#include "check.h"
#include "opgen/schema/function_schema.h"

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
      // Sets without a name, annotations of lists, and any words as labels.
      "w(Tensor! a, Tensor!? b, Tensor![] c, Tensor[]! d, Tensor[]!? e, Tensor![]! f) -> ()",
      "l(Tensor[](a!) a, Tensor(b)[](c!)? b, Tensor[3](d) c, Tensor(out!) d) -> (Tensor!, int)",
      "x(Tensor(a12|b_2! -> *) a, Tensor(*) b, Tensor(* -> c) c) -> Tensor(c)?",
      "t((Tensor, int)[] a, (int, (Tensor, str))? b, () c) -> ((Tensor, int))",
      "d(Dict(str, Tensor) a, Dict(int, Tensor[])(a!)? b) -> Dict(str, (int, int))[]",
      "v(Any a, Any? b=None, *, complex c=2j, complex[] d, int?[] e, Tensor[][] f) -> NoneType",
      "again(Tensor x, int x, Tensor(a!) y, int y) -> Tensor(a!)",
      "k(int a=1, int[] b, *, int c=2, int d) -> (Tensor[], int x)",
  };
  for (const char* text : schemas) CHECK_EQ(parse_schema(text).str(), text);
  CHECK_EQ(parse_schema("f(Tensor x) -> Tensor", "my").name, "my::f");
  CHECK_EQ(parse_schema("a::f.b(Tensor x) -> Tensor", "my").full_name(), "a::f.b");
  CHECK_EQ(parse_schema(" f ( Tensor x ,int y = 3 )->Tensor").str(),
           "f(Tensor x, int y=3) -> Tensor");
  CHECK_EQ(
      parse_schema("\n f\t. o(Tensor (a!) x,Tensor ! y, # of x\n int ? z,Tensor [ ]w)->(Tensor\n"
                   "  out)  \n")
          .str(),
      "f.o(Tensor(a!) x, Tensor! y, int? z, Tensor[] w) -> Tensor out");
  CHECK_EQ(parse_schema("f(int[] x=[1, # one\n 2], str[] y=['#\\n', \"b\"]) -> ()").str(),
           "f(int[] x=[1,  2], str[] y=['#\\n', \"b\"]) -> ()");
}

TEST(alias_sets) {
  FunctionSchema s = parse_schema(
      "f(Tensor! a, Tensor! b, Tensor(b|a!) c, Tensor(d)[](e!) d, Tensor e, Tensor[]!? f) -> "
      "Tensor(a)");
  std::string written;
  for (const auto& a : s.arguments) written += a.is_written() ? 'w' : '.';
  CHECK_EQ(written, "wwww.w");
  CHECK(s.arguments[0].aliases[0].is_unnamed() && s.arguments[5].aliases[0].is_unnamed());
  // Two sets without a name are distinct, even if the arguments are otherwise the same.
  CHECK(s.arguments[0].aliases[0] != s.arguments[1].aliases[0]);
  CHECK(s.arguments[2].aliases[0].before == "b|a" && s.arguments[2].aliases[0].after.empty());
  CHECK(s.arguments[3].aliases.size() == 2 && s.arguments[3].aliases[1].lists == 1);
  CHECK(s.arguments[5].aliases[0].lists == 1);
  CHECK(s.arguments[4].aliases.empty() && s.returns[0].aliases[0].before == "a");

  auto same = [](const char* left, const char* right) {
    return parse_schema(left) == parse_schema(right);
  };
  CHECK(same("f(Tensor! x) -> ()", "f( Tensor ! x)->()"));
  CHECK(!same("f(Tensor! x) -> ()", "f(Tensor(a!) x) -> ()"));
  CHECK(same("f(Tensor(a|b) x) -> ()", "f(Tensor(b|a) x) -> ()"));
  CHECK(same("f(Tensor(a! -> a) x) -> ()", "f(Tensor(a!) x) -> ()"));
  CHECK(same("f(Tensor x) -> (Tensor)", "f(Tensor x) -> Tensor"));
  CHECK(!same("f(Tensor(a!)[] x) -> ()", "f(Tensor[](a!) x) -> ()"));
  CHECK(!same("f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor y"));
  CHECK(!same("f(int x=1) -> ()", "f(int x=2) -> ()"));
  CHECK(!same("f(int x, *, int y) -> ()", "f(int x, int y) -> ()"));
  CHECK(!same("f((int, int) x) -> ()", "f((int, str) x) -> ()"));
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

  auto g =
      parse_schema(
          "f(float a=-.5, float b=5., float c=1E3, int d=- 3, int e=007, Scalar f=-2j, complex "
          "g=1.5, str h='''it's \\101''', bool i=1, int? j=True, ScalarType k=float8_e5m2, "
          "Device[] l=['cpu', \"cuda:1\"], str[] m=[], int?[] n=[None, 1], int[2]? o=3) -> ()")
          .arguments;
  CHECK(g[0].default_value->toDouble() == -.5 && g[1].default_value->toDouble() == 5);
  CHECK(g[2].default_value->toDouble() == 1e3 && g[3].default_value->toInt() == -3);
  CHECK(g[4].default_value->toInt() == 7);
  CHECK(g[5].default_value->toComplexDouble() == complex<double>(0, -2));
  CHECK(g[6].default_value->toComplexDouble() == complex<double>(1.5, 0));
  CHECK_EQ(g[7].default_value->toStringView(), "it's A");
  // A default of another type is accepted, as in PyTorch. A call that uses it reports the mismatch.
  CHECK(g[8].default_value->isInt() && g[9].default_value->isBool());
  CHECK_EQ(g[10].default_value->toInt(), 23);
  CHECK(g[11].default_value->toList()[1].toDevice() == Device("cuda:1"));
  CHECK(g[12].default_value->toList().empty() && g[13].default_value->toList()[0].isNone());
  CHECK_EQ(g[14].default_value->toList().size(), 2u);
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

TEST(errors_have_a_position) {
  CHECK_THROWS(ValueError, "character 3: unknown type 'Tensr'",
               parse_schema("f(Tensr x) -> Tensor"));
  CHECK_THROWS(ValueError, "expected '->'", parse_schema("f(Tensor x)"));
  CHECK_THROWS(ValueError, "expected an argument name", parse_schema("f(Tensor) -> Tensor"));
  CHECK_THROWS(ValueError, "unexpected text", parse_schema("f() -> Tensor x y"));
  CHECK_THROWS(ValueError, "is not a valid default for type int",
               parse_schema("f(int x=abc) -> ()"));
  CHECK_THROWS(ValueError, "must be in brackets", parse_schema("f(int[] x=1) -> ()"));
  CHECK_THROWS(ValueError, "a string without an end", parse_schema("f(str x='abc) -> ()"));
  CHECK_THROWS(ValueError, "type 'Quantizer' has no counterpart in this runtime",
               parse_schema("f(Tensor x, Quantizer? q) -> ()"));
  CHECK_THROWS(ValueError, "only tensors can", parse_schema("f(int! x) -> ()"));
  CHECK_THROWS(ValueError, "any number of arguments", parse_schema("f(Tensor x, ...) -> ()"));
  CHECK_THROWS(ValueError, "argument y has no default, but follows x",
               parse_schema("f(int x=1, int y) -> ()"));
  CHECK_THROWS(ValueError, "a line break is only allowed between parentheses",
               parse_schema("f(int x)\n -> ()"));
  CHECK_THROWS(ValueError, "only None can be the default", parse_schema("f(Tensor x=1) -> ()"));
  CHECK_THROWS(ValueError, "'1.5' cannot be an item of a list of type int",
               parse_schema("f(int[] x=[1,1.5]) -> ()"));
  CHECK_THROWS(ValueError, "that is in range", parse_schema("f(int x=9223372036854775808) -> ()"));
  CHECK_THROWS(ValueError, "the keys of a Dict", parse_schema("f(Dict(int[], int) x) -> ()"));
  CHECK_THROWS(ValueError, "__torch__.torch.classes.", parse_schema("f(__torch__.my.C x) -> ()"));
  CHECK_THROWS(ValueError, "cannot have a length", parse_schema("f((int[2], int) x) -> ()"));
  CHECK_THROWS(ValueError, "'('", parse_schema("f"));
  CHECK_THROWS(ValueError, "alias set", parse_schema("f(Tensor(1!) x) -> ()"));
  CHECK_THROWS(ValueError, "list size", parse_schema("f(int[x] x) -> ()"));
  // Every prefix of a schema is an error, never a crash.
  std::string text =
      "g.o(Tensor(a!)? x, SymInt[2] a=[0,1], str s='x', *, bool[2] c=[True,False], Tensor![]! z, "
      "(int, Dict(str, Tensor))[] t, Tensor(b|c! -> *) out) -> (Tensor(b!), int[] y)";
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
  CHECK(convert_to_type(IValue(2), type("complex")).isComplexDouble());
  IValue pair(std::vector<IValue>{IValue(1), IValue(2)});
  CHECK(convert_to_type(pair, type("(int, float)")).toTuple()[1].isDouble());
  CHECK(convert_to_type(IValue::tuple({IValue(1), IValue(2)}), type("int[]")).isList());
  CHECK_THROWS(TypeError, "expected (int, int, int), got 2 values",
               convert_to_type(pair, type("(int, int, int)")));
  IValue dict = IValue::dict({IValue("a"), IValue(1)});
  CHECK(convert_to_type(dict, type("Dict(str, float)")).toDict()[1].isDouble());
  CHECK_THROWS(TypeError, "expected int, got str", convert_to_type(dict, type("Dict(int, int)")));
  CHECK_THROWS(TypeError, "expected Dict(str, int), got list",
               convert_to_type(pair, type("Dict(str, int)")));
  CHECK(convert_to_type(dict, type("Any")).isDict());
}
