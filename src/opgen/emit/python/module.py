"""The Python module of a library: its tables of functions, overloads and arguments, and its package.

With several shards `module.cpp` has no tables: those of an operator are in the shard of its root name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.cpp.names import operator_struct_name, parameter_name
from opgen.emit.common.base import GeneratedFile, Record, cpp_string, generated, sharded
from opgen.emit.common.context import MODULE_SOURCE, Context
from opgen.emit.common.text import operator_struct
from opgen.emit.python.calls import (
    PythonCalls,
    build_parts,
    is_empty_list,
    parser_kind,
    parts_of,
    python_calls,
    returns_self,
    selected_by,
    takes_numbers,
)
from opgen.emit.python.stub import PythonDocs, build_python_stubs, documentation
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import NativeFunction
from opgen.model.types import ListType, OptionalType
from opgen.python.python_types import is_none
from opgen.python.signatures import (
    REQUIRES_GRAD,
    PythonArgument,
    PythonFunction,
    PythonOutArgument,
    PythonOverload,
)


class ArgumentRow(Record, frozen=True):
    """`initializers` are the members that differ from their defaults: `.flags = kOptional`, `.value = none()`."""

    name: str
    type: str
    initializers: tuple[str, ...]

    @property
    def members(self) -> str:
        return ", ".join(
            (f'.name = "{self.name}"', f".type = Type::{self.type}", *self.initializers)
        )


class OverloadRow(Record, frozen=True):
    """`self_index` and `out_index` are -1 if there is none; other absent values are `nullptr`."""

    identifier: str
    signature: str
    facts: tuple[str, ...]
    doc: tuple[str, ...]
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


class FunctionRow(Record, frozen=True):
    name: str
    identifier: str
    module: str
    method: str
    overloads: tuple[str, ...]


class PythonTables(Record, frozen=True):
    """Functions, with everything that their rows refer to. `name` is the name of the array of functions."""

    name: str
    includes: tuple[str, ...]
    overloads: tuple[OverloadRow, ...]
    functions: tuple[FunctionRow, ...]


def build_python(context: Context) -> Iterator[GeneratedFile]:
    """Build python/<library>: the package, and the source of its extension module."""
    name = context.library.name
    calls = python_calls(context)
    yield from _module_files(context, calls)
    yield generated(
        path=f"python/{name}/__init__.py",
        template="package.py.j2",
        library=name,
        base=context.library.extends if context.library.extends_python else None,
        has_results=bool(calls.result_classes()),
        parts=parts_of(calls),
    )
    yield from build_parts(context, calls)
    yield from build_python_stubs(context, calls)


def _module_files(context: Context, calls: PythonCalls) -> Iterator[GeneratedFile]:
    """Build python/module.cpp, and its shards if there may be several."""
    library, abi = context.library, context.target.plan.runtime_abi
    docs = PythonDocs(context)
    if library.shards == 1:
        yield generated(
            path=MODULE_SOURCE,
            template="PythonModule.cpp.j2",
            library=library.name,
            abi=abi,
            left_out=calls.left_out,
            tables=_tables(context, calls, docs, "opgen_functions", calls.functions),
        )
        return
    shards = dict(sharded("module", calls.functions, _root_name, library.shards))
    tables = tuple(map(_table_name, shards))
    yield generated(
        path=MODULE_SOURCE,
        template="PythonShardedModule.cpp.j2",
        library=library.name,
        abi=abi,
        left_out=calls.left_out,
        shards=tables,
        shard_names=", ".join(tables),
    )
    for name, functions in shards.items():
        yield generated(
            path=f"python/{name}.cpp",
            template="PythonShard.cpp.j2",
            library=library.name,
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
            sorted(
                context.library.header(f"ops/{root}_ops.h")
                for root in {o.base.root_name for one in functions for o in one.overloads}
            )
        ),
        overloads=tuple(overloads[identifier] for identifier in sorted(overloads)),
        functions=tuple(_function_row(one) for one in functions),
    )


def _table_name(source: str) -> str:
    """Return the C++ name of the table of functions in the shard `source` (module_0, module_1, ...)."""
    return source.replace("module", "opgen_functions")


def _root_name(function: PythonFunction) -> str:
    """Return the root name that all overloads of a name share, out variants included."""
    return function.overloads[0].base.root_name


def _identifier(overload: PythonOverload) -> str:
    """Return the identifier of an operator and its out variant: that of the latter, if there is one."""
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
        doc=tuple(cpp_string(line) for line in _lines(documentation(o))),
        result=f'"{result.name}"' if result else "nullptr",
        arguments=tuple(_argument_row(context, o.base, a) for a in arguments),
        rows=f"opgen_{_identifier(o)}_arguments" if arguments else "nullptr",
        count=len(arguments),
        positional=len(called.input_args),
        self_index=names.index("self") if "self" in names else -1,
        out_index=-1 if out is None else names.index(out.name),
        returns="Self" if returns_self(o.base) else "Result",
        base=", ".join(_operation(context, o.base, slots)),
        with_out="" if o.out is None else ", ".join(_operation(context, o.out, slots)),
    )


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


def _argument_row(context: Context, f: NativeFunction, a: PythonArgument) -> ArgumentRow:
    type = a.type
    optional = isinstance(type, OptionalType)
    several = isinstance(a, PythonOutArgument) and len(a.outputs) > 1
    kind = "Outs" if several else parser_kind(type)
    assert kind is not None, a.name
    optional = optional or isinstance(a, PythonOutArgument) or is_empty_list(a)
    flags = ["kOptional"] if optional else []
    flags += ["kNumbers"] if takes_numbers(f, a) else []
    flags += ["kRequiresGrad"] if a.name == REQUIRES_GRAD else []
    if a is selected_by(f):
        flags.append("kIsTrue" if a.default is None else "kIsFalse")
    bare = type.elem if isinstance(type, OptionalType) else type
    size = bare.size or 0 if isinstance(bare, ListType) else 0
    default = "required()" if a.default is None else _default(context, a.default, kind, size)
    members = [f".flags = {' | '.join(flags)}"] if flags else []
    members += [f".size = {size}"] if size else []
    members.append(f".value = {default}")
    return ArgumentRow(
        name="input" if a.name == "self" and bare == TENSOR else a.name,
        type=kind,
        initializers=tuple(members),
    )


def _default(context: Context, default: str, kind: str, size: int) -> str:
    """Return a default as an expression in the row of an argument."""
    text = {"True": "true", "False": "false"}.get(default, default)
    if is_none(default, context.target.cpp.spelling):
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
    """Return the slot of each argument of the schema, by its C++ name; every out argument has a slot of its own."""
    found: dict[str, int] = {}
    for a in arguments:
        names = [one.name for one in a.outputs] if isinstance(a, PythonOutArgument) else [a.name]
        for name in names:
            found[parameter_name(name)] = len(found)
    return found


def _operation(context: Context, f: NativeFunction, slots: dict[str, int]) -> tuple[str, ...]:
    """Return a thunk, which operators of one signature share, with the operator that it calls."""
    order = (slots[b.name] for b in context.signatures.dispatcher(f).arguments)
    thunk = ", ".join([f"{operator_struct(f)}::schema", *map(str, order)])
    return f"&thunk<{thunk}>", f"&{operator_struct(f)}::slot"
