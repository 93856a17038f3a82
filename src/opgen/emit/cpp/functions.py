"""The public functions: ops/<root>.h, RedispatchFunctions.h, TensorBody.h and TensorMethods.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from opgen.cpp.names import operator_struct_name
from opgen.cpp.signatures import Binding
from opgen.cpp.type_values import Base
from opgen.emit.common.base import Block, GeneratedFile, PublicFunction, blocks, group_by, unique
from opgen.emit.common.context import Context
from opgen.emit.common.layout import sorted_includes
from opgen.emit.common.shards import sharded
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.emit.cpp.tensor_operators import TensorOperators, tensor_operators
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace

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
