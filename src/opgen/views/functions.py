"""The public functions: ops/<root>.h, RedispatchFunctions.h, TensorBody.h and TensorMethods.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.cpp.names import operator_namespace, operator_struct_name
from opgen.cpp.signatures import Binding
from opgen.cpp.type_values import Base
from opgen.dataclasses import replace
from opgen.model.native_function import NativeFunction, Variant
from opgen.views.base import Block, FileView, FunctionView, blocks, view
from opgen.views.context import Context
from opgen.views.operators import operator_headers
from opgen.views.shards import sharded
from opgen.views.text import operator_struct

_KEY_SET = Binding("dispatchKeySet", Base("DispatchKeySet"))


@view
class FunctionsHeaderView(FileView):
    library: str
    root: str
    blocks: tuple[Block[FunctionView], ...]


@view
class RedispatchView(FileView):
    library: str
    blocks: tuple[Block[FunctionView], ...]


@view
class TensorView(FileView):
    library: str
    abi: int
    methods: tuple[FunctionView, ...]
    left_out: tuple[FunctionView, ...]


@view
class TensorMethodsView(FileView):
    """`owns`: the source in which the library says that class Tensor is its own."""

    library: str
    name: str
    owns: bool
    includes: tuple[str, ...]
    methods: tuple[FunctionView, ...]


def build_functions_headers(context: Context) -> Iterator[FileView]:
    """ops/<root>.h: one inline function per C++ signature, for entries with `variants: function`.

    A library that extends another gets a function for its methods, too: class Tensor is not its own.
    """
    for root in context.roots:
        functions = context.functions_by_root[root]
        yield FunctionsHeaderView(
            path=f"include/{context.library.name}/ops/{root}.h",
            template="ops/root.h.j2",
            library=context.library.name,
            root=root,
            blocks=_function_blocks(context, functions),
        )


def build_redispatch(context: Context) -> Iterator[FileView]:
    """RedispatchFunctions.h: every signature again, with the key set to go on from."""
    yield RedispatchView(
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


def build_tensor_body(context: Context) -> Iterator[FileView]:
    """TensorBody.h: class Tensor; a library that extends another has none of its own."""
    if context.owns_tensor:
        functions = _methods(context)
        yield TensorView(
            path=f"include/{context.library.name}/TensorBody.h",
            template="TensorBody.h.j2",
            library=context.library.name,
            abi=context.target.runtime_abi,
            methods=_bodies(context, filter(context.keeps, functions)),
            left_out=tuple(
                m for f in functions if not context.keeps(f) for m in _left_out(context, f)
            ),
        )


def build_tensor_methods(context: Context) -> Iterator[FileView]:
    """TensorMethods[_n].cpp: the methods' bodies, compiled once; and whose class Tensor is."""
    if not context.owns_tensor:
        return
    count = context.library.shards
    functions = list(filter(context.keeps, _methods(context)))
    found = dict(sharded("TensorMethods", functions, lambda f: f.root_name, count))
    for index, (name, members) in enumerate((found or {"TensorMethods_0": ()}).items()):
        yield TensorMethodsView(
            path=f"src/{name}.cpp",
            template="TensorMethods.cpp.j2",
            library=context.library.name,
            name=name,
            owns=index == 0,
            includes=operator_headers(context, members),
            methods=_bodies(context, members),
        )


def _function_blocks(
    context: Context, functions: Iterable[NativeFunction]
) -> tuple[Block[FunctionView], ...]:
    return blocks(
        (operator_namespace(f.namespace), function)
        for f in functions
        if Variant.function in f.variants or not context.owns_tensor
        for function in context.spell.functions(f, f"_ops::{operator_struct_name(f.func)}::call")
    )


def _methods(context: Context) -> list[NativeFunction]:
    return [f for f in context.registry.functions if Variant.method in f.variants]


def _bodies(context: Context, functions: Iterable[NativeFunction]) -> tuple[FunctionView, ...]:
    return tuple(
        method
        for f in functions
        for method in context.spell.functions(f, f"{operator_struct(f)}::call", method=True)
    )


def _left_out(context: Context, f: NativeFunction) -> Iterator[FunctionView]:
    functions = context.spell.functions(f, "", method=True)
    for function, caller in zip(functions, context.spell.callers(f, method=True)):
        given = ", ".join([f'"{f.full_name}"', *caller.names])
        yield replace(function, body=f"opgen::throw_not_selected({given})")
