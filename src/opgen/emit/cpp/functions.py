"""The public functions: ops/<root>.h, RedispatchFunctions.h, TensorBody.h and TensorMethods.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from opgen.cpp.names import operator_struct_name
from opgen.cpp.signatures import Binding
from opgen.cpp.type_values import SCALAR, TENSOR, Base, ConstRef, CType, MutRef
from opgen.emit.common.base import (
    Block,
    GeneratedFile,
    PublicFunction,
    Record,
    blocks,
    group_by,
    sharded,
    sorted_includes,
    unique,
)
from opgen.emit.common.context import Context
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace
from opgen.model.types import BaseTy, BaseType

# By root names. Source: ATen's TensorOperators.h and TensorBody.h.
_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "remainder": "%",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_UNARY = {"neg": "-", "bitwise_not": "~"}
_INPLACE = {"add", "sub", "mul", "div", "bitwise_and", "bitwise_or", "bitwise_xor"}
_TENSOR, _SCALAR, _WRITTEN = ConstRef(TENSOR), ConstRef(SCALAR), MutRef(TENSOR)
_TENSOR_TYPE = BaseType(BaseTy.Tensor)
_WRAP = "opgen::wrapped_scalar_tensor({})"


class TensorOperators(Record, frozen=True):
    """The C++ operators that call one operator of the library: for tensors, and for a tensor and a number."""

    root: str
    text: str
    functions: tuple[PublicFunction, ...]


def tensor_operators(
    context: Context, functions: Iterable[NativeFunction]
) -> Iterator[TensorOperators]:
    """Yield the C++ operators of those that have any. The first of several operators that suit one has it."""
    found: set[tuple[str, int]] = set()
    for f in functions:
        kind, names = f.func.kind(), _arguments(f)
        if names is None or [r.type for r in f.func.returns] != [_TENSOR_TYPE]:
            continue
        symbol = _symbol(f, len(names))
        if symbol is None or (symbol, len(names)) in found:
            continue
        found.add((symbol, len(names)))
        if len(names) == 1:
            made: Iterable[PublicFunction] = [_unary(context, f, symbol, names[0])]
        else:
            left = (_WRITTEN,) if kind is SchemaKind.inplace else (_TENSOR, _SCALAR)
            made = _binary(context, f, symbol, left, names)
        yield TensorOperators(f.root_name, context.spell.schema(f), tuple(made))


def _symbol(f: NativeFunction, tensors: int) -> str | None:
    """Return the C++ operator with the meaning of `f`, which takes one or two tensors."""
    kind, name = f.func.kind(), f.root_name
    if kind is SchemaKind.functional:
        return (_UNARY if tensors == 1 else _BINARY).get(name)
    is_inplace = kind is SchemaKind.inplace and tensors == 2 and name in _INPLACE
    return f"{_BINARY[name]}=" if is_inplace else None


def _unary(context: Context, f: NativeFunction, symbol: str, name: str) -> PublicFunction:
    return _operator(context, f, symbol, ((_TENSOR, name),), (name,))


def _binary(
    context: Context,
    f: NativeFunction,
    symbol: str,
    left: tuple[CType, ...],
    names: tuple[str, ...],
) -> Iterator[PublicFunction]:
    """Yield the operator for two tensors, and those for a tensor and a number."""
    alpha = ("1",) if _has_alpha(f) else ()
    for first in left:
        for second in (_TENSOR, _SCALAR):
            if first == second == _SCALAR:
                continue
            given = ((first, names[0]), (second, names[1]))
            passed = (_WRAP.format(name) if type == _SCALAR else name for type, name in given)
            yield _operator(context, f, symbol, given, (*passed, *alpha))


def _operator(
    context: Context,
    f: NativeFunction,
    symbol: str,
    given: tuple[tuple[CType, str], ...],
    arguments: tuple[str, ...],
) -> PublicFunction:
    parameters = tuple(f"{context.spell.type(type)} {name}" for type, name in given)
    returned = _WRITTEN if given[0][0] == _WRITTEN else TENSOR
    return PublicFunction(
        text="",
        returns=context.spell.type(returned),
        name=f"operator{symbol}",
        given=parameters,
        given_plainly=parameters,
        callee=f"{operator_struct(f)}::call",
        arguments=arguments,
    )


def _arguments(f: NativeFunction) -> tuple[str, ...] | None:
    """Return the names of one or two tensors; None for an operator that takes anything else, except `alpha=1`."""
    given = f.func.arguments.flat_all
    tensors = given[:-1] if _has_alpha(f) else given
    if all(a.type == _TENSOR_TYPE for a in tensors) and len(tensors) in (1, 2):
        return tuple(a.name for a in tensors)
    return None


def _has_alpha(f: NativeFunction) -> bool:
    last = f.func.arguments.flat_all[-1:]
    return bool(last) and last[0].name == "alpha" and last[0].default == "1"


_KEY_SET = Binding("dispatchKeySet", Base("DispatchKeySet"))


class FunctionsHeader(GeneratedFile, frozen=True):
    library: str
    root: str
    blocks: tuple[Block[PublicFunction], ...]


class RedispatchHeader(GeneratedFile, frozen=True):
    library: str
    blocks: tuple[Block[PublicFunction], ...]


class TensorHeader(GeneratedFile, frozen=True):
    """`conjugates`: whether the library has a method `conj`; the formulas of gradients need one."""

    library: str
    abi: int
    own_includes: tuple[str, ...]
    methods: tuple[PublicFunction, ...]
    left_out: tuple[PublicFunction, ...]
    conjugates: bool
    operators: tuple[TensorOperators, ...]


class TensorMethodsFile(GeneratedFile, frozen=True):
    """`owns`: whether this source declares that class Tensor belongs to the library."""

    library: str
    name: str
    owns: bool
    own_includes: tuple[str, ...]
    includes: tuple[str, ...]
    methods: tuple[PublicFunction, ...]
    operators: tuple[TensorOperators, ...]


def build_functions_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>.h: one inline function per C++ signature, for entries with `variants: function`.

    A library that extends another gets functions for its methods, too, because class Tensor belongs to the other.
    """
    for root in context.roots:
        functions = context.functions_by_root[root]
        yield FunctionsHeader(
            path=f"include/{context.library.name}/ops/{root}.h",
            template="ops/root.h.j2",
            library=context.library.name,
            root=root,
            blocks=_function_blocks(context, functions),
        )


