"""Which function a name refers to, the schema of its type, and how other files call it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from importing_unit_support import Found, library, read

from opgen.diagnostics import Diagnostics
from opgen.pipeline.importing import Imports, import_operators


def inferred(folder: Path, declarations: str, kernel: str = "&f") -> Found:
    return read(folder, declarations + library(f'm.def("op", {kernel});', 'm.def("g() -> ()");'))


@pytest.mark.parametrize(
    ("declaration", "schema"),
    [
        ("at::Tensor f(const at::Tensor& x, int64_t n = 3);", "(Tensor _0, int _1) -> Tensor _0"),
        ("static inline Tensor f(Tensor const& x) { }", "(Tensor _0) -> Tensor _0"),
        (
            "[[nodiscard]] auto f(double d) -> std::tuple<at::Tensor, bool>;",
            "(float _0) -> (Tensor _0, bool _1)",
        ),
        ("void f(void);", "() -> ()"),
        ("void f(bool b [[maybe_unused]], [[gnu::unused]] int64_t n);", "(bool _0, int _1) -> ()"),
        ('extern "C" void f(at::Tensor x);', "(Tensor _0) -> ()"),
        ("DEMO_API at::Tensor f(at::ArrayRef<at::Tensor>);", "(Tensor[] _0) -> Tensor _0"),
        ("__global__ __host__ at::Tensor f(at::Tensor);", "(Tensor _0) -> Tensor _0"),
        ("using T = const at::Tensor&;\nvoid f(T a);", "(Tensor _0) -> ()"),
        ("using namespace std;\nvoid f(vector<string> a);", "(str[] _0) -> ()"),
        (
            "using torch::autograd::Variable;\ntorch::autograd::tensor_list f(const Variable& x);",
            "(Tensor _0) -> Tensor[] _0",
        ),
        ("using std::vector;\ntypedef vector<int64_t> V;\nvoid f(V a);", "(int[] _0) -> ()"),
        ("namespace a { void f(at::Tensor); }\nusing a::f;", "(Tensor _0) -> ()"),
        ("namespace a { void f(at::Tensor); }\nusing namespace a;", "(Tensor _0) -> ()"),
        ("namespace { void f(std::optional<at::Generator> g); }", "(Generator? _0) -> ()"),
        ("void f(at::Tensor);\nvoid f(at::Tensor x) { }", "(Tensor _0) -> ()"),
        ("namespace b { void f(int64_t); }\nvoid f(at::Tensor);", "(Tensor _0) -> ()"),
    ],
)
def test_inferred_schemas(declaration: str, schema: str, tmp_path: Path) -> None:
    found = inferred(tmp_path, declaration + "\n")
    assert found.codes == [] and found.entries["demo::op"].schema == f"op{schema}"


@pytest.mark.parametrize(
    "declaration",
    [
        "",
        "void f(float x);",
        "void f(int x);",
        "void f(at::Tensor* x);",
        "void f(at::Tensor x[]);",
        "void f(Options x);",
        "void f(auto x);",
        "void f(int64_t x, ...);",
        "void f(void (*x)(int64_t));",
        "void f(int64_t);\nvoid f(at::Tensor);",
        "namespace a { void f(int64_t); }",
        "template <typename T> void f(T x);",
        "#if X\nvoid f(int64_t);\n#else\nvoid f(double);\n#endif\n",
        "void f(int64_t\n#if X\n, double\n#endif\n);",
        "struct S { static void f(int64_t); };",
        "#if 0\nvoid f(int64_t);\n#endif",
    ],
)
def test_no_schema(declaration: str, tmp_path: Path) -> None:
    """PyTorch infers no schema here; a wrong one would be worse than none."""
    found = inferred(tmp_path, declaration + "\n")
    assert found.codes == ["W1165"] and found.schemas == ["demo::g() -> ()"]


@pytest.mark.parametrize(
    ("kernel", "schema"),
    [
        ("&S::f", "(int _0) -> ()"),
        ("&t<double>", "(float _0) -> Tensor _0"),
        ("t<at::Tensor>", "(Tensor _0) -> Tensor _0"),
        ("&b::f", "(Tensor _0) -> ()"),
        ("&alias::f", "(Tensor _0) -> ()"),
        ("&::a::b::f", "(Tensor _0) -> ()"),
        ("[](at::Tensor x) -> bool { return x.defined(); }", "(Tensor _0) -> bool _0"),
        ("[](at::Tensor x) { [] { return 1; }(); }", "(Tensor _0) -> ()"),
        ("[](at::Tensor x) { return alias::g(x); }", "(Tensor _0) -> int _0"),
        ("[](at::Tensor x) { return b::h(x); /* it */ }", "(Tensor _0) -> Tensor _0"),
    ],
)
def test_names_and_lambdas(kernel: str, schema: str, tmp_path: Path) -> None:
    declarations = (
        "struct S { static void f(int64_t); };\ntemplate <typename T> at::Tensor t(const T& x);\n"
        "namespace a { namespace b { void f(at::Tensor); } }\nnamespace b { void f(at::Tensor); }\n"
        "namespace alias = a::b;\nnamespace a::b { using Count = int64_t; Count g(at::Tensor); }\n"
        "namespace b { const at::Tensor& h(const at::Tensor&); }\n"
    )
    found = inferred(tmp_path, declarations, kernel)
    assert found.entries["demo::op"].schema == f"op{schema}"


def test_the_nearest_namespace_is_meant(tmp_path: Path) -> None:
    text = (
        "void f(double);\nnamespace a { void f(int64_t); namespace b {\n"
        + library('m.def("op", f);', 'm.def("root", ::f);')
        + "} }"
    )
    found = read(tmp_path, text)
    assert found.schemas == ["demo::op(int _0) -> ()", "demo::root(float _0) -> ()"]


def test_headers_that_a_file_includes_come_first(tmp_path: Path) -> None:
    files = {
        "one/f.h": "void f(int64_t);",
        "two/f.h": "void f(double);",
        "two/ops.cpp": '#include "f.h"\n' + library('m.def("op", &f);'),
    }
    assert read(tmp_path, files).schemas == ["demo::op(float _0) -> ()"]


def test_internal_functions_of_other_files_are_not_found(tmp_path: Path) -> None:
    files = {"a.cpp": "static void f(int64_t) {}", "ops.cpp": library('m.def("op", &f);')}
    assert read(tmp_path, files).codes == ["E1161", "W1165"]


# Kernels as they are

ROW = ('m.def("op(Tensor x) -> Tensor");', 'm.impl("op", torch::kCPU, {kernel});')


def called(folder: Path, declarations: str, kernel: str) -> Found:
    lines = (line.replace("{kernel}", kernel) for line in ROW)
    return read(folder, declarations + library(*lines), as_they_are=True)


@pytest.mark.parametrize(
    ("declaration", "kernel", "row"),
    [
        ("at::Tensor f(at::Tensor x) { return x; }", "&f", "::f"),
        ("namespace a { at::Tensor f(at::Tensor x); }", "&a::f", "::a::f"),
        ("namespace a::b { at::Tensor f(at::Tensor x); }\nusing namespace a;", "b::f", "::a::b::f"),
        ("at::Tensor f(at::Tensor);\nat::Tensor f(torch::Tensor x) { }", "f", "::f"),
        ("torch::stable::Tensor f(torch::stable::Tensor x);", "TORCH_BOX(&f)", "::f"),
        ("at::Tensor f(const int64_t x);\nat::Tensor f(int64_t x) { }", "f", "::f"),
        (
            "template <class T> T f(T x) { }\ntemplate at::Tensor f<at::Tensor>(at::Tensor);",
            "&f<at::Tensor>",
            "::f<at::Tensor>",
        ),
        # A brace that only some builds open and close.
        (
            "namespace a {\nvoid g() {\n#ifdef R\nfor (;;) {\n#else\nint i;\n#endif\n#ifdef R\n}\n#endif\n}\n"
            "at::Tensor f(at::Tensor x) { } }",
            "&a::f",
            "::a::f",
        ),
        # A qualified name does not mean what is in an unnamed namespace, if there is another.
        (
            "namespace a { namespace { void f(float x); } at::Tensor f(at::Tensor x); }",
            "a::f",
            "::a::f",
        ),
    ],
)
def test_full_names(declaration: str, kernel: str, row: str, tmp_path: Path) -> None:
    found = called(tmp_path, declaration + "\n", kernel)
    assert (found.rows("demo::op"), found.codes) == ({"CPU": row}, [])


@pytest.mark.parametrize(
    ("declaration", "kernel", "code"),
    [
        ("static at::Tensor f(Options x) { }", "f", "W1171"),
        ("static at::Tensor f(int64_t x);\nstatic at::Tensor f(at::Tensor x);", "f", "W1172"),
        ("template <class T, class S> S f(T x) { }", "&f<at::Tensor>", "W1171"),
        ("template <class T> T f(T x) { }", "&f", "W1171"),
        ("at::Tensor f(at::Tensor x);\nat::Tensor f(int64_t x);", "static_cast<F*>(&f)", "W1172"),
        ("", "f", "W1173"),
        ("at::Tensor f(Options x);", "f", "W1174"),
        ("", "[](at::Tensor x) { return x; }", "W1161"),
    ],
)
def test_functions_that_other_files_cannot_call(
    declaration: str, kernel: str, code: str, tmp_path: Path
) -> None:
    found = called(tmp_path, declaration + "\n", kernel)
    assert (found.rows("demo::op"), found.codes) == ({"CPU": ""}, [code])


@pytest.mark.parametrize(
    ("declaration", "kernel", "name", "calls"),
    [
        ("static T f(const T& x) { }", "f", "f", "::f"),
        ("namespace { T f(const T& x) { } }", "f", "f", "::f"),
        ("namespace a { namespace { T f(const T& x); } }", "a::f", "a_f", "::a::f"),
        ("template <class S> T f(const T& x) { }", "&f<a::b>", "f_a_b", "::f<a::b>"),
        (
            "template <class S> S f(const S& x) { }",
            "&f<at::Tensor>",
            "f_at_Tensor",
            "::f<at::Tensor>",
        ),
        ("struct S { static T f(const T& x); };", "&S::f", "S_f", "::S::f"),
        ("namespace { struct S { static T f(const T& x) { } }; }", "S::f", "S_f", "::S::f"),
        # Of overloads, the cast chooses one.
        (
            "T f(const T& x) { }\nT f(int64_t n) { }\ntemplate <class S> T f(S x) { }",
            "static_cast<at::Tensor (*)(const at::Tensor&)>(f)",
            "f",
            "static_cast<at::Tensor (*)(const at::Tensor&)>(&::f)",
        ),
        # `std::tuple` alone is no type.
        ("static std::tuple<> f(const T& x) { }", "f", "f", "::f"),
    ],
)
def test_functions_that_only_their_own_file_can_call(
    declaration: str,
    kernel: str,
    name: str,
    calls: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A snippet for the end of that file has a function for each, which the row names and the header declares; the
    warning ends when the file includes it. Files of one name have snippets of their own.
    """
    monkeypatch.chdir(tmp_path)
    text = declaration.replace("T ", "at::Tensor ").replace("T&", "at::Tensor&") + "\n"
    rows = library(*(line.replace("{kernel}", kernel) for line in ROW))
    for folder in ("cpu", "cuda"):
        Path(folder).mkdir()
    Path("cpu/k.cpp").write_text(text + rows)
    other = f'TORCH_LIBRARY_IMPL(demo, CUDA, m) {{ m.impl("op", {kernel}); }}\n'
    Path("cuda/k.cpp").write_text(text + other)
    for included in (False, True):
        diagnostics = Diagnostics()
        made = import_operators(
            Imports(("cpu/k.cpp", "cuda/k.cpp"), (), (), {}, True, "ops.yaml"), diagnostics
        )
        assert made is not None
        assert [item.code for item in diagnostics] == ([] if included else ["W1171"] * 2)
        for stem, key in (("cpu_k_cpp", "CPU"), ("cuda_k_cpp", "CUDA")):
            assert f"    {key}: ::opgen_kernels::{stem}::{name}\n" in made.texts["ops.yaml"]
            returned = "std::tuple<>" if "tuple" in declaration else "at::Tensor"
            declared = f"{returned} {name}(const at::Tensor& x);\n"
            header = made.texts["ops_kernels.h"].partition(f"opgen_kernels::{stem} {{\n\n")[2]
            assert header.startswith(declared)
            snippet = made.texts[f"{stem}.inc"]
            assert f"\n{returned} {name}(const at::Tensor& a0) {{\n" in snippet
            assert f"  return {calls}(static_cast<decltype(a0)&&>(a0));\n" in snippet
            with Path(f"{stem.partition('_')[0]}/k.cpp").open("a") as file:
                file.write(f'#include "{stem}.inc"\n')


