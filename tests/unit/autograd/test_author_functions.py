"""The functions that formulas call and that an author's header declares: which of them get a stub, and its text."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata
from pathlib import Path

import pytest
from msgspec.structs import replace

from opgen import data
from opgen.autograd.derivative import AuthorFunction
from opgen.diagnostics import Diagnostics
from opgen.pipeline.generating import build_tree, checked_context
from opgen.pipeline.inputs import Inputs, input_files

OPERATORS = """\
- namespace: mylib
- func: scale(Tensor self, Tensor other, float factor) -> Tensor
  dispatch:
    CPU: scale
"""
FORMULAS = """\
- namespace: mylib
  include: formulas.h
- name: scale
  self: scale_backward(grad, other, factor)
  other: handle_r_to_c(other.scalar_type(), mylib::scale(grad, self, factor))
  result: scale_forward(self_t, other_p)
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    (tmp_path / "ops.yaml").write_text(OPERATORS)
    (tmp_path / "derivatives.yaml").write_text(FORMULAS)
    return Inputs((tmp_path / "ops.yaml",), target="torch")


def found(inputs: Inputs, header: str, **more: str) -> list[AuthorFunction]:
    """Return the functions with formulas.h beside the schemas, and more headers."""
    folder = inputs.yaml[0].parent
    (folder / "formulas.h").write_text(header)
    for name, text in more.items():
        (folder / f"{name}.h").write_text(text)
    diagnostics = Diagnostics()
    context = checked_context(inputs, diagnostics)
    assert context is not None, diagnostics
    return list(context.formula_files.functions)


def test_a_declaration_is_taken_as_written(inputs: Inputs) -> None:
    """Types, names and overloads; without default values, macros for inlining, comments and attributes."""
    functions = found(
        inputs,
        """\
namespace mylib {
// at::Tensor scale_backward(int);
/* Types as an author may write them. */
[[nodiscard]] at::Tensor scale_backward(const at::Tensor& grad, const at::Tensor& other, double factor = 1.0);
std::tuple<at::Tensor, std::optional<at::Tensor>>
scale_backward(const c10::List<std::optional<at::Tensor>>&, int, int, std::array<bool, 2> mask = {true, false});
at::Tensor scale_backward(const at::Tensor& not_enough);
at::Tensor scale_backward(const at::Tensor& too_many, int, int, int);
namespace inner { at::Tensor scale_forward(const char* text, at::Tensor self_t); }
at::Tensor not_called(at::Tensor);
at::Tensor scale(at::Tensor);
}  // namespace mylib
""",
    )
    assert [(f.full_name, f.declaration) for f in functions] == [
        (
            "mylib::scale_backward",
            "at::Tensor scale_backward(const at::Tensor& grad, const at::Tensor& other, double factor)",
        ),
        (
            "mylib::scale_backward",
            "std::tuple<at::Tensor, std::optional<at::Tensor>> scale_backward("
            "const c10::List<std::optional<at::Tensor>>&, int, int, std::array<bool, 2> mask)",
        ),
        (
            "mylib::inner::scale_forward",
            "at::Tensor scale_forward(const char* text, at::Tensor self_t)",
        ),
    ]
    backward, _, forward = functions
    assert (backward.operator, backward.of, backward.is_forward) == ("mylib::scale", "self", False)
    assert (forward.of, forward.is_forward) == ("result", True)
    line = backward.place.source.location(backward.place.start)
    assert (line.line, line.column) == (4, 9)


@pytest.mark.parametrize(
    "declaration",
    [
        "inline at::Tensor scale_backward(at::Tensor grad, int, int) { return grad; }",
        "at::Tensor scale_backward(at::Tensor, int, int); inline at::Tensor scale_backward(at::Tensor x, int, int) { return x; }",
        "inline at::Tensor scale_backward(at::Tensor, int, int);",
        "constexpr int scale_backward(int, int, int);",
        "static at::Tensor scale_backward(at::Tensor, int, int);",
        "template <class T> T scale_backward(const T&, int, int);",
        "TORCH_API at::Tensor scale_backward(at::Tensor, int, int);",
        "MYLIB_EXPORT at::Tensor scale_backward(at::Tensor, int, int);",
        '__attribute__((visibility("default"))) at::Tensor scale_backward(at::Tensor, int, int);',
        "at::Tensor scale_backward(at::Tensor, int, int) noexcept;",
        'extern "C" int scale_backward(int, int, int);',
        'extern "C" { int scale_backward(int, int, int); }',
        "struct S { at::Tensor scale_backward(at::Tensor, int, int); };",
        "namespace { at::Tensor scale_backward(at::Tensor, int, int); }",
        "at::Tensor scale_backward(at::Tensor, int, int) = delete;",
        "#if 0\nat::Tensor scale_backward(at::Tensor, int, int);\n#endif",
        "inline at::Tensor other(at::Tensor x) { return scale_backward(x, 1, 2); }",
    ],
)
def test_no_stub(inputs: Inputs, declaration: str) -> None:
    """Protects libraries from a stub in place of a definition that another library or a header has."""
    assert found(inputs, "int scale_backward(int, int, int);")
    assert found(inputs, f"namespace mylib {{\n{declaration}\n}}\n") == []


def test_conditions_of_the_preprocessor(inputs: Inputs) -> None:
    """A stub is declared under the same conditions; the guard of a header is none."""
    header = "#ifndef FORMULAS_H\n#define FORMULAS_H\n#ifdef WITH_SCALE\nint scale_backward(int, int, int);\n#endif\n#endif\n"
    (function,) = found(inputs, header)
    assert (
        function.conditions == ("defined(WITH_SCALE)",) and function.full_name == "scale_backward"
    )


