"""Compare the gradients, the tangents and the second gradients of one operator with finite differences, on the inputs that
its results are compared on: in double precision, away from kinks.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw, Refused, operator_base
from differential.numerics.gradient_exceptions import consistent, differs_rightly
from differential.numerics.gradients import Finding, GradientReport, every_gradient
from differential.numerics.python_driver import Form, PythonLibrary
from differential.numerics.values import Dtype, TensorValue, Value
from opgen.gradtest.backends import NOT_THERE, PackageTensors, elements_of
from opgen.gradtest.calls import at, function_of, places_in
from opgen.gradtest.gradient import Gradient
from opgen.model.registry import Registry

# Larger tensors are not drawn: a difference is computed for each element.
_MOST_ELEMENTS = 24
_DRAWS_PER_INPUT = 60
_DOUBLE = ("float64", "complex128")


class DifferenceChecker:
    """Checks the operators of the package `module`."""

    def __init__(self, module: ModuleType, registry: Registry) -> None:
        self.module: Any = module
        self.gradients = every_gradient(registry)
        self.library = PythonLibrary(module, registry, Form.FUNCTION)
        self.tensors = PackageTensors(module)

    def check(self, name: str, dtype: Dtype, count: int, *, second: int) -> GradientReport:
        """Check `count` inputs; the first `second` of them for second gradients, too."""
        report, seed = GradientReport(), 0
        while report.compared < count and seed < count * _DRAWS_PER_INPUT:
            self._check_seed(name, dtype, seed, report, report.compared < second)
            seed += 1
            if len(report.findings) >= 3:
                break
        return report

    def _check_seed(
        self, name: str, dtype: Dtype, seed: int, report: GradientReport, second: bool
    ) -> None:
        gradient = self.gradients[name]
        draw = Draw(gradient.schema, dtype, seed, CONSTRAINTS)
        draw.special = False
        try:
            arguments = draw.all()
        except Refused:
            return
        operator = operator_base(gradient.schema)
        source = random.Random(zlib.crc32(f"{name} {dtype.name} {seed}".encode()))
        arguments = {
            k: _away(v, source) if k in gradient.inputs else v for k, v in arguments.items()
        }
        arguments = consistent(operator, arguments)
        if differs_rightly(operator, arguments) or _elements(arguments) > _MOST_ELEMENTS:
            return
        try:
            self._check_call(gradient, arguments, source, report, second)
        except AssertionError as error:
            text = " ".join(str(error.__cause__).split("\n"))[:600]
            report.findings.append(Finding(name, dtype.name, seed, str(error), text, arguments))

    def _check_call(
        self,
        gradient: Gradient,
        arguments: Mapping[str, Value],
        source: random.Random,
        report: GradientReport,
        second: bool,
    ) -> None:
        tensors = self.tensors
        handles = {name: self.library.make(value) for name, value in arguments.items()}
        call = {name: handle.object for name, handle in handles.items()}
        places = [
            place
            for name in gradient.inputs
            for place, value in places_in(name, call.get(name))
            if tensors.is_tensor(value) and _is_double_tensor(value)
        ]
        chosen = [p for p in places if source.random() < 0.8] or places
        if not chosen:
            return
        called = function_of(gradient, tensors, call, chosen)

        def f(*inputs: Any) -> tuple[Any, ...]:
            self.module.manual_seed(7)  # Dropout drops the same elements in each call.
            return called(*inputs)

        inputs = [tensors.leaf(self._without_repeats(at(call, place))) for place in chosen]
        try:
            outputs = f(*inputs)
        except tensors.refusals:
            report.refused += 1
            return
        if not any(output.requires_grad for output in outputs):
            report.plain += 1
            return
        if not all(map(self._is_moderate, outputs)) or not all(map(_is_double_tensor, outputs)):
            return
        try:
            tensors.check(f, inputs, forward=gradient.forward, batched=False)
        except Exception as error:
            # A tensor with other strides may have no such view.
            if any(text in str(error) for text in (*NOT_THERE, "view size is not compatible")):
                report.refused += 1
                return
            raise AssertionError("gradient") from error
        report.compared += 1
        report.tangents += gradient.forward
        if not second:
            return
        for forward in (False, True) if gradient.forward else (False,):
            try:
                tensors.check_second(f, inputs, forward=forward)
            except Exception as error:
                # A tangent of a tangent, of an operator in place, is refused.
                if not any(text in str(error) for text in (*NOT_THERE, "only one level")):
                    raise AssertionError("second gradient") from error
            else:
                report.second += 1

    def _is_moderate(self, output: Any) -> bool:
        """Return whether a difference of the elements has enough digits."""
        most = 1e3
        return all(abs(element) < most for element in elements_of(output.tolist()))

    def _without_repeats(self, tensor: Any) -> Any:
        """Return a copy of an expanded tensor: a difference changes one element."""
        strides = zip(tensor.shape, tensor.stride())
        repeats = any(size > 1 and stride == 0 for size, stride in strides)
        return self.tensors.clone(tensor) if repeats else tensor


def _is_double_tensor(value: Any) -> bool:
    return str(value.dtype).rpartition(".")[2] in _DOUBLE


def _elements(arguments: Mapping[str, Value]) -> int:
    return max(
        (
            int(np.prod(item.sizes))
            for value in arguments.values()
            for item in (value if isinstance(value, tuple) else (value,))
            if isinstance(item, TensorValue)
        ),
        default=0,
    )


def _away(value: Value, source: random.Random) -> Value:
    """Move the elements of a tensor of floating-point numbers a little: from each other, and from integers."""
    if isinstance(value, tuple):
        return tuple(_away(item, source) for item in value)
    if not isinstance(value, TensorValue) or value.dtype.name not in _DOUBLE:
        return value
    numbers = np.frombuffer(value.storage, value.dtype.carrier).copy()
    moves = np.array([source.uniform(0.02, 0.2) for _ in range(numbers.size)])
    if value.dtype.kind == "complex":
        moves = moves + 1j * np.array([source.uniform(0.02, 0.2) for _ in range(numbers.size)])
    return replace(value, storage=(numbers + moves).astype(value.dtype.carrier).tobytes())
