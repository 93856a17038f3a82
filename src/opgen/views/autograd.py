"""RegisterAutograd.cpp: what autograd does with operators that have no formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opgen.model.native_function import NativeFunction
from opgen.views.base import Block, FileView, blocks
from opgen.views.context import Context


@dataclass(frozen=True, slots=True)
class AutogradRowView:
    """`changes`: the operator writes or views an argument."""

    operator: str
    changes: bool


@dataclass(frozen=True, slots=True)
class RegisterAutogradView(FileView):
    library: str
    blocks: tuple[Block[AutogradRowView], ...]


def build_register_autograd(context: Context) -> Iterator[FileView]:
    """One source for all operators that do not decompose."""
    rows = [
        f
        for f in context.registry.functions
        if context.keeps(f) and not f.has_composite_implicit_autograd_kernel
    ]
    if rows:
        yield RegisterAutogradView(
            path="src/RegisterAutograd.cpp",
            template="RegisterAutograd.cpp.j2",
            library=context.library.name,
            blocks=blocks((f.namespace, _row(f)) for f in rows),
        )


def _row(f: NativeFunction) -> AutogradRowView:
    changes = f.is_view_op or any(a.is_write for a in f.func.arguments.flat_all)
    return AutogradRowView(str(f.func.name), changes)
