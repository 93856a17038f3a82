"""A header with functions of PyTorch's own operators, which call them through the stable C functions."""

from __future__ import annotations

from collections.abc import Iterable

from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import Block, GeneratedFile, PublicFunction, blocks
from opgen.emit.common.text import Speller
from opgen.emit.cpp.operators import OperatorStruct
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace


class AtenHeader(GeneratedFile, frozen=True):
    operators: tuple[Block[OperatorStruct], ...]
    functions: tuple[Block[PublicFunction], ...]


def aten_header(path: str, functions: Iterable[NativeFunction], spell: Speller) -> AtenHeader:
    """Return the header at `path` with all C++ signatures of these operators, as functions.

    Operators that are only methods in PyTorch are functions, too.
    """
    every = tuple(functions)
    return AtenHeader(
        path=path,
        template="aten.h.j2",
        operators=blocks((operator_namespace(f.namespace), _struct(f, spell)) for f in every),
        functions=blocks(
            (operator_namespace(f.namespace), function)
            for f in every
            for function in spell.functions(f, f"_ops::{operator_struct_name(f.func)}::call")
        ),
    )


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
