"""What a target cannot do with some operators, reported before views are built."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.codes import Code
from opgen.model.native_function import Variant
from opgen.model.registry import Registry
from opgen.targets.base import FileKind, Target

_BACKEND = "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- neg\n"

W1001 = Code(
    "W1001",
    "a method becomes a function only",
    "The library uses the class Tensor of another one (--extends), which cannot get new members. The "
    "operator is generated as a function. Remove `method` from `variants` to say so yourself.",
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
)

E0813 = Code(
    "E0813",
    "a target without external backends",
    "The files of an external backend (--backend-yaml) are generated for target runtime only.",
    _BACKEND,
    _BACKEND,
    (),
    "backend.yaml",
)

CODES = (W1001, E0813)


def report_unsupported(registry: Registry, *, extends: bool, diagnostics: Diagnostics) -> None:
    """Report methods where class Tensor is another library's."""
    if not extends:
        return
    for f in registry.functions:
        if Variant.method in f.variants:
            diagnostics.warning(
                W1001,
                f"'{f.func.name}' cannot be a method of a class Tensor that is another library's",
                f.spans.value("variants"),
            )


def report_no_backends(target: Target, span: Span, diagnostics: Diagnostics) -> None:
    """Report an external backend, if `target` makes no files for one."""
    if target.files and FileKind.BACKEND not in target.files:
        message = f"target {target.name} makes no files for external backends"
        diagnostics.error(E0813, message, span)
