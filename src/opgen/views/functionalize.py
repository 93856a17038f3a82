"""RegisterFunctionalize.cpp: operators that write arguments, each replaced by its functional variant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsGroup
from opgen.views.base import Block, FileView, blocks
from opgen.views.context import Context
from opgen.views.operators import operator_headers
from opgen.views.register import KernelRowView
from opgen.views.shards import sharded
from opgen.views.text import operator_struct


@dataclass(frozen=True, slots=True)
class RegisterFunctionalizeView(FileView):
    library: str
    name: str
    includes: tuple[str, ...]
    tables: tuple[Block[KernelRowView], ...]


def build_register_functionalize(context: Context) -> Iterator[FileView]:
    """RegisterFunctionalize[_n].cpp; none if nothing is replaced."""
    replaced = [
        (f, group)
        for group in context.registry.groups
        for f in group.functions()
        if context.keeps(f) and is_replaced(f, group)
    ]
    if not replaced:
        return
    stem, count = "RegisterFunctionalize", context.library.shards
    for name, pairs in sharded(stem, replaced, lambda pair: pair[0].root_name, count):
        yield RegisterFunctionalizeView(
            path=f"src/{name}.cpp",
            template="RegisterFunctionalize.cpp.j2",
            library=context.library.name,
            name=name,
            includes=operator_headers(context, (f for p, g in pairs for f in (p, g.functional))),
            tables=blocks((f.namespace, _row(context, f, group)) for f, group in pairs),
        )


def is_replaced(f: NativeFunction, group: NativeFunctionsGroup) -> bool:
    """Whether `f` writes arguments, does not decompose, and the functional variant takes what it takes.

    What returns arguments beside other results is not replaced.
    """
    given = {a.name for a in f.func.arguments.flat_all}
    fresh = {name is None for name in f.func.aliased_return_names()}
    return (
        len(fresh) < 2
        and f is not group.functional
        and not f.has_composite_implicit_autograd_kernel
        and all(a.name in given for a in group.functional.func.arguments.flat_all)
    )


def _row(context: Context, f: NativeFunction, group: NativeFunctionsGroup) -> KernelRowView:
    """`opgen::Functionalize<at::_ops::f_, at::_ops::f, 0, index_sequence<0, 1>, index_sequence<0>, ...>::call`."""
    positions = {a.name: i for i, a in enumerate(f.func.arguments.flat_all)}
    given = ", ".join(str(positions[a.name]) for a in group.functional.func.arguments.flat_all)
    # The functional variant returns what goes into the outs first.
    outs = [a.name for a in f.func.arguments.out]
    changed = [n for n in f.func.arguments.mutable_arg_names if n not in outs]
    written = ", ".join(str(positions[name]) for name in (*outs, *changed))
    aliased = f.func.aliased_return_names()
    own_returns = sum(name is None for name in aliased)
    returned = ", ".join(str(positions[name]) for name in aliased if name is not None)
    sequence = f"{context.target.spelling.standard}index_sequence"
    return KernelRowView(
        operator=str(f.func.name),
        struct=operator_struct(f),
        callable=(
            f"opgen::Functionalize<{operator_struct(f)}, {operator_struct(group.functional)},"
            f" {own_returns}, {sequence}<{given}>, {sequence}<{written}>,"
            f" {sequence}<{returned}>>::call"
        ),
    )
