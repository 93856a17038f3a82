"""Registrations in C++: each form by itself. All of them together are in tests/differential/importing."""

from __future__ import annotations

from pathlib import Path

import pytest
from importing_unit_support import library, read


@pytest.mark.parametrize(
    "line",
    [
        'm.def("f(Tensor x) -> Tensor");',
        'm . def ( "f(Tensor x)" " -> Tensor" ) ;',
        'm->def("demo::f(Tensor x)->Tensor");',
        'm.def(R"--(f(Tensor x) -> Tensor)--");',
        'm.def(u8"f(Tensor x) -> Tensor");',
        'm.def(std::string("f(Tensor x)") + " -> Tensor");',
        'm.def(std::string{"f(Tensor x) -> Tensor"}.c_str());',
        'm.def((("f(Tensor x) -> Tensor")));',
        'm.def(torch::schema("f(Tensor x) -> Tensor"));',
        'm.def(torch::jit::parseSchema("f(Tensor x) -> Tensor"));',
        "m.def(kConstant);",
        "m.def(demo::kBraced);",
        "m.def(OTHER);",
        'm.def("f(" ARGUMENTS ") -> Tensor");',
        'm.def("f(Tensor x) -> " RESULT);',
        'if (true) { for (;;) { m.def("f(Tensor x) -> Tensor"); } }',
        'm.def("f(Tensor x) -> Tensor", torch::_RegisterOrVerify::REGISTER);',
        'm.def("f(Tensor x) -> Tensor", {});',
        'm.def(\n#ifdef Z\n  "f(Tensor x)"\n#else\n  "f(Tensor x)"\n#endif\n  " -> Tensor");',
        'm.def("f(Tensor x"  // a comment, "quoted"\n  /* , int y */ ") -> Tensor");',
    ],
)
def test_ways_to_write_a_schema(line: str, tmp_path: Path) -> None:
    constants = (
        '#define ARGUMENTS "Tensor x"\n#define RESULT "Tensor"\n#define OTHER kConstant\n'
        'constexpr char kConstant[] = "f(Tensor x) -> Tensor";\n'
        'namespace demo { inline constexpr std::string_view kBraced{"f(Tensor x) -> " RESULT}; }\n'
    )
    found = read(tmp_path, constants + library(line))
    assert (found.schemas, found.codes) == (["demo::f(Tensor x) -> Tensor"], [])


@pytest.mark.parametrize(
    "line",
    [
        "m.def(name);",
        "m.def(make(1));",
        'm.def(flag ? "a() -> ()" : "b() -> ()");',
        "m.def(kTwice);",
        'm.def(("f(" + types + ") -> ()").c_str());',
        "m.def(kItself);",
        "DEFINE(m, f);",
        'ELSEWHERE("f(Tensor x) -> Tensor");',
        "helper(m);",
        "auto& other = m;",
        'm.impl(name, "CPU", &f);',
        "m.unheard_of(1);",
    ],
)
def test_values_known_only_at_run_time(line: str, tmp_path: Path) -> None:
    constants = (
        "#define DEFINE(m, name) m.def(#name)\n"
        'const char* kTwice = "a() -> ()";\nnamespace b { const char* kTwice = "b() -> ()"; }\n'
        "const char* kItself = kItself;\n"
    )
    found = read(tmp_path, constants + library(line, 'm.def("g() -> ()");'))
    assert (found.schemas, found.codes) == (["demo::g() -> ()"], ["W1160"])


