"""The types of arguments and returns. `str(t)` is the string from which `t` was parsed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import TypeAlias

from msgspec import Struct


class BaseTy(Enum):
    """Base types of torchgen's language, of all PyTorch versions, and of PyTorch's runtime parser.

    data/types.txt lists those that PyTorch has removed, data/library_types.txt those of the runtime parser.
    """

    Generator = auto()
    ScalarType = auto()
    Tensor = auto()
    int = auto()
    Dimname = auto()
    DimVector = auto()
    float = auto()
    str = auto()
    bool = auto()
    Layout = auto()
    Device = auto()
    DeviceIndex = auto()
    Scalar = auto()
    MemoryFormat = auto()
    QScheme = auto()
    Storage = auto()
    Stream = auto()
    SymInt = auto()
    SymBool = auto()
    ConstQuantizerPtr = auto()
    GraphModule = auto()
    Any = auto()
    complex = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


class _TypeQueries:
    """Methods that every type has."""

    __slots__ = ()

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        """Return whether the type is `base_ty`, or an optional or list (to any depth) of it."""
        return False

    def is_nullable(self) -> bool:
        """Return whether the type is an optional, or a list of optionals."""
        return False

    def is_list_like(self) -> ListType | None:
        """Return the list type if this is a list or an optional list, else None."""
        return None

    def is_tensor_like(self) -> bool:
        """Return whether the type is Tensor, or an optional or list (to any depth) of it."""
        return self.is_base_ty_like(BaseTy.Tensor)

    def is_generator_like(self) -> bool:
        """Return whether the type is Generator, or an optional or list (to any depth) of it."""
        return self.is_base_ty_like(BaseTy.Generator)

    def is_symint_like(self) -> bool:
        """Return whether the type is SymInt, or an optional or list (to any depth) of it."""
        return self.is_base_ty_like(BaseTy.SymInt)


class BaseType(_TypeQueries, Struct, frozen=True):
    """A type without suffixes, such as `Tensor` or `int`."""

    name: BaseTy

    def __str__(self) -> str:
        return self.name.name

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return self.name is base_ty


class OptionalType(_TypeQueries, Struct, frozen=True):
    """`elem?`: an `elem`, or None."""

    elem: Type

    def __str__(self) -> str:
        return f"{self.elem}?"

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return self.elem.is_base_ty_like(base_ty)

    def is_nullable(self) -> bool:
        return True

    def is_list_like(self) -> ListType | None:
        return self.elem.is_list_like()


class ListType(_TypeQueries, Struct, frozen=True):
    """`elem[]`, or `elem[size]`: a list of exactly `size` elements."""

    elem: Type
    size: int | None

    def __str__(self) -> str:
        return f"{self.elem}[{'' if self.size is None else self.size}]"

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return self.elem.is_base_ty_like(base_ty)

    def is_nullable(self) -> bool:
        return self.elem.is_nullable()

    def is_list_like(self) -> ListType | None:
        return self


class CppClass(Struct, frozen=True):
    """A custom class in C++: its type, the header that declares it as written after `#include`, and the function that
    registers it, if it is not registered already."""

    type: str
    header: str
    define: str | None = None


class CustomClassType(_TypeQueries, Struct, frozen=True):
    """`__torch__.torch.classes.<class_name>`; class_name may contain dots. `cpp` is None if no file declares it."""

    class_name: str
    cpp: CppClass | None = None

    def __str__(self) -> str:
        return f"__torch__.torch.classes.{self.class_name}"


class DictType(_TypeQueries, Struct, frozen=True):
    """`Dict(key, value)`."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Dict({self.key}, {self.value})"


class TupleType(_TypeQueries, Struct, frozen=True):
    """`(first, second, ...)`, of any number of elements."""

    elems: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elems))})"


Type: TypeAlias = BaseType | OptionalType | ListType | CustomClassType | DictType | TupleType


def custom_classes(type: Type) -> Iterator[CustomClassType]:
    """Yield the custom classes in `type`."""
    match type:
        case CustomClassType():
            yield type
        case OptionalType(elem) | ListType(elem):
            yield from custom_classes(elem)
        case DictType(key, value):
            yield from custom_classes(key)
            yield from custom_classes(value)
        case TupleType(elems):
            for elem in elems:
                yield from custom_classes(elem)
        case BaseType():
            pass
