"""The operators that are verified: schema, variants, and what is known about their kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from opgen.model.domains import EVERYTHING, Domain
from opgen.model.function_schema import Argument, FunctionSchema, SchemaKind
from opgen.model.types import BaseTy

SEEDED = "nondeterministic_seeded"
POINTWISE = "pointwise"
# What calls of an operator reached.
CALLS, LARGE, STRIDED, EXPANDED, OF_DTYPES, CONCURRENT = (
    *("accepted calls", "with several elements", "strided", "expanded", "dtypes"),
    "in two threads at the same time",
)
# Operators whose results are uninitialised memory say so in their names, as PyTorch's do.
_EMPTY = "empty"


class Facts(Struct, frozen=True):
    """What a backend knows about an operator.

    `is_composite`: the operator only calls others, which have kernels and gradients of their own. `has_meta`: there is a
    Meta kernel, a fake, or the operator is composite. `formulas` is whether gradients have formulas; None if that is
    unknown. `has_batching_rule` is whether it says what vmap does. `non_differentiable` are the arguments that formulas name so. `untestable` is why no property applies, or "".
    """

    tags: frozenset[str] = frozenset()
    is_composite: bool = False
    has_meta: bool = True
    is_pointwise: bool = False
    formulas: bool | None = None
    has_batching_rule: bool = False
    non_differentiable: frozenset[str] = frozenset()
    untestable: str = ""
    # Where the schema is: a file and a line, for reports.
    file: str = ""
    line: int = 0


class Subject(Struct):
    """One overload of an operator. `call` takes the arguments by name, and returns what the operator returns."""

    namespace: str
    schema: FunctionSchema
    call: Callable[[Mapping[str, Any]], Any]
    facts: Facts = Facts()
    domain: Domain = EVERYTHING
    # The functional variant of an in-place operator, or of one with out=.
    functional: Subject | None = None
    # For programs: how the operator is called, as `torch.ops.mylib.add_`, and the arguments that are passed by position.
    spelling: str = ""
    handle: Any = None
    # The arguments that the schema marks as written.
    written: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.written = tuple(self.schema.arguments.mutable_arg_names)

    @property
    def name(self) -> str:
        """The name with namespace and overload: `mylib::add.out`."""
        return f"{self.namespace}::{self.schema.name}"

    @property
    def base(self) -> str:
        """The name that all variants share, without the namespace."""
        name = str(self.schema.name.name)
        # In libraries, an in-place operator may call its argument anything.
        return name[:-1] if self.is_inplace and name.endswith("_") else self.schema.name.name.base

    @property
    def group(self) -> str:
        """The name that all variants share: `mylib::add`."""
        return f"{self.namespace}::{self.base}"

    @property
    def is_functional(self) -> bool:
        return self.schema.kind() is SchemaKind.functional

    @property
    def is_inplace(self) -> bool:
        if self.schema.kind() is SchemaKind.inplace:
            return True
        name, positional = str(self.schema.name.name), self.schema.arguments.flat_positional
        return name.endswith("_") and bool(positional) and positional[0].is_write

    @property
    def is_out(self) -> bool:
        return bool(self.schema.arguments.out)

    @property
    def outs(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.schema.arguments.out)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return self.schema.arguments.flat_all

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that are drawn: all but those of out=, which follow from a result."""
        if self.functional is not None:
            return self.schema.arguments.flat_non_out
        return self.schema.arguments.flat_all

    @property
    def is_random(self) -> bool:
        return SEEDED in self.facts.tags

    @property
    def is_view(self) -> bool:
        """Whether a result is a view of an argument that is not written."""
        return any(r.annotation is not None and not r.is_write for r in self.schema.returns)

    @property
    def has_generator(self) -> bool:
        return self.schema.arguments.has_generator_arg()

    @property
    def is_unspecified(self) -> bool:
        """Whether the elements of results are uninitialised memory, on purpose."""
        return self.domain.unspecified or _EMPTY in self.base

    @property
    def has_checked_elements(self) -> bool:
        """Whether the elements of results mean something. Those of random operators depend on the order of elements."""
        return not (self.is_unspecified or self.is_random or self.has_generator)

    @property
    def returns_tensors(self) -> bool:
        return any(r.type.is_base_ty_like(BaseTy.Tensor) for r in self.schema.returns)


def default_of(argument: Argument) -> list[Any]:
    """Return the default of an argument in a list, which is empty if it has none, or one that is no literal."""
    try:
        return [ast.literal_eval(argument.default or "")]
    except (SyntaxError, ValueError):
        return {"true": [True], "false": [False]}.get(argument.default or "", [])


def connect_variants(subjects: Iterable[Subject]) -> None:
    """Set the functional variant of each in-place operator and each operator with out=."""
    known: dict[str, list[Subject]] = {}
    found = list(subjects)
    for subject in found:
        if subject.is_functional:
            known.setdefault(subject.group, []).append(subject)
    for subject in found:
        if not (subject.is_inplace or subject.is_out):
            continue
        candidates = known.get(subject.group, ())
        wanted = _inputs(subject)
        # Tensor options are those of the out argument.
        for options in (True, False) if subject.is_out else (True,):
            fits = (c for c in candidates if _inputs(c, options=options) == wanted)
            subject.functional = subject.functional or next(fits, None)


def _inputs(subject: Subject, *, options: bool = True) -> list[tuple[str, str]]:
    arguments = subject.schema.arguments
    found = [*arguments.flat_positional, *arguments.flat_kwarg_only]
    if not options and arguments.tensor_options is not None:
        left_out = arguments.tensor_options.all()
        found = [a for a in found if a not in left_out]
    return [(a.name, str(a.type)) for a in found]


# Whether an operator is so, and why a property does not apply to it if not.
Need: TypeAlias = tuple[Callable[[Subject], bool], str]
SPECIFIED: Need = (lambda s: not s.is_unspecified, "its elements are not specified")
HAS_CHECKED_ELEMENTS: Need = (lambda s: s.has_checked_elements, SPECIFIED[1])
TAKES_TENSORS: Need = (lambda s: s.schema.arguments.has_tensor_arg(), "it takes no tensors")
RETURNS_TENSORS: Need = (lambda s: s.returns_tensors, "it returns no tensors")
NOT_RANDOM: Need = (lambda s: not s.is_random, "it is random")
DRAWS_NOTHING: Need = (lambda s: not (s.is_random or s.has_generator), "it is random")
WRITES: Need = (lambda s: bool(s.written), "it writes no arguments")
TAKES_NO_LIST: Need = (
    lambda s: not any(
        a.type.is_tensor_like() and a.type.is_list_like() for a in s.schema.arguments.flat_non_out
    ),
    "it takes a list of tensors",
)
HAS_META: Need = (lambda s: s.facts.has_meta, "it has no Meta kernel")