@pytest.mark.parametrize(
    ("kernel", "row"),
    [
        ("&f", "f"),
        ("f", "f"),
        ("&a::b::f", "f"),
        ("::f", "f"),
        ("TORCH_FN(a::f)", "f"),
        ("TORCH_BOX(&f)", "f"),
        ("(&f)", "f"),
        ("torch::CppFunction(&f)", "f"),
        ('torch::CppFunction::makeFromUnboxedFunction(f).debug("f")', "f"),
        ("static_cast<void (*)(int, at::Tensor)>(&f)", "f"),
        ("(void (*)(int)) &f", "f"),
        ("std::move(f)", "f"),
        ("NAMED(f)", "f"),
        ("kernel", "f"),
        ("&A<int, b::c>::call", "call"),
        ("torch::CppFunction::makeFallthrough()", "fallthrough"),
        ("c10::BoxedKernel::makeFallthrough()", "fallthrough"),
        ("[](at::Tensor x) { return x; }", ""),
        ("+[](at::Tensor x) { m.impl(1); return x; }", ""),
        ("local", ""),
        ("torch::CppFunction::makeFromBoxedFunction<&f>()", ""),
        ("torch::autograd::autogradNotImplementedFallback()", ""),
        ("Functor{}", ""),
        ("make<f>()", ""),
        ("x ? f : g", ""),
        ("f<<int>>", ""),
    ],
)
def test_kernels(kernel: str, row: str, tmp_path: Path) -> None:
    macros = "#define NAMED(x) TORCH_FN(::demo::x)\nconstexpr auto kernel = &f;\n"
    lines = (
        'm.def("f(Tensor x) -> ()");',
        "auto local = [](int x) {};",
        f'm.impl("f", torch::kCPU, {kernel});',
    )
    found = read(tmp_path, macros + library(*lines))
    assert found.rows("demo::f") == {"CPU": row}
    assert found.codes == ([] if row else found.codes) and len(found.codes) == (not row)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("torch::kCUDA", "CUDA"),
        ("at::kCPU", "CPU"),
        ("c10::kPrivateUse1", "PrivateUse1"),
        ("c10::DeviceType::Meta", "Meta"),
        ("c10::DispatchKey::AutocastCUDA", "AutocastCUDA"),
        ("torch::DispatchKey::Autocast", "AutocastCUDA"),
        ("c10::DispatchKey::CatchAll", "CompositeImplicitAutograd"),
        ("kOurs", "XPU"),
        ("OURS", "XPU"),
    ],
)
def test_keys(key: str, name: str, tmp_path: Path) -> None:
    constants = "constexpr auto kOurs{c10::DispatchKey::XPU};\n#define OURS kOurs\n"
    lines = ('m.def("f() -> ()");', f'm.impl("f", {key}, &f);')
    found = read(tmp_path, constants + library(*lines))
    assert found.rows("demo::f") == {name: "f"}
    dispatched = read(
        tmp_path, constants + library(lines[0], f'm.impl("f", torch::dispatch({key}, f));')
    )
    assert dispatched.rows("demo::f") == {name: "f"}


def test_a_key_that_no_operator_can_have_is_reported(tmp_path: Path) -> None:
    """What import writes, lint accepts."""
    row = 'TORCH_LIBRARY_IMPL(demo, NestedTensor, m) { m.impl("f", &f); }'
    found = read(tmp_path, library('m.def("f(Tensor x) -> Tensor");') + row)
    assert (found.rows("demo::f"), found.codes) == ({"NestedTensor": ""}, ["W1177"])


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("{at::Tag::core}", ("core",)),
        ("{torch::Tag::core, at::Tag::pointwise}", ("core", "pointwise")),
        ("std::vector<at::Tag>{at::Tag::core}", ("core",)),
        ("{}", ()),
        ("kTags", ("core",)),
    ],
)
@pytest.mark.parametrize("kernel", ["", "&f, "])
def test_tags(tags: str, found: tuple[str, ...], kernel: str, tmp_path: Path) -> None:
    constants = "const std::vector<at::Tag> kTags = {at::Tag::core};\n"
    read_back = read(tmp_path, constants + library(f'm.def("f() -> ()", {kernel}{tags});'))
    assert read_back.entries["demo::f"].tags == found
    assert len(read_back.entries["demo::f"].rows) == bool(kernel)


