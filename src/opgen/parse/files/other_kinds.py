"""Recognise a file that was written for another program or another option, and report that as its only error."""

from __future__ import annotations

import re

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Source, Span

_ENTRY = re.compile(r"^ *- (?:func|name|op|tag): ", re.MULTILINE)


class _Kind(Struct, frozen=True):
    """A kind of file, and what at least half of its entries, and at least two, have."""

    name: str
    sign: re.Pattern[str]
    hint: str | None = None


def _kind(name: str, sign: str, hint: str | None = None) -> _Kind:
    return _Kind(name, re.compile(sign, re.MULTILINE), hint)


_DERIVATIVES = _kind(
    "a list of derivatives (derivatives.yaml)",
    r"^ +\w+(?:, \w+)*(?=: .*\b(?:grads?|auto_linear|auto_element_wise)\b)",
    "it is read with the file of the operators beside it, or with --derivatives",
)
_KINDS = (
    _kind("a list of ExecuTorch's kernels (functions.yaml)", r"\bkernel_name(?=:)"),
    _kind("ExecuTorch's list of edge operators (edge.yaml)", r"^ +type_constraint(?=:)"),
    _kind("a list of Ascend's operators", r"^ +(?:acl_op|op_api|gen_opapi)(?=:)"),
    _kind(
        "a native_functions.yaml from before PyTorch 2.0",
        r"^ +(?:use_c10_dispatcher|supports_named_tensor|matches_jit_signature)(?=:)",
    ),
    _DERIVATIVES,
    _kind("a list of deprecated signatures (deprecated.yaml)", r"^ +aten(?=: \w+\()"),
    _kind("a file of tags (tags.yaml)", r"(?<=^- )tag(?=: )", "pass it by --tags"),
)
_BACKEND = _kind(
    "a backend file", r"^(?:backend|cpp_namespace|supported)(?=:)", "pass it by --backend-yaml"
)
_SCHEMA = _kind("a schema file", r"(?<=^- )func(?=: .*\()", "pass it without an option")


def report_derivatives(place: Span, diagnostics: Diagnostics) -> bool:
    """If entries with names instead of schemas have a formula, report a derivatives.yaml as the only error of the file."""
    if not _DERIVATIVES.sign.search(place.source.text):
        return False
    diagnostics.forget(place.source)
    message = f"this is {_DERIVATIVES.name}, not a schema file"
    diagnostics.error("E0113", message, place, hint=_DERIVATIVES.hint)
    return True


def report_other_kind(source: Source, diagnostics: Diagnostics, *, backend: bool = False) -> bool:
    """Replace all diagnostics of a file with errors by one if it is of another kind, and return whether it is.

    `backend` is whether a backend file is expected, else it is a schema file.
    """
    half = len(_ENTRY.findall(source.text)) / 2
    for kind in (*_KINDS, _SCHEMA if backend else _BACKEND):
        signs = list(kind.sign.finditer(source.text))
        if len(signs) > 1 and len(signs) >= half:
            expected = "a backend file" if backend else "a schema file"
            place = signs[0].group().lstrip(" ")
            span = Span(source, signs[0].end() - len(place), signs[0].end())
            diagnostics.forget(source)
            message = f"this is {kind.name}, not {expected}"
            diagnostics.error("E0113", message, span, hint=kind.hint)
            return True
    return False
