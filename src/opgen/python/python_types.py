"""Translate schema types and defaults to those of Python: of PyTorch's argument parser, and of stubs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from opgen.cpp.cpp_types import TypeSpelling
from opgen.cpp.literals import BadDefault, default_expression
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type


class PythonSpelling(Struct, frozen=True):
    """The spelling of Python signatures.

    `string` and `optional_tensors` are the argument parser's names for str and `Tensor?[]`. `return_types` is the module of named tuples. `stub_defaults` maps C++ defaults to those in stubs.
    `argument_annotation` and `return_annotation` translate types, and raise NoPythonSignature. `display_names` maps
    names in annotations to those for help texts.
    """

    string: str
    optional_tensors: str
    return_types: str
    stub_defaults: tuple[tuple[str, str], ...]
    argument_annotation: Callable[[Type], str]
    return_annotation: Callable[[Type], str]
    display_names: Mapping[str, str]


class AnnotationNames(Struct, frozen=True):
    """The names of a framework's types in annotations: of `arguments`, and of `returns` if they differ.

    `imports` maps these names to their import statements, those of Python's own modules first. The names begin with an
    underscore because operators may have names such as int.
    """

    arguments: Mapping[BaseTy, str]
    returns: Mapping[BaseTy, str]
    imports: tuple[Mapping[str, str], ...]


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
            return f"::std::array<bool,{size}>"
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


_WORDS = {"true": "True", "false": "False"}


def python_default(default: str, type: Type, spelling: TypeSpelling) -> str:
    """Return the C++ expression of a default with Python's words and numbers. Raises NoPythonSignature."""
    try:
        text = default_expression(default, type, spelling, symint=False)
    except BadDefault as problem:
        raise NoPythonSignature(str(problem)) from problem
    if text.startswith("{"):
        words = [word.strip() for word in text[1:-1].split(",")]
        return "{" + ",".join(_WORDS.get(word, word) for word in words) + "}"
    return _WORDS.get(text) or _number(text) or text


def _number(text: str) -> str | None:
    """Return a number as Python prints it; None if `text` is not a number."""
    try:
        return str(int(text))
    except ValueError:
        pass
    try:
        return str(float(text))
    except ValueError:
        return None


def parser_default(default: str, spelling: TypeSpelling) -> str:
    """Return a default as the argument parser reads it."""
    return "None" if is_none(default, spelling) else default


def stub_default(default: str, type: Type, cpp: TypeSpelling, spelling: PythonSpelling) -> str:
    """Return a default as a stub writes it: lists of ints become tuples."""
    if isinstance(type, ListType) and type.elem == BaseType(BaseTy.int) and default[:1] == "{":
        return "(" + ", ".join(part.strip() for part in default[1:-1].split(",")) + ")"
    if is_none(default, cpp):
        return "None"
    return dict(spelling.stub_defaults).get(default, default)


def is_none(default: str, spelling: TypeSpelling) -> bool:
    """Return whether the C++ expression of a default stands for None."""
    return default in ("{}", "nullptr", "None", spelling.defaults["None"])


# The types that have Python objects: the name that the runtime's parser has for each, and the one in stubs of packages.
# These are defined in runtime/python/package/__init__.pyi. They begin with an underscore because the class Tensor may have
# methods named int, list or Sequence.
_OBJECTS = {
    BaseTy.Tensor: ("Tensor", "Tensor"),
    BaseTy.Scalar: ("Scalar", "_Number"),
    BaseTy.int: ("Int", "_Int"),
    BaseTy.SymInt: ("Int", "_Int"),
    BaseTy.DeviceIndex: ("Int", "_Int"),
    BaseTy.float: ("Float", "_Float"),
    BaseTy.bool: ("Bool", "_Bool"),
    BaseTy.str: ("Str", "_str"),
    BaseTy.ScalarType: ("ScalarType", "_DtypeLike"),
    BaseTy.Layout: ("Layout", "_LayoutLike"),
    BaseTy.Device: ("Device", "_DeviceLike"),
    BaseTy.MemoryFormat: ("MemoryFormat", "_MemoryFormatLike"),
    BaseTy.Generator: ("Generator", "Generator"),
}
_LISTS = {
    "Tensor": ("Tensors", "_Tensors"),
    "Tensor?": ("OptionalTensors", "_OptionalTensors"),
    "int": ("Ints", "_Ints"),
    "SymInt": ("Ints", "_Ints"),
    "float": ("Floats", "_Floats"),
    "Scalar": ("Scalars", "_Numbers"),
    "bool": ("Bools", "_Bools"),
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


def _find_object(type: Type) -> tuple[str, str] | None:
    """Return both names of a type that is no optional; None if no Python object converts to it."""
    match type:
        case BaseType(name):
            return _OBJECTS.get(name)
        case ListType(elem):
            return _LISTS.get(str(elem))
        case _:
            return None


def parser_kind(type: Type) -> str | None:
    """Return the name that the runtime's parser has for a type; None if no Python object converts to it."""
    if isinstance(type, OptionalType):
        return parser_kind(type.elem)
    found = _find_object(type)
    return None if found is None else found[0]


def argument_annotation(type: Type) -> str:
    """Return the annotation of an argument: all types that the parser accepts. Raises NoPythonSignature."""
    if isinstance(type, OptionalType):
        return or_none(argument_annotation(type.elem))
    found = _find_object(type)
    if found is None:
        raise NoPythonSignature(f"'{type}' has no annotation")
    kind, annotation = found
    # A list of ints with a fixed size may be passed as one int, which is repeated.
    is_repeated = kind == "Ints" and isinstance(type, ListType) and type.size is not None
    return f"_Int | {annotation}" if is_repeated else annotation


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
