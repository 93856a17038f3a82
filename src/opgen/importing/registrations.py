"""What sources register, as it is written there: schemas, kernels, and what else they say of operators."""

from __future__ import annotations

from enum import Enum

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.importing.cpp_types import CppSignature

# The key that PyTorch registers a kernel for that is given with none.
CATCH_ALL = "CompositeImplicitAutograd"
# What schemas call custom classes by.
CLASSES = "__torch__.torch.classes"
# What a row says in the place of a kernel.
FALLTHROUGH = "fallthrough"


class KernelKind(Enum):
    function = "a function"
    unnamed = "a lambda"
    boxed = "a boxed kernel"
    fallthrough = "a fallthrough"
    unknown = "an expression"


@dataclass(frozen=True, slots=True)
class FunctionName:
    """`a::f<float>` as it is written: `qualifiers`, `base`, and template arguments with their brackets."""

    qualifiers: tuple[str, ...]
    base: str
    template: str = ""
    is_absolute: bool = False

    def __str__(self) -> str:
        path = "::".join((*self.qualifiers, self.base))
        return f"{'::' if self.is_absolute else ''}{path}{self.template}"


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a row registers. `name` is None but for functions; `signature` that of a lambda.

    A function with `is_cast` is one of several of its name, chosen by its type.
    """

    kind: KernelKind
    words: str
    span: Span = field(compare=False)
    name: FunctionName | None = None
    is_cast: bool = False
    signature: CppSignature | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """An operator with its schema in canonical spelling, `name.overload(...) -> ...`, without the namespace."""

    namespace: str
    schema: str
    span: Span = field(compare=False)
    conditions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    is_inferred: bool = False

    @property
    def name(self) -> str:
        """The name with the overload."""
        return self.schema.partition("(")[0]


@dataclass(frozen=True, slots=True)
class NameAlone:
    """`m.def("name", kernel)`: an operator whose schema PyTorch infers from the kernel's type."""

    namespace: str
    name: str
    key: str
    kernel: Kernel
    span: Span = field(compare=False)
    conditions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Implementation:
    """A kernel of an operator for a dispatch key."""

    namespace: str
    name: str
    key: str
    kernel: Kernel
    span: Span = field(compare=False)
    conditions: tuple[str, ...] = ()


Registration = Definition | NameAlone | Implementation


@dataclass(frozen=True, slots=True)
class FakeKernel:
    """A fake kernel in Python of the operator `ns::name.overload`."""

    operator: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was read: registrations in the order of the sources, and namespaces that only the build knows.

    `classes` are the names of custom classes in schemas, by their last names in C++.
    """

    registrations: list[Registration] = field(default_factory=list)
    unknown_namespaces: dict[str, list[Span]] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    fakes: list[FakeKernel] = field(default_factory=list)