def test_snippets_and_their_functions_have_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects rows from the function of another file, or of another name."""
    monkeypatch.chdir(tmp_path)
    Path("cpu").mkdir()
    paths = ("cpu_nms.cpp", "cpu-nms.cpp", "cpu/nms.cpp", "3d.cpp", "naïve.cpp")
    for number, path in enumerate(paths):
        names = {f"a{number}": "inc", f"b{number}": "inc_"}
        functions = "".join(
            f"static at::Tensor {f}(const at::Tensor& x);\n" for f in names.values()
        )
        lines = (f'm.def("{op}(Tensor x) -> Tensor", &{f});' for op, f in names.items())
        rows = library(*lines).replace("TORCH_LIBRARY(", "TORCH_LIBRARY_FRAGMENT(")
        Path(path).write_text(functions + rows)
    diagnostics = Diagnostics()
    made = import_operators(Imports(paths, (), (), {}, True, "ops.yaml"), diagnostics)
    assert made is not None and {item.code for item in diagnostics} == {"W1171"}
    rows = re.findall(r": ::opgen_kernels::(\w+)::(\w+)\n", made.texts["ops.yaml"])
    assert len(rows) == 10 == len(set(rows)), rows
    assert all(re.fullmatch(r"[A-Za-z_]\w*", stem, re.ASCII) for stem, _ in rows)
    for stem, name in rows:
        assert f"  return ::{name}(" in made.texts[f"{stem}.inc"]


@pytest.mark.parametrize(
    ("header", "directive", "included"),
    [
        ("src/f.h", '#include "f.h"', "f.h"),
        ("src/deep/f.h", '#include "deep/f.h"', "deep/f.h"),
        ("src/deep/f.h", "#include <deep/../deep/f.h>", "deep/f.h"),
        ("include/f.h", '#include "../include/f.h"', "include/f.h"),
        ("include/f.hpp", "", "include/f.hpp"),
    ],
)
def test_headers_are_included_as_the_sources_do(
    header: str, directive: str, included: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        header: "namespace a { at::Tensor f(at::Tensor x); }",
        "src/ops.cpp": f"{directive}\n"
        + library(*(line.replace("{kernel}", "&a::f") for line in ROW)),
    }
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    diagnostics = Diagnostics()
    imports = Imports(tuple(files), (), (), {}, True, "ops.yaml")
    made = import_operators(imports, diagnostics)
    assert made is not None and list(made.texts) == ["ops.yaml"]
    assert f"\n- include: [{included}]\n" in made.texts["ops.yaml"]


# One name, several functions

LAYOUT = """\
namespace {{ {kind} }}
TORCH_LIBRARY_IMPL(demo, {key}, m) {{ m.impl("op", &f); m.impl("other", &g); }}
"""
SCHEMAS = 'm.def("op(Tensor x) -> Tensor");'
TWO = "at::Tensor f(at::Tensor x) { return x; } } namespace { at::Tensor g(at::Tensor x) { return x; }"


def two_files(folder: Path, text: str, *, as_they_are: bool) -> Found:
    files = {
        "def.cpp": library(SCHEMAS, SCHEMAS.replace('"op', '"other')),
        "a.cpp": LAYOUT.format(kind=text, key="CPU"),
        "b.cu": LAYOUT.format(kind=text, key="CUDA"),
    }
    return read(folder, files, as_they_are=as_they_are)


def test_functions_of_one_name_in_two_files_are_two_kernels(tmp_path: Path) -> None:
    """Protects the usual layout, a file with an unnamed namespace for each device: one function would have both keys."""
    found = two_files(tmp_path, TWO, as_they_are=False)
    assert found.rows("demo::op") == {"CPU": "f_cpu", "CUDA": "f_cuda"}
    assert found.rows("demo::other") == {"CPU": "g_cpu", "CUDA": "g_cuda"}
    assert found.codes == ["W1172"] * 4


@pytest.mark.parametrize("declared", [True, False])
def test_functions_of_one_name_in_two_namespaces_are_two_kernels(
    declared: bool, tmp_path: Path
) -> None:
    """Protects devices whose kernels differ by their namespaces, also where the sources define or declare none."""
    files = {
        "k.h": "".join(f"namespace {n} {{ at::Tensor f(at::Tensor x); }}\n" for n in ("a", "b")),
        "def.cpp": library(SCHEMAS)
        + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("op", &a::f); }\n'
        + 'TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("op", &b::f); }\n',
    }
    found = read(tmp_path, files if declared else files["def.cpp"])
    assert found.rows("demo::op") == {"CPU": "f_cpu", "CUDA": "f_cuda"}
    assert found.codes == ["W1172"] * 2


DEFINITION = "\nat::Tensor f(at::Tensor x) { return x; }\n"


def test_rows_of_two_functions_that_would_be_one_are_an_error(tmp_path: Path) -> None:
    """Protects a library from one function under the keys of two."""
    files = {
        "def.cpp": library(SCHEMAS),
        "a.cpp": DEFINITION + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("op", &f); }',
        "b.cu": DEFINITION + 'TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("op", &f); }',
    }
    found = read(tmp_path, files, as_they_are=True)
    assert (found.codes, found.entries) == (["E1165"], {})
    local = "".join(f"namespace {{{DEFINITION}}}" + files["b.cu"].removeprefix(DEFINITION))
    found = read(tmp_path, {**files, "b.cu": local}, as_they_are=True)
    assert found.codes == ["W1171"]
    assert len(set(found.rows("demo::op").values())) == 2


def test_overloads_in_two_files_are_two_functions(tmp_path: Path) -> None:
    """Protects from a false E1165, and from a header that declares both, where a row's `&f` would be ambiguous."""
    files = {
        "def.cpp": library(SCHEMAS, SCHEMAS.replace('"op', '"other')),
        "a.cpp": DEFINITION + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("op", &f); }',
        "b.cpp": DEFINITION.replace("at::Tensor x", "const at::Tensor& x")
        + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("other", &f); }',
    }
    found = read(tmp_path, files, as_they_are=True)
    rows = [*found.rows("demo::op").values(), *found.rows("demo::other").values()]
    assert rows == ["::opgen_kernels::a_cpp::f", "::opgen_kernels::b_cpp::f"]
    assert found.codes == ["W1171"] * 2


