"""RegisterTwins.cpp: the hidden operators that stand in for those of a library where nothing may be written."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.cpp.names import operator_namespace, operator_struct_name
from opgen.resolve.functional_forms import Twin, find_twins
from opgen.views.base import Block, FileView, blocks, cpp_string, view
from opgen.views.context import Context
from opgen.views.functionalize import OF_OUT
from opgen.views.operators import operator_headers
from opgen.views.shards import sharded
from opgen.views.text import operator_struct


@view
class TwinView:
    """A twin, and the operator that it stands in for: `kernel` runs the twin, `replacement` the operator."""

    schema: str
    schema_literal: str
    struct: str
    full_struct: str
    full_name: str
    name: str
    overload: str
    signature: str
    tags: tuple[str, ...]
    kernel: str
    operator: str
    operator_struct: str
    replacement: str


@view
class RegisterTwinsView(FileView):
    library: str
    name: str
    tensor_header: str
    has_views: bool
    includes: tuple[str, ...]
    blocks: tuple[Block[TwinView], ...]
    declared: tuple[Block[TwinView], ...]


def build_register_twins(context: Context) -> Iterator[FileView]:
    """RegisterTwins[_n].cpp; none if no operator needs a twin."""
    twins = [
        t for t in find_twins(context.registry, frozenset(OF_OUT)) if context.keeps(t.function)
    ]
    if not twins:
        return
    count = context.library.shards
    for name, some in sharded("RegisterTwins", twins, lambda t: t.function.root_name, count):
        views = [(t, _twin(context, t)) for t in some]
        yield RegisterTwinsView(
            path=f"src/{name}.cpp",
            template="RegisterTwins.cpp.j2",
            library=context.library.name,
            name=name,
            tensor_header=context.tensor_header,
            has_views=any(t.is_view for t in some),
            includes=operator_headers(context, (t.function for t in some)),
            blocks=blocks((t.function.namespace, v) for t, v in views),
            declared=blocks((operator_namespace(t.function.namespace), v) for t, v in views),
        )


def _twin(context: Context, twin: Twin) -> TwinView:
    f, hidden = twin.function, twin.twin
    schema = context.spell.schema(hidden)
    tags = context.target.registered_tags(hidden)
    return TwinView(
        schema=schema,
        schema_literal=cpp_string(schema),
        struct=operator_struct_name(hidden.func),
        full_struct=operator_struct(hidden),
        full_name=f"{hidden.namespace}::{hidden.func.name.name}",
        name=str(hidden.func.name),
        overload=hidden.func.name.overload_name,
        signature=context.spell.spelled(context.signatures.dispatcher(hidden)).function_type,
        tags=tuple(sorted(tags)),
        kernel=_kernel(context, twin),
        operator=str(f.func.name),
        operator_struct=operator_struct(f),
        replacement=_replacement(context, twin),
    )


def _kernel(context: Context, twin: Twin) -> str:
    structs = f"{operator_struct(twin.twin)}, {operator_struct(twin.function)}"
    if twin.is_view:
        return f"opgen::ViewTwin<{structs}>::call"
    own = [_own_result(twin, i) for i, r in enumerate(twin.returns) if r.own is not None]
    return (
        f"opgen::FunctionalTwin<{structs}, {_sequence(context, own)},"
        f" {_sequence(context, _written(twin))}>::call"
    )


def _replacement(context: Context, twin: Twin) -> str:
    structs = f"{operator_struct(twin.function)}, {operator_struct(twin.twin)}"
    if twin.is_view:
        return f"opgen::FunctionalizeView<{structs}>::call"
    given = [str(i) for i, _ in enumerate(twin.function.func.arguments.flat_all)]
    returned = [_returned(twin, i) for i, _ in enumerate(twin.returns)]
    return (
        f"opgen::Functionalize<{structs}, {twin.own_count}, {_sequence(context, given)},"
        f" {_sequence(context, _written(twin))}, {_sequence(context, returned)}>::call"
    )


def _sequence(context: Context, items: list[str]) -> str:
    return f"{context.target.spelling.standard}index_sequence<{', '.join(items)}>"


def _position(twin: Twin, name: str) -> int:
    return [a.name for a in twin.function.func.arguments.flat_all].index(name)


def _written(twin: Twin) -> list[str]:
    return [str(i) for i, a in enumerate(twin.function.func.arguments.flat_all) if a.is_write]


def _own_result(twin: Twin, index: int) -> str:
    """Which return of the operator is a result of the twin's own, and in place of which argument, if any."""
    argument = twin.returns[index].argument
    if argument is None:
        return str(index)
    return f"opgen::either({_position(twin, argument)}, {index})"


def _returned(twin: Twin, index: int) -> str:
    """What the operator returns: an argument, a result of the twin, or whichever there is."""
    value = twin.returns[index]
    if value.argument is None:
        return f"opgen::kFresh + {value.own}"
    if value.own is None:
        return str(_position(twin, value.argument))
    return f"opgen::either({_position(twin, value.argument)}, {value.own})"