def test_headers_that_the_header_includes(inputs: Inputs) -> None:
    """Those with quotes are the author's; those in brackets are another library's, whose definitions stubs would hide."""
    (function,) = found(
        inputs,
        '#include "more.h"\n#include <other.h>\n',
        more="int scale_backward(int, int, int);",
        other="int scale_forward(int, int);",
    )
    assert function.name == "scale_backward"


def test_headers_are_inputs(inputs: Inputs) -> None:
    """Protects builds that generate again only when an input has changed."""
    folder = inputs.yaml[0].parent
    found(inputs, '#include "more.h"\n', more="")
    assert {folder / "formulas.h", folder / "more.h"} <= set(input_files(inputs))
    (folder / "elsewhere").mkdir()
    (folder / "formulas.h").rename(folder / "elsewhere" / "formulas.h")
    assert folder / "elsewhere" / "formulas.h" not in input_files(inputs)
    there = replace(inputs, include=(folder / "elsewhere",))
    assert folder / "elsewhere" / "formulas.h" in input_files(there)


@pytest.mark.parametrize(
    "text",
    [
        "- include: formulas.h\n  namespace: mylib\n",
        "# A comment.\n- namespace: mylib\n  include: [other.h, 'formulas.h']\n",
        "  - namespace: mylib\n    include:\n      - formulas.h  # ours\n  - name: f\n",
        '---\n- {"include": <formulas.h>}\n',
    ],
)
def test_every_form_of_a_header_names_inputs(inputs: Inputs, text: str) -> None:
    folder = inputs.yaml[0].parent
    (folder / "formulas.h").touch()
    (folder / "derivatives.yaml").write_text(text)
    assert folder / "formulas.h" in input_files(inputs)


@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_the_symint_form_of_a_function(inputs: Inputs, target: str) -> None:
    """On target runtime, where sizes are plain numbers, generated code calls the function without the suffix."""
    folder = inputs.yaml[0].parent
    text = FORMULAS.replace("scale_backward(", "scale_backward_symint(")
    (folder / "derivatives.yaml").write_text(text)
    names = "int scale_backward(int, int, int); int scale_backward_symint(int, int, int);"
    (function,) = found(replace(inputs, target=target), names)
    assert function.name == ("scale_backward" if target == "runtime" else "scale_backward_symint")


def test_a_selective_build_has_stubs_of_its_operators_alone(inputs: Inputs) -> None:
    header = "namespace mylib { int scale_backward(int, int, int); }"
    assert found(inputs, header)
    tree = build_tree(inputs, Diagnostics())
    assert tree is not None and "stubs/FormulaStubs.cpp" in tree.files
    select = inputs.yaml[0].parent / "select.yaml"
    select.write_text("operators: {}\n")
    tree = build_tree(replace(inputs, select=(select,)), Diagnostics())
    assert tree is not None and "stubs/FormulaStubs.cpp" not in tree.files


def test_compilers_name_files_from_their_common_folder(inputs: Inputs) -> None:
    """Protects the place of errors in formulas: two files with the same name keep different places, wherever the checkout is."""
    folder = inputs.yaml[0].parent
    (folder / "ops.yaml").write_text(
        OPERATORS + OPERATORS.partition("\n")[2].replace("scale", "shift")
    )
    (folder / "derivatives.yaml").unlink()
    paths = []
    for name in ("scale", "shift"):
        (folder / name).mkdir()
        paths.append(folder / name / "derivatives.yaml")
        paths[-1].write_text(f"- name: mylib::{name}\n  self: grad\n  other: non_differentiable\n")
    tree = build_tree(replace(inputs, derivatives=tuple(paths)), Diagnostics())
    assert tree is not None
    lines = [x for x in tree.files["src/Derivatives.cpp"].splitlines() if "derivatives.yaml" in x]
    assert lines == ['#line 2 "scale/derivatives.yaml"', '#line 2 "shift/derivatives.yaml"']
    one = build_tree(replace(inputs, derivatives=tuple(paths[:1])), Diagnostics())
    assert one is not None and '#line 2 "derivatives.yaml"' in one.files["src/Derivatives.cpp"]


def test_headers_of_aten_are_looked_for_only_for_its_operators(
    inputs: Inputs,
) -> None:
    """Protects formulas from a later PyTorch with an operator of the name of the author's function: calls would be ambiguous."""
    folder = inputs.yaml[0].parent
    (folder / "derivatives.yaml").write_text(
        FORMULAS.replace(
            "scale_backward(grad, other, factor)",
            "scale_backward(where(other > 0, grad, elsewhere(other)), wrap_opt_if(pad(other), true))",
        )
    )
    (folder / "formulas.h").write_text(
        "namespace mylib { at::Tensor scale_backward(int); at::Tensor scale_forward(int); }"
    )
    tree = build_tree(inputs, Diagnostics())
    assert tree is not None
    looked_for = re.findall(r"__has_include\(<ATen/ops/(\w+)", tree.files["src/Derivatives.cpp"])
    assert looked_for == ["pad", "where"]


def test_the_list_of_aten_operators_is_that_of_the_release() -> None:
    """Protects formulas that call operators of PyTorch from a list without them."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("no torch")
    [release] = re.findall(r"^# Operators of PyTorch (\S+):", data.read_text("aten_operators.txt"))
    if not metadata.version("torch").startswith(f"{release}."):
        pytest.skip(f"the list is of PyTorch {release}")
    headers = {
        path.name for path in Path(spec.submodule_search_locations[0], "include/ATen/ops").iterdir()
    }
    operators = {name.removesuffix("_ops.h") for name in headers if name.endswith("_ops.h")}
    listed = {name for row in data.read_rows("aten_operators.txt") for name in row}
    assert listed == {name for name in operators if f"{name}.h" in headers}