def test_a_using_declaration_is_relative_to_its_namespace(tmp_path: Path) -> None:
    ops = library('m.def("op(Tensor x) -> Tensor", &f);')
    text = f"namespace a {{ namespace b {{ at::Tensor f(at::Tensor x); }}\nusing b::f;\n{ops}}}\n"
    found = read(tmp_path, text, as_they_are=True)
    assert (list(found.rows("demo::op").values()), found.codes) == (["::a::b::f"], [])


def test_a_header_uses_the_types_of_others(tmp_path: Path) -> None:
    """Protects from overloads that are none: a declaration in a header, and a definition beside the same types."""
    files = {
        "types.h": "typedef std::string mode;",
        "ops.h": '#include "types.h"\nat::Tensor f(at::Tensor x, const mode& m);',
        "def.cpp": '#include "ops.h"\nat::Tensor f(at::Tensor x, const mode& m) { return x; }\n'
        + library('m.def("op(Tensor x, str m) -> Tensor", &f);'),
    }
    found = read(tmp_path, files, as_they_are=True)
    assert (list(found.rows("demo::op").values()), found.codes) == (["::f"], [])


def test_a_header_with_overloads(tmp_path: Path) -> None:
    """No row can name one of them: the file that registers it gets the snippet."""
    files = {
        "ops.h": "inline at::Tensor f(at::Tensor x) { return x; }\ninline at::Tensor f(int64_t x) { }",
        "def.cpp": '#include "ops.h"\n'
        + library(SCHEMAS[:-2] + ", (at::Tensor (*)(at::Tensor))&f);"),
    }
    found = read(tmp_path, files, as_they_are=True)
    rows = list(found.rows("demo::op").values())
    assert (rows, found.codes) == (["::opgen_kernels::def_cpp::f"], ["W1171"])


