"""Stubs of existing functions, from their schemas: arguments with the schema's names, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.model.native_function import NativeFunction
from opgen.python.operator_calls import merged_call, operator_call, reachable_calls
from opgen.targets.torch import TORCH


def load(tmp_path: Path, *schemas: str) -> tuple[NativeFunction, ...]:
    yaml = tmp_path / "custom.yaml"
    kernels = "\n  dispatch:\n    CompositeExplicitAutograd: kernel_{0}\n"
    yaml.write_text(
        "".join(f"- func: custom::{s}{kernels.format(i)}" for i, s in enumerate(schemas))
    )
    return tuple(opgen.load(opgen.Inputs([yaml], target="torch")).functions)


def declarations(tmp_path: Path, *schemas: str) -> list[str]:
    functions = load(tmp_path, *schemas)
    assert TORCH.call_words is not None
    return [call.declaration() for _, call in reachable_calls(functions, TORCH.call_words)]


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
    """Protects the annotations: torch.ops was tried with values of each type."""
    assert declarations(tmp_path, schema) == [f"def f({declared}: ..."]


def test_overloads_that_are_never_reached_are_left_out(tmp_path: Path) -> None:
    """Type checkers report a second overload if the first accepts all its calls."""
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


@pytest.mark.parametrize(
    ("schemas", "declared"),
    [
        (["f(Tensor self, int n=1) -> Tensor"], "self: _Tensor, n: _int = 1) -> _Tensor"),
        (
            [
                "f(Tensor self, float w=0.5) -> Tensor",
                "f.out(Tensor self, float w=0.5, *, Tensor(a!) out) -> Tensor(a!)",
            ],
            "self: _Tensor, w: _float = 0.5, *, out: _Tensor = ...) -> _Tensor",
        ),
        (
            ["f.a(Tensor x, int n=1, int m=2) -> Tensor", "f.b(Tensor[] x, int n=3) -> int"],
            "x: _Tensor | _Sequence[_Tensor], n: _int = ..., m: _int = 2) -> _Tensor | _int",
        ),
        (
            ["f.a(Tensor x, int n) -> Tensor", "f.b(Tensor x, Tensor y) -> Tensor"],
            "x: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor",
        ),
        (
            ["f.a(Tensor x) -> Tensor", "f.b(Tensor x, *, Tensor y) -> ()"],
            "x: _Tensor, *, y: _Tensor = ...) -> _Tensor | None",
        ),
    ],
)
def test_the_signature_of_all_overloads_accepts_the_calls_of_each(
    schemas: list[str], declared: str, tmp_path: Path
) -> None:
    """Protects inspect.signature(): a call that an operator accepts must not be an error by its signature."""
    assert TORCH.call_words is not None
    functions = load(tmp_path, *schemas)
    merged = merged_call([operator_call(f, TORCH.call_words) for f in functions])
    assert " ".join(merged.declaration().split()).replace("( ", "(").replace(", )", ")") == (
        f"def f({declared}: ..."
    )
