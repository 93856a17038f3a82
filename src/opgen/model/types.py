"""The types that arguments and returns are declared with. `str(t)` is the text they were written as."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import TypeAlias

from opgen.dataclasses import dataclass


class BaseTy(Enum):
    """Base types of torchgen's language, of all PyTorch versions, and of PyTorch's runtime parser.

    data/types.txt says which of the former are gone, data/library_types.txt which are of the latter.
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

    # In C, by identity: Enum's own goes through Python for every look-up of a type.
    __hash__ = object.__hash__


class _TypeQueries:
    """Questions that every type answers."""

    __slots__ = ()

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        """Whether it is `base_ty`, or an optional or list (to any depth) of it."""
        raise NotImplementedError

    def is_tensor_like(self) -> bool:
        return self.is_base_ty_like(BaseTy.Tensor)

    def is_generator_like(self) -> bool:
        return self.is_base_ty_like(BaseTy.Generator)

    def is_symint_like(self) -> bool:
        return self.is_base_ty_like(BaseTy.SymInt)


@dataclass(frozen=True, slots=True)
class BaseType(_TypeQueries):
    name: BaseTy

    def __str__(self) -> str:
        return self.name.name

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return self.name is base_ty

    def is_nullable(self) -> bool:
        return False

    def is_list_like(self) -> ListType | None:
        return None


@dataclass(frozen=True, slots=True)
class OptionalType(_TypeQueries):
    elem: Type

    def __str__(self) -> str:
        return f"{self.elem}?"

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return self.elem.is_base_ty_like(base_ty)

    def is_nullable(self) -> bool:
        return True

    def is_list_like(self) -> ListType | None:
        return self.elem.is_list_like()


@dataclass(frozen=True, slots=True)
class ListType(_TypeQueries):
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


@dataclass(frozen=True, slots=True)
class CppClass:
    """What a custom class is in C++: its type, the header that declares it as it stands behind `#include`, and the
    function that registers it, if it is not registered already."""

    type: str
    header: str
    define: str | None = None


@dataclass(frozen=True, slots=True)
class CustomClassType(_TypeQueries):
    """`__torch__.torch.classes.<class_name>`; class_name may hold dots. `cpp` is known where a file says it."""

    class_name: str
    cpp: CppClass | None = None

    def __str__(self) -> str:
        return f"__torch__.torch.classes.{self.class_name}"

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return False

    def is_nullable(self) -> bool:
        return False

    def is_list_like(self) -> ListType | None:
        return None


@dataclass(frozen=True, slots=True)
class DictType(_TypeQueries):
    """`Dict(key, value)`."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Dict({self.key}, {self.value})"

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return False

    def is_nullable(self) -> bool:
        return False

    def is_list_like(self) -> ListType | None:
        return None


@dataclass(frozen=True, slots=True)
class TupleType(_TypeQueries):
    """`(first, second, ...)`, of any number of elements."""

    elems: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elems))})"

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        return False

    def is_nullable(self) -> bool:
        return False

    def is_list_like(self) -> ListType | None:
        return None


Type: TypeAlias = BaseType | OptionalType | ListType | CustomClassType | DictType | TupleType


def custom_classes(type: Type) -> Iterator[CustomClassType]:
    """The custom classes that `type` is made of."""
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
