"""What a target cannot do with some operators, reported before views are built."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.registry import Registry
from opgen.targets.base import Target

E0903 = Code(
    "E0903",
    "two operators would be written into the same file",
    "Headers are named after operators: foo.h, foo_ops.h, foo_native.h, foo_meta.h, foo_cpu_dispatch.h. "
    "With names such as 'foo' and 'foo_ops', or 'foo' and 'FOO' where a file system ignores case, two "
    "operators would share a file. Rename one of them.",
    "- func: foo(Tensor self) -> Tensor\n\n- func: foo_ops(Tensor self) -> Tensor\n",
    "- func: foo(Tensor self) -> Tensor\n\n- func: foo_all(Tensor self) -> Tensor\n",
    ("V178", "A84"),
)
W1001 = Code(
    "W1001",
    "a method becomes a function only",
    "The library uses the class Tensor of another one (--extends), which cannot get new members. The "
    "operator is generated as a function. Remove `method` from `variants` to say so yourself.",
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
)

CODES = (E0903, W1001)


def report_unsupported(
    registry: Registry, target: Target, *, extends: bool, diagnostics: Diagnostics
) -> None:
    """Report header names that collide, and methods where class Tensor is another library's."""
    _report_collisions(registry, target, diagnostics)
    if extends:
        _report_methods(registry, diagnostics)


def _report_collisions(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    owners: dict[str, NativeFunction] = {}
    first_of_root = {f.root_name: f for f in reversed(registry.functions)}
    for root in dict.fromkeys(f.root_name for f in registry.functions):
        f = first_of_root[root]
        taken = next((s for s in _header_stems(root, target) if s.lower() in owners), None)
        if taken is not None:
            other = owners[taken.lower()]
            diagnostics.error(
                E0903,
                f"the header {taken}.h of '{root}' would also be one of '{other.root_name}'",
                f.span,
                labels=[(other.span, "the other operator")],
                hint="rename one of the operators",
            )
        for stem in _header_stems(root, target):
            owners.setdefault(stem.lower(), f)


def _header_stems(root: str, target: Target) -> Iterator[str]:
    yield from (root, f"{root}_ops", f"{root}_native", f"{root}_meta")
    yield from (f"{root}_{key.lower()}_dispatch" for key in target.function_keys)


def _report_methods(registry: Registry, diagnostics: Diagnostics) -> None:
    for f in registry.functions:
        if Variant.method in f.variants:
            diagnostics.warning(
                W1001,
                f"'{f.func.name}' cannot be a method of a class Tensor that is another library's",
                f.spans.value("variants"),
            )
