"""Find out whether the operators that an external backend runs have gradients there, and what these lack."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from opgen.autograd.derivative import DifferentiableFunction
from opgen.autograd.formula_checks import called_functions, called_members
from opgen.autograd.kernels import AutogradKernel, autograd_kernel
from opgen.cpp.names import cpp_name
from opgen.model.backend import BackendIndex
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction

_SUFFIXES = re.compile(r"(_symint)?(_outf|_out)?$")


class GradientKind(Enum):
    """Where the gradient of an operator comes from. The value is the text for people."""

    own = "autograd kernel of the backend"
    formula = "formula"
    composite = "those of the operators that it is made of"
    lacking = "formula that calls a missing operator"
    missing = "missing: there is no formula"
    none = "not differentiable"


# Operators with these can be trained through.
AVAILABLE = frozenset({GradientKind.own, GradientKind.formula, GradientKind.composite})


class GradientCoverage(Struct, frozen=True):
    """The gradient of an operator. `lacks` are the operators that its formulas call and the backend does not run."""

    kind: GradientKind
    lacks: tuple[str, ...] = ()


class GradientTable:
    """The gradients of the operators of one registry, for a backend with the autograd kernels `own`.

    `is_missing` says of an operator that the backend does not run it.
    """

    def __init__(
        self,
        functions: Sequence[DifferentiableFunction],
        own: BackendIndex | None,
        is_missing: Callable[[NativeFunction], bool],
    ) -> None:
        self._functions = {fn.func.full_name: fn for fn in functions}
        self._own = (
            frozenset()
            if own is None
            else frozenset(kernel.function.full_name for kernel in own.kernels)
        )
        self._key = DEFAULT_KEY if own is None else own.key.name
        self._is_missing = is_missing
        self._missing = self._missing_names()

    def of(self, f: NativeFunction) -> GradientCoverage:
        if f.full_name in self._own:
            return GradientCoverage(GradientKind.own)
        fn = self._functions[f.full_name]
        kernel = autograd_kernel(fn)
        has_tensors = any(a.type.is_tensor_like() for a in f.func.arguments.flat_all)
        if f.func.kind() is SchemaKind.out or kernel is AutogradKernel.derived or not has_tensors:
            return GradientCoverage(GradientKind.none)
        if kernel is None:
            return GradientCoverage(GradientKind.composite)
        if kernel is AutogradKernel.not_implemented:
            return GradientCoverage(GradientKind.missing)
        lacks = tuple(dict.fromkeys(self._lacking(fn)))
        return GradientCoverage(GradientKind.lacking if lacks else GradientKind.formula, lacks)

    def _missing_names(self) -> Mapping[str, str]:
        """Return the C++ names of operators of which no overload runs, with the first of their operators."""
        by_name: dict[str, list[NativeFunction]] = {}
        for fn in self._functions.values():
            by_name.setdefault(str(cpp_name(fn.func.func)), []).append(fn.func)
        return {
            name: overloads[0].full_name
            for name, overloads in by_name.items()
            if all(map(self._is_missing, overloads))
        }

    def _lacking(self, fn: DifferentiableFunction) -> Iterator[str]:
        info = fn.infos.get(self._key) or fn.infos.get(DEFAULT_KEY)
        for derivative in () if info is None else info.derivatives:
            formula = derivative.original_formula
            for call in (*called_functions(formula, ("at",)), *called_members(formula)):
                name = _SUFFIXES.sub("", call.text)
                if name in self._missing:
                    yield self._missing[name]
