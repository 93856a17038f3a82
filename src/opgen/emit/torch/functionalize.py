"""RegisterFunctionalize.cpp: operators that write arguments, each replaced by its functional variant, and views."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.emit.common.base import Block, GeneratedFile, Record, blocks, sharded
from opgen.emit.common.context import ClassDefinition, Context, class_definitions
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsGroup, NativeFunctionsViewGroup
from opgen.resolve.functional_forms import has_own_copy, is_replaced

# Options of a factory whose values come from the argument that the out variant writes.
OF_OUT = {
    "dtype": "opgen::kDtypeOfOut",
    "layout": "opgen::kLayoutOfOut",
    "device": "opgen::kDeviceOfOut",
    "pin_memory": "opgen::kPinnedOfOut",
}

# An option that is left out: the result takes it from another tensor.
NOT_GIVEN = dict.fromkeys(OF_OUT, "opgen::kNotGiven")


class FunctionalizeRow(Record, frozen=True):
    """The registration of `kernel_class`, whose member `call` is the kernel of an operator."""

    operator: str
    struct: str
    alias: str
    kernel_class: str

    @property
    def callable(self) -> str:
        return f"{self.kernel_class}::call"


class RegisterFunctionalizeFile(GeneratedFile, frozen=True):
    library: str
    name: str
    has_views: bool
    includes: tuple[str, ...]
    classes: tuple[ClassDefinition, ...]
    tables: tuple[Block[FunctionalizeRow], ...]


class _Replaced(Record, frozen=True):
    """An operator, the siblings that replace it, and its registration."""

    function: NativeFunction
    siblings: tuple[NativeFunction, ...]
    row: FunctionalizeRow


def build_register_functionalize(context: Context) -> Iterator[GeneratedFile]:
    """Build RegisterFunctionalize[_n].cpp; none if nothing is replaced."""
    replaced = [r for r in (*_written(context), *_views(context)) if context.keeps(r.function)]
    if not replaced:
        return
    stem, count = "RegisterFunctionalize", context.library.shards
    for name, rows in sharded(stem, replaced, lambda r: r.function.root_name, count):
        yield RegisterFunctionalizeFile(
            path=f"src/{name}.cpp",
            template="RegisterFunctionalize.cpp.j2",
            library=context.library.name,
            name=name,
            has_views=any(r.function.is_view_op for r in rows),
            includes=operator_headers(
                context, (f for r in rows for f in (r.function, *r.siblings))
            ),
            classes=class_definitions(r.function for r in rows),
            tables=blocks((r.function.namespace, r.row) for r in rows),
        )


def find_functionalized(context: Context, f: NativeFunction) -> tuple[str, NativeFunction] | None:
    """Return the function registered for `f`, and the sibling that it calls; None if functionalization does not replace `f`."""
    group = context.registry.group_of(f)
    if group is not None and is_replaced(f, group, frozenset(OF_OUT)):
        return _row(context, f, group).callable, group.functional
    views = context.registry.view_group_of(f)
    own = () if views is None or views.composite else _views_of(views)
    found = next((r for r in own if r.function is f), None)
    return None if found is None else (found.row.callable, found.siblings[-1])


def _written(context: Context) -> Iterator[_Replaced]:
    for group in context.registry.groups:
        for f in group.functions():
            if is_replaced(f, group, frozenset(OF_OUT)):
                yield _Replaced(f, (group.functional,), _row(context, f, group))


def _views(context: Context) -> Iterator[_Replaced]:
    for group in context.registry.view_groups:
        if not group.composite:
            yield from _views_of(group)


def _views_of(group: NativeFunctionsViewGroup) -> Iterator[_Replaced]:
    copy = group.view_copy
    if copy is None or not has_own_copy(copy, group.view):
        return
    yield _Replaced(group.view, (copy,), _view_row(group.view, "", copy))
    if group.view_inplace is not None:
        row = _view_row(group.view_inplace, "Inplace", group.view, copy)
        yield _Replaced(group.view_inplace, (group.view, copy), row)


def _view_row(f: NativeFunction, kind: str, *siblings: NativeFunction) -> FunctionalizeRow:
    """Return `opgen::FunctionalizeView<at::_ops::f, at::_ops::f_copy>::call`."""
    names = ", ".join(map(operator_struct, (f, *siblings)))
    return FunctionalizeRow(
        operator=str(f.func.name),
        struct=operator_struct(f),
        alias=f"opgen_{f.func.name.unambiguous_name}",
        kernel_class=f"opgen::Functionalize{kind}View<{names}>",
    )


def _row(context: Context, f: NativeFunction, group: NativeFunctionsGroup) -> FunctionalizeRow:
    """Return `opgen::Functionalize<at::_ops::f_, at::_ops::f, 0, index_sequence<0, 1>, index_sequence<0>, ...>::call`."""
    positions = {a.name: i for i, a in enumerate(f.func.arguments.flat_all)}
    wanted = group.functional.func.arguments.flat_all
    options = OF_OUT if group.functional.func.is_factory else NOT_GIVEN
    given = ", ".join(str(positions.get(a.name, options.get(a.name))) for a in wanted)
    # The functional variant returns the values of the outs first.
    outs = [a.name for a in f.func.arguments.out]
    changed = [n for n in f.func.arguments.mutable_arg_names if n not in outs]
    written = ", ".join(str(positions[name]) for name in (*outs, *changed))
    aliased = f.func.aliased_return_names()
    own_returns = sum(name is None for name in aliased)
    returned = ", ".join(
        f"opgen::kFresh + {i}" if name is None else str(positions[name])
        for i, name in enumerate(aliased)
    )
    sequence = f"{context.target.cpp.spelling.standard}index_sequence"
    return FunctionalizeRow(
        operator=str(f.func.name),
        struct=operator_struct(f),
        alias=f"opgen_{f.func.name.unambiguous_name}",
        kernel_class=(
            f"opgen::Functionalize<{operator_struct(f)}, {operator_struct(group.functional)},"
            f" {own_returns}, {sequence}<{given}>, {sequence}<{written}>,"
            f" {sequence}<{returned}>>"
        ),
    )
