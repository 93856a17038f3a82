"""Operators as the dispatcher knows them: ops/<root>_ops.h, Operators.cpp and RegisterSchema.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.cpp.names import operator_namespace, operator_struct_name
from opgen.model.native_function import NativeFunction
from opgen.resolve.fakes import lacks_fake
from opgen.targets.tags import spell_tags
from opgen.views.base import Block, FileView, blocks, cpp_string, group_by, view
from opgen.views.context import Context
from opgen.views.custom_classes import ClassDefinition, class_definitions, type_headers
from opgen.views.shards import sharded
from opgen.views.text import operator_struct

# Module and context of set_python_module. PyTorch puts the context in parentheses behind "you may need to import".
_GENERATED = '"{0}", "it registers the fake"'
_AUTHORS = (
    '"{0}.ops", "if no fake is there, its author has to write one, or a row Meta in the YAML"'
)


@view
class OperatorView:
    schema: str
    struct: str
    name: str
    overload: str
    signature: str
    schema_literal: str
    kept: bool


@view
class SlotView:
    struct: str
    signature: str


@view
class OperatorsHeaderView(FileView):
    root: str
    tensor_header: str
    author_includes: tuple[str, ...]
    abi: int
    whole: bool
    blocks: tuple[Block[OperatorView], ...]


@view
class OperatorsSourceView(FileView):
    name: str
    includes: tuple[str, ...]
    blocks: tuple[Block[SlotView], ...]


@view
class SchemaRowView:
    """`module` is the argument list of `set_python_module`, said of this row and those behind it; empty if nothing is said."""

    struct: str
    tags: str
    module: str = ""

    @property
    def tag_list(self) -> str:
        return spell_tags(self.tags.split(",") if self.tags else ())


@view
class SchemaBlockView:
    """The schemas of one operator namespace. A fragment is no claim to all of it: another source or library has some."""

    namespace: str
    items: tuple[SchemaRowView, ...]
    fragment: bool


@view
class RegisterSchemaView(FileView):
    library: str
    name: str
    includes: tuple[str, ...]
    classes: tuple[ClassDefinition, ...]
    blocks: tuple[SchemaBlockView, ...]


def build_operators_headers(context: Context) -> Iterator[FileView]:
    """ops/<root>_ops.h: one struct per operator, with its schema and its C++ type."""
    for root in context.roots:
        yield OperatorsHeaderView(
            path=f"include/{context.library.name}/ops/{root}_ops.h",
            template="ops/root_ops.h.j2",
            root=root,
            tensor_header=context.tensor_header,
            author_includes=type_headers(context, context.functions_by_root[root]),
            abi=context.target.runtime_abi,
            whole=all(map(context.keeps, context.functions_by_root[root])),
            blocks=blocks(
                (operator_namespace(f.namespace), _operator(context, f))
                for f in context.functions_by_root[root]
            ),
        )


def build_operators_sources(context: Context) -> Iterator[FileView]:
    """Operators[_n].cpp: the slots, one per operator."""
    for name, roots in sharded("Operators", context.roots, str, context.library.shards):
        yield OperatorsSourceView(
            path=f"src/{name}.cpp",
            template="Operators.cpp.j2",
            name=f"{name}.cpp",
            includes=tuple(context.library.header(f"ops/{root}_ops.h") for root in roots),
            blocks=blocks(
                (operator_namespace(f.namespace), _slot(context, f))
                for root in roots
                for f in context.functions_by_root[root]
                if context.keeps(f)
            ),
        )


def build_register_schema(context: Context) -> Iterator[FileView]:
    """RegisterSchema[_n].cpp: one table of schemas and tags per operator namespace."""
    kept = [f for f in context.registry.functions if context.keeps(f)]
    declared = {f.namespace for f in kept if f.shares_namespace}
    for name, functions in sharded(
        "RegisterSchema", kept, lambda f: f.root_name, context.library.shards
    ):
        yield RegisterSchemaView(
            path=f"src/{name}.cpp",
            template="RegisterSchema.cpp.j2",
            library=context.library.name,
            name=name,
            includes=operator_headers(context, functions),
            classes=class_definitions(functions),
            blocks=_schema_blocks(context, functions, declared),
        )


def _schema_blocks(
    context: Context, functions: Iterable[NativeFunction], declared: set[str]
) -> tuple[SchemaBlockView, ...]:
    """The tables of one source; `declared` are the namespaces that others declare, and is added to."""
    tags_of = context.target.registered_tags
    found = []
    for namespace, members in group_by(functions, lambda f: f.namespace).items():
        rows = []
        for module, some in _by_python_module(context, members):
            for f in some:
                tags = ",".join(sorted(tags_of(f)))
                rows.append(SchemaRowView(operator_struct(f), tags, module))
                module = ""
        found.append(SchemaBlockView(namespace, tuple(rows), namespace in declared))
        declared.add(namespace)
    return tuple(found)


def _by_python_module(
    context: Context, functions: Sequence[NativeFunction]
) -> Iterator[tuple[str, Sequence[NativeFunction]]]:
    """The functions, those last whose fakes are in Python, with what `set_python_module` says of them.

    PyTorch names that module where a fake is missing, and takes fakes from no other: so it is said of these operators alone.
    """
    if context.target.call_words is None or not context.library.python:
        yield "", functions
        return
    found: dict[str, list[NativeFunction]] = {"": [], _GENERATED: [], _AUTHORS: []}
    for f in functions:
        module = _GENERATED if f.fake is not None else ""
        found[_AUTHORS if lacks_fake(context.registry, f) else module].append(f)
    for words, some in found.items():
        yield words.format(context.library.name), some


def operator_headers(context: Context, functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The headers of operators as the dispatcher knows them, each once and sorted."""
    roots = sorted({f.root_name for f in functions})
    return tuple(context.library.header(f"ops/{root}_ops.h") for root in roots)


def _slot(context: Context, f: NativeFunction) -> SlotView:
    return SlotView(operator_struct_name(f.func), _signature(context, f))


def _operator(context: Context, f: NativeFunction) -> OperatorView:
    schema = context.spell.schema(f)
    return OperatorView(
        schema=schema,
        struct=operator_struct_name(f.func),
        name=f"{f.namespace}::{f.func.name.name}",
        overload=f.func.name.overload_name,
        signature=_signature(context, f),
        schema_literal=cpp_string(schema),
        kept=context.keeps(f),
    )


def _signature(context: Context, f: NativeFunction) -> str:
    """The C++ type through which the dispatcher calls `f`."""
    return context.spell.spelled(context.signatures.dispatcher(f)).function_type
