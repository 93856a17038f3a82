"""derivatives.yaml is found next to the schema files, and names operators as authors of libraries write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics
from opgen.model.registry import Registry
from opgen.pipeline.derivatives import Gradients, derive_gradients
from opgen.pipeline.inputs import Inputs, derivatives_paths, input_files, schema_files
from opgen.pipeline.loading import load

OPERATORS = """\
- namespace: mylib
- func: mul.Tensor(Tensor self, Tensor other, float scale=1.) -> Tensor
  dispatch:
    CPU: mul
- func: other::mul.Tensor(Tensor self, Tensor other, float scale=1.) -> Tensor
  dispatch:
    CPU: mul
"""
FORMULAS = "  self: grad * other\n  other: grad * self\n"


def read(folder: Path, derivatives: str) -> tuple[Gradients, Diagnostics]:
    """Return the gradients of OPERATORS with a derivatives.yaml next to their file."""
    (folder / "native_functions.yaml").write_text(OPERATORS)
    (folder / "derivatives.yaml").write_text(derivatives)
    inputs, diagnostics = Inputs((folder / "native_functions.yaml",)), Diagnostics()
    registry = load(inputs, diagnostics)
    assert isinstance(registry, Registry)
    return derive_gradients(registry, inputs, Signatures(), diagnostics), diagnostics


def with_formulas(gradients: Gradients) -> list[str]:
    return [fn.func.full_name for fn in gradients.functions if fn.has_derivatives]


def test_each_folder_of_a_schema_file_may_have_one(tmp_path: Path) -> None:
    """A file given by option is read instead of those next to the schema files."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    for name in ("a/derivatives.yaml", "c/derivatives.yaml", "given.yaml"):
        (tmp_path / name).write_text("[]\n")
    yaml = tuple(tmp_path / name for name in ("a/x.yaml", "a/y.yaml", "b/x.yaml", "c/x.yaml"))
    found = (tmp_path / "a/derivatives.yaml", tmp_path / "c/derivatives.yaml")
    assert derivatives_paths(Inputs(yaml)) == found
    assert set(found) <= set(input_files(Inputs(yaml))) & set(schema_files(Inputs(yaml)))
    given = (tmp_path / "given.yaml",)
    assert derivatives_paths(Inputs(yaml, derivatives=given)) == given


def test_without_a_file_there_are_no_gradients(tmp_path: Path) -> None:
    gradients, _ = read(tmp_path, "[]\n")
    assert with_formulas(gradients) == [] and gradients.files.includes == ()


@pytest.mark.parametrize(
    "name",
    [
        "mylib::mul.Tensor(Tensor self, Tensor other, float scale=1.) -> Tensor",
        "mylib::mul.Tensor( Tensor self,Tensor  other,float scale = 1.)->(Tensor)",
        "mylib::mul.Tensor",
    ],
)
def test_operators_of_libraries_are_named_as_in_their_entry(tmp_path: Path, name: str) -> None:
    gradients, diagnostics = read(tmp_path, f"- name: {name}\n{FORMULAS}")
    assert not diagnostics.sorted()
    assert with_formulas(gradients) == ["mylib::mul.Tensor"]


@pytest.mark.parametrize("namespace", ["mylib", "other"])
def test_a_header_has_the_namespace_and_headers(tmp_path: Path, namespace: str) -> None:
    """The namespace decides between operators of the same name; headers are spelt as for `include` of a schema file."""
    header = f"- namespace: {namespace}\n  include: [helpers.h, <cmath>]\n"
    gradients, diagnostics = read(tmp_path, f"{header}- name: mul.Tensor\n{FORMULAS}")
    assert not diagnostics.sorted()
    assert with_formulas(gradients) == [f"{namespace}::mul.Tensor"]
    assert gradients.files.includes == ('"helpers.h"', "<cmath>")


def test_a_formula_has_a_place(tmp_path: Path) -> None:
    """Protects the lines that the compiler names in an error in a formula."""
    gradients, _ = read(tmp_path, f"# First\n- name: mylib::mul.Tensor\n{FORMULAS}")
    info = next(fn for fn in gradients.functions if fn.has_derivatives).infos["Default"]
    spans = {d.var_names[0]: d.place.span for d in info.derivatives}
    places = {name: span.source.location(span.start) for name, span in spans.items()}
    assert {n: (p.line, p.column) for n, p in places.items()} == {"self": (3, 9), "other": (4, 10)}
    assert Path(spans["self"].source.path).name == "derivatives.yaml"
