"""RegisterAutograd[_n].cpp: what autograd does with operators that have no formula."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.model.native_function import NativeFunction
from opgen.views.base import Block, FileView, blocks, view
from opgen.views.context import Context
from opgen.views.operators import operator_headers
from opgen.views.shards import sharded
from opgen.views.text import operator_struct


@view
class AutogradRowView:
    """`out`: the operator writes out arguments; `view`: its struct, if it is a view of its first argument;
    `changes`: it writes or views an argument otherwise; `reshapes`: it changes an argument's shape.
    """

    operator: str
    out: bool
    view: str
    changes: bool
    reshapes: bool


@view
class RegisterAutogradView(FileView):
    library: str
    name: str
    includes: tuple[str, ...]
    reshapes: bool
    blocks: tuple[Block[AutogradRowView], ...]


def build_register_autograd(context: Context) -> Iterator[FileView]:
    """RegisterAutograd[_n].cpp: the operators that do not decompose."""
    rows = [
        f
        for f in context.registry.functions
        if context.keeps(f) and not f.has_composite_implicit_autograd_kernel
    ]
    if not rows:
        return
    for name, some in sharded(
        "RegisterAutograd", rows, lambda f: f.root_name, context.library.shards
    ):
        views = [f for f in some if _is_view(context, f)]
        yield RegisterAutogradView(
            path=f"src/{name}.cpp",
            template="RegisterAutograd.cpp.j2",
            library=context.library.name,
            name=name,
            includes=operator_headers(context, views),
            reshapes=any(map(_reshapes, some)),
            blocks=blocks((f.namespace, _row(f, f in views)) for f in some),
        )


def _row(f: NativeFunction, view: bool) -> AutogradRowView:
    changes = f.is_view_op or any(a.is_write for a in f.func.arguments.flat_all)
    return AutogradRowView(
        operator=str(f.func.name),
        out=bool(f.func.arguments.out),
        view=operator_struct(f) if view else "",
        changes=changes and not view,
        reshapes=_reshapes(f),
    )


def _is_view(context: Context, f: NativeFunction) -> bool:
    """Whether `f` returns views of its first argument, one or a list of them."""
    group = context.registry.view_group_of(f)
    return group is not None and f is group.view and len(f.func.returns) == 1


def _reshapes(f: NativeFunction) -> bool:
    return "inplace_view" in f.tags
