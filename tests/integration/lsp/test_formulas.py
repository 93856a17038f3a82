"""A file of formulas in an editor: problems, hover, navigation and completion, beside its schema file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_session import Session, Start

OPERATORS = """\
- namespace: mylib

- func: scale(Tensor self, Tensor other, float factor=1.0) -> Tensor
  dispatch:
    CPU: scale_cpu

- func: scale_backward(Tensor grad, Tensor other, float factor) -> Tensor
  dispatch:
    CPU: scale_backward_cpu

- func: low_high(Tensor self, Tensor? weight=None) -> (Tensor low, Tensor high)
  dispatch:
    CPU: low_high_cpu
"""
FORMULAS = """\
- namespace: mylib
  include: formulas.h

# How scale changes.
- name: scale
  self: scale_backward(grad, other, factor)
  other: own_backward(grad, self.sym_sizes()) + not_implemented("other")
  result: self_t * other_p * factor

- name: low_high(Tensor self, Tensor? weight=None) -> (Tensor low, Tensor high)
  output_differentiability: [True, False]
  dispatch:
    Default:
      self, weight: both(grad_low, self)
    AutogradCUDA:
      self: grad_low
"""
CPP = """\
OPGEN_KERNEL(scale_cpu)(const Tensor& self, const Tensor&, double) { return self; }
Tensor own_backward(const Tensor& grad, IntArrayRef sizes) { return grad; }
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    root = tmp_path_factory.mktemp("formulas")
    (root / "ops.yaml").write_text(OPERATORS)
    (root / "kernels.cpp").write_text(CPP)
    session = Session(root, {"delay": 10})
    yield session
    assert session.end() == 0


@pytest.fixture
def uri(server: Session) -> str:
    uri = server.open("derivatives.yaml", FORMULAS)
    assert [p.message for p in server.problems(uri) if p.severity == 1] == []
    return uri


@pytest.mark.parametrize(
    ("place", "begins"),
    [
        ("- name|space", "**namespace**: The namespace of the operators that are named"),
        (
            "incl|ude",
            "**include**: A header, or a list of headers, that declare functions that formulas call",
        ),
        ("- na|me: scale", "**name**: The schema of an operator"),
        ("name: sc|ale", "**mylib::scale**"),
        ("name: low_high(Ten|sor", "**Tensor**"),
        ("  se|lf: scale_b", "**self**: The gradient of the argument `Tensor self`."),
        ("  re|sult:", "**result**: The tangent of the output `result`."),
        ("scale_back|ward(grad", "**mylib::scale_backward**"),
        ("ward(gr|ad, other, factor", "**grad**: The gradient of the output"),
        ("grad, other, fac|tor)", "**factor**: The argument `float factor=1.0` of `mylib::scale`"),
        ("se|lf_t", "**self_t**: The tangent of the argument `self`"),
        ("other|_p", "**other_p**: The value of the argument `other`."),
        ("not_impl|emented", "**not_implemented**: An error that names the derivative"),
        ("output_diff|er", "**output_differentiability**: `True` or `False` for each output"),
        ("disp|atch:", "**dispatch**: Formulas for each key"),
        ("Def|ault:", "**Default**: Formulas for all backends"),
        ("Autograd|CUDA:", "**AutogradCUDA**"),
        ("self, wei|ght:", "**weight**: The gradient of the argument `Tensor? weight=None`."),
        ("both(grad|_low, self", "**grad_low**: The gradient of the output `low`."),
    ],
)
def test_hover(server: Session, uri: str, place: str, begins: str) -> None:
    text = server.hover(uri, place)
    assert text is not None and text.startswith(begins), text


def test_hover_shows_what_is_derived(server: Session, uri: str) -> None:
    assert "ScaleBackward0" in (server.hover(uri, "name: sc|ale") or "")


@pytest.mark.parametrize(
    "place", ["# How sc|ale", "own_back|ward(", "self.sym_|sizes()", 'mented("oth|er")']
)
def test_nothing_where_nothing_is(server: Session, uri: str, place: str) -> None:
    """A word in a comment, a function of the author, a member. A word in a string is taken for a name."""
    assert (server.hover(uri, place) is None) == ("mented" not in place)


