"""Operators as the dispatcher knows them: ops/<root>_ops.h, Operators.cpp and RegisterSchema.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.cpp.names import operator_namespace, operator_struct_name
from opgen.emit.common.base import Block, GeneratedFile, Record, blocks, cpp_string, group_by
from opgen.emit.common.context import Context
from opgen.emit.common.custom_classes import ClassDefinition, class_definitions, type_headers
from opgen.emit.common.fakes import is_faked_in_python
from opgen.emit.common.layout import (
    WIDTH,
    wrap_base,
    wrap_call,
    wrap_comment,
    wrap_list,
    wrap_string,
)
from opgen.emit.common.shards import sharded
from opgen.emit.common.text import operator_struct
from opgen.model.native_function import NativeFunction
from opgen.resolve.fakes import lacks_fake
from opgen.resolve.number_forms import takes_numbers, with_words
from opgen.targets.tags import spell_tags

# Module and context of set_python_module. PyTorch prints the context in parentheses after "you may need to import".
_GENERATED = '"{0}", "it registers the fake"'
_AUTHORS = (
    '"{0}.ops", "if no fake is there, its author has to write one, or a row Meta in the YAML"'
)


class OperatorStruct(Record, frozen=True):
    """The struct of one operator. `kept` is false if a selective build leaves it out. `dispatched` is the name of the
    operator that calls reach, if it is another one."""

    schema: str
    struct: str
    name: str
    overload: str
    returns: str
    types: tuple[str, ...]
    kept: bool
    dispatched: str

    @property
    def comment(self) -> str:
        return wrap_comment(self.schema)

    @property
    def head(self) -> str:
        """`struct add : opgen::Operator<add, Tensor(const Tensor&)> {`."""
        return wrap_base(self.struct, "opgen::Operator", self.struct, self.returns, self.types)

    @property
    def selectable_head(self) -> str:
        """The same for target torch, where an operator that a selection leaves out has another base."""
        base = "opgen::Operator" if self.kept else "opgen::NotSelected"
        return wrap_base(self.struct, base, self.struct, self.returns, self.types)

    @property
    def schema_definition(self) -> str:
        """`schema_str = "...";`, the schema as a string literal."""
        literal = cpp_string(self.schema)
        start = "  static constexpr const char* schema_str ="
        if len(start) + len(literal) + 4 <= WIDTH:
            return f'{start} "{literal}";'
        return f'{start}\n      "{wrap_string(literal, indent=6, tail=";")}";'


class SlotDefinition(Record, frozen=True):
    struct: str
    signature: str

    @property
    def definition(self) -> str:
        arguments = ("name", "overload_name", "&opgen::boxing<schema>")
        return wrap_call(f"opgen::OperatorSlot {self.struct}::slot{{", arguments, "};", indent=0)


class OperatorsHeader(GeneratedFile, frozen=True):
    root: str
    tensor_header: str
    author_includes: tuple[str, ...]
    abi: int
    whole: bool
    blocks: tuple[Block[OperatorStruct], ...]


class OperatorsSource(GeneratedFile, frozen=True):
    name: str
    includes: tuple[str, ...]
    blocks: tuple[Block[SlotDefinition], ...]


class SchemaRow(Record, frozen=True):
    """`module` is the argument list of a `set_python_module` for this row and those after it; empty if there is none.
    `schema` is that of a hidden operator, which has no struct.
    """

    struct: str
    tags: str
    module: str = ""
    schema: str = ""

    @property
    def element(self) -> str:
        """The row as an element of an array."""
        line = f'    {{&{self.struct}::slot, {self.struct}::schema_str, "{self.tags}"}},'
        if len(line) <= WIDTH:
            return line
        items = (f"&{self.struct}::slot", f"{self.struct}::schema_str", f'"{self.tags}"')
        return wrap_list("    {", items, "},")

    @property
    def text_element(self) -> str:
        """The row as an element of an array, without the operator's slot."""
        schema = f'"{cpp_string(self.schema)}"' if self.schema else f"{self.struct}::schema_str"
        module = self.module or "nullptr, nullptr"
        return f'    {{{schema}, "{self.tags}", {module}}},'

    @property
    def tag_list(self) -> str:
        return spell_tags(self.tags.split(",") if self.tags else ())


class SchemaBlock(Record, frozen=True):
    """The schemas of one operator namespace, or, as a fragment, a part of them: other sources or libraries have the
    rest.
    """

    namespace: str
    library: str
    file: str
    items: tuple[SchemaRow, ...]
    fragment: bool

    @property
    def rows(self) -> str:
        return f"opgen_schemas_{self.file}_{self.namespace}"

    @property
    def definition(self) -> str:
        start = f"const opgen::SchemaTable opgen_table_{self.file}_{self.namespace}("
        arguments = (f'"{self.namespace}"', f'"{self.library}"', self.rows)
        return wrap_call(start, arguments, ");", indent=0)

    @property
    def fragment_definition(self) -> str:
        """The same, with the namespace as a fragment or not."""
        start = f"const opgen::SchemaTable opgen_table_{self.file}_{self.namespace}("
        arguments = (f'"{self.namespace}"', str(self.fragment).lower(), self.rows)
        return wrap_call(start, arguments, ");", indent=0)


