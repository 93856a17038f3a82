"""RegisterFunctionalize.cpp and RegisterTwins.cpp: what replaces operators that write arguments, and views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import (
    GeneratedFile,
    Record,
    blocks,
    cpp_string,
    generated,
    group_by,
    sharded,
    sorted_includes,
)
from opgen.emit.common.callables import Kernel
from opgen.emit.common.context import Context, class_definitions
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
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

# An option that is left out: the result takes it from another tensor.
NOT_GIVEN = dict.fromkeys(OF_OUT, "opgen::kNotGiven")


class FunctionalizeRow(Record, frozen=True):
    """The registration of `kernel_class`, whose member `call` is the kernel of an operator."""

    operator: str
    struct: str
    alias: str
    kernel_class: str


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
            yield _Replaced(f, (group.functional,), _functionalized(context, f, group))


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


def _row(one: _Replaced) -> FunctionalizeRow:
    name = one.function.func.name
    return FunctionalizeRow(
        operator=str(name),
        struct=operator_struct(one.function),
        alias=f"opgen_{name.unambiguous_name}",
        kernel_class=one.kernel_class,
    )


def _functionalized(context: Context, f: NativeFunction, group: NativeFunctionsGroup) -> str:
    """Return `opgen::Functionalize<at::_ops::f_, at::_ops::f, 0, index_sequence<0, 1>, index_sequence<0>, ...>`."""
    positions = {a.name: i for i, a in enumerate(f.func.arguments.flat_all)}
    wanted = group.functional.func.arguments.flat_all
    options = OF_OUT if group.functional.func.is_factory else NOT_GIVEN
    given = [positions.get(a.name, options.get(a.name)) for a in wanted]
    # The functional variant returns the values of the outs first.
    outs = [a.name for a in f.func.arguments.out]
    changed = [n for n in f.func.arguments.mutable_arg_names if n not in outs]
    written = [positions[name] for name in (*outs, *changed)]
    aliased = f.func.aliased_return_names()
    own_returns = sum(name is None for name in aliased)
    returned = [
        f"opgen::kFresh + {i}" if name is None else positions[name]
        for i, name in enumerate(aliased)
    ]
    sequences = [context.spell.index_sequence(s) for s in (given, written, returned)]
    structs = f"{operator_struct(f)}, {operator_struct(group.functional)}"
    return f"opgen::Functionalize<{structs}, {own_returns}, {', '.join(sequences)}>"


class TwinOperator(Record, frozen=True):
    """A hidden operator, which replaces another one in functional graphs."""

    schema: str
    struct: str
    full_struct: str
    full_name: str
    overload: str
    function_type: str
    tags: str

    @property
    def schema_text(self) -> str:
        return cpp_string(self.schema)


class _Class(Record, frozen=True):
    """A class template of the runtime with its arguments; `inner` is one of them that has a name of its own."""

    template: str
    arguments: tuple[str | _Class, ...]
    inner: _Class | None = None

    def text(self, inner: str = "") -> str:
        """Return the class in C++, with `inner` for the argument that has a name."""
        texts = (
            a if isinstance(a, str) else inner if inner and a is self.inner else a.text()
            for a in self.arguments
        )
        return f"opgen::{self.template}<{', '.join(texts)}>"


class TwinRow(Record, frozen=True):
    """A kernel registered for one key: for the twin, or for the operator that it replaces."""

    name: str
    kernel: Kernel
    statement: str


class TwinTable(Record, frozen=True):
    namespace: str
    key: str
    rows: tuple[TwinRow, ...]


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
        rows = group_by(
            (row for t in some for row in _rows(context, t)), lambda row: (row[0], row[1])
        )
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
            tables=tuple(
                TwinTable(namespace, key, tuple(row for _, _, row in members))
                for (namespace, key), members in rows.items()
            ),
        )


def find_twin_rows(
    context: Context, f: NativeFunction
) -> tuple[tuple[NativeFunction, ...], tuple[tuple[str, str], ...]]:
    """Return the hidden operators that replace `f`, and the registrations of `f` itself: keys and functions."""
    twins = [t for t in find_twins(context.registry, frozenset(OF_OUT)) if t.function is f]
    own = str(f.func.name)
    rows = [
        (key, r.kernel.function) for t in twins for _, key, r in _rows(context, t) if r.name == own
    ]
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


def _twin(context: Context, hidden: NativeFunction) -> TwinOperator:
    signature = context.spell.spelled(context.signatures.dispatcher(hidden))
    return TwinOperator(
        schema=str(hidden.func),
        struct=operator_struct_name(hidden.func),
        full_struct=operator_struct(hidden),
        full_name=f"{hidden.namespace}::{hidden.func.name.name}",
        overload=hidden.func.name.overload_name,
        function_type=signature.function_type,
        tags=spell_tags(sorted(context.target.schema.registered_tags(hidden))),
    )


def _rows(context: Context, twin: Twin) -> Iterator[tuple[str, str, TwinRow]]:
    """Yield the namespace, key and row of each registration of a twin and its operator."""
    f, hidden = twin.function, twin.twin

    def kernel(
        key: str, of: NativeFunction, own: _Class, member: str = "call"
    ) -> tuple[str, str, TwinRow]:
        alias = f"opgen_{of.func.name.unambiguous_name.removeprefix('opgen_')}"
        inner = f"{alias}_functional" if own.inner else ""
        lines = [f"  using {inner} = {own.inner.text()};"] if own.inner else []
        lines.append(f"  using {alias} = {own.text(inner)};")
        made = Kernel(f"{own.text()}::{member}", "opgen::kernel", operator_struct(of))
        short = replace(made, function=f"{alias}::{member}")
        statement = "\n".join([*lines, _statement(of, short)])
        return f.namespace, key, TwinRow(str(of.func.name), made, statement)

    if twin.form is TwinForm.writer:
        runs = _writer(context, twin)
        yield kernel("CompositeExplicitAutograd", hidden, runs)
        yield kernel("Autograd", hidden, runs, "call_autograd")
        yield kernel("CompositeImplicitAutograd", f, _decomposition(context, twin))
        yield kernel("Functionalize", f, _functionalize(context, twin))
        return
    if twin.form is TwinForm.copy:
        structs = (operator_struct(hidden), operator_struct(f))
        runs = _Class("ViewTwin", structs)
        replaces = _Class("FunctionalizeView", structs[::-1])
    else:
        runs = _functional(context, twin)
        replaces = _functionalize(context, twin)
    yield kernel("CompositeExplicitAutograd", hidden, runs)
    statement = _statement(hidden, NOT_IMPLEMENTED)
    yield f.namespace, "Autograd", TwinRow(str(hidden.func.name), NOT_IMPLEMENTED, statement)
    yield kernel("Functionalize", f, replaces)


def _statement(f: NativeFunction, kernel: Kernel) -> str:
    return f'  m.impl("{f.func.name}", {kernel});'


def _writer(context: Context, twin: Twin) -> _Class:
    structs = (operator_struct(twin.twin), operator_struct(twin.function))
    return _Class("WriterTwin", (*structs, _own_results(context, twin, twin.twin)))


def _functional(context: Context, twin: Twin) -> _Class:
    arguments = (
        operator_struct(twin.function),
        _own_results(context, twin, twin.functional),
        context.spell.index_sequence(_written_positions(twin)),
        context.spell.spelled(context.signatures.dispatcher(twin.functional)).function_type,
    )
    return _Class("FunctionalTwin", arguments)


def _decomposition(context: Context, twin: Twin) -> _Class:
    structs = (operator_struct(twin.function), operator_struct(twin.twin))
    return _Class("DecomposeToWriter", (*structs, context.spell.index_sequence(_returned(twin))))


def _functionalize(context: Context, twin: Twin) -> _Class:
    given = [str(i) for i, _ in enumerate(twin.function.func.arguments.flat_all)]
    # A writer changes its arguments in place, so it is not the functional variant.
    inner = _functional(context, twin) if twin.form is TwinForm.writer else None
    sequences = (
        context.spell.index_sequence(s) for s in (given, _written_positions(twin), _returned(twin))
    )
    called = inner or operator_struct(twin.functional)
    arguments = (operator_struct(twin.function), called, str(twin.own_count), *sequences)
    return _Class("Functionalize", arguments, inner)


def _position(twin: Twin, name: str) -> int:
    return [a.name for a in twin.function.func.arguments.flat_all].index(name)


def _written_positions(twin: Twin) -> list[str]:
    return [str(i) for i, a in enumerate(twin.function.func.arguments.flat_all) if a.is_write]


def _own_results(context: Context, twin: Twin, of: NativeFunction) -> str:
    own = [_own_result(twin, i) for i, r in enumerate(twin.returns) if r.own is not None]
    if of is not twin.functional:
        own += ["opgen::kPadding"] * (len(of.func.returns) - len(own))
    return context.spell.index_sequence(own)


def _own_result(twin: Twin, index: int) -> str:
    """Return the C++ expression for a result of the twin: its index, or the argument that it replaces."""
    argument = twin.returns[index].argument
    if argument is None:
        return str(index)
    return f"opgen::either({_position(twin, argument)}, {index})"


def _returned(twin: Twin) -> list[str]:
    """Return the results of the operator: arguments that it returns, or results of the twin."""
    found = []
    for value in twin.returns:
        if value.argument is None:
            found.append(f"opgen::kFresh + {value.own}")
        elif value.own is None:
            found.append(str(_position(twin, value.argument)))
        else:
            found.append(f"opgen::either({_position(twin, value.argument)}, {value.own})")
    return found
