"""Find operators with different schemas, but the same signature, struct or header in C++."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from opgen.cpp.names import operator_struct_name
from opgen.cpp.signatures import CppSignature, Signatures
from opgen.diagnostics import Diagnostics
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace


def check_collisions(
    functions: Sequence[NativeFunction], signatures: Signatures, diagnostics: Diagnostics
) -> None:
    """Report each operator that has the same C++ signature, struct or header as an earlier one."""
    _check_structs(functions, diagnostics)
    _check_overloads(functions, signatures, diagnostics)
    _check_headers(functions, diagnostics)


def _check_structs(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    first: dict[tuple[str, str], NativeFunction] = {}
    for f in functions:
        name = operator_struct_name(f.func)
        other = first.setdefault((operator_namespace(f.namespace), name), f)
        if other is not f:
            message = f"'{f.func.name}' and '{other.func.name}' are both '{name}' in C++"
            _report("E0712", message, f, other, diagnostics)


def _check_overloads(
    functions: Sequence[NativeFunction], signatures: Signatures, diagnostics: Diagnostics
) -> None:
    first: dict[Hashable, NativeFunction] = {}
    for f in functions:
        for method, signature in _signatures(f, signatures):
            key = (
                operator_namespace(f.namespace),
                method,
                signature.name,
                tuple(b.type for b in signature.arguments()),
            )
            other = first.setdefault(key, f)
            if other is not f:
                message = (
                    f"'{f.func.name}' and '{other.func.name}' are one C++ function:"
                    f" '{signature.name}' with the same parameter types"
                )
                _report("E0711", message, f, other, diagnostics)
                break


def _signatures(f: NativeFunction, signatures: Signatures) -> Iterator[tuple[bool, CppSignature]]:
    for method, variant in ((False, Variant.function), (True, Variant.method)):
        if variant in f.variants:
            for signature in signatures.cpp(f, method=method).signatures():
                yield method, signature


def _check_headers(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    roots: dict[str, NativeFunction] = {}
    headers: dict[str, NativeFunction] = {}
    for f in functions:
        other = roots.setdefault(f.root_name.lower(), f)
        if other.root_name != f.root_name:
            message = f"'{other.root_name}' and '{f.root_name}' are the same name on file systems that ignore case"
            _report("E0713", message, f, other, diagnostics)
        for header in _headers(f):
            headers.setdefault(header.lower(), f)
    for header in sorted(headers.keys() & roots.keys()):
        f, other = roots[header], headers[header]
        message = f"'{other.root_name}' and '{f.root_name}' both have a header {header}.h"
        _report("E0713", message, f, other, diagnostics)


def _headers(f: NativeFunction) -> Iterator[str]:
    """Yield the headers of `f`, without extension, except the one with its own name."""
    yield f"{f.root_name}_ops"
    yield f"{f.root_name}_native"
    if f.part_of_structured_group:
        yield f"{f.root_name}_meta"
    for key, _ in f.dispatch:
        yield f"{f.root_name}_{key.lower()}_dispatch"


def _report(
    code: str, message: str, f: NativeFunction, other: NativeFunction, diagnostics: Diagnostics
) -> None:
    diagnostics.error(
        code, message, f.span, labels=[(other.span, "the other one")], hint="rename one of them"
    )
