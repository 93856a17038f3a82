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


_EXISTING = """\
- namespace: mylib
  include: [f.h]
- func: fill(Tensor(a!) x) -> ()
  dispatch:
    CPU: ::mylib::fill
- func: scaled(Tensor x) -> Tensor
  dispatch:
    CPU: ::mylib::scaled
- func: composed(Tensor x) -> Tensor
  dispatch:
    CompositeImplicitAutograd: ::mylib::composed
- func: strict(Tensor(a!) x) -> ()
  dispatch:
    CPU: ::mylib::fill
  strict_autograd: True
- func: mixed(Tensor x) -> Tensor
  dispatch:
    CPU: ::mylib::scaled
    CUDA: scaled_cuda
- func: own(Tensor x) -> Tensor
  dispatch: {CompositeImplicitAutograd: own}
"""


def test_autograd_of_existing_functions_is_left_to_pytorch(tmp_path: Path) -> None:
    """Protects adoption: only an entry that asks for it, or has a kernel of the author's, gets opgen's rules; and vmap
    calls existing composites once for each element, as those need that use autograd::Function.
    """
    yaml = tmp_path / "native_functions.yaml"
    yaml.write_text(_EXISTING)
    files = make_tree(aten_inputs((yaml,), target="torch")).files
    rows = re.findall(r'm\.impl\("(\w+)", [^;]*::(\w+)>\(\)', files["src/RegisterAutograd.cpp"])
    assert {name for name, _ in rows if name in ("scaled", "composed", "own")} == set()
    assert [function for name, function in rows if name == "fill"] == ["call_for_each"]
    strict = [function for name, function in rows if name == "strict"]
    assert strict == ["autograd_of_written", "count_writes", "call_for_each"]
    assert [function for name, function in rows if name == "mixed"] == ["refuse_gradients"]
    composites = files["src/RegisterCompositeImplicitAutograd.cpp"]
    decomposed = composites.partition("FuncTorchBatchedDecomposition, m)")[2]
    assert re.findall(r'm\.impl\("(\w+)"', decomposed) == ["own"]
