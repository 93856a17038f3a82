"""Registrations as values: schemas, kernels, tags and fake kernels of operators; and the problems of reading them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics, Located, Span
from opgen.importing.common.cpp_types import CppSignature
from opgen.model.native_function import AliasAnalysisKind

# Arbitrary bytes may cause a million warnings, and each takes time to print.
MOST = 1000


class Problems(Struct):
    """Adds warnings, at most MOST of them, and errors to `diagnostics`."""

    diagnostics: Diagnostics
    count: int = 0

    def warn(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        hint: str | None = None,
        labels: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self.count += 1
        if self.count <= MOST:
            self.diagnostics.warning(code, message, span, hint=hint, labels=labels, notes=notes)
        elif self.count == MOST + 1:
            message = f"opgen stops after {MOST} warnings"
            self.diagnostics.warning("W1180", message, None)

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        hint: str | None = None,
        labels: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self.diagnostics.error(code, message, span, hint=hint, labels=labels, notes=notes)


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
    """A registered kernel. Only functions have a `name`, and only lambdas a `signature`. `code` is shown in messages.

    `is_cast` is whether a cast selects one of several functions with this name.
    """

    kind: KernelKind
    code: str
    span: Span
    name: FunctionName | None = None
    is_cast: bool = False
    signature: CppSignature | None = None


class Definition(Located, Struct, frozen=True):
    """An operator with its schema in canonical spelling, `name.overload(...) -> ...`, without the namespace."""

    namespace: str
    schema: str
    span: Span
    conditions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    is_inferred: bool = False
    # None stands for `from_schema`.
    alias_analysis: AliasAnalysisKind | None = None

    @property
    def name(self) -> str:
        """The name with the overload."""
        return self.schema.partition("(")[0]


class NameAlone(Located, Struct, frozen=True):
    """`m.def("name", kernel)`: an operator whose schema PyTorch infers from the kernel's type."""

    namespace: str
    name: str
    key: str
    kernel: Kernel
    span: Span
    conditions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    alias_analysis: AliasAnalysisKind | None = None


class Implementation(Located, Struct, frozen=True):
    """A kernel of an operator for a dispatch key."""

    namespace: str
    name: str
    key: str
    kernel: Kernel
    span: Span
    conditions: tuple[str, ...] = ()


Registration = Definition | NameAlone | Implementation


class FakeKernel(Located, Struct, frozen=True):
    """A fake kernel in Python of the operator `ns::name.overload`."""

    operator: str
    span: Span


class Reading(Struct, frozen=True):
    """The result of reading all sources: registrations in their order, and fake kernels.

    `unknown_namespaces` maps macros that only the build defines to the places that use them as a namespace. `classes`
    maps the unqualified C++ names of custom classes to their names in schemas.
    """

    registrations: list[Registration] = field(default_factory=list)
    unknown_namespaces: dict[str, list[Span]] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    fakes: list[FakeKernel] = field(default_factory=list)
