"""PyTorch's own file as a Python package: every operator that Python can call is called, once in each form."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from opgen.model.registry import Registry
from opgen.python.check import is_bound
from opgen.python.signatures import (
    PythonFunction,
    PythonOutArgument,
    PythonOverload,
    PythonSignature,
    Spellings,
    python_functions,
)
from opgen.targets import TARGETS
from support.library import OperatorLibrary

pytestmark = pytest.mark.nightly

HERE = Path(__file__).parent

# An argument of a type for which Python has no object.
UNBOUND = {"record_stream"}
# A Tensor is tried before a Scalar, and functions of these names accept a number as a Tensor, as in
# PyTorch.
TAKEN_BY_TENSOR = {
    *("div.Scalar_mode", "div_.Scalar_mode", "floor_divide.Scalar", "floor_divide_.Scalar"),
    *("divide.Scalar", "divide.Scalar_mode", "divide_.Scalar", "divide_.Scalar_mode"),
    *("multiply.Scalar", "multiply_.Scalar", "true_divide.Scalar", "true_divide_.Scalar"),
}


@dataclass(frozen=True)
class Case:
    """A call, and the operator that it should reach."""

    row: tuple[str, str, list[str], dict[str, str]]
    operator: str


@pytest.fixture(scope="module")
def cases(registry: Registry) -> list[Case]:
    target = TARGETS["runtime"]
    spellings = Spellings(target.cpp.spelling, target.python)
    bound = [f for f in registry.functions if is_bound(f) and str(f.func.name) not in UNBOUND]
    functions = python_functions(bound, spellings)
    return [case for one in functions for case in _cases(one, spellings)]


def _cases(function: PythonFunction, spellings: Spellings) -> Iterator[Case]:
    for o in function.overloads:
        for out in (False, True) if o.out is not None else (False,):
            yield _case(function, o, out, spellings)


def _case(
    function: PythonFunction, o: PythonOverload, with_out: bool, spellings: Spellings
) -> Case:
    f = o.out if with_out and o.out is not None else o.base
    signature = PythonSignature.from_native_function(f, spellings.cpp)
    positional = [str(a.type) for a in signature.input_args]
    named = {a.name: str(a.type) for a in signature.input_kwargs}
    out = signature.output_args
    if isinstance(out, PythonOutArgument):
        types = [str(one.type) for one in out.outputs]
        named[out.name] = types[0] if len(types) == 1 else f"({','.join(types)})"
    if function.method:
        index = [a.name for a in signature.input_args].index("self")
        positional.insert(0, positional.pop(index))
    place = "Tensor" if function.method else function.module or ""
    return Case((place, function.name, positional, named), str(f.func.name))


def test_every_operator_is_called(cases: list[Case], registry: Registry) -> None:
    """2,298 operators are bound by torchgen's rules, and all but one have a case."""
    assert sum(map(is_bound, registry.functions)) == 2298
    assert len({case.operator for case in cases}) == 2298 - len(UNBOUND)


def test_each_answers_from_its_stub(cases: list[Case], built: OperatorLibrary) -> None:
    """Each call reaches its operator, which reports that its kernel is not written."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", str(HERE / "call_everything.py")],
        input=json.dumps([case.row for case in cases]),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(built.packages)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    answers = list(zip(cases, json.loads(done.stdout), strict=True))
    others = [
        f"{case.row} of {case.operator}: {kind}: {text}"
        for case, (kind, text) in answers
        if kind != "NotImplementedError"
    ]
    assert not others, "\n".join(others)
    missed = {case.operator for case, (_, text) in answers if not _names(text, case.operator)}
    assert missed == TAKEN_BY_TENSOR
    for case, (_, text) in answers:
        if case.operator in missed:
            assert "aten::" + case.row[1] in text and "const Tensor& other" in text, text


def _names(text: str, operator: str) -> bool:
    return re.search(rf"aten::{re.escape(operator)}(?![\w.])", text) is not None
