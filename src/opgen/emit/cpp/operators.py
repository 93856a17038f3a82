"""Operators as the dispatcher knows them: ops/<root>_ops.h, Operators.cpp and RegisterSchema.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import (
    GeneratedFile,
    Item,
    blocks,
    cpp_string,
    generated,
    group_by,
    sharded,
    sorted_includes,
)
from opgen.emit.common.context import Context, class_definitions, type_headers
from opgen.emit.common.text import operator_struct
from opgen.model.native_function import AliasAnalysisKind, NativeFunction
from opgen.model.profile import operator_namespace
from opgen.resolve.dispatch_tables import key_of_fake
from opgen.resolve.functional_forms import (
    HIDDEN_PREFIX,
    has_form_below,
    name_below,
    takes_numbers,
    with_words,
)
from opgen.resolve.overload_order import by_overloads, in_order_of_registration
from opgen.targets.base import FileKind, spell_tags


def is_faked_in_python(context: Context, f: NativeFunction) -> bool:
    """Return whether Python registers a fake kernel for `f`: for a `fake` line, or one that calls the library's."""
    if f.fake is not None:
        return True
    calls_library = FileKind.PYTHON_REGISTRATIONS in context.target.plan.kinds
    return calls_library and key_of_fake(context.registry, f) is not None


# Module and context of set_python_module. PyTorch prints the context in parentheses after "you may need to import".
_GENERATED = ('"{0}"', '"it registers the fake"')