@pytest.mark.parametrize(
    ("macro", "namespace"),
    [
        ("TORCH_LIBRARY(demo, ops)", "demo"),
        ("TORCH_LIBRARY_FRAGMENT(demo, ops)", "demo"),
        ("STABLE_TORCH_LIBRARY(demo, ops)", "demo"),
        ("STABLE_TORCH_LIBRARY_FRAGMENT(demo, ops)", "demo"),
        ("TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops)", "_C"),
        ("TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _cache), ops)", "_C_cache"),
        ("TORCH_LIBRARY(C10_CONCATENATE(_C, _more), ops)", "_C_more"),
        ("OURS(ops)", "ours_C"),
        ("TORCH_LIBRARY(NAME, ops)", "named"),
        ("TORCH_LIBRARY(UPPER, ops)", "UPPER"),
        ("TORCH_LIBRARY(MY_NAMESPACE, ops)", "given"),
    ],
)
def test_libraries(macro: str, namespace: str, tmp_path: Path) -> None:
    macros = (
        "#define _JOIN(a, b) a##b\n#define CONCAT(a, b) _JOIN(a, b)\n#define NAME named\n"
        "#define OURS(m) TORCH_LIBRARY_EXPAND(CONCAT(ours, TORCH_EXTENSION_NAME), m)\n"
    )
    text = f'{macros}{macro} {{ ops.def("f() -> ()"); ops.impl("f", &f); }}'
    defines = {"TORCH_EXTENSION_NAME": "_C", "MY_NAMESPACE": "given"}
    found = read(tmp_path, text, defines=defines)
    assert (found.schemas, found.codes) == ([f"{namespace}::f() -> ()"], [])


def test_the_last_definition_of_a_macro_counts_unless_the_file_has_its_own(tmp_path: Path) -> None:
    files = {
        "a.h": "#define NS from_header\n",
        "a.cpp": '#define NS own\nTORCH_LIBRARY(NS, m) { m.def("f() -> ()"); }',
        "b.cpp": 'TORCH_LIBRARY(NS, m) { m.def("g() -> ()"); }',
    }
    found = read(tmp_path, files)
    # Two files define it, so a third file's use of it is ambiguous.
    assert found.codes == ["E1160"]
    (tmp_path / "a.h").unlink()
    assert read(tmp_path, {"b.cpp": files["b.cpp"], "c.h": "#define NS only\n"}).schemas == [
        "only::g() -> ()"
    ]


def test_functions_that_take_a_library(tmp_path: Path) -> None:
    files = {
        "more.cpp": "void more(int n, torch::Library& lib) {\n"
        '  lib.def("from_more() -> ()");\n  deeper(lib);\n}\n'
        'void deeper(torch::Library & library) { library.impl("from_more", &f); }\n'
        'void unused(torch::Library& m) { m.def("unused() -> ()"); }\n',
        "ops.cpp": library("#ifdef MORE", "more(1, m);", "#endif"),
    }
    found = read(tmp_path, files)
    assert found.schemas == ["demo::from_more() -> ()"] and found.codes == ["W1160"]
    assert found.entries["demo::from_more"].alternatives == [("defined(MORE)",)]
    assert found.rows("demo::from_more") == {"CompositeImplicitAutograd": "f"}


def test_definitions_in_both_branches_are_one_entry(tmp_path: Path) -> None:
    same, other = 'm.def("f(int x) -> ()");', 'm.def("f(float x) -> ()");'
    merged = read(tmp_path, library("#if A", same, "#else", same, "#endif"))
    assert merged.codes == [] and merged.entries["demo::f"].alternatives == [("A",), ("!A",)]
    different = read(tmp_path, library("#if A", same, "#else", other, "#endif"))
    assert different.codes == ["W1167"]
    assert [one.schema for one in different.entries["demo::f"].others] == ["f(float x) -> ()"]


