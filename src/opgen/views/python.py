"""The Python module of a library: its tables of functions, overloads and arguments, and its package.

With several shards `module.cpp` has no tables: those of an operator are in the shard of its root name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.cpp.names import operator_struct_name, parameter_name
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import NativeFunction
from opgen.model.types import ListType, OptionalType
from opgen.python.defaults import is_none
from opgen.python.overloads import PythonFunction, PythonOverload
from opgen.python.signatures import (
    REQUIRES_GRAD,
    PythonArgument,
    PythonOutArgument,
)
from opgen.views.base import FileView, cpp_string, view
from opgen.views.context import MODULE_SOURCE, Context
from opgen.views.python_calls import (
    PythonCalls,
    is_empty_list,
    parser_kind,
    python_calls,
    returns_self,
    takes_numbers,
)
from opgen.views.python_docs import PythonDocs
from opgen.views.python_stub import build_python_stubs
from opgen.views.shards import sharded
from opgen.views.text import operator_struct


@view
class ArgumentRow:
    name: str
    type: str
    flags: str
    size: int
    default: str


@view
class OverloadRow:
    """`self_index` and `out_index` are -1 for none; what a row does not have is `nullptr`."""

    identifier: str
    signature: str
    facts: tuple[str, ...]
    result: str
    arguments: tuple[ArgumentRow, ...]
    rows: str
    count: int
    positional: int
    self_index: int
    out_index: int
    returns: str
    base: str
    with_out: str


@view
class FunctionRow:
    name: str
    identifier: str
    module: str
    method: str
    overloads: tuple[str, ...]


@view
class PythonTables:
    """Functions, with all that their rows refer to; the array of functions is called `name`."""

    name: str
    includes: tuple[str, ...]
    overloads: tuple[OverloadRow, ...]
    functions: tuple[FunctionRow, ...]


@view
class PythonModuleView(FileView):
    library: str
    abi: int
    left_out: tuple[str, ...]
    tables: PythonTables


@view
class PythonShardedModuleView(FileView):
    """`shards` are the names of the tables that are in other sources."""

    library: str
    abi: int
    left_out: tuple[str, ...]
    shards: tuple[str, ...]


@view
class PythonShardView(FileView):
    """`shard` is what the module calls the functions of `tables`."""

    library: str
    abi: int
    name: str
    shard: str
    tables: PythonTables


@view
class PythonPackageView(FileView):
    """`base` is the package whose class Tensor this one uses; None for the one that has it."""

    library: str
    base: str | None
    owns_tensor: bool
    has_results: bool


def build_python(context: Context) -> Iterator[FileView]:
    """python/<library>: the package, and the source of its extension module."""
    name = context.library.name
    calls = python_calls(context)
    yield from _module_views(context, calls)
    yield PythonPackageView(
        path=f"python/{name}/__init__.py",
        template="package.py.j2",
        library=name,
        base=context.library.extends if context.library.extends_python else None,
        owns_tensor=context.library.extends is None,
        has_results=bool(calls.result_classes()),
    )
    yield from build_python_stubs(context, calls)


def _module_views(context: Context, calls: PythonCalls) -> Iterator[FileView]:
    """python/module.cpp, and its shards if there may be several."""
    library, abi = context.library, context.target.runtime_abi
    docs = PythonDocs(context)
    if library.shards == 1:
        yield PythonModuleView(
            path=MODULE_SOURCE,
            template="PythonModule.cpp.j2",
            library=library.name,
            abi=abi,
            left_out=calls.left_out,
            tables=_tables(context, calls, docs, "opgen_functions", calls.functions),
        )
        return
    shards = dict(sharded("module", calls.functions, _root_name, library.shards))
    yield PythonShardedModuleView(
        path=MODULE_SOURCE,
        template="PythonShardedModule.cpp.j2",
        library=library.name,
        abi=abi,
        left_out=calls.left_out,
        shards=tuple(_table_name(name) for name in shards),
    )
    for name, functions in shards.items():
        yield PythonShardView(
            path=f"python/{name}.cpp",
            template="PythonShard.cpp.j2",
            library=library.name,
            abi=abi,
            name=name,
            shard=_table_name(name),
            tables=_tables(context, calls, docs, f"{_table_name(name)}_rows", functions),
        )


def _tables(
    context: Context,
    calls: PythonCalls,
    docs: PythonDocs,
    name: str,
    functions: Sequence[PythonFunction],
) -> PythonTables:
    overloads = {
        _identifier(o): _overload_row(context, calls, docs, o)
        for one in functions
        for o in one.overloads
    }
    return PythonTables(
        name=name,
        includes=tuple(
            context.library.header(f"ops/{root}_ops.h")
            for root in sorted(set(map(_root_name, functions)))
        ),
        overloads=tuple(overloads[identifier] for identifier in sorted(overloads)),
        functions=tuple(_function_row(one) for one in functions),
    )


def _table_name(source: str) -> str:
    """What the module calls the functions in `source`, which is its shard module_0, module_1, ..."""
    return source.replace("module", "opgen_functions")


def _root_name(function: PythonFunction) -> str:
    """All overloads of a name have one root name, out variants included."""
    return function.overloads[0].base.root_name


def _identifier(overload: PythonOverload) -> str:
    """An operator is the out variant of one other, so either names the pair."""
    f = overload.out or overload.base
    return f"{f.namespace}_{operator_struct_name(f.func)}"


def _function_row(function: PythonFunction) -> FunctionRow:
    form = "method" if function.method else "function"
    return FunctionRow(
        name=function.name,
        identifier="_".join(
            filter(None, (function.namespace, function.module, function.name, form))
        ),
        module=function.module or "",
        method=str(function.method).lower(),
        overloads=tuple(_identifier(o) for o in function.overloads),
    )


def _overload_row(
    context: Context, calls: PythonCalls, docs: PythonDocs, o: PythonOverload
) -> OverloadRow:
    called = calls.signature(o, method=False)
    arguments = called.arguments()
    names = [a.name for a in arguments]
    slots = _slots(arguments)
    out = called.output_args
    result = calls.result_class(o)
    return OverloadRow(
        identifier=_identifier(o),
        signature=cpp_string(called.signature_str_help(calls.spellings)),
        facts=tuple(cpp_string(line) for line in docs.lines(o)),
        result=f'"{result.name}"' if result else "nullptr",
        arguments=tuple(_argument_row(context, o.base, a) for a in arguments),
        rows=f"opgen_{_identifier(o)}_arguments" if arguments else "nullptr",
        count=len(arguments),
        positional=len(called.input_args),
        self_index=names.index("self") if "self" in names else -1,
        out_index=-1 if out is None else names.index(out.name),
        returns="Self" if returns_self(o.base) else "Result",
        base=_operation(context, o.base, slots),
        with_out="{}" if o.out is None else _operation(context, o.out, slots),
    )


def _argument_row(context: Context, f: NativeFunction, a: PythonArgument) -> ArgumentRow:
    type = a.type
    optional = isinstance(type, OptionalType)
    several = isinstance(a, PythonOutArgument) and len(a.outputs) > 1
    kind = "Outs" if several else parser_kind(type)
    assert kind is not None, a.name
    optional = optional or isinstance(a, PythonOutArgument) or is_empty_list(a)
    flags = ["kOptional"] if optional else []
    flags += ["kNumbers"] if takes_numbers(f, a) else []
    flags += ["kNever"] if a.name == REQUIRES_GRAD else []
    bare = type.elem if isinstance(type, OptionalType) else type
    size = bare.size or 0 if isinstance(bare, ListType) else 0
    return ArgumentRow(
        name="input" if a.name == "self" and bare == TENSOR else a.name,
        type=kind,
        flags=" | ".join(flags) or "kPlain",
        size=size,
        default="required()" if a.default is None else _default(context, a.default, kind, size),
    )


def _default(context: Context, default: str, kind: str, size: int) -> str:
    """A default as the row of an argument writes it."""
    text = {"True": "true", "False": "false"}.get(default, default)
    if is_none(default, context.target.spelling):
        return "none()" if kind != "Ints" or default != "{}" else "integers<>()"
    if kind == "Ints":
        values = text.strip("{}") if text[:1] == "{" else ", ".join([text] * (size or 1))
        return f"integers<{values}>()"
    if kind == "Str":
        return f"text({text})"
    if kind == "Float" or (kind == "Scalar" and not text.lstrip("-").isdigit()):
        return f"real({text})"
    return f"integer({text})"


def _slots(arguments: Sequence[PythonArgument]) -> dict[str, int]:
    """Where each argument of the schema is, by its C++ name: every out argument has a slot of its own."""
    found: dict[str, int] = {}
    for a in arguments:
        names = [one.name for one in a.outputs] if isinstance(a, PythonOutArgument) else [a.name]
        for name in names:
            found[parameter_name(name)] = len(found)
    return found


def _operation(context: Context, f: NativeFunction, slots: dict[str, int]) -> str:
    """A thunk, which operators of one signature share, with the operator that it calls."""
    order = (slots[b.name] for b in context.signatures.dispatcher(f).arguments())
    thunk = ", ".join([f"{operator_struct(f)}::schema", *map(str, order)])
    return f"{{&thunk<{thunk}>, &{operator_struct(f)}::slot}}"
