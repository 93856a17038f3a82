"""Operators that write an argument, and have no entry in derivatives.yaml."""

from __future__ import annotations

import re
from pathlib import Path

from support.inputs import aten_inputs
from support.trees import make_tree

_YAML = """\
- namespace: mylib
- func: mul(Tensor self, Tensor other) -> Tensor
  dispatch: {CPU: mul}
- func: scale_all_(Tensor(a!)[] self, float by) -> ()
  dispatch: {CPU: scale_all_}
- func: put(Tensor x, *, Tensor(a!) to) -> ()
  dispatch: {CPU: put}
- func: step(Tensor(a!) state) -> int
  dispatch: {CPU: step}
- func: declared_(Tensor(a!)[] self) -> ()
  dispatch: {CPU: declared_}
- func: describe(Tensor x) -> int
  dispatch: {CPU: describe}
"""
_FORMULAS = """\
- name: mul(Tensor self, Tensor other) -> Tensor
  self: grad * other
  other: grad * self
- name: declared_(Tensor(a!)[] self) -> ()
  self: non_differentiable
"""


def test_a_written_argument_without_formula_is_not_passed_over(tmp_path: Path) -> None:
    """Protects gradients: such an operator keeps the default kernel, which refuses tensors that need a gradient, although
    it returns none; an operator that writes nothing, or declares it, is passed over.
    """
    yaml, formulas = tmp_path / "native_functions.yaml", tmp_path / "derivatives.yaml"
    yaml.write_text(_YAML)
    formulas.write_text(_FORMULAS)
    files = make_tree(aten_inputs((yaml,), derivatives=(formulas,))).files
    passed = re.findall(r"opgen::fallthrough<mylib::_ops::(\w+)>", files["src/Derivatives.cpp"])
    assert sorted(passed) == ["declared_", "describe"]
