"""Schemas as stubs of functions that exist already: arguments by the schema's names, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.python.operator_calls import operator_declarations
from opgen.targets.torch import TORCH


def declarations(tmp_path: Path, *schemas: str) -> list[str]:
    yaml = tmp_path / "custom.yaml"
    kernels = "\n  dispatch:\n    CompositeExplicitAutograd: kernel_{0}\n"
    yaml.write_text(
        "".join(f"- func: custom::{s}{kernels.format(i)}" for i, s in enumerate(schemas))
    )
    assert TORCH.call_words is not None
    functions = opgen.load([yaml], target="torch").functions
    return list(operator_declarations(functions, TORCH.call_words))


@pytest.mark.parametrize(
    ("schema", "declared"),
    [
        (
            "f(Tensor self, *, Scalar a=1) -> Tensor",
            "self: _Tensor, *, a: _complex = 1) -> _Tensor",
        ),
        ("f(Tensor? x=None) -> Tensor[]", "x: _Tensor | None = None) -> _list[_Tensor]"),
        ("f(SymInt[] x) -> Tensor", "x: _Sequence[_int | _SymInt]) -> _Tensor"),
        ("f(int[2] x=0) -> Tensor", "x: _int | _Sequence[_int] = 0) -> _Tensor"),
        ("f(SymInt[2] x) -> Tensor", "x: _Sequence[_int | _SymInt]) -> _Tensor"),
        ("f(int[] x=[1]) -> Tensor", "x: _Sequence[_int] = (1,)) -> _Tensor"),
        ("f(str x='a') -> (Tensor, int)", 'x: _str = "a") -> _tuple[_Tensor, _int]'),
        ("f(MemoryFormat x=contiguous_format) -> Tensor", "x: _memory_format = ...) -> _Tensor"),
        ("f(ScalarType? x=None) -> Tensor", "x: _dtype | None = None) -> _Tensor"),
    ],
)
def test_a_schema_is_declared(schema: str, declared: str, tmp_path: Path) -> None:
    """Protects the annotations against what torch.ops was seen to take and return."""
    assert declarations(tmp_path, schema) == [f"def f({declared}: ..."]


def test_overloads_that_are_never_reached_are_left_out(tmp_path: Path) -> None:
    """A type checker has words about a second overload whose every call the first takes."""
    found = declarations(
        tmp_path,
        "f.a(float[] x, int n=0) -> Tensor",
        "f.b(int[] x) -> Tensor",
        "f.c(int[] x, Tensor y) -> Tensor",
        "f.d(Tensor x) -> Tensor",
        "f.e(float[] x, int m) -> Tensor",
    )
    arguments = [one.split("(")[1].split(")")[0] for one in found]
    assert arguments == [
        "x: _Sequence[_float], n: _int = 0",
        "x: _Sequence[_int], y: _Tensor",
        "x: _Tensor",
        "x: _Sequence[_float], m: _int",
    ]
    assert all(one.startswith("@_overload\ndef f(") for one in found)