def build_operators_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>_ops.h: one struct per operator, with its schema and its C++ type."""
    for root in context.roots:
        functions = context.functions_by_root[root]
        yield generated(
            path=f"include/{context.library.name}/ops/{root}_ops.h",
            template="ops/root_ops.h.j2",
            root=root,
            own_tensor=context.own_tensor,
            includes=sorted_includes(
                context.tensor_header,
                "opgen/operator.h",
                *(() if all(map(context.keeps, functions)) else ("opgen/not_selected.h",)),
                *type_headers(context, functions),
            ),
            blocks=blocks(
                (operator_namespace(f.namespace), operator_item(context, f)) for f in functions
            ),
        )


def build_operators_sources(context: Context) -> Iterator[GeneratedFile]:
    """Build Operators[_n].cpp: the slots, one per operator."""
    for name, roots in sharded("Operators", context.roots, str, context.library.shards):
        yield generated(
            path=f"src/{name}.cpp",
            template="Operators.cpp.j2",
            name=f"{name}.cpp",
            includes=tuple(sorted(context.library.header(f"ops/{root}_ops.h") for root in roots)),
            blocks=blocks(
                (
                    operator_namespace(f.namespace),
                    Item(
                        struct=operator_struct_name(f.func),
                        function_type=context.spell.spelled(
                            context.signatures.dispatcher(f)
                        ).function_type,
                    ),
                )
                for root in roots
                for f in context.functions_by_root[root]
                if context.keeps(f)
            ),
        )


def build_register_schema(context: Context) -> Iterator[GeneratedFile]:
    """Build RegisterSchema[_n].cpp: one table of schemas and tags per operator namespace."""
    kept = [f for f in context.registry.functions if context.keeps(f)]
    declared = {f.namespace for f in kept if f.shares_namespace}
    for name, functions in sharded(
        "RegisterSchema", kept, lambda f: f.root_name, context.library.shards
    ):
        yield generated(
            path=f"src/{name}.cpp",
            template="RegisterSchema.cpp.j2",
            library=context.library.name,
            name=name,
            includes=operator_headers(context, functions),
            abi=context.target.plan.runtime_abi,
            classes=class_definitions(functions),
            blocks=tuple(_schema_blocks(context, name, functions, declared)),
        )


def _schema_blocks(
    context: Context, file: str, functions: Iterable[NativeFunction], declared: set[str]
) -> Iterator[Item]:
    """Yield the tables of one source: the schemas of one operator namespace.

    Those of `declared` namespaces are fragments: other sources or libraries have the rest. This function adds to it.
    """
    for namespace, members in group_by(functions, lambda f: f.namespace).items():
        parts = _parts_with_modules(_by_python_module(context, members))
        for number, part in enumerate(parts):
            # The file and the line of the first operator, for PyTorch's messages; they are those of the author.
            place = part[0][1][0].spans.entry
            yaml = place.source.path.replace("\\", "/").rpartition("/")[2]
            is_fragment = namespace in declared
            declared.add(namespace)
            suffix = f"{file}_{namespace}" + (f"_{number}" if number else "")
            yield Item(
                namespace=namespace,
                library=context.library.name,
                macro="OPGEN_LIBRARY_FRAGMENT" if is_fragment else "OPGEN_LIBRARY",
                is_fragment=str(is_fragment).lower(),
                rows=f"opgen_schemas_{suffix}",
                name=f"opgen_table_{suffix}",
                items=tuple(_schema_rows(context, part)),
                yaml=cpp_string(yaml),
                line=place.source.location(place.start).line,
            )


def _schema_rows(context: Context, part: Iterable[_ModuleRun]) -> Iterator[Item]:
    """Yield the registrations of schemas: of operators, and of the hidden ones, which have no struct.

    `module` has the arguments of the `set_python_module` before one; empty if there is none.
    """
    for module, some in part:
        for f in some:
            struct, kind = operator_struct(f), f.alias_analysis
            schema = f"{struct}::schema_str"
            analysed = schema
            if kind not in (None, AliasAnalysisKind.from_schema):
                analysed = f"torch::schema({schema}, c10::AliasAnalysisKind::{kind.name.upper()})"
            tags = sorted(context.target.schema.registered_tags(f))
            row = Item(
                struct=struct,
                schema=schema,
                analysed=analysed,
                tags=",".join(tags),
                spelled_tags=spell_tags(tags),
                module=", ".join(module),
                module_text=", ".join(module or _NO_MODULE),
            )
            yield row
            module = ()
            hidden = [str(with_words(f).func)] if is_hidden(context, f) else []
            hidden += [f"{HIDDEN_PREFIX}{f.func}"] if _has_form_below(context, f) else []
            for text in hidden:
                schema, no_module = f'"{cpp_string(text)}"', ", ".join(_NO_MODULE)
                own = {"schema": schema, "module": "", "module_text": no_module}
                yield Item(**{**vars(row), **own})


_NO_MODULE = ("nullptr", "nullptr")
# The arguments of `set_python_module`, empty for none, and the functions that are registered after it.
_ModuleRun: TypeAlias = tuple[tuple[str, ...], Sequence[NativeFunction]]


def _parts_with_modules(runs: Iterable[_ModuleRun]) -> list[list[_ModuleRun]]:
    """Return the runs for each block: nothing takes a module back, so functions without one begin a new block."""
    found: list[list[_ModuleRun]] = []
    for module, some in runs:
        if some and (not found or (not module and found[-1][-1][0])):
            found.append([])
        if some:
            found[-1].append((module, some))
    return found


def _by_python_module(context: Context, functions: Sequence[NativeFunction]) -> list[_ModuleRun]:
    """Return the functions with their arguments of `set_python_module`; those without any come first.

    PyTorch names that module in the error about a missing fake kernel, and accepts fake kernels only from it. So only
    operators whose fake kernels opgen generates, and those for which the author says so, have it: an author's fake may be
    in any module. Overloads are in the order in which PyTorch must try them.
    """
    if not context.target.dispatch.functionalizes:
        return [((), functions)]
    ordered = in_order_of_registration(functions)
    makes_fakes = context.target.call_words is not None and bool(context.library.python)
    found: dict[tuple[str, ...], list[NativeFunction]] = {(): []}
    words = {}
    for f in ordered:
        words[id(f)] = (f'"{f.fake_module}"', '""') if f.fake_module else ()
        if makes_fakes and is_faked_in_python(context, f):
            words[id(f)] = _GENERATED
        found.setdefault(words[id(f)], []).append(f)
    # Overloads that the modules put in another order come last, one by one.
    parted = by_overloads(f for some in found.values() for f in some)
    late = [f for name, some in by_overloads(ordered).items() if parted[name] != some for f in some]
    moved = {id(f) for f in late}
    runs = [(module, [f for f in some if id(f) not in moved]) for module, some in found.items()]
    runs += [(one, list(some)) for one, some in groupby(late, lambda f: words[id(f)])]
    name = context.library.name
    return [(tuple(word.format(name) for word in module), some) for module, some in runs]


def operator_headers(context: Context, functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """Return the headers of operators as the dispatcher knows them, each once and sorted."""
    roots = {f.root_name for f in functions}
    return tuple(sorted(context.library.header(f"ops/{root}_ops.h") for root in roots))


def operator_item(context: Context, f: NativeFunction) -> Item:
    """Return the struct of an operator. `dispatched` is the name of the operator that calls reach, if it is another one."""
    signature = context.spell.spelled(context.signatures.dispatcher(f))
    kept = context.keeps(f)
    return Item(
        schema=str(f.func),
        schema_text=cpp_string(str(f.func)),
        struct=operator_struct_name(f.func),
        # For target torch, where an operator that a selection leaves out has another base.
        base="opgen::Operator" if kept else "opgen::NotSelected",
        name=f"{f.namespace}::{f.func.name.name}",
        overload=f.func.name.overload_name,
        function_type=signature.function_type,
        kept=kept,
        dispatched=(
            f"{f.namespace}::{with_words(f).func.name.name}" if is_hidden(context, f) else ""
        ),
        below=name_below(f) if _has_form_below(context, f) else "",
    )


def is_hidden(context: Context, f: NativeFunction) -> bool:
    """Return whether a hidden operator does the work of `f`, because the target does not pass its numbers."""
    return not context.target.schema.passes_numbers and takes_numbers(f)


def _has_form_below(context: Context, f: NativeFunction) -> bool:
    return context.target.dispatch.has_forms_below_autograd and has_form_below(f)
