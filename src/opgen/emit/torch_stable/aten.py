"""A header with functions and methods of PyTorch's own operators, which call them through the stable C functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import Block, GeneratedFile, PublicFunction, blocks
from opgen.emit.common.text import Speller, operator_struct
from opgen.emit.cpp.operators import OperatorStruct
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace


class AtenHeader(GeneratedFile, frozen=True):
    """`methods` are those of a class Tensor of the header's own; without them, there is no such class."""

    operators: tuple[Block[OperatorStruct], ...]
    functions: tuple[Block[PublicFunction], ...]
    methods: tuple[PublicFunction, ...]


def aten_header(
    path: str, functions: Iterable[NativeFunction], spell: Speller, *, with_methods: bool
) -> AtenHeader:
    """Return the header at `path` with all C++ signatures of these operators.

    Without methods, operators that are only methods in PyTorch are functions.
    """
    every = tuple(functions)
    return AtenHeader(
        path=path,
        template="aten.h.j2",
        operators=blocks((operator_namespace(f.namespace), _struct(f, spell)) for f in every),
        functions=blocks(
            (operator_namespace(f.namespace), function)
            for f in every
            if Variant.function in f.variants or not with_methods
            for function in spell.functions(f, f"_ops::{operator_struct_name(f.func)}::call")
        ),
        methods=tuple(_methods(every, spell)) if with_methods else (),
    )


def _methods(functions: Iterable[NativeFunction], spell: Speller) -> Iterator[PublicFunction]:
    for f in functions:
        if Variant.method in f.variants:
            yield from spell.functions(f, f"{operator_struct(f)}::call", method=True)


def _struct(f: NativeFunction, spell: Speller) -> OperatorStruct:
    signature = spell.spelled(spell.signatures.dispatcher(f))
    return OperatorStruct(
        schema=spell.schema(f),
        struct=operator_struct_name(f.func),
        name=f.full_name.partition(".")[0],
        overload=f.func.name.overload_name,
        returns=signature.returns,
        types=tuple(signature.type_list),
        kept=True,
        dispatched="",
    )
