"""Schema types into the annotations of a library's own stub: what its parser takes, and what comes back.

The words are those of data/python_package.pyi. They begin with an underscore since the class Tensor may have methods
called int, list or Sequence.
"""

from __future__ import annotations

from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.python_types import NoPythonSignature, or_none

_TAKEN = {
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
_TAKEN_LISTS = {
    "Tensor": "_Tensors",
    "Tensor?": "_OptionalTensors",
    "int": "_Ints",
    "SymInt": "_Ints",
    "float": "_Floats",
    "Scalar": "_Numbers",
    "bool": "_Bools",
}
# A Scalar may be any number: who asks for it knows which.
_RETURNED = {
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
# What people are told in place of the words of a stub.
PEOPLE_SAY = {
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


def taken(type: Type) -> str:
    """The annotation of an argument: all that may be passed. Raises NoPythonSignature."""
    found = None
    match type:
        case OptionalType(elem):
            return or_none(taken(elem))
        case BaseType(name):
            found = _TAKEN.get(name)
        case ListType(elem, size):
            found = _TAKEN_LISTS.get(str(elem))
            # One number stands for all of a list of fixed size; so many flags have to be given.
            if found == "_Ints" and size is not None:
                found = f"_Int | {found}"
    if found is None:
        raise NoPythonSignature(f"'{type}' has no annotation")
    return found


def returned(type: Type) -> str:
    """The annotation of a return: what comes. Raises NoPythonSignature."""
    match type:
        case OptionalType(elem):
            return or_none(returned(elem))
        case ListType(elem):
            return f"_tuple[{returned(elem)}, ...]"
        case BaseType(name) if name in _RETURNED:
            return _RETURNED[name]
        case _:
            raise NoPythonSignature(f"'{type}' has no annotation")
