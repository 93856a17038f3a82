"""Check the kernels of an external backend: their C++ overloads, and the source that implements them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from opgen.cpp.signatures import DispatcherSignature, parameters
from opgen.cpp.type_values import TypeSpelling, spell
from opgen.diagnostics import Diagnostics, Source
from opgen.model.backend import BackendKernel, ExternalBackend

_Overload: TypeAlias = tuple[str, tuple[str, ...]]


def check_overloads(
    backend: ExternalBackend, spelling: TypeSpelling, diagnostics: Diagnostics
) -> None:
    """Report kernels with the same name and parameter types, but different return types."""
    first: dict[_Overload, BackendKernel] = {}
    for kernel in backend.kernels():
        other = first.setdefault(_overload(kernel, spelling), kernel)
        if _signature(other).returns != _signature(kernel).returns:
            names = f"'{other.function.func.name}' and '{kernel.function.func.name}'"
            message = f"the kernels of {names} differ in C++ only by their return types"
            labels = [(other.span, "the other one")]
            diagnostics.error("E0811", message, kernel.span, labels=labels)


def check_coverage(
    backend: ExternalBackend,
    implementation: Source,
    spelling: TypeSpelling,
    diagnostics: Diagnostics,
) -> None:
    """Report each kernel for which `implementation` has the wrong number of definitions."""
    defined = _count_definitions(backend.class_name, implementation.text)
    by_name: dict[str, list[BackendKernel]] = {}
    for kernel in backend.kernels():
        by_name.setdefault(kernel.name, []).append(kernel)
    for name, kernels in by_name.items():
        expected = len({_overload(kernel, spelling) for kernel in kernels})
        if defined[name] == expected:
            continue
        member = f"{backend.class_name}::{name}"
        message = (
            f"{implementation.path} has {defined[name]} definitions of {member}, not {expected}"
        )
        notes = [f"define: {d}" for d in _declarations(backend, kernels, spelling)]
        diagnostics.error("E0812", message, kernels[0].span, notes=notes)


def _count_definitions(class_name: str, text: str) -> Counter[str]:
    """Count the definitions of each member of the class: `Class::name(`, without further qualification.

    Only the last one of a line counts. Source of the rule: torchgen's `error_on_missing_kernels`.
    """
    matches: list[re.Match[str]] = []
    for match in re.finditer(rf"{re.escape(class_name)}::\s*(\w*)\(", text):
        if matches and text.find("\n", matches[-1].start(), match.start()) < 0:
            matches.pop()
        matches.append(match)
    return Counter(m[1] for m in matches if text[m.start() - 1 : m.start()] != ":")


def _declarations(
    backend: ExternalBackend, kernels: list[BackendKernel], spelling: TypeSpelling
) -> Iterator[str]:
    by_overload = {_overload(kernel, spelling): kernel for kernel in reversed(kernels)}
    for kernel in reversed(by_overload.values()):
        signature = _signature(kernel)
        returns = spell(signature.returns, spelling)
        listed = parameters(signature.arguments(), spelling, defaults=False)
        yield f"{returns} {backend.class_name}::{kernel.name}({listed})"


def _signature(kernel: BackendKernel) -> DispatcherSignature:
    return DispatcherSignature(kernel.function, symint=kernel.symint)


def _overload(kernel: BackendKernel, spelling: TypeSpelling) -> _Overload:
    return kernel.name, tuple(spell(b.type, spelling) for b in _signature(kernel).arguments())