def test_a_row_that_can_be_written_comes_before_one_that_cannot(tmp_path: Path) -> None:
    lines = (
        'm.def("f() -> ()");',
        "#if A",
        'm.impl("f", [] {});',
        "#else",
        'm.impl("f", &f);',
        "#endif",
    )
    found = read(tmp_path, library(*lines))
    assert found.rows("demo::f") == {"CompositeImplicitAutograd": "f"} and found.codes == ["W1168"]


def test_methods_of_a_custom_class_are_not_operators(tmp_path: Path) -> None:
    line = 'm.class_<ns::Box>("Box").def(torch::init<>()).def("size", &Box::size);'
    found = read(tmp_path, library(line, 'm.def("f() -> ()");'))
    assert (found.schemas, found.codes) == (["demo::f() -> ()"], ["W1176"])


def test_pybind11_modules_are_not_libraries(tmp_path: Path) -> None:
    text = 'PYBIND11_MODULE(demo, m) { m.def("f(Tensor x) -> Tensor", &f); }\n'
    found = read(tmp_path, text + library('m.def("g() -> ()");'))
    assert (found.schemas, found.codes) == (["demo::g() -> ()"], [])


def test_functions_of_a_pybind11_module_are_operators_if_there_are_no_others(
    tmp_path: Path,
) -> None:
    text = """
at::Tensor f(const at::Tensor& x, double by, int64_t n, std::optional<at::Tensor> w, bool up);
int narrow(int x);
PYBIND11_MODULE(demo, m) {
  m.doc() = "Text.";
  m.def("f", &f, "Text.", py::arg("x"), py::arg("by") = 1.5f, py::arg("n") = -3,
        py::arg("w") = std::nullopt, py::arg("up") = false);
  m.def("narrow", &narrow);
  m.def("g", &f, py::arg("x"), py::arg("by") = kBy, py::arg("n"), py::arg("w"), py::arg("up"));
  py::class_<Box>(m, "Box").def("f", &f);
}
"""
    found = read(tmp_path, text)
    arguments = "Tensor x, float by=1.5, int n=-3, Tensor? w=None, bool up=False"
    others = "Tensor x, float by, int n, Tensor? w, bool up"
    assert found.schemas == [
        f"demo::f({arguments}) -> Tensor _0",
        f"demo::g({others}) -> Tensor _0",
    ]
    assert sorted(found.codes) == ["W1160", "W1165", "W1165", "W1182"]


def test_templates_are_not_read(tmp_path: Path) -> None:
    text = "{%- for name in names %}\n" + library('m.def("{{ name }}() -> ()");') + "{% endfor %}\n"
    found = read(tmp_path, {"a.cpp": library('m.def("g() -> ()");'), "b.cpp": text})
    assert (found.schemas, found.codes) == (["demo::g() -> ()"], ["W1175"])


def test_code_after_a_mistake_is_read(tmp_path: Path) -> None:
    """Protects against a brace or a quote after which the rest of the file is lost."""
    broken = library('m.def("f(" ;', 'm.def("g() -> ()"', 'm.def("h() -> ()");')
    found = read(tmp_path, broken + 'TORCH_LIBRARY(next, m) { m.def("i() -> ()"); }')
    assert found.schemas[-1] == "next::i() -> ()"


# Macros around registrations

AROUND = """\
#define DEF(name, schema) m.def(#name schema)
#define IMPL(name, fn) m.impl(name, torch::kCPU, TORCH_FN(fn))
#define BOTH(lib, name) lib.def(#name "(Tensor x) -> Tensor"); lib.impl(#name, torch::kCPU, &name##_cpu)
#define TWICE(a, b) BOTH(m, a); BOTH(m, b)
#define WHOLE(ns, name) TORCH_LIBRARY_FRAGMENT(ns, lib) { lib.def(#name "() -> ()"); }
#define UNKNOWN(name) m.def(schema_of(name))
"""