def build_redispatch(context: Context) -> Iterator[GeneratedFile]:
    """Build RedispatchFunctions.h: every signature again, with the key set of the call as a parameter."""
    yield RedispatchHeader(
        path=f"include/{context.library.name}/RedispatchFunctions.h",
        template="RedispatchFunctions.h.j2",
        library=context.library.name,
        blocks=blocks(
            (f"{operator_namespace(f.namespace)}::redispatch", function)
            for f in context.registry.functions
            for function in context.spell.functions(
                f, f"{operator_struct(f)}::redispatch", first=_KEY_SET
            )
        ),
    )


def build_tensor_body(context: Context) -> Iterator[GeneratedFile]:
    """Build TensorBody.h: class Tensor. Libraries that extend another one do not have this file."""
    if context.owns_tensor:
        functions = _methods(context)
        left_out = tuple(
            m for f in functions if not context.keeps(f) for m in _left_out(context, f)
        )
        conjugates = any(f.root_name == "conj" for f in functions)
        headers = ["opgen/tensor.h"]
        if left_out:
            headers.append("opgen/not_selected.h")
        if not conjugates:
            headers.append("opgen/autograd/arithmetic.h")
        yield TensorHeader(
            path=f"include/{context.library.name}/TensorBody.h",
            template="TensorBody.h.j2",
            library=context.library.name,
            abi=context.target.plan.runtime_abi,
            own_includes=sorted_includes(*headers),
            methods=_bodies(context, filter(context.keeps, functions)),
            left_out=left_out,
            conjugates=conjugates,
            operators=tuple(tensor_operators(context, _kept(context))),
        )


def build_tensor_methods(context: Context) -> Iterator[GeneratedFile]:
    """Build TensorMethods[_n].cpp: the methods' bodies, compiled once, and the declaration of the library to which
    class Tensor belongs.
    """
    if not context.owns_tensor:
        return
    count = context.library.shards
    kept = _kept(context)
    operators = group_by(tensor_operators(context, kept), lambda o: o.root)
    functions = [f for f in kept if Variant.method in f.variants or f.root_name in operators]
    found = dict(sharded("TensorMethods", functions, lambda f: f.root_name, count))
    for index, (name, members) in enumerate((found or {"TensorMethods_0": ()}).items()):
        extra = (
            ("opgen/tensor_functions.h",) if any(f.root_name in operators for f in members) else ()
        )
        yield TensorMethodsFile(
            path=f"src/{name}.cpp",
            template="TensorMethods.cpp.j2",
            library=context.library.name,
            name=name,
            owns=index == 0,
            own_includes=sorted_includes(context.tensor_header, "opgen/register.h", *extra),
            includes=operator_headers(context, members),
            methods=_bodies(context, (f for f in members if Variant.method in f.variants)),
            operators=tuple(
                o for root in unique(f.root_name for f in members) for o in operators.get(root, ())
            ),
        )


def _function_blocks(
    context: Context, functions: Iterable[NativeFunction]
) -> tuple[Block[PublicFunction], ...]:
    return blocks(
        (operator_namespace(f.namespace), function)
        for f in functions
        if Variant.function in f.variants or not context.owns_tensor
        for function in context.spell.functions(f, f"_ops::{operator_struct_name(f.func)}::call")
    )


def _methods(context: Context) -> list[NativeFunction]:
    return [f for f in context.registry.functions if Variant.method in f.variants]


def _kept(context: Context) -> list[NativeFunction]:
    return list(filter(context.keeps, context.registry.functions))


def _bodies(context: Context, functions: Iterable[NativeFunction]) -> tuple[PublicFunction, ...]:
    return tuple(
        method
        for f in functions
        for method in context.spell.functions(f, f"{operator_struct(f)}::call", method=True)
    )


def _left_out(context: Context, f: NativeFunction) -> Iterator[PublicFunction]:
    functions = context.spell.functions(f, "", method=True)
    for function, caller in zip(functions, context.spell.callers(f, method=True)):
        arguments = (f'"{f.full_name}"', *caller.names)
        yield replace(function, callee="opgen::throw_not_selected", arguments=arguments)
