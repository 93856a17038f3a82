"""C++ types as values, and the schema type that PyTorch infers from each.

Source of the rules: PyTorch's ATen/core/op_registration/infer_schema.h and ATen/core/jit_type.h. Each rule was compared
with the schemas of a compiled library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from opgen.model.cpp_words import LISTS, OPTIONALS, SCHEMA_TYPES, unqualified


class CppType(Struct, frozen=True):
    """A type: `const std::optional<at::Tensor>&` has the name `std::optional`, one argument, `is_const`, and mark `&`.

    A template argument that is a number is represented as a type with that name.
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
        """Return the name and those of all arguments."""
        return (self.name, *(name for argument in self.arguments for name in argument.names()))


class CppParameter(Struct, frozen=True):
    type: CppType
    name: str


class CppSignature(Struct, frozen=True):
    """The types of a function. `returns` is None for a lambda without a declared return type."""

    returns: CppType | None
    parameters: tuple[CppParameter, ...] = ()

    def schema(self, aliases: Aliases, classes: Mapping[str, str]) -> str:
        """Return the arguments and returns of the schema, `(Tensor _0, int _1) -> Tensor _0`.

        `classes` maps C++ names of custom classes to those in schemas. Raises NoSchemaType if a type has no schema
        type, or the return type is unknown.
        """
        if self.returns is None:
            raise NoSchemaType("the return type of the lambda")
        inference = _TypeInference(aliases, classes)
        arguments = [inference.schema_type(parameter.type) for parameter in self.parameters]
        result = aliases.resolved(self.returns)
        if result.name == "void" and not result.mark:
            results = []
        elif result.name == "std::tuple":
            results = [inference.schema_type(part) for part in result.arguments]
        else:
            results = [inference.schema_type(result)]
        numbered = [f"{type_} _{index}" for index, type_ in enumerate(results)]
        returns = numbered[0] if len(numbered) == 1 else f"({', '.join(numbered)})"
        listed = ", ".join(f"{type_} _{index}" for index, type_ in enumerate(arguments))
        return f"({listed}) -> {returns}"


class NoSchemaType(Exception):
    """A C++ type from which PyTorch infers no schema type, or one that the sources do not define."""


class Aliases(Struct, frozen=True):
    """The `using` and `typedef` declarations of a file: types by name, and the namespaces of `using namespace`."""

    types: Mapping[str, CppType]
    opened: Sequence[str] = ()

    def resolved(self, type_: CppType, depth: int = 8) -> CppType:
        """Return the type that an alias stands for; other types unchanged. At most `depth` aliases are followed."""
        named = self.types.get(type_.name)
        if named is not None and named.name != type_.name and depth:
            # `using std::vector;` is an alias of a template, `using Shape = std::vector<int64_t>;` of a type.
            arguments = type_.arguments or named.arguments
            is_const, mark = type_.is_const or named.is_const, type_.mark or named.mark
            return self.resolved(CppType(named.name, arguments, is_const, mark), depth - 1)
        if "::" not in type_.name and "std" in self.opened and f"std::{type_.name}" in _OF_STD:
            return CppType(f"std::{type_.name}", type_.arguments, type_.is_const, type_.mark)
        return type_


_OF_STD = frozenset(
    {"std::string", "std::string_view", "std::vector", "std::tuple", "std::optional", "std::array"}
)


class _TypeInference(Struct, frozen=True):
    aliases: Aliases
    classes: Mapping[str, str]

    def schema_type(self, type_: CppType) -> str:
        """Return the schema type. Raises NoSchemaType."""
        resolved = self.aliases.resolved(type_)
        if "*" in resolved.mark or "[]" in resolved.mark:
            raise NoSchemaType(str(type_))
        name = unqualified(resolved.name)
        if not resolved.arguments and name in SCHEMA_TYPES:
            return SCHEMA_TYPES[name]
        if name in LISTS and resolved.arguments:
            return f"{self.schema_type(resolved.arguments[0])}[]"
        if name in OPTIONALS and len(resolved.arguments) == 1:
            inner = self.schema_type(resolved.arguments[0])
            inner += "[]" if name == "OptionalArrayRef" else ""
            return inner if inner.endswith("?") else f"{inner}?"
        return self._rare_type(name, resolved)

    def _rare_type(self, name: str, type_: CppType) -> str:
        arguments = type_.arguments
        if name == "std::tuple" and arguments:
            return f"({', '.join(map(self.schema_type, arguments))})"
        if name == "Dict" and len(arguments) == 2:
            return f"Dict({self.schema_type(arguments[0])}, {self.schema_type(arguments[1])})"
        if name == "complex" and [str(argument) for argument in arguments] == ["double"]:
            return "complex"
        if name == "intrusive_ptr" and len(arguments) == 1:
            custom_class = self.classes.get(arguments[0].last_name)
            if custom_class is not None:
                return custom_class
        raise NoSchemaType(str(type_))