@pytest.mark.parametrize(
    ("call", "schemas", "rows"),
    [
        ('DEF(op, "(Tensor x) -> Tensor");', ["demo::op(Tensor x) -> Tensor"], {}),
        (
            'DEF(op, "(Tensor x) -> Tensor"); IMPL("op", f);',
            ["demo::op(Tensor x) -> Tensor"],
            {"CPU": "f"},
        ),
        ("BOTH(m, op);", ["demo::op(Tensor x) -> Tensor"], {"CPU": "op_cpu"}),
        (
            "TWICE(op, other);",
            ["demo::op(Tensor x) -> Tensor", "demo::other(Tensor x) -> Tensor"],
            {"CPU": "op_cpu"},
        ),
    ],
)
def test_macros_around_registrations(
    call: str, schemas: list[str], rows: dict[str, str], tmp_path: Path
) -> None:
    """Protects projects that register hundreds of operators by a macro of one line."""
    found = read(tmp_path, AROUND + library(call))
    assert (found.schemas, found.codes) == (schemas, [])
    assert found.rows("demo::op") == rows


def test_registrations_by_macros_keep_their_order_and_places(tmp_path: Path) -> None:
    """Protects the order of overloads, which decides what PyTorch calls, and messages, which point at the call."""
    lines = ('m.def("a() -> ()");', 'DEF(b, "() -> ()");', 'm.def("c() -> ()");')
    found = read(tmp_path, AROUND + library(*lines) + "WHOLE(demo, d)\n")
    assert [schema.partition("(")[0][-1] for schema in found.schemas] == ["a", "b", "c", "d"]
    span = found.entries["demo::b"].span
    assert span.text == 'DEF(b, "() -> ()")'


def test_a_macro_that_is_not_understood_is_reported(tmp_path: Path) -> None:
    """Protects operators from vanishing: what a macro registers is read wholly, or its call is reported."""
    lines = ('m.def("a() -> ()");', "UNKNOWN(x);", 'DEF(op, "() -> ()");', "DEF(op);")
    found = read(tmp_path, AROUND + library(*lines))
    assert (found.schemas, found.codes) == (["demo::a() -> ()", "demo::op() -> ()"], ["W1160"] * 2)
    # A second definition, in another branch of an #if or later.
    found = read(tmp_path, f"{AROUND}#define DEF(name, schema) m.def(#name)\n{library(*lines)}")
    assert (found.schemas, found.codes) == (["demo::a() -> ()"], ["W1160"] * 3)


MORE = """\
#define OPS m.def("a(Tensor x) -> Tensor"); m.impl("a", torch::kCPU, &a_cpu)
#define LIBRARY TORCH_LIBRARY_FRAGMENT(demo, m)
#define FRAGMENT TORCH_LIBRARY_FRAGMENT
#define NO_ARGUMENTS() TORCH_LIBRARY_FRAGMENT(demo, m)
#define FOR_ALL(_) _(a) _(b)
#define WITH_REST(name, ...) m.impl(name, __VA_ARGS__)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define STEP 4
#define SCHEMA_AND_KERNEL(name) #name "() -> ()", TORCH_FN(name##_cpu)
#define COPIED_(ns, k, m, uid) \\
  static void init_##ns##_##k##uid(torch::Library&); \\
  static const torch::detail::TorchLibraryInit object_##uid( \\
      torch::Library::IMPL, &init_##ns##_##k##uid, #ns, c10::make_optional(c10::DispatchKey::k), __FILE__, __LINE__); \\
  void init_##ns##_##k##uid(torch::Library& m)
#define OLDER(name) static auto op_##name = torch::RegisterOperators("demo::" #name "() -> ()", &name##_cpu)
#define COPIED(ns, k, m) COPIED_(ns, k, m, __COUNTER__)
"""