class RegisterSchemaFile(GeneratedFile, frozen=True):
    library: str
    name: str
    includes: tuple[str, ...]
    classes: tuple[ClassDefinition, ...]
    blocks: tuple[SchemaBlock, ...]


def build_operators_headers(context: Context) -> Iterator[GeneratedFile]:
    """ops/<root>_ops.h: one struct per operator, with its schema and its C++ type."""
    for root in context.roots:
        yield OperatorsHeader(
            path=f"include/{context.library.name}/ops/{root}_ops.h",
            template="ops/root_ops.h.j2",
            root=root,
            tensor_header=context.tensor_header,
            author_includes=type_headers(context, context.functions_by_root[root]),
            abi=context.target.plan.runtime_abi,
            whole=all(map(context.keeps, context.functions_by_root[root])),
            blocks=blocks(
                (operator_namespace(f.namespace), _operator(context, f))
                for f in context.functions_by_root[root]
            ),
        )


def build_operators_sources(context: Context) -> Iterator[GeneratedFile]:
    """Operators[_n].cpp: the slots, one per operator."""
    for name, roots in sharded("Operators", context.roots, str, context.library.shards):
        yield OperatorsSource(
            path=f"src/{name}.cpp",
            template="Operators.cpp.j2",
            name=f"{name}.cpp",
            includes=tuple(sorted(context.library.header(f"ops/{root}_ops.h") for root in roots)),
            blocks=blocks(
                (operator_namespace(f.namespace), _slot(context, f))
                for root in roots
                for f in context.functions_by_root[root]
                if context.keeps(f)
            ),
        )


def build_register_schema(context: Context) -> Iterator[GeneratedFile]:
    """RegisterSchema[_n].cpp: one table of schemas and tags per operator namespace."""
    kept = [f for f in context.registry.functions if context.keeps(f)]
    declared = {f.namespace for f in kept if f.shares_namespace}
    for name, functions in sharded(
        "RegisterSchema", kept, lambda f: f.root_name, context.library.shards
    ):
        yield RegisterSchemaFile(
            path=f"src/{name}.cpp",
            template="RegisterSchema.cpp.j2",
            library=context.library.name,
            name=name,
            includes=operator_headers(context, functions),
            classes=class_definitions(functions),
            blocks=_schema_blocks(context, name, functions, declared),
        )


def _schema_blocks(
    context: Context, file: str, functions: Iterable[NativeFunction], declared: set[str]
) -> tuple[SchemaBlock, ...]:
    """The tables of one source. `declared` are the namespaces that other sources declare; this function adds to it."""
    tags_of = context.target.schema.registered_tags
    found = []
    for namespace, members in group_by(functions, lambda f: f.namespace).items():
        rows = []
        for module, some in _by_python_module(context, members):
            for f in some:
                tags = ",".join(sorted(tags_of(f)))
                rows.append(SchemaRow(operator_struct(f), tags, module))
                module = ""
                if _has_hidden(context, f):
                    schema = context.spell.schema(with_words(f))
                    rows.append(SchemaRow(operator_struct(f), tags, schema=schema))
        found.append(
            SchemaBlock(namespace, context.library.name, file, tuple(rows), namespace in declared)
        )
        declared.add(namespace)
    return tuple(found)


def _by_python_module(
    context: Context, functions: Sequence[NativeFunction]
) -> Iterator[tuple[str, Sequence[NativeFunction]]]:
    """The functions with their arguments of `set_python_module`; those whose fake kernels are in Python come last.

    PyTorch names that module in the error about a missing fake kernel, and accepts fake kernels only from it. So only
    these operators have it.
    """
    if context.target.call_words is None or not context.library.python:
        yield "", functions
        return
    found: dict[str, list[NativeFunction]] = {"": [], _GENERATED: [], _AUTHORS: []}
    for f in functions:
        module = _GENERATED if is_faked_in_python(context, f) else ""
        found[_AUTHORS if lacks_fake(context.registry, f) else module].append(f)
    for words, some in found.items():
        yield words.format(context.library.name), some


def operator_headers(context: Context, functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The headers of operators as the dispatcher knows them, each once and sorted."""
    roots = {f.root_name for f in functions}
    return tuple(sorted(context.library.header(f"ops/{root}_ops.h") for root in roots))


def _slot(context: Context, f: NativeFunction) -> SlotDefinition:
    return SlotDefinition(operator_struct_name(f.func), _signature(context, f))


def _operator(context: Context, f: NativeFunction) -> OperatorStruct:
    signature = context.spell.spelled(context.signatures.dispatcher(f))
    return OperatorStruct(
        schema=context.spell.schema(f),
        struct=operator_struct_name(f.func),
        name=f"{f.namespace}::{f.func.name.name}",
        overload=f.func.name.overload_name,
        returns=signature.returns,
        types=tuple(signature.type_list),
        kept=context.keeps(f),
        dispatched=(
            f"{f.namespace}::{with_words(f).func.name.name}" if _has_hidden(context, f) else ""
        ),
    )


def _has_hidden(context: Context, f: NativeFunction) -> bool:
    return not context.target.schema.passes_numbers and takes_numbers(f)


def _signature(context: Context, f: NativeFunction) -> str:
    """The C++ type through which the dispatcher calls `f`."""
    return context.spell.spelled(context.signatures.dispatcher(f)).function_type
