"""What a target cannot do with some operators, reported before views are built."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.native_function import Variant
from opgen.model.registry import Registry

W1001 = Code(
    "W1001",
    "a method becomes a function only",
    "The library uses the class Tensor of another one (--extends), which cannot get new members. The "
    "operator is generated as a function. Remove `method` from `variants` to say so yourself.",
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
)

CODES = (W1001,)


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