@pytest.mark.parametrize(
    ("cuda_in", "codes"),
    [("def.cpp", []), ("cuda.cpp", ["E1165"])],
)
def test_a_function_that_two_files_define_is_one_in_each_file(
    cuda_in: str, codes: list[str], tmp_path: Path
) -> None:
    """Protects a build without CUDA from the CPU's function under CUDA, where a header declares one name for both.

    In one file, it is one function under both keys before, too: a build chooses which.
    """
    register = 'TORCH_LIBRARY_IMPL(demo, {}, m) {{ m.impl("op", &f); }}\n'
    files = {
        "ops.h": "at::Tensor f(at::Tensor x);",
        "def.cpp": '#include "ops.h"\n' + library(SCHEMAS) + register.format("CPU"),
        "cuda.cpp": '#include "ops.h"\n',
        "a.cpp": DEFINITION,
        "b.cu": DEFINITION,
    }
    files[cuda_in] += register.format("CUDA")
    found = read(tmp_path, files, as_they_are=True)
    rows = {} if codes else found.rows("demo::op")
    assert (rows, found.codes) == ({} if codes else {"CPU": "::f", "CUDA": "::f"}, codes)


@pytest.mark.parametrize(
    ("schema", "entry"),
    [
        ("op(Tensor x, int n=0x2F) -> Tensor", "op(Tensor x, int n=0) -> Tensor"),
        ("op(Tensor x) -> None", "op(Tensor x) -> ()"),
    ],
)
def test_a_schema_that_pytorch_reads_as_another(schema: str, entry: str, tmp_path: Path) -> None:
    """Protects what `opgen import` writes from `opgen lint`, and the author from a default that PyTorch does not see."""
    found = read(tmp_path, library(f'm.def("{schema}");'))
    assert found.schemas == [f"demo::{entry}"]
    assert found.codes == ["W1176"]
