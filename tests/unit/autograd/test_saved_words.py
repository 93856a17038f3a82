"""Only the values of a formula are saved: a word that is none would keep a tensor alive."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen.pipeline.inputs import Inputs
from support.trees import make_tree

OPERATORS = """\
- namespace: mylib
- func: f(Tensor self, Tensor other, Tensor weight) -> Tensor
  dispatch:
    CPU: f
"""
# The names of what the node saves, on each target.
FILES = {
    "runtime": ("src/Derivatives.cpp", r"Saved<[\w:]+> (\w+)_;"),
    "torch": ("src/Derivatives.cpp", r"Saved<[\w:]+> (\w+)_;"),
    "torch-stable": ("python/mylib/_formulas.py", r"def save\(.*\n.*return \((\w+)"),
}


@pytest.mark.parametrize("target", FILES)
@pytest.mark.parametrize(
    ("formula", "saved"),
    [
        ("grad * /* not other */ 2", []),
        ('not_implemented("the gradient of other")', []),
        ("grad.other() * at::other(grad)", []),
        ("grad * /* not weight */ other", ["other"]),
    ],
)
def test_a_word_that_is_no_value(
    tmp_path: Path, target: str, formula: str, saved: list[str]
) -> None:
    schema, formulas = tmp_path / "native_functions.yaml", tmp_path / "derivatives.yaml"
    schema.write_text(OPERATORS)
    rest = "  other, weight: non_differentiable\n"
    formulas.write_text(f"- name: f\n  self: '{formula}'\n{rest}")
    inputs = Inputs((schema,), target=target)
    path, pattern = FILES[target]
    tree = make_tree(inputs, python=target == "torch-stable").files
    assert re.findall(pattern, tree[path]) == saved
