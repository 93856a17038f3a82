"""The Python module of a library: its tables of functions, overloads and arguments, and its package.

With several shards `module.cpp` has no tables: those of an operator are in the shard of its root name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.cpp.names import operator_struct_name, parameter_name
from opgen.emit.common.base import GeneratedFile, Item, cpp_string, generated, sharded
from opgen.emit.common.context import MODULE_SOURCE, Context
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.emit.python.calls import (
    PythonCalls,
    build_parts,
    is_empty_list,
    parts_of,
    python_calls,
    returns_self,
    selected_by,
    takes_numbers,
)
from opgen.emit.python.stub import build_python_stubs, documentation, facts
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import NativeFunction
from opgen.model.types import ListType, OptionalType
from opgen.python.python_types import is_none, parser_kind
from opgen.python.signatures import (
    REQUIRES_GRAD,
    PythonArgument,
    PythonFunction,
    PythonOutArgument,
    PythonOverload,
)


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
    if library.shards == 1:
        yield generated(
            path=MODULE_SOURCE,
            template="PythonModule.cpp.j2",
            library=library.name,
            abi=abi,
            left_out=calls.left_out,
            tables=_tables(calls, "opgen_functions", calls.functions),
        )
        return
    # All overloads of a name, out variants included, have one root name.
    roots = {id(f): f.overloads[0].base.root_name for f in calls.functions}
    shards = dict(sharded("module", calls.functions, lambda f: roots[id(f)], library.shards))
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
            tables=_tables(calls, f"{_table_name(name)}_rows", functions),
        )


def _tables(calls: PythonCalls, name: str, functions: Sequence[PythonFunction]) -> Item:
    """Return functions, with everything that their rows refer to. `name` is the name of the array of functions."""
    overloads = {_identifier(o): o for one in functions for o in one.overloads}
    return Item(
        name=name,
        includes=operator_headers(calls.context, (o.base for o in overloads.values())),
        overloads=tuple(_overload_row(calls, overloads[name]) for name in sorted(overloads)),
        functions=tuple(map(_function_row, functions)),
    )


def _table_name(source: str) -> str:
    """Return the C++ name of the table of functions in the shard `source` (module_0, module_1, ...)."""
    return source.replace("module", "opgen_functions")


def _identifier(overload: PythonOverload) -> str:
    """Return the identifier of an operator and its out variant: that of the latter, if there is one."""
    f = overload.out or overload.base
    return f"{f.namespace}_{operator_struct_name(f.func)}"


def _function_row(function: PythonFunction) -> Item:
    form = "method" if function.method else "function"
    words = (function.namespace, function.module, function.name, form)
    return Item(
        name=function.name,
        identifier="_".join(filter(None, words)),
        module=function.module or "",
        method=str(function.method).lower(),
        overloads=tuple(map(_identifier, function.overloads)),
    )


def _overload_row(calls: PythonCalls, o: PythonOverload) -> Item:
    """Return an overload. Its indices are -1 if there is no such argument; other absent values are `nullptr`."""
    context, called = calls.context, calls.signature(o, method=False)
    arguments = called.arguments()
    names = [a.name for a in arguments]
    slots = _slots(arguments)
    out = called.output_args
    result, doc = calls.result_class(o), documentation(o)
    return Item(
        identifier=_identifier(o),
        signature=cpp_string(called.signature_str_help(calls.spellings)),
        facts=tuple(map(cpp_string, facts(o, calls))),
        doc=() if doc is None else tuple(map(cpp_string, doc.split("\n"))),
        result=f'"{result.name}"' if result else "nullptr",
        arguments=tuple(", ".join(_argument(context, o.base, a)) for a in arguments),
        rows=f"opgen_{_identifier(o)}_arguments" if arguments else "nullptr",
        count=len(arguments),
        positional=len(called.input_args),
        self_index=names.index("self") if "self" in names else -1,
        out_index=-1 if out is None else names.index(out.name),
        returns="Self" if returns_self(o.base) else "Result",
        base=", ".join(_operation(context, o.base, slots)),
        with_out="" if o.out is None else ", ".join(_operation(context, o.out, slots)),
    )


def _argument(context: Context, f: NativeFunction, a: PythonArgument) -> Iterator[str]:
    """Yield the initializers of an argument: `.flags = kOptional`, `.value = none()`."""
    is_out = isinstance(a, PythonOutArgument)
    several = isinstance(a, PythonOutArgument) and len(a.outputs) > 1
    kind = "Outs" if several else parser_kind(a.type)
    assert kind is not None, a.name
    optional = isinstance(a.type, OptionalType) or is_out or is_empty_list(a)
    flags = ["kOptional"] if optional else []
    flags += ["kNumbers"] if takes_numbers(f, a) else []
    flags += ["kRequiresGrad"] if a.name == REQUIRES_GRAD else []
    if a is selected_by(f):
        flags.append("kIsTrue" if a.default is None else "kIsFalse")
    bare = a.type.elem if isinstance(a.type, OptionalType) else a.type
    size = bare.size or 0 if isinstance(bare, ListType) else 0
    yield f'.name = "{"input" if a.name == "self" and bare == TENSOR else a.name}"'
    yield f".type = Type::{kind}"
    if flags:
        yield f".flags = {' | '.join(flags)}"
    if size:
        yield f".size = {size}"
    default = "required()" if a.default is None else _default(context, a.default, kind, size)
    yield f".value = {default}"


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