@pytest.mark.parametrize(
    ("text", "schemas", "rows"),
    [
        (library("OPS;"), ["demo::a(Tensor x) -> Tensor"], {"CPU": "a_cpu"}),
        ('LIBRARY { m.def("a() -> ()"); }', ["demo::a() -> ()"], {}),
        ('FRAGMENT(demo, lib) { lib.def("a() -> ()"); }', ["demo::a() -> ()"], {}),
        ('NO_ARGUMENTS() { m.def("a() -> ()"); }', ["demo::a() -> ()"], {}),
        (
            '#define DEF(name) m.def(#name "() -> ()");\n' + library("FOR_ALL(DEF)"),
            ["demo::a() -> ()", "demo::b() -> ()"],
            {},
        ),
        (
            '#define DEF(name) m.def(#name "() -> ()");\n#undef DEF\n'
            '#define DEF(name) m.def(#name "() -> int");\n' + library("DEF(a)"),
            ["demo::a() -> int"],
            {},
        ),
        (
            library('m.def("a() -> ()");', 'WITH_REST("a", torch::kCPU, &a_cpu);'),
            ["demo::a() -> ()"],
            {"CPU": "a_cpu"},
        ),
        (library('m.def("a(int step=" TEXT(STEP) ") -> ()");'), ["demo::a(int step=4) -> ()"], {}),
        (
            library("m.def(SCHEMA_AND_KERNEL(a));"),
            ["demo::a() -> ()"],
            {"CompositeImplicitAutograd": "a_cpu"},
        ),
        (
            library('m.def("a() -> ()");') + 'COPIED(demo, CPU, m) { m.impl("a", a_cpu); }',
            ["demo::a() -> ()"],
            {"CPU": "a_cpu"},
        ),
        ("OLDER(a);", ["demo::a() -> ()"], {"CompositeImplicitAutograd": "a_cpu"}),
        (
            library('#include "pieces.inc"', 'm.def("b() -> ()");'),
            ["demo::a() -> int", "demo::b() -> ()"],
            {},
        ),
    ],
)
def test_macros_as_the_preprocessor_expands_them(
    text: str, schemas: list[str], rows: dict[str, str], tmp_path: Path
) -> None:
    """Protects operators whose registrations are lists, X-macros, files that are included, or copies of PyTorch's macros."""
    files = {"more.h": MORE, "ops.cpp": text, "pieces.inc": 'm.def("a() -> int");\n'}
    found = read(tmp_path, files)
    assert (found.schemas, found.codes) == (schemas, [])
    assert found.rows("demo::a") == rows


@pytest.mark.parametrize(
    "line",
    [
        "UNKNOWN_LIST;",
        "FOR_ALL(UNKNOWN)",
        "DEPENDS;",
        '#include "absent.inc"',
        "}\nOLDER(b, c);\nLIBRARY {",
        '}\nOPENS(demo, m) {\n  m.def("b() -> ()");',
    ],
)
def test_what_a_macro_registers_is_read_or_reported(line: str, tmp_path: Path) -> None:
    macros = (
        "#define UNKNOWN(name) m.def(schema_of(#name));\n#define UNKNOWN_LIST UNKNOWN(b)\n"
        '#ifdef A\n#define DEPENDS m.def("b() -> ()")\n#else\n#define DEPENDS m.def("b() -> int")\n#endif\n'
    )
    found = read(tmp_path, MORE + macros + library('m.def("a() -> ()");', line))
    assert (found.schemas, found.codes) == (["demo::a() -> ()"], ["W1160"])


def test_macros_that_expand_without_end_are_reported(tmp_path: Path) -> None:
    """Protects the time of an import: each macro doubles the text."""
    lines = [f"#define D{n} D{n + 1} D{n + 1}\n" for n in range(40)]
    text = (
        "".join(lines) + '#define D40 m.def("x() -> ()");\n' + library('m.def("a() -> ()");', "D0")
    )
    found = read(tmp_path, text)
    assert (found.schemas, found.codes) == (["demo::a() -> ()"], ["W1160"])


