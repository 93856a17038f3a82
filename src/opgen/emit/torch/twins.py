"""RegisterTwins.cpp: the hidden operators that replace those of a library where nothing may be written."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import Block, GeneratedFile, Record, blocks, cpp_string, group_by
from opgen.emit.common.context import Context
from opgen.emit.common.custom_classes import ClassDefinition, class_definitions
from opgen.emit.common.shards import sharded
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.emit.torch.functionalize import OF_OUT
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.resolve.functional_forms import Twin, TwinForm, find_twins
from opgen.targets.tags import spell_tags


class TwinOperator(Record, frozen=True):
    """The hidden operator."""

    schema: str
    schema_literal: str
    struct: str
    full_struct: str
    full_name: str
    overload: str
    signature: str
    tags: str


class TwinRow(Record, frozen=True):
    """A function registered for one key: for the twin, or for the operator that it replaces."""

    name: str
    function: str


class TwinTable(Record, frozen=True):
    namespace: str
    key: str
    rows: tuple[TwinRow, ...]


class RegisterTwinsFile(GeneratedFile, frozen=True):
    library: str
    name: str
    tensor_header: str
    has_views: bool
    includes: tuple[str, ...]
    classes: tuple[ClassDefinition, ...]
    blocks: tuple[Block[TwinOperator], ...]
    declared: tuple[Block[TwinOperator], ...]
    tables: tuple[TwinTable, ...]


def build_register_twins(context: Context) -> Iterator[GeneratedFile]:
    """RegisterTwins[_n].cpp; none if no operator needs a twin."""
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
        yield RegisterTwinsFile(
            path=f"src/{name}.cpp",
            template="RegisterTwins.cpp.j2",
            library=context.library.name,
            name=name,
            tensor_header=context.tensor_header,
            has_views=any(t.form is TwinForm.copy for t in some),
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
    """The hidden operators that replace `f`, and the registrations of `f` itself: keys and functions."""
    twins = [t for t in find_twins(context.registry, frozenset(OF_OUT)) if t.function is f]
    own = str(f.func.name)
    rows = [(key, r.function) for t in twins for _, key, r in _rows(context, t) if r.name == own]
    return tuple(t.twin for t in twins), tuple(rows)


def _twin(context: Context, hidden: NativeFunction) -> TwinOperator:
    schema = context.spell.schema(hidden)
    return TwinOperator(
        schema=schema,
        schema_literal=cpp_string(schema),
        struct=operator_struct_name(hidden.func),
        full_struct=operator_struct(hidden),
        full_name=f"{hidden.namespace}::{hidden.func.name.name}",
        overload=hidden.func.name.overload_name,
        signature=_signature(context, hidden),
        tags=spell_tags(sorted(context.target.schema.registered_tags(hidden))),
    )


def _signature(context: Context, f: NativeFunction) -> str:
    return context.spell.spelled(context.signatures.dispatcher(f)).function_type


def _rows(context: Context, twin: Twin) -> Iterator[tuple[str, str, TwinRow]]:
    """Namespace, key and row of each registration of a twin and its operator."""
    f, hidden = twin.function, twin.twin

    def row(key: str, of: NativeFunction, function: str) -> tuple[str, str, TwinRow]:
        return f.namespace, key, TwinRow(str(of.func.name), function)

    def kernel(key: str, of: NativeFunction, what: str) -> tuple[str, str, TwinRow]:
        return row(key, of, f"opgen::kernel<{operator_struct(of)}, &{what}>()")

    if twin.form is TwinForm.writer:
        runs = _writer(context, twin)
        yield kernel("CompositeExplicitAutograd", hidden, f"{runs}::call")
        yield kernel("Autograd", hidden, f"{runs}::call_autograd")
        yield kernel("CompositeImplicitAutograd", f, f"{_decomposition(context, twin)}::call")
        yield kernel("Functionalize", f, f"{_functionalize(context, twin)}::call")
        return
    not_implemented = "torch::autograd::autogradNotImplementedFallback()"
    if twin.form is TwinForm.copy:
        structs = f"{operator_struct(hidden)}, {operator_struct(f)}"
        runs = f"opgen::ViewTwin<{structs}>"
        structs = f"{operator_struct(f)}, {operator_struct(hidden)}"
        replaces = f"opgen::FunctionalizeView<{structs}>"
    else:
        runs = _functional(context, twin)
        replaces = _functionalize(context, twin)
    yield kernel("CompositeExplicitAutograd", hidden, f"{runs}::call")
    yield row("Autograd", hidden, not_implemented)
    yield kernel("Functionalize", f, f"{replaces}::call")


def _writer(context: Context, twin: Twin) -> str:
    structs = f"{operator_struct(twin.twin)}, {operator_struct(twin.function)}"
    return f"opgen::WriterTwin<{structs}, {_own_results(context, twin, twin.twin)}>"


def _functional(context: Context, twin: Twin) -> str:
    arguments = (
        operator_struct(twin.function),
        _own_results(context, twin, twin.functional),
        _sequence(context, _written(twin)),
        _signature(context, twin.functional),
    )
    return f"opgen::FunctionalTwin<{', '.join(arguments)}>"


def _decomposition(context: Context, twin: Twin) -> str:
    structs = f"{operator_struct(twin.function)}, {operator_struct(twin.twin)}"
    return f"opgen::DecomposeToWriter<{structs}, {_sequence(context, _returned(twin))}>"


def _functionalize(context: Context, twin: Twin) -> str:
    given = [str(i) for i, _ in enumerate(twin.function.func.arguments.flat_all)]
    # A writer changes its arguments in place, so it is not the functional variant.
    called = (
        _functional(context, twin)
        if twin.form is TwinForm.writer
        else operator_struct(twin.functional)
    )
    return (
        f"opgen::Functionalize<{operator_struct(twin.function)}, {called}, {twin.own_count},"
        f" {_sequence(context, given)}, {_sequence(context, _written(twin))},"
        f" {_sequence(context, _returned(twin))}>"
    )


def _sequence(context: Context, items: list[str]) -> str:
    return f"{context.target.cpp.spelling.standard}index_sequence<{', '.join(items)}>"


def _position(twin: Twin, name: str) -> int:
    return [a.name for a in twin.function.func.arguments.flat_all].index(name)


def _written(twin: Twin) -> list[str]:
    return [str(i) for i, a in enumerate(twin.function.func.arguments.flat_all) if a.is_write]


def _own_results(context: Context, twin: Twin, of: NativeFunction) -> str:
    own = [_own_result(twin, i) for i, r in enumerate(twin.returns) if r.own is not None]
    if of is not twin.functional:
        own += ["opgen::kPadding"] * (len(of.func.returns) - len(own))
    return _sequence(context, own)


def _own_result(twin: Twin, index: int) -> str:
    """For each return of the operator: whether it is a new result of the twin, and which argument it replaces, if any."""
    argument = twin.returns[index].argument
    if argument is None:
        return str(index)
    return f"opgen::either({_position(twin, argument)}, {index})"


def _returned(twin: Twin) -> list[str]:
    """The results of the operator: arguments that it returns, or results of the twin."""
    found = []
    for value in twin.returns:
        if value.argument is None:
            found.append(f"opgen::kFresh + {value.own}")
        elif value.own is None:
            found.append(str(_position(twin, value.argument)))
        else:
            found.append(f"opgen::either({_position(twin, value.argument)}, {value.own})")
    return found
