"""Commands that read derivatives.yaml: its problems, and the gradients of an operator."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import Opgen

from support.torch_extension import require_torch

OPERATORS = """\
- namespace: mylib
- func: scaled_mul(Tensor self, Tensor other, float scale=1.) -> Tensor
  dispatch:
    CPU: scaled_mul
- func: scaled_mul_(Tensor(a!) self, Tensor other, float scale=1.) -> Tensor(a!)
  dispatch:
    CPU: scaled_mul_
- func: gather_rows(Tensor self, Tensor rows) -> Tensor
  dispatch:
    CPU: gather_rows
- func: plain(Tensor self) -> Tensor
  dispatch:
    CPU: plain
"""
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "derivatives.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def library(opgen: Opgen) -> Opgen:
    """The operators of the page, with its first example as their derivatives.yaml."""
    Path("ops.yaml").write_text(OPERATORS)
    Path("derivatives.yaml").write_text(EXAMPLES[0])
    return opgen


def explained(opgen: Opgen, operator: str) -> str:
    """Return the section about gradients."""
    text = opgen("explain", "ops.yaml", operator).stdout
    return text.partition("Gradients\n")[2].partition("\n\n")[0]


@pytest.mark.parametrize("example", EXAMPLES, ids=["whole", "dispatch"])
def test_the_examples_of_the_page_are_clean(library: Opgen, example: str) -> None:
    Path("derivatives.yaml").write_text(example)
    declared = "scaled_mul_backward_cuda(int); gather_rows_backward(int);"
    Path("my_formulas.h").write_text(declared)
    if "include" not in example:
        Path("derivatives.yaml").write_text("- include: my_formulas.h\n" + example)
    result = library("lint", "ops.yaml", "--deny-warnings")
    assert result.exit_code == 0, result.output


def test_explain_says_what_is_recorded_saved_and_missing(library: Opgen) -> None:
    assert explained(library, "scaled_mul") == (
        "  autograd   a kernel that records the node\n"
        "  node       ScaledMulBackward0\n"
        "  other      grad * self * scale  (derivatives.yaml:6)\n"
        "  self       grad * other * scale  (derivatives.yaml:5)\n"
        "  scale      no gradient: its type is float\n"
        "  saves      Tensor self, for the gradient of other\n"
        "  saves      double scale, for the gradient of other, self\n"
        "  saves      Tensor other, for the gradient of self\n"
        "  result_t   (self_t * other_p + self_p * other_t) * scale  (derivatives.yaml:7)"
    )
    rows = explained(library, "gather_rows").splitlines()
    assert "  rows       no gradient: it is marked non_differentiable" in rows
    sizes = "self_sym_sizes = self.sym_sizes(), for the gradient of self"
    assert any(row.startswith("  saves ") and row.endswith(sizes) for row in rows), rows


def test_explain_names_the_operator_whose_formulas_a_variant_uses(library: Opgen) -> None:
    text = explained(library, "scaled_mul_")
    assert "  formulas   those of mylib::scaled_mul\n" in text
    assert "original_self_p" in text
    assert explained(library, "plain") == "  autograd   nothing: there is no formula"
    whole = library("explain", "ops.yaml", "scaled_mul").stdout
    assert "AutogradCPU  a kernel that records ScaledMulBackward0" in whole


def test_explain_says_nothing_about_gradients_without_formulas(library: Opgen) -> None:
    Path("derivatives.yaml").unlink()
    assert "Gradients" not in library("explain", "ops.yaml", "scaled_mul").stdout


def test_a_function_is_looked_for_in_the_authors_headers(library: Opgen) -> None:
    """A header that is not found might declare any function, and so might headers that it includes."""
    lint = ("lint", "ops.yaml")
    assert "W1243" not in library(*lint).output
    Path("my_formulas.h").write_text('#include "more.h"\n')
    assert "W1243" not in library(*lint).output
    Path("more.h").write_text("#include <vector>\nint gather_columns_backward(int);\n")
    assert "'gather_rows_backward'" in library(*lint).output
    Path("more.h").write_text("int gather_rows_backward(int);\n")
    assert "W1243" not in library(*lint).output


def test_headers_are_found_in_the_folder_of_kernels(library: Opgen) -> None:
    """Protects packages of `opgen new`, whose headers are in kernels/: a lint said "no errors" before a build that failed."""
    Path("kernels").mkdir()
    Path("kernels/my_formulas.h").write_text("Tensor gather_rows_backward(int, int, int);\n")
    assert "W1243" not in library("lint", "ops.yaml").output
    assert "gather_rows_backward(int" in library("stub", "ops.yaml").stdout
    Path("kernels/my_formulas.h").write_text("int gather_columns_backward(int);\n")
    assert "'gather_rows_backward'" in library("lint", "ops.yaml").output
    Path("kernels/my_formulas.h").write_text("Tensor gather_rows_backward(int, int, int);\n")
    for command in ("lint", "stub"):
        result = library(command, "ops.yaml", "--target", "torch-stable")
        assert result.exit_code == 1 and "'gather_rows_backward' is a C++ func" in result.stderr


def test_dump_prints_what_is_derived(library: Opgen) -> None:
    rows = json.loads(library("dump", "ops.yaml", "--stage", "derivatives").stdout)
    nodes = {row["name"]: [key["node"] for key in row["keys"].values()] for row in rows}
    assert nodes["mylib::scaled_mul_"] == ["ScaledMulBackward0"] and nodes["mylib::plain"] == []


def test_formulas_in_python_call_operators(
    library: Opgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects authors for torch-stable from an error of the first backward pass: a misspelt function or method. Nothing is
    known of PyTorch's operators without it.
    """
    Path("ops.yaml").write_text(
        "- func: mylib::f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
    )
    Path("derivatives.yaml").write_text(
        "- name: mylib::f\n"
        "  self: f(grad).flipp({0}) + at::sinn(grad).to(self.scalar_type()) + grad.sum_to_size(self.sym_sizes())\n"
    )
    headers = tmp_path / "include" / "ATen" / "ops"
    headers.mkdir(parents=True)
    for name in ("flip", "sin", "to", "sum_to_size"):
        (headers / f"{name}.h").touch()
    where = "opgen.pipeline.derivatives.installed_include"
    monkeypatch.setattr(where, {"torch": tmp_path / "include"}.get)
    said = library("lint", "ops.yaml", "--target", "torch-stable").output
    assert said.count("W1243") == 4, said  # each has a note, too
    assert "has an operator 'flipp'" in said and "has an operator 'sinn'" in said
    assert "did you mean 'flip'?" in said
    monkeypatch.setattr(where, lambda target: None)
    assert "W1243" not in library("lint", "ops.yaml", "--target", "torch-stable").output