def test_a_kind_of_alias_analysis_that_pytorch_refuses_is_left_out(tmp_path: Path) -> None:
    """Protects the promise that opgen accepts what import writes."""
    schema = '"f(Tensor(a!)[] x) -> ()", c10::AliasAnalysisKind::PURE_FUNCTION'
    found = read(tmp_path, library(f"m.def(torch::schema({schema}));"))
    assert (found.entries["demo::f"].alias_analysis, found.codes) == (None, ["W1176"])


# A list of the operators whose names are the arguments, as the macros of many projects make it.
FOR_EACH = """\
#define REG(n) m.def(#n "() -> ()");
#define FE1(X, a) X(a)
#define FE2(X, a, ...) X(a) FE1(X, __VA_ARGS__)
#define FE3(X, a, ...) X(a) FE2(X, __VA_ARGS__)
#define GET(_1, _2, _3, N, ...) N
#define FOR_EACH(X, ...) GET(__VA_ARGS__, FE3, FE2, FE1)(X, __VA_ARGS__)
#define REG_ALL(...) FOR_EACH(REG, __VA_ARGS__)
#define CALL(X, arguments) X arguments
"""


@pytest.mark.parametrize(
    "lines",
    [
        ("REG_ALL(a, b)", "REG_ALL(c, d)", "REG_ALL(e, f, g)"),
        ("FOR_EACH(REG, a, b, c)", "FOR_EACH(REG, d, e)", "FOR_EACH(REG, f, g)"),
        (*(f"REG({name})" for name in "abcdef"), "CALL(REG, (g))"),
    ],
)
def test_every_use_of_a_macro_is_read(lines: tuple[str, ...], tmp_path: Path) -> None:
    """Protects the second use and all later ones, and macros whose names are arguments."""
    found = read(tmp_path, FOR_EACH + library(*lines))
    assert (found.schemas, found.codes) == ([f"demo::{name}() -> ()" for name in "abcdefg"], [])


def test_each_expansion_has_constants_of_its_own(tmp_path: Path) -> None:
    blocks = "".join(
        f'#define {name} TORCH_LIBRARY_FRAGMENT(demo, m) {{ const char* s = "{name}() -> ()"; m.def(s); }}\n'
        for name in "abcd"
    )
    found = read(tmp_path, f"{blocks}a\nb\nc\nd\n")
    assert (found.schemas, found.codes) == ([f"demo::{name}() -> ()" for name in "abcd"], [])


def test_the_kernel_of_a_macro_is_that_of_its_place(tmp_path: Path) -> None:
    """Protects rows from another definition of the same macro."""
    text = library('m.def("a() -> ()");', 'm.def("b() -> ()");', 'm.def("c() -> ()");') + (
        '#define K f1\nTORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("a", &K); }\n#undef K\n'
        '#define K f2\nTORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("b", &K); }\n'
        "#ifdef ROCM\n#define G g_hip\n#else\n#define G g_cuda\n#endif\n"
        'TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("c", &G); }\n'
    )
    found = read(tmp_path, text)
    assert [found.rows(f"demo::{name}") for name in "ab"] == [{"CPU": "f1"}, {"CPU": "f2"}]
    assert not any(found.rows("demo::c").values()) and found.codes == ["W1162"]


def test_letters_that_are_not_ascii_stay(tmp_path: Path) -> None:
    macros = '#define OP(n, s) m.def(#n "(str a=" s ", str b=\\"ü\\") -> ()");\n'
    found = read(tmp_path, macros + library(r'OP(f, "\"é?\"")'))
    assert (found.schemas, found.codes) == (['demo::f(str a="é?", str b="ü") -> ()'], [])


def test_two_number_signs_in_a_string_of_a_macro_stay(tmp_path: Path) -> None:
    macro = '#define OP(n) m.def(#n "(str mode=\\"a ## b\\") -> ()");\n'
    found = read(tmp_path, macro + library("OP(f)"))
    assert (found.schemas, found.codes) == (['demo::f(str mode="a ## b") -> ()'], [])
