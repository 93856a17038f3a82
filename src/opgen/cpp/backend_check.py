"""The kernels of an external backend against C++, and against the source that implements them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from opgen.cpp.codes_backend import CODES, E0811, E0812
from opgen.cpp.signatures import DispatcherSignature, parameters
from opgen.cpp.spelling import TypeSpelling, spell
from opgen.diagnostics import Diagnostics, Source
from opgen.model.backend import BackendKernel, ExternalBackend

__all__ = ["CODES", "check_coverage", "check_overloads"]

_Overload: TypeAlias = tuple[str, tuple[str, ...]]


def check_overloads(
    backend: ExternalBackend, spelling: TypeSpelling, diagnostics: Diagnostics
) -> None:
    """Report kernels of one name and the same parameter types whose results differ."""
    first: dict[_Overload, BackendKernel] = {}
    for kernel in _kernels(backend):
        other = first.setdefault(_overload(kernel, spelling), kernel)
        if _signature(other).returns != _signature(kernel).returns:
            names = f"'{other.function.func.name}' and '{kernel.function.func.name}'"
            message = f"the kernels of {names} differ in C++ by their results only"
            labels = [(other.span, "the other one")]
            diagnostics.error(E0811, message, kernel.span, labels=labels)


def check_coverage(
    backend: ExternalBackend,
    implementation: Source,
    spelling: TypeSpelling,
    diagnostics: Diagnostics,
) -> None:
    """Report every kernel that `implementation` does not define as often as it should."""
    defined = _count_definitions(backend.class_name, implementation.text)
    by_name: dict[str, list[BackendKernel]] = {}
    for kernel in _kernels(backend):
        by_name.setdefault(kernel.name, []).append(kernel)
    for name, kernels in by_name.items():
        wanted = len({_overload(kernel, spelling) for kernel in kernels})
        if defined[name] == wanted:
            continue
        member = f"{backend.class_name}::{name}"
        message = f"{implementation.path} has {defined[name]} definitions of {member}, not {wanted}"
        notes = [f"to be defined: {d}" for d in _declarations(backend, kernels, spelling)]
        diagnostics.error(E0812, message, kernels[0].span, notes=notes)


def _count_definitions(class_name: str, text: str) -> Counter[str]:
    """How often each member of the class seems to be defined: named before a '(', and not qualified.

    The last one of a line counts.
    """
    found: list[re.Match[str]] = []
    for match in re.finditer(rf"{re.escape(class_name)}::\s*(\w*)\(", text):
        if found and text.find("\n", found[-1].start(), match.start()) < 0:
            found.pop()
        found.append(match)
    return Counter(m[1] for m in found if text[m.start() - 1 : m.start()] != ":")


def _declarations(
    backend: ExternalBackend, kernels: list[BackendKernel], spelling: TypeSpelling
) -> Iterator[str]:
    by_overload = {_overload(kernel, spelling): kernel for kernel in reversed(kernels)}
    for kernel in reversed(by_overload.values()):
        signature = _signature(kernel)
        returns = spell(signature.returns, spelling)
        taken = parameters(signature.arguments(), spelling, defaults=False)
        yield f"{returns} {backend.class_name}::{kernel.name}({taken})"


def _kernels(backend: ExternalBackend) -> Iterator[BackendKernel]:
    return (kernel for index in backend.indices for kernel in index.kernels)


def _signature(kernel: BackendKernel) -> DispatcherSignature:
    return DispatcherSignature.from_native_function(kernel.function, symint=kernel.symint)


def _overload(kernel: BackendKernel, spelling: TypeSpelling) -> _Overload:
    return kernel.name, tuple(spell(b.type, spelling) for b in _signature(kernel).arguments())