def test_navigation(server: Session, uri: str) -> None:
    """From a formula to the operator, to its argument, to the operator that it calls, and to the author's C++; and back."""
    assert server.definitions(uri, "name: sc|ale") == ["ops.yaml:3:9"]
    assert server.definitions(uri, "scale_back|ward(grad") == ["ops.yaml:7:9"]
    assert server.definitions(uri, "  oth|er: own") == ["ops.yaml:3:28"]
    assert server.definitions(uri, "self|_t * other_p") == ["ops.yaml:3:15"]
    assert server.definitions(uri, "own_back|ward(") == ["kernels.cpp:2:8"]
    assert server.definitions(uri, "ward(gr|ad, other, factor") == []
    schema = server.open("ops.yaml", OPERATORS)
    assert server.definitions(schema, "func: sc|ale(") == [
        "kernels.cpp:1:14",
        "derivatives.yaml:5:9",
    ]
    assert "derivatives.yaml:5:9" in server.references(schema, "func: sc|ale(")
    assert "derivatives.yaml:5:9" in server.references(uri, "name: sc|ale")
    server.close(schema)
    assert [s.name for s in server.document_symbols(uri)] == ["mylib", "scale", "low_high"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("|", ["- name: ", "- namespace: ", "- include: "]),
        ("- namespace: mylib\n- name: |", ["low_high", "scale", "scale_backward"]),
        ("- namespace: |", ["mylib"]),
        (
            "- namespace: mylib\n- name: scale\n  |",
            ["self", "other", "result", "output_differentiability"],
        ),
        ("- namespace: mylib\n- name: scale\n  self: grad\n  o|", ["other", "result"]),
        ("- name: mylib::scale\n  self: |", ["non_differentiable", "self", "other", "factor"]),
        ("- name: mylib::scale\n  self: grad * |", ["self", "other", "factor", "result", "grad"]),
        ("- name: mylib::scale\n  result: |", ["auto_linear", "auto_element_wise", "self_p"]),
        ("- name: mylib::scale\n  dispatch:\n    |", ["Default", "AutogradCPU", "AutogradCUDA"]),
        ("- name: mylib::scale\n  dispatch:\n    Default:\n      |", ["self", "other", "result"]),
    ],
)
def test_completion(server: Session, text: str, first: list[str]) -> None:
    plain = text.replace("|", "")
    uri = server.open("derivatives.yaml", plain)
    server.problems(uri)
    assert server.labels(uri, text)[: len(first)] == first


@pytest.mark.slow
def test_problems_follow_both_files(start: Start, tmp_path: Path) -> None:
    """Formulas are checked when they are open, with the text of the schema file, open or not."""
    (tmp_path / "ops.yaml").write_text(OPERATORS)
    server = start({"delay": 10})
    uri = server.open("derivatives.yaml", FORMULAS.replace("other, factor)", "othr, factor)"))
    (problem,) = [p for p in server.problems(uri) if p.severity == 1]
    assert problem.code == "E1231" and problem.range.start.line == 5
    schema = server.open("ops.yaml", OPERATORS.replace("Tensor? weight", "Tensr? weight"))
    server.wait(lambda: all(p.code != "E1231" for p in server.diagnostics[uri].diagnostics))
    assert "E1210" not in {p.code for p in server.diagnostics[uri].diagnostics}
    server.change(schema, OPERATORS)
    server.wait(lambda: any(p.code == "E1231" for p in server.diagnostics[uri].diagnostics))
    server.change(uri, FORMULAS)
    server.wait(lambda: all(p.severity != 1 for p in server.diagnostics[uri].diagnostics))


@pytest.mark.slow
def test_a_file_of_another_name(start: Start, tmp_path: Path) -> None:
    """The settings name the file, and the schema files that it is read with."""
    for folder in ("formulas", "schemas"):
        (tmp_path / folder).mkdir()
    (tmp_path / "schemas" / "ops.yaml").write_text(OPERATORS)
    server = start(
        {"delay": 10, "derivatives": ["formulas/mine.yaml"], "yaml": ["schemas/ops.yaml"]}
    )
    uri = server.open("formulas/mine.yaml", FORMULAS.replace("- name: scale", "- name: scael"))
    (problem,) = [p for p in server.problems(uri) if p.severity == 1]
    assert problem.code == "E1210"


@pytest.mark.slow
def test_formulas_without_operators(start: Start) -> None:
    """Nothing is reported where no schema file is found."""
    server = start({"delay": 10})
    uri = server.open("derivatives.yaml", FORMULAS)
    assert server.hover(uri, "  se|lf: scale_b") is None
    assert server.labels(uri, "- name: low_|high") == []