@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_methods_are_looked_for_in_the_classes_of_the_target(library: Opgen, target: str) -> None:
    """On target runtime, class Tensor has the operators of the library that are methods, and few others."""
    if target == "torch":
        require_torch()
    Path("ops.yaml").write_text(
        OPERATORS.replace(
            "  dispatch:\n    CPU: plain", "  variants: method\n  dispatch:\n    CPU: plain"
        )
    )
    formula = "grad.plain() + grad.conj() + grad.scaled_mull() + grad.nummel() + other.sym_sizes()[0].invent() + grad.is_conj()"
    Path("derivatives.yaml").write_text(
        f"- name: mylib::scaled_mul\n  self: {formula}\n  other: non_differentiable\n"
    )
    said = library("lint", "ops.yaml", "--target", target).output
    found = set(re.findall(r"no class has a method '(\w+)'", said))
    own = {"plain"} if target == "torch" else set()
    assert found == {"scaled_mull", "nummel", "invent"} | own
    assert "did you mean 'numel'?" in said


def test_symbolic_sizes_of_functions_with_another_name(library: Opgen) -> None:
    """PyTorch's functions take symbolic sizes only with the suffix `_symint`; the compiler's error does not say it."""
    require_torch()
    formula = "at::zeros(self.sym_sizes(), self.options()) + grad.expand(self.sym_sizes()) + sum_to(grad, self.sym_sizes())"
    Path("derivatives.yaml").write_text(
        f"- name: mylib::scaled_mul\n  self: {formula}\n  other: non_differentiable\n"
    )
    said = library("lint", "ops.yaml", "--target", "torch").output
    assert re.findall(r"write '(\w+_symint)'", said) == ["zeros_symint", "expand_symint"]
    Path("derivatives.yaml").write_text(
        Path("derivatives.yaml")
        .read_text()
        .replace("zeros(", "zeros_symint(")
        .replace("expand(", "expand_symint(")
    )
    assert "_symint" not in library("lint", "ops.yaml", "--target", "torch").output
