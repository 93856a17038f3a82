"""Translate schema types to types of PyTorch's Python argument parser, and to annotations in its stubs."""

from __future__ import annotations

from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.spelling import PythonSpelling


class NoPythonSignature(Exception):
    """A schema that Python cannot call. The message says why."""


# Types with another name in the argument parser than in schemas.
_PARSER_NAMES = {BaseTy.int: "int64_t", BaseTy.float: "double"}
_NOT_PARSED = frozenset({BaseTy.SymBool, BaseTy.DimVector, BaseTy.GraphModule})
_PARSER_LISTS = {
    BaseTy.int: "IntArrayRef",
    BaseTy.SymInt: "SymIntArrayRef",
    BaseTy.Tensor: "TensorList",
    BaseTy.Scalar: "ScalarList",
    BaseTy.Dimname: "DimnameList",
}
_STUB_NAMES = {
    BaseTy.int: "_int",
    BaseTy.DeviceIndex: "_int",
    BaseTy.SymInt: "_int | SymInt",
    BaseTy.float: "_float",
    BaseTy.str: "str",
    BaseTy.Scalar: "Number | _complex",
    BaseTy.ScalarType: "_dtype",
    BaseTy.bool: "_bool",
    BaseTy.QScheme: "_qscheme",
    BaseTy.Layout: "_layout",
    BaseTy.Device: "DeviceLikeType | None",
    BaseTy.MemoryFormat: "memory_format",
    BaseTy.Storage: "Storage | UntypedStorage",
    # These have no annotation, as with torchgen, which writes an empty one.
    BaseTy.SymBool: "",
    BaseTy.DimVector: "",
    BaseTy.GraphModule: "",
}


def parser_type(type: Type, spelling: PythonSpelling) -> str:
    """Return the type of an argument in a signature for the argument parser. Raises NoPythonSignature."""
    match type:
        case BaseType(BaseTy.str):
            return spelling.string
        case BaseType(name) if name not in _NOT_PARSED:
            return _PARSER_NAMES.get(name, name.name)
        case OptionalType(elem):
            return f"{parser_type(elem, spelling)}?"
        case ListType(elem, size):
            return _parser_list(elem, size, spelling)
        case _:
            raise NoPythonSignature(f"the argument parser has no type '{type}'")


def _parser_list(elem: Type, size: int | None, spelling: PythonSpelling) -> str:
    match elem:
        case BaseType(BaseTy.bool):
            if size is None:
                raise NoPythonSignature("a list of bool needs a size, as in bool[3]")
            return f"{spelling.array}<bool,{size}>"
        case BaseType(name) if name in _PARSER_LISTS:
            return _PARSER_LISTS[name] + ("" if size is None else f"[{size}]")
        case OptionalType(BaseType(BaseTy.Tensor)):
            return spelling.optional_tensors
        case _:
            return f"ArrayRef<{parser_type(elem, spelling)}>"


def stub_type(type: Type) -> str:
    """Return the annotation of an argument: all types that the parser accepts. Raises NoPythonSignature."""
    if isinstance(type, OptionalType):
        return or_none(_stub_type(type.elem))
    return _stub_type(type)


def _stub_type(type: Type) -> str:
    match type:
        case BaseType(name):
            return _STUB_NAMES.get(name, name.name)
        case ListType(elem, size):
            return _stub_list(elem, size)
        case _:
            raise NoPythonSignature(f"'{type}' has no annotation")


def _stub_list(elem: Type, size: int | None) -> str:
    """Return the annotation of a list. With a fixed size, it may be passed as one element, which is repeated."""
    if elem.is_tensor_like():
        item = "Tensor | None" if isinstance(elem, OptionalType) else "Tensor"
        sequence = f"tuple[{item}, ...] | list[{item}]"
        annotation = sequence if size is None else f"Tensor | {sequence}"
        return or_none(annotation) if isinstance(elem, OptionalType) else annotation
    match elem:
        case BaseType(BaseTy.int):
            return "_size" if size is None else "_int | _size"
        case BaseType(BaseTy.SymInt) if size is not None:
            return f"{stub_type(elem)} | Sequence[{stub_type(elem)}]"
        case _:
            return f"Sequence[{stub_type(elem)}]"


def stub_return_type(type: Type) -> str:
    """Return the annotation of a return: its exact type. Raises NoPythonSignature."""
    match type:
        case OptionalType(elem):
            return or_none(stub_return_type(elem))
        case BaseType(BaseTy.Device):
            return "_device"
        case ListType(elem):
            return f"tuple[{stub_return_type(elem)}, ...]"
        case _:
            return stub_type(type)


def or_none(annotation: str) -> str:
    """Return the union of `annotation` and None, which it may include already."""
    return f"{annotation} | None".replace(" | None | None", " | None")
