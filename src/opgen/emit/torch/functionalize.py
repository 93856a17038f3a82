"""RegisterFunctionalize.cpp and RegisterTwins.cpp: what replaces operators that write arguments, and views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from opgen.emit.common.base import (
    GeneratedFile,
    Item,
    Record,
    blocks,
    generated,
    group_by,
    sharded,
    sorted_includes,
)
from opgen.emit.common.context import Context, class_definitions
from opgen.emit.common.text import Speller, operator_struct
from opgen.emit.cpp.operators import operator_headers, operator_item
from opgen.emit.torch.autograd import NOT_IMPLEMENTED
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.model.registry import NativeFunctionsGroup, NativeFunctionsViewGroup
from opgen.resolve.functional_forms import Twin, TwinForm, find_twins, has_own_copy, is_replaced
from opgen.targets.base import spell_tags

# Options of a factory whose values come from the argument that the out variant writes.
OF_OUT = {
    "dtype": "opgen::kDtypeOfOut",
    "layout": "opgen::kLayoutOfOut",
    "device": "opgen::kDeviceOfOut",
    "pin_memory": "opgen::kPinnedOfOut",
}


class Replacement(Record, frozen=True):
    """How a functional operator replaces one that writes its arguments.

    `given` says where its arguments come from: by position, or as the name of an option of what is written; None if the
    result takes the option from another tensor. `written` are the positions of what is written, in the order of its results.
    `returned` has the position of an argument, the number of a result, or both, of which one is returned.
    """

    given: tuple[int | str | None, ...]
    written: tuple[int, ...]
    returned: tuple[tuple[int | None, int | None], ...]

    def sequences(self, spell: Speller) -> tuple[str, str, str]:
        """Return the same as arguments of a class template of the runtime."""
        given = [
            OF_OUT[g] if isinstance(g, str) else _NOT_GIVEN if g is None else g for g in self.given
        ]
        returned = [
            (
                f"opgen::kFresh + {own}"
                if argument is None
                else argument if own is None else f"opgen::either({argument}, {own})"
            )
            for argument, own in self.returned
        ]
        sequence = spell.index_sequence
        return sequence(given), sequence(self.written), sequence(returned)


_NOT_GIVEN = "opgen::kNotGiven"


def by_functional(f: NativeFunction, functional: NativeFunction) -> Replacement:
    """Return how the functional variant of `f` replaces it: it returns the values of the outs first."""
    arguments = f.func.arguments
    positions = {a.name: i for i, a in enumerate(arguments.flat_all)}
    is_factory = functional.func.is_factory
    outs = [a.name for a in arguments.out]
    fresh = count()
    return Replacement(
        tuple(
            positions.get(a.name, a.name if is_factory else None)
            for a in functional.func.arguments.flat_all
        ),
        tuple(
            positions[n]
            for n in (*outs, *(n for n in arguments.mutable_arg_names if n not in outs))
        ),
        tuple(
            (None, next(fresh)) if name is None else (positions[name], None)
            for name in f.func.aliased_return_names()
        ),
    )


def by_twin(twin: Twin) -> Replacement:
    """Return how a hidden operator, which takes the same arguments, replaces another one."""
    arguments = twin.function.func.arguments.flat_all
    positions = {a.name: i for i, a in enumerate(arguments)}
    return Replacement(
        tuple(range(len(arguments))),
        tuple(i for i, a in enumerate(arguments) if a.is_write),
        tuple((None if r.argument is None else positions[r.argument], r.own) for r in twin.returns),
    )


class _Replaced(Record, frozen=True):
    """An operator, the siblings that replace it, and the class whose member `call` is its kernel."""

    function: NativeFunction
    siblings: tuple[NativeFunction, ...]
    kernel_class: str


def build_register_functionalize(context: Context) -> Iterator[GeneratedFile]:
    """Build RegisterFunctionalize[_n].cpp; none if nothing is replaced."""
    registry = context.registry
    written = (r for group in registry.groups for r in _written_of(context, group))
    views = (r for group in registry.view_groups for r in _views_of(group))
    replaced = [r for r in (*written, *views) if context.keeps(r.function)]
    if not replaced:
        return
    stem, count = "RegisterFunctionalize", context.library.shards
    for name, rows in sharded(stem, replaced, lambda r: r.function.root_name, count):
        yield generated(
            path=f"src/{name}.cpp",
            template="RegisterFunctionalize.cpp.j2",
            library=context.library.name,
            name=name,
            has_views=any(r.function.is_view_op for r in rows),
            includes=operator_headers(
                context, (f for r in rows for f in (r.function, *r.siblings))
            ),
            classes=class_definitions(r.function for r in rows),
            tables=blocks((r.function.namespace, _row(r)) for r in rows),
        )


def find_functionalized(context: Context, f: NativeFunction) -> tuple[str, NativeFunction] | None:
    """Return the function registered for `f`, and the sibling that it calls; None if functionalization does not replace `f`."""
    group = context.registry.group_of(f)
    views = context.registry.view_group_of(f)
    own = () if group is None else _written_of(context, group)
    if views is not None:
        own = (*own, *_views_of(views))
    found = next((r for r in own if r.function is f), None)
    return None if found is None else (f"{found.kernel_class}::call", found.siblings[-1])


def _written_of(context: Context, group: NativeFunctionsGroup) -> Iterator[_Replaced]:
    for f in group.functions():
        if is_replaced(f, group, frozenset(OF_OUT)):
            # `opgen::Functionalize<at::_ops::f_, at::_ops::f, 0, index_sequence<0, 1>, index_sequence<0>, ...>`.
            replacement = by_functional(f, group.functional)
            own_returns = sum(argument is None for argument, _ in replacement.returned)
            structs = f"{operator_struct(f)}, {operator_struct(group.functional)}"
            sequences = ", ".join(replacement.sequences(context.spell))
            kernel = f"opgen::Functionalize<{structs}, {own_returns}, {sequences}>"
            yield _Replaced(f, (group.functional,), kernel)


def _views_of(group: NativeFunctionsViewGroup) -> Iterator[_Replaced]:
    copy = group.view_copy
    if group.composite or copy is None or not has_own_copy(copy, group.view):
        return
    # `opgen::FunctionalizeView<at::_ops::f, at::_ops::f_copy>`.
    view = f"{operator_struct(group.view)}, {operator_struct(copy)}>"
    yield _Replaced(group.view, (copy,), f"opgen::FunctionalizeView<{view}")
    if group.view_inplace is not None:
        inplace = f"opgen::FunctionalizeInplaceView<{operator_struct(group.view_inplace)}, {view}"
        yield _Replaced(group.view_inplace, (group.view, copy), inplace)


def _row(one: _Replaced) -> Item:
    """Return the registration of a class, whose member `call` is the kernel of an operator."""
    name = one.function.func.name
    return Item(
        operator=str(name),
        struct=operator_struct(one.function),
        alias=f"opgen_{name.unambiguous_name}",
        kernel_class=one.kernel_class,
    )


def build_register_twins(context: Context) -> Iterator[GeneratedFile]:
    """Build RegisterTwins[_n].cpp; none if no operator needs a twin."""
    twins = [
        t for t in find_twins(context.registry, frozenset(OF_OUT)) if context.keeps(t.function)
    ]
    if not twins:
        return
    count = context.library.shards
    for name, some in sharded("RegisterTwins", twins, lambda t: t.function.root_name, count):
        twins_by_namespace = [(t.function.namespace, _twin(context, t.twin)) for t in some]
        rows = group_by((row for t in some for row in _rows(context, t)), lambda r: r.table)
        yield generated(
            path=f"src/{name}.cpp",
            template="RegisterTwins.cpp.j2",
            library=context.library.name,
            name=name,
            own_includes=_own_includes(context, some),
            includes=operator_headers(context, (t.function for t in some)),
            classes=class_definitions(t.function for t in some),
            blocks=blocks(twins_by_namespace),
            declared=blocks(
                (operator_namespace(namespace), twin) for namespace, twin in twins_by_namespace
            ),
            tables=tuple((*table, members) for table, members in rows.items()),
        )


def find_twin_rows(
    context: Context, f: NativeFunction
) -> tuple[tuple[NativeFunction, ...], tuple[tuple[str, str], ...]]:
    """Return the hidden operators that replace `f`, and the registrations of `f` itself: keys and functions."""
    twins = [t for t in find_twins(context.registry, frozenset(OF_OUT)) if t.function is f]
    own = str(f.func.name)
    rows = [(r.table[1], r.function) for t in twins for r in _rows(context, t) if r.operator == own]
    return tuple(t.twin for t in twins), tuple(rows)


def _own_includes(context: Context, twins: Iterable[Twin]) -> tuple[str, ...]:
    copies = any(twin.form is TwinForm.copy for twin in twins)
    return sorted_includes(
        context.tensor_header,
        "opgen/boxing.h",
        "opgen/register.h",
        "opgen/transforms/functionalize.h",
        "torch/csrc/autograd/autograd_not_implemented_fallback.h",
        *(("opgen/transforms/functionalize_view.h",) if copies else ()),
    )


def _twin(context: Context, hidden: NativeFunction) -> Item:
    """Return a hidden operator, which replaces another one in functional graphs."""
    tags = spell_tags(sorted(context.target.schema.registered_tags(hidden)))
    full_struct = operator_struct(hidden)
    return Item(**vars(operator_item(context, hidden)), full_struct=full_struct, tags=tags)


def _rows(context: Context, twin: Twin) -> Iterator[Item]:
    """Yield the registrations of a twin and its operator. The namespace and key of each are its `table`."""
    f, hidden, spell = twin.function, twin.twin, context.spell
    structs, of_hidden = operator_struct(f), operator_struct(hidden)

    def row(key: str, of: NativeFunction, own: str, member: str = "call", inner: str = "") -> Item:
        """Return the registration of a class. If it is a format, `inner` is the class in it, which has a name of its own."""
        alias = f"opgen_{of.func.name.unambiguous_name.removeprefix('opgen_')}"
        named = f"{alias}_functional"
        return Item(
            table=(f.namespace, key),
            operator=str(of.func.name),
            function=f"{own.format(inner)}::{member}",
            aliases=(*([(named, inner)] if inner else []), (alias, own.format(named))),
            kernel=f"opgen::kernel<{operator_struct(of)}, &{alias}::{member}>()",
        )

    given, written, returned = by_twin(twin).sequences(spell)
    sequences = f"{given}, {written}, {returned}"
    functionalize = f"opgen::Functionalize<{structs}, {{}}, {twin.own_count}, {sequences}>"
    type = spell.spelled(context.signatures.dispatcher(twin.functional)).function_type
    results = _own_results(context, twin, twin.functional)
    functional = f"opgen::FunctionalTwin<{structs}, {results}, {written}, {type}>"
    if twin.form is TwinForm.writer:
        # A writer changes its arguments in place, so it is not the functional variant.
        own = _own_results(context, twin, hidden)
        runs = f"opgen::WriterTwin<{of_hidden}, {structs}, {own}>"
        yield row("CompositeExplicitAutograd", hidden, runs)
        yield row("Autograd", hidden, runs, "call_autograd")
        decomposition = f"opgen::DecomposeToWriter<{structs}, {of_hidden}, {returned}>"
        yield row("CompositeImplicitAutograd", f, decomposition)
        yield row("Functionalize", f, functionalize, inner=functional)
        return
    is_copy = twin.form is TwinForm.copy
    runs = f"opgen::ViewTwin<{of_hidden}, {structs}>" if is_copy else functional
    replaces = f"opgen::FunctionalizeView<{structs}, {of_hidden}>"
    yield row("CompositeExplicitAutograd", hidden, runs)
    yield Item(
        table=(f.namespace, "Autograd"),
        operator=str(hidden.func.name),
        function=NOT_IMPLEMENTED.function,
        aliases=(),
        kernel=NOT_IMPLEMENTED,
    )
    yield row("Functionalize", f, replaces if is_copy else functionalize.format(of_hidden))


def _own_results(context: Context, twin: Twin, of: NativeFunction) -> str:
    """Return the results of the twin: the number of each, or that and the argument that it replaces."""
    own = [
        str(i) if argument is None else f"opgen::either({argument}, {i})"
        for i, (argument, result) in enumerate(by_twin(twin).returned)
        if result is not None
    ]
    if of is not twin.functional:
        own += ["opgen::kPadding"] * (len(of.func.returns) - len(own))
    return context.spell.index_sequence(own)
