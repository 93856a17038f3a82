"""C++ types as values, and the schema type that PyTorch infers from each.

Source of the rules: PyTorch's ATen/core/op_registration/infer_schema.h and ATen/core/jit_type.h; each was compared with
what a compiled library says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from opgen.dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CppType:
    """`const std::optional<at::Tensor>&` has the name `std::optional`, one argument, `is_const` and the mark `&`.

    A number in the place of a type argument is a type of that name.
    """

    name: str
    arguments: tuple[CppType, ...] = ()
    is_const: bool = False
    mark: str = ""

    def __str__(self) -> str:
        inner = f"<{', '.join(map(str, self.arguments))}>" if self.arguments else ""
        return f"{'const ' if self.is_const else ''}{self.name}{inner}{self.mark}"

    @property
    def last_name(self) -> str:
        return self.name.rpartition("::")[2]

    def names(self) -> tuple[str, ...]:
        """Its own name and those of its arguments."""
        return (self.name, *(name for argument in self.arguments for name in argument.names()))


@dataclass(frozen=True, slots=True)
class CppParameter:
    type: CppType
    name: str


@dataclass(frozen=True, slots=True)
class CppSignature:
    """A function's types; `returns` is None where only the compiler knows what a lambda returns."""

    returns: CppType | None
    parameters: tuple[CppParameter, ...] = field(default=())

    def schema(self, aliases: Aliases, classes: Mapping[str, str]) -> str:
        """The arguments and returns of the schema, `(Tensor _0, int _1) -> Tensor _0`.

        `classes` are the names of custom classes by those of C++. Raises NoSchemaType.
        """
        if self.returns is None:
            raise NoSchemaType("what the lambda returns")
        spelling = _Spelling(aliases, classes)
        arguments = [spelling.of(parameter.type) for parameter in self.parameters]
        returned = aliases.resolved(self.returns)
        if returned.name == "void" and not returned.mark:
            results = []
        elif returned.name == "std::tuple":
            results = [spelling.of(part) for part in returned.arguments]
        else:
            results = [spelling.of(returned)]
        numbered = [f"{type_} _{index}" for index, type_ in enumerate(results)]
        one = numbered[0] if len(numbered) == 1 else f"({', '.join(numbered)})"
        listed = ", ".join(f"{type_} _{index}" for index, type_ in enumerate(arguments))
        return f"({listed}) -> {one}"


class NoSchemaType(Exception):
    """A C++ type from which PyTorch infers no schema type, or one that nothing in the sources explains."""


# What PyTorch infers and its schema parser cannot read again (SymFloat, SymBool) is left out.
# Names as they stand behind `at::`, `c10::`, `torch::` or a `using`; what is of `std` has its namespace.
_PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "Tensor": "Tensor",
        "int64_t": "int",
        "std::int64_t": "int",
        "long": "int",
        "int8_t": "int",
        "std::int8_t": "int",
        "DeviceIndex": "int",
        "double": "float",
        "bool": "bool",
        "std::string": "str",
        "std::string_view": "str",
        "string_view": "str",
        "Scalar": "Scalar",
        "ScalarType": "ScalarType",
        "Dtype": "ScalarType",
        "Layout": "Layout",
        "MemoryFormat": "MemoryFormat",
        "Device": "Device",
        "Generator": "Generator?",
        "Storage": "Storage",
        "Stream": "Stream",
        "QScheme": "QScheme",
        "SymInt": "SymInt",
        "IValue": "Any",
        "TensorList": "Tensor[]",
        "ITensorListRef": "Tensor[]",
        "IntArrayRef": "int[]",
        "IntList": "int[]",
        "SymIntArrayRef": "SymInt[]",
        "OptionalIntArrayRef": "int[]?",
        "OptionalSymIntArrayRef": "SymInt[]?",
    }
)
_LISTS = frozenset({"std::vector", "std::array", "ArrayRef", "List", "IListRef"})
_OPTIONALS = frozenset({"std::optional", "optional", "OptionalArrayRef"})
# In which PyTorch has what `_PLAIN` lists.
_ROOTS = frozenset({"at", "c10", "torch"})


@dataclass(frozen=True, slots=True)
class Aliases:
    """What `using` and `typedef` of a file say: types by name, and namespaces whose names need none."""

    types: Mapping[str, CppType]
    opened: Sequence[str] = ()

    def resolved(self, type_: CppType, depth: int = 8) -> CppType:
        """The type itself, in the place of a name for it."""
        named = self.types.get(type_.name)
        if named is not None and named.name != type_.name and depth:
            # `using std::vector;` names a template, `using Shape = std::vector<int64_t>;` a type.
            arguments = type_.arguments or named.arguments
            is_const, mark = type_.is_const or named.is_const, type_.mark or named.mark
            return self.resolved(CppType(named.name, arguments, is_const, mark), depth - 1)
        if "::" not in type_.name and "std" in self.opened and f"std::{type_.name}" in _OF_STD:
            return CppType(f"std::{type_.name}", type_.arguments, type_.is_const, type_.mark)
        return type_


_OF_STD = frozenset(
    {"std::string", "std::string_view", "std::vector", "std::tuple", "std::optional", "std::array"}
)


@dataclass(frozen=True, slots=True)
class _Spelling:
    aliases: Aliases
    classes: Mapping[str, str]

    def of(self, type_: CppType) -> str:
        """The schema type. Raises NoSchemaType."""
        resolved = self.aliases.resolved(type_)
        if "*" in resolved.mark or "[]" in resolved.mark:
            raise NoSchemaType(str(type_))
        name = _known_name(resolved.name)
        if not resolved.arguments and name in _PLAIN:
            return _PLAIN[name]
        if name in _LISTS and resolved.arguments:
            return f"{self.of(resolved.arguments[0])}[]"
        if name in _OPTIONALS and len(resolved.arguments) == 1:
            inner = self.of(resolved.arguments[0]) + ("[]" if name == "OptionalArrayRef" else "")
            return inner if inner.endswith("?") else f"{inner}?"
        return self._rarer(name, resolved)

    def _rarer(self, name: str, type_: CppType) -> str:
        arguments = type_.arguments
        if name == "std::tuple" and arguments:
            return f"({', '.join(map(self.of, arguments))})"
        if name == "Dict" and len(arguments) == 2:
            return f"Dict({self.of(arguments[0])}, {self.of(arguments[1])})"
        if name == "complex" and [str(argument) for argument in arguments] == ["double"]:
            return "complex"
        if name == "intrusive_ptr" and len(arguments) == 1:
            found = self.classes.get(arguments[0].last_name)
            if found is not None:
                return found
        raise NoSchemaType(str(type_))


def _known_name(name: str) -> str:
    """`Tensor` of `at::Tensor`, `c10::Tensor` and `Tensor`; other names as they are."""
    root, _, last = name.removeprefix("::").rpartition("::")
    return last if root in _ROOTS else name.removeprefix("::")
