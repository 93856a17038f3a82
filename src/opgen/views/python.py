"""The Python module of a library: its tables of functions, overloads and arguments, and its package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from opgen import data
from opgen.cpp.names import operator_struct_name
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.check import is_bound
from opgen.python.defaults import is_none, python_default
from opgen.python.overloads import PythonFunction, PythonOverload, python_functions
from opgen.python.signatures import (
    PythonArgument,
    PythonOutArgument,
    PythonSignature,
    Spellings,
    field_names,
)
from opgen.views.base import FileView, cpp_string
from opgen.views.context import Context
from opgen.views.text import operator_struct

# PyTorch binds these by hand; nobody does it here.
_BOUND_HERE = frozenset({"contiguous", "copy_", "to"})
_TAKE_NUMBERS = frozenset(data.read_names("python_numbers.txt"))

_TYPES = {
    BaseTy.Tensor: "Tensor",
    BaseTy.Scalar: "Scalar",
    BaseTy.int: "Int",
    BaseTy.SymInt: "Int",
    BaseTy.DeviceIndex: "Int",
    BaseTy.float: "Float",
    BaseTy.bool: "Bool",
    BaseTy.str: "Str",
    BaseTy.ScalarType: "ScalarType",
    BaseTy.Layout: "Layout",
    BaseTy.Device: "Device",
    BaseTy.MemoryFormat: "MemoryFormat",
    BaseTy.Generator: "Generator",
}
_LISTS = {
    "Tensor": "Tensors",
    "Tensor?": "OptionalTensors",
    "int": "Ints",
    "SymInt": "Ints",
    "float": "Floats",
    "Scalar": "Scalars",
    "bool": "Bools",
}


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    name: str
    type: str
    flags: str
    size: int
    default: str


@dataclass(frozen=True, slots=True)
class OverloadRow:
    """`self_index` and `out_index` are -1 for none; what a row does not have is `nullptr`."""

    identifier: str
    schemas: tuple[str, ...]
    signature: str
    fields: str
    arguments: tuple[ArgumentRow, ...]
    rows: str
    count: int
    positional: int
    self_index: int
    out_index: int
    returns: str
    base: str
    with_out: str


@dataclass(frozen=True, slots=True)
class FunctionRow:
    name: str
    identifier: str
    module: str
    doc: tuple[str, ...]
    method: str
    overloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PythonModuleView(FileView):
    library: str
    abi: int
    includes: tuple[str, ...]
    left_out: tuple[str, ...]
    overloads: tuple[OverloadRow, ...]
    functions: tuple[FunctionRow, ...]


@dataclass(frozen=True, slots=True)
class PythonPackageView(FileView):
    library: str


def build_python(context: Context) -> Iterator[FileView]:
    """python/<library>: the package, and the source of its extension module."""
    if not context.library.python:
        return
    name = context.library.name
    yield _module_view(context)
    yield PythonPackageView(f"python/{name}/__init__.py", "package.py.j2", name)


def _module_view(context: Context) -> PythonModuleView:
    bound = [_as_called(context, f) for f in context.registry.functions if _is_wanted(context, f)]
    taken = [f for f in bound if _unknown_type(f) is None]
    functions = sorted(
        python_functions(taken, _spellings(context)),
        key=lambda one: (one.module or "", one.name, one.method, one.namespace),
    )
    overloads = {
        _identifier(o): _overload_row(context, o) for one in functions for o in one.overloads
    }
    return PythonModuleView(
        path="python/module.cpp",
        template="PythonModule.cpp.j2",
        library=context.library.name,
        abi=context.target.runtime_abi,
        includes=tuple(
            context.library.header(f"ops/{root}_ops.h")
            for root in sorted({f.root_name for f in taken})
        ),
        left_out=tuple(
            f"{f.func.name} ({why})" for f in bound if (why := _unknown_type(f)) is not None
        ),
        overloads=tuple(overloads[identifier] for identifier in sorted(overloads)),
        functions=tuple(_function_row(context, one) for one in functions),
    )


def _is_wanted(context: Context, f: NativeFunction) -> bool:
    return context.keeps(f) and (is_bound(f) or str(f.func.name.name) in _BOUND_HERE)


def _as_called(context: Context, f: NativeFunction) -> NativeFunction:
    """A library that extends another has functions for its methods: class Tensor is not its own."""
    if context.library.extends is None or Variant.method not in f.variants:
        return f
    return replace(f, variants=frozenset({Variant.function}))


def _spellings(context: Context) -> Spellings:
    return Spellings(context.target.spelling, context.target.python)


def _unknown_type(f: NativeFunction) -> str | None:
    """A type of `f` that no argument of Python becomes."""
    types = (a.type for a in f.func.arguments.flat_all)
    return next((f"no {type} in Python" for type in types if _kind(type) is None), None)


def _kind(type: Type) -> str | None:
    match type:
        case BaseType(name):
            return _TYPES.get(name)
        case OptionalType(elem):
            return _kind(elem)
        case ListType(elem):
            return _LISTS.get(str(elem))
        case _:
            return None


def _identifier(overload: PythonOverload) -> str:
    """An operator is the out variant of one other, so either names the pair."""
    f = overload.out or overload.base
    return f"{f.namespace}_{operator_struct_name(f.func)}"


def _function_row(context: Context, function: PythonFunction) -> FunctionRow:
    form = "method" if function.method else "function"
    return FunctionRow(
        name=function.name,
        identifier="_".join(
            filter(None, (function.namespace, function.module, function.name, form))
        ),
        module=function.module or "",
        doc=tuple(cpp_string(line) for line in _doc(context, function)),
        method=str(function.method).lower(),
        overloads=tuple(_identifier(o) for o in function.overloads),
    )


def _doc(context: Context, function: PythonFunction) -> Iterator[str]:
    """The signatures, then the schemas that they are of."""
    for o in function.overloads:
        yield _signature(context, o, method=function.method).signature_str_help(_spellings(context))
    yield ""
    for o in function.overloads:
        for f in filter(None, (o.base, o.out)):
            yield f"{f.namespace}::{context.spell.schema(f)}"


def _signature(context: Context, o: PythonOverload, *, method: bool) -> PythonSignature:
    """The signature with those tensor options that the operator itself takes, and its defaults."""
    f = o.out or o.base
    signature = PythonSignature.from_native_function(f, context.target.spelling, method=method)
    return replace(signature, tensor_options_args=tuple(_options(context, o.base)))


def _options(context: Context, f: NativeFunction) -> Iterator[PythonArgument]:
    options = f.func.arguments.tensor_options
    for a in () if options is None else options.all():
        default = a.default or "None"
        yield PythonArgument(
            a.name, a.type, python_default(default, a.type, context.target.spelling)
        )


def _overload_row(context: Context, o: PythonOverload) -> OverloadRow:
    signature = _signature(context, o, method=False)
    arguments = signature.arguments()
    names = [a.name for a in arguments]
    slots = _slots(arguments)
    out = signature.output_args
    fields = field_names(o.base.func.returns)
    numbers = o.base.namespace == "aten" and str(o.base.func.name.name) in _TAKE_NUMBERS
    return OverloadRow(
        identifier=_identifier(o),
        schemas=tuple(context.spell.schema(f) for f in (o.base, o.out) if f is not None),
        signature=cpp_string(signature.signature_str_help(_spellings(context))),
        fields=f'"{" ".join(fields)}"' if fields else "nullptr",
        arguments=tuple(_argument_row(context, a, numbers) for a in arguments),
        rows=f"opgen_{_identifier(o)}_arguments" if arguments else "nullptr",
        count=len(arguments),
        positional=len(signature.input_args),
        self_index=names.index("self") if "self" in names else -1,
        out_index=-1 if out is None else names.index(out.name),
        returns="Self" if not o.base.func.returns and o.base.func.name.name.inplace else "Result",
        base=_thunk(context, o.base, slots),
        with_out="nullptr" if o.out is None else _thunk(context, o.out, slots),
    )


def _argument_row(context: Context, a: PythonArgument, numbers: bool) -> ArgumentRow:
    type = a.type
    optional = isinstance(type, OptionalType)
    several = isinstance(a, PythonOutArgument) and len(a.outputs) > 1
    kind = "Outs" if several else _kind(type)
    assert kind is not None, a.name
    flags = ["kOptional"] if optional or isinstance(a, PythonOutArgument) else []
    flags += (
        ["kNumbers"]
        if numbers and kind == "Tensor" and not isinstance(a, PythonOutArgument)
        else []
    )
    bare = type.elem if isinstance(type, OptionalType) else type
    size = bare.size or 0 if isinstance(bare, ListType) else 0
    return ArgumentRow(
        name="input" if a.name == "self" and bare == BaseType(BaseTy.Tensor) else a.name,
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
    """Where each argument of the schema is: every out argument has a slot of its own."""
    found: dict[str, int] = {}
    for a in arguments:
        names = [one.name for one in a.outputs] if isinstance(a, PythonOutArgument) else [a.name]
        for name in names:
            found[name] = len(found)
    return found


def _thunk(context: Context, f: NativeFunction, slots: dict[str, int]) -> str:
    order = (slots[b.name] for b in context.signatures.dispatcher(f).arguments())
    return f"&thunk<{', '.join([operator_struct(f), *map(str, order)])}>"
