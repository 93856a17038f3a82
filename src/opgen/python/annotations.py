"""Translate schema types to annotations in the stub of a generated package.

The names are defined in runtime/python/package/__init__.pyi. They begin with an underscore because the class Tensor may have
methods named int, list or Sequence.
"""

from __future__ import annotations

from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.python_types import NoPythonSignature, or_none

_ARGUMENTS = {
    BaseTy.Tensor: "Tensor",
    BaseTy.Scalar: "_Number",
    BaseTy.int: "_Int",
    BaseTy.SymInt: "_Int",
    BaseTy.DeviceIndex: "_Int",
    BaseTy.float: "_Float",
    BaseTy.bool: "_Bool",
    BaseTy.str: "_str",
    BaseTy.ScalarType: "_DtypeLike",
    BaseTy.Layout: "_LayoutLike",
    BaseTy.Device: "_DeviceLike",
    BaseTy.MemoryFormat: "_MemoryFormatLike",
    BaseTy.Generator: "Generator",
}
_ARGUMENT_LISTS = {
    "Tensor": "_Tensors",
    "Tensor?": "_OptionalTensors",
    "int": "_Ints",
    "SymInt": "_Ints",
    "float": "_Floats",
    "Scalar": "_Numbers",
    "bool": "_Bools",
}
# A returned Scalar may be a number of any type, so its annotation is Any.
_RETURNS = {
    BaseTy.Tensor: "Tensor",
    BaseTy.Scalar: "_Any",
    BaseTy.int: "_int",
    BaseTy.SymInt: "_int",
    BaseTy.DeviceIndex: "_int",
    BaseTy.float: "_float",
    BaseTy.bool: "_bool",
    BaseTy.ScalarType: "_dtype",
    BaseTy.QScheme: "_int",
}
# Names for help texts and error messages, in place of those of a stub.
DISPLAY_NAMES = {
    "_Int": "int",
    "_Float": "float",
    "_Bool": "bool",
    "_Number": "Number",
    "_Ints": "Sequence[int]",
    "_Floats": "Sequence[float]",
    "_Bools": "Sequence[bool]",
    "_Numbers": "Sequence[Number]",
    "_Tensors": "Sequence[Tensor]",
    "_OptionalTensors": "Sequence[Tensor | None]",
    "_DtypeLike": "dtype",
    "_DeviceLike": "device | str",
    "_Literal": "Literal",
    "_LayoutLike": "layout | str",
    "_MemoryFormatLike": "memory_format | str",
    "_tuple": "tuple",
    "_list": "list",
    "_str": "str",
    "_int": "int",
    "_float": "float",
    "_bool": "bool",
    "_dtype": "dtype",
    "_Any": "Number",
}


def argument_annotation(type: Type) -> str:
    """Return the annotation of an argument: all types that the parser accepts. Raises NoPythonSignature."""
    annotation = None
    match type:
        case OptionalType(elem):
            return or_none(argument_annotation(elem))
        case BaseType(name):
            annotation = _ARGUMENTS.get(name)
        case ListType(elem, size):
            annotation = _ARGUMENT_LISTS.get(str(elem))
            # A list of ints with a fixed size may be passed as one int, which is repeated.
            if annotation == "_Ints" and size is not None:
                annotation = f"_Int | {annotation}"
    if annotation is None:
        raise NoPythonSignature(f"'{type}' has no annotation")
    return annotation


def return_annotation(type: Type) -> str:
    """Return the annotation of a return: its exact type. Raises NoPythonSignature."""
    match type:
        case OptionalType(elem):
            return or_none(return_annotation(elem))
        case ListType(elem):
            return f"_tuple[{return_annotation(elem)}, ...]"
        case BaseType(name) if name in _RETURNS:
            return _RETURNS[name]
        case _:
            raise NoPythonSignature(f"'{type}' has no annotation")
