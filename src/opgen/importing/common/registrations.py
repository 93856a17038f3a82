"""Registrations as values: schemas, kernels, tags and fake kernels of operators; and the problems of reading them.

A schema as written is split into its name and the rest, in canonical spelling. That is the spelling of the schema's value, if
opgen's grammar has it: the grammar accepts what PyTorch's runtime parser does. Types that only PyTorch knows stay as they are
written, with single spaces: their entries are left out.

The types of C++, and the schema types that PyTorch infers from them, come next. Source: PyTorch's
ATen/core/op_registration/infer_schema.h and ATen/core/jit_type.h. Each rule was compared with the schemas of a compiled
library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Located, Span
from opgen.model.cpp_words import LISTS, OPTIONALS, SCHEMA_TYPES, unqualified
from opgen.model.function_schema import FunctionSchema
from opgen.model.native_function import AliasAnalysisKind
from opgen.model.profile import Profile
from opgen.parse.schema.grammar import parse_function_schema
from opgen.parse.schema.text import SchemaText as Tokens
from opgen.parse.schema.text import without_comments

# The most characters of a schema. PyTorch's longest has 492.
MAX_SCHEMA = 60_000
_NAME = re.compile(r"\s*((?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*(?:\s*\.\s*\w+)?)\s*")
_ARROW = re.compile(r"\s*->\s*(?=\S)")
# Signs that a schema may have outside of quotes.
_SIGNS = frozenset(("->", "...", *"()[]{},?!*=|.:+-$"))
_ANNOTATION = re.compile(r"\bTensor(?:\(|!)")


class SchemaText(Struct, frozen=True):
    """The parts of a schema. `namespace` may be empty; `name` includes the overload; `rest` is `(...) -> ...`."""

    namespace: str
    name: str
    rest: str

    def __str__(self) -> str:
        return f"{self.name}{self.rest}"

    @property
    def has_annotations(self) -> bool:
        """Whether an alias is annotated, as in `Tensor(a!)`: PyTorch then accepts no kind of alias analysis."""
        return _ANNOTATION.search(self.rest) is not None


def find_schema(text: str) -> SchemaText | None:
    """Return the parts of a schema in canonical spelling; None if `text` is not a schema."""
    if len(text) > MAX_SCHEMA:
        return None
    text = without_comments(text).rstrip()
    named = _NAME.match(text)
    if named is None or not text.startswith("(", named.end()):
        return None
    tokens = Tokens(text, Diagnostics())
    arrow = _ARROW.match(text, tokens.closing(named.end()) + 1)
    signs = [t.text for t in tokens.tokens(named.end(), len(text)) if not t.is_word]
    depths = list(accumulate({"(": 1, ")": -1}.get(sign, 0) for sign in signs))
    if arrow is None or min(depths) < 0 or depths[-1] != 0 or not _SIGNS.issuperset(signs):
        return None
    namespace, name = _split(named[1])
    rest = text[named.end() :]
    schema = parse_schema(f"{name}{rest}")
    spelled = " ".join(rest.split()) if schema is None else str(schema).removeprefix(name)
    return SchemaText(namespace, name, spelled)


def parse_schema(text: str) -> FunctionSchema | None:
    """Return the value of a schema without a namespace; None if it is none that a library of opgen can have."""
    return parse_function_schema(text, Diagnostics(), profile=Profile.library)


def find_name(text: str) -> tuple[str, str] | None:
    """Split `ns::name.overload` into namespace (may be empty) and name with overload; None if it is not a name."""
    named = _NAME.fullmatch(text) if len(text) <= MAX_SCHEMA else None
    return None if named is None else _split(named[1])


def _split(name: str) -> tuple[str, str]:
    namespace, _, last = "".join(name.split()).rpartition("::")
    return namespace, last


if TYPE_CHECKING:
    from typing_extensions import Unpack

    from opgen.diagnostics import Details


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


class CppParameter(Struct, frozen=True):
    type: CppType
    name: str


class CppSignature(Struct, frozen=True):
    """The types of a function. `returns` is None for a lambda without a declared return type."""

    returns: CppType | None
    parameters: tuple[CppParameter, ...] = ()

    def schema(self, declared: Names, classes: Mapping[str, str], names: Sequence[str] = ()) -> str:
        """Return the arguments and returns of the schema, `(Tensor _0, int _1) -> Tensor _0`.

        `classes` maps C++ names of custom classes to those in schemas. `names` are those of the arguments, with their
        defaults, if they have any. Raises NoSchemaType if a type has no schema type, or the return type is unknown.
        """
        if self.returns is None:
            raise NoSchemaType("the return type of the lambda")
        inference = _TypeInference(declared, classes)
        arguments = [inference.schema_type(parameter.type) for parameter in self.parameters]
        result = declared.resolved(self.returns)
        if result.name == "void" and not result.mark:
            results = []
        elif result.name == "std::tuple":
            results = [inference.schema_type(part) for part in result.arguments]
        else:
            results = [inference.schema_type(result)]
        numbered = [f"{type_} _{index}" for index, type_ in enumerate(results)]
        returns = numbered[0] if len(numbered) == 1 else f"({', '.join(numbered)})"
        if len(names) != len(arguments):
            names = [f"_{index}" for index in range(len(arguments))]
        listed = ", ".join(f"{type_} {name}" for type_, name in zip(arguments, names))
        return f"({listed}) -> {returns}"


class NoSchemaType(Exception):
    """A C++ type from which PyTorch infers no schema type, or one that the sources do not define."""


class Names(Struct, frozen=True):
    """The `using` and `typedef` declarations of a file: types by name, and the namespaces of `using namespace`.

    `namespaces` are other names of namespaces, `imported` those of functions and others.
    """

    types: Mapping[str, CppType]
    opened: Sequence[str] = ()
    namespaces: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    imported: Mapping[str, tuple[str, ...]] = MappingProxyType({})

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
        name = type_.name.removeprefix("::").removeprefix("torch::autograd::")
        if name in _OF_AUTOGRAD and (name != type_.name or "torch::autograd" in self.opened):
            named = _OF_AUTOGRAD[name]
            return CppType(named.name, named.arguments, type_.is_const, type_.mark)
        return type_


# Source: torch/csrc/autograd/variable.h and function.h.
_TENSOR = CppType("at::Tensor")
_OF_AUTOGRAD: Mapping[str, CppType] = {
    "Variable": _TENSOR,
    **dict.fromkeys(("variable_list", "tensor_list"), CppType("std::vector", (_TENSOR,))),
}
_OF_STD = frozenset(
    {"std::string", "std::string_view", "std::vector", "std::tuple", "std::optional", "std::array"}
)


class _TypeInference(Struct, frozen=True):
    names: Names
    classes: Mapping[str, str]

    def schema_type(self, type_: CppType) -> str:
        """Return the schema type. Raises NoSchemaType."""
        resolved = self.names.resolved(type_)
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


# Arbitrary bytes may cause a million warnings, and each takes time to print.
MOST = 1000


class Problems(Struct):
    """Adds warnings, at most MOST of them, to `diagnostics`."""

    diagnostics: Diagnostics
    count: int = 0

    def warn(self, code: str, message: str, span: Span | None, **details: Unpack[Details]) -> None:
        self.count += 1
        if self.count <= MOST:
            self.diagnostics.warning(code, message, span, **details)
        elif self.count == MOST + 1:
            message = f"opgen stops after {MOST} warnings"
            self.diagnostics.warning("W1180", message, None)


# The key of kernels that are registered without a key.
CATCH_ALL = "CompositeImplicitAutograd"
# The prefix of custom classes in schemas.
CLASSES = "__torch__.torch.classes"


class KernelKind(Enum):
    function = "a function"
    unnamed = "a lambda"
    boxed = "a boxed kernel"
    fallthrough = "a fallthrough"
    unknown = "an expression"


class FunctionName(Struct, frozen=True):
    """`a::f<float>` as written: `qualifiers`, `base`, and template arguments with their brackets."""

    qualifiers: tuple[str, ...]
    base: str
    template: str = ""
    is_absolute: bool = False

    def __str__(self) -> str:
        path = "::".join((*self.qualifiers, self.base))
        return f"{'::' if self.is_absolute else ''}{path}{self.template}"


class Kernel(Located, Struct, frozen=True):
    """A registered kernel, and the `key` of a `torch::dispatch` around it. Only functions have a `name`.

    `signature` is that of a lambda, or the type to which a function is cast, which chooses among overloads. `code` is shown
    in messages.
    """

    kind: KernelKind
    code: str
    span: Span
    name: FunctionName | None = None
    signature: CppSignature | None = None
    key: str | None = None


class Definition(Located, Struct, frozen=True):
    """An operator with its schema in canonical spelling, `name.overload(...) -> ...`, without the namespace."""

    namespace: str
    schema: str
    span: Span
    conditions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    # The kernel from whose type PyTorch infers the schema, and the names, with defaults, that a pybind11 module gives its
    # arguments. Until the types of all functions are known, `schema` is the name alone.
    inferred_from: Kernel | None = None
    arguments: tuple[str, ...] = ()
    # None stands for `from_schema`.
    alias_analysis: AliasAnalysisKind | None = None
    # The Python module that registers its fake kernel, if `set_python_module` says so.
    fake_module: str | None = None

    @property
    def name(self) -> str:
        """The name with the overload."""
        return self.schema.partition("(")[0]


class Implementation(Located, Struct, frozen=True):
    """A kernel of an operator for a dispatch key."""

    namespace: str
    name: str
    key: str
    kernel: Kernel
    span: Span
    conditions: tuple[str, ...] = ()


Registration = Definition | Implementation


class FakeKernel(Located, Struct, frozen=True):
    """A fake kernel in Python of the operator `ns::name.overload`."""

    operator: str
    span: Span


class Reading(Struct, frozen=True):
    """The result of reading all sources: registrations in their order, and fake kernels.

    `unknown_namespaces` maps macros that only the build defines to the places that use them as a namespace. `classes`
    maps the unqualified C++ names of custom classes to their names in schemas.
    """

    problems: Problems
    registrations: list[Registration] = field(default_factory=list)
    unknown_namespaces: dict[str, list[Span]] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    fakes: list[FakeKernel] = field(default_factory=list)

    def define(
        self,
        written: str,
        made: Definition,
        row: Implementation | None = None,
        *,
        is_older: bool = False,
    ) -> None:
        """Add the operator with the schema that is `written`, and its kernel, if the definition has one.

        A kernel's operator may have a name alone. `made` has the namespace of the library. With `is_older`, PyTorch
        knows of a schema without annotations what it knows of a function.
        """
        schema = find_schema(written)
        name = (schema.namespace, schema.name) if schema is not None else find_name(written)
        if name is None or (schema is None and row is None):
            hint = "write 'name(arguments) -> returns'"
            self.problems.warn("W1169", "this is not a schema", made.span, hint=hint)
            return
        kind = made.alias_analysis
        namespace = self.own_namespace(made.namespace, name[0], made.span)
        if schema is not None and is_older and kind is None and not schema.has_annotations:
            kind = AliasAnalysisKind.conservative
        if schema is not None and kind and kind.name != "from_schema" and schema.has_annotations:
            message = f"PyTorch refuses the alias analysis '{kind.name}' beside annotations"
            self.problems.warn("W1176", message, made.span)
            kind = None
        known = replace(
            made, namespace=namespace, schema=str(schema or name[1]), alias_analysis=kind
        )
        if row is not None and schema is None:
            known, row = replace(known, inferred_from=row.kernel), replace(row, span=made.span)
        self.registrations.append(known)
        if row is not None:
            self.registrations.append(replace(row, namespace=namespace, name=name[1]))

    def own_namespace(self, library: str, written: str, span: Span) -> str:
        """Return the namespace of an operator: as written, or that of its library. Report one that differs."""
        if written and library not in ("", "_", written):
            message = f"'{written}' is not the library's namespace, '{library}'"
            self.problems.warn("W1170", message, span)
        return written or library

    def analysis(self, name: str, span: Span) -> AliasAnalysisKind | None:
        """Return the kind of alias analysis that has a name in C++ or Python; None, and a report, if an entry has none."""
        kind = AliasAnalysisKind.__members__.get(name.lower())
        if kind is None:
            message = f"an entry cannot express the alias analysis '{name}'"
            self.problems.warn("W1176", message, span)
        return kind
