"""Define operator schemas as values: name, arguments, returns, and properties derived from them.

Parsing `str(x)` gives `x` again, and `str` of a parsed schema is its canonical text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from opgen.model.profile import Profile
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type


class SchemaKind(Enum):
    """The kinds of variants of an operator. Source of the rules: torchgen's SchemaKind.

    `functional` returns new values, `inplace` writes self, `out` writes the tensors that the caller passes as out
    arguments, `mutable` writes another argument, and `scratch` is `out` with temporary storage among its out arguments.
    """

    functional = auto()
    inplace = auto()
    out = auto()
    mutable = auto()
    scratch = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


# Names of operators with an augmented assignment in Python: `__iadd__` is the in-place form of `__add__`.
AUGMENTED_ASSIGNMENT_NAMES: tuple[str, ...] = (
    *("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or"),
)

# An out argument with this prefix is work space: it is written, but not returned.
SCRATCH_PREFIX = "_scratch_"


class BaseOperatorName(Struct, frozen=True):
    """`add`, `add_`, `__iadd__`, `foo_functional`: `base` is the name without the marks."""

    base: str
    inplace: bool
    dunder_method: bool
    functional_overload: bool = False

    def __str__(self) -> str:
        if self.dunder_method:
            return f"__{'i' if self.inplace else ''}{self.base}__"
        if self.inplace:
            return f"{self.base}_"
        return f"{self.base}_functional" if self.functional_overload else self.base


class OperatorName(Struct, frozen=True, cache_hash=True, dict=True):
    """A name with its overload; `overload_name` is empty for the default overload."""

    name: BaseOperatorName
    overload_name: str

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return f"{self.name}.{self.overload_name}" if self.overload_name else str(self.name)

    @cached_property
    def unambiguous_name(self) -> str:
        """`add_Tensor` for `add.Tensor`."""
        return f"{self.name}_{self.overload_name}" if self.overload_name else str(self.name)

    def remove_inplace(self) -> OperatorName:
        """Return the name without the marks for in-place and `_functional`."""
        return self._plain(self.overload_name)

    def to_out(self) -> OperatorName:
        """Return the name of the generated out variant: `add.out` for `add`, `add.Tensor_out` for `add_.Tensor`."""
        return self._plain(f"{self.overload_name}_out" if self.overload_name else "out")

    def to_inplace(self) -> OperatorName:
        """Return the name of the in-place variant: `add_.Tensor` for `add.Tensor`."""
        base = BaseOperatorName(self.name.base, True, self.name.dunder_method)
        return OperatorName(base, self.overload_name)

    def _plain(self, overload: str) -> OperatorName:
        base = BaseOperatorName(self.name.base, False, self.name.dunder_method)
        return OperatorName(base, overload)


class Annotation(Struct, frozen=True):
    """Alias information: `a`, `a!` (written), `a -> *` (goes into the alias set `*`).

    Without `alias_set` it is a bare `!`: written, and in an alias set of its own. `depth` counts the marks of the type
    before it: `Tensor(a!)[]` has depth 0, `Tensor[](a!)` has 1. `inner` is the annotation of the elements, such as `(a)`
    in `Tensor(a)[](b)`.
    """

    alias_set: tuple[str, ...]
    is_write: bool
    alias_set_after: tuple[str, ...]
    depth: int = 0
    inner: Annotation | None = None

    @property
    def text(self) -> str:
        """The annotation as written in a type: `(a!)`, `!`."""
        return f"({self})" if self.alias_set else str(self)

    def __str__(self) -> str:
        before = f"{'|'.join(self.alias_set)}{'!' if self.is_write else ''}"
        return f"{before} -> {'|'.join(self.alias_set_after)}" if self.alias_set_after else before


def may_alias(one: Annotation | None, other: Annotation | None) -> bool:
    """Return whether two annotations name the same alias set. A bare `!` names none."""
    return one is not None and one == other and bool(one.alias_set)


def may_share_memory(one: Annotation, other: Annotation) -> bool:
    """Return whether two annotations share an alias set, or one of them names every set (`*`)."""
    sets, others = set(one.alias_set), set(other.alias_set)
    return "*" in sets | others or not sets.isdisjoint(others)


def _annotated(type: Type, annotation: Annotation | None) -> str:
    if annotation is None:
        return str(type)
    parts = _marks(type)
    found: Annotation | None = annotation
    while found is not None:
        parts[found.depth] += found.text
        found = found.inner
    return "".join(parts)


def _marks(type: Type) -> list[str]:
    """Split the text of a type into its base type and its marks, `?` and `[]`."""
    marks = []
    while isinstance(type, OptionalType | ListType):
        marks.append(str(type)[len(str(type.elem)) :])
        type = type.elem
    return [str(type), *reversed(marks)]


class Argument(Struct, frozen=True, cache_hash=True, dict=True):
    """An argument of an operator. `default` is the text after `=`, as written.

    `name` is unique among the operator's arguments. `written` is the name in the schema where it differs: PyTorch accepts two
    arguments with the same name. A few hundred distinct arguments are looked up and printed tens of thousands of times, so
    their hash and text are cached.
    """

    name: str
    type: Type
    default: str | None
    annotation: Annotation | None
    written: str | None = None

    @cached_property
    def is_write(self) -> bool:
        """Whether the argument is a tensor or a list of tensors that the operator writes. (`int!` is neither.)"""
        return _is_written(self.type, self.annotation)

    @property
    def type_text(self) -> str:
        """The type with its annotation, as written: `Tensor(a!)[]`."""
        return _annotated(self.type, self.annotation)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        text = f"{self.type_text} {self.written or self.name}"
        return text if self.default is None else f"{text}={self.default}"


def _is_written(type: Type, annotation: Annotation | None) -> bool:
    if annotation is None or not type.is_tensor_like():
        return False
    return annotation.is_write or (annotation.inner is not None and annotation.inner.is_write)


class Return(Struct, frozen=True):
    """A return of an operator. `name` is None if it has none; `annotation` is None for a new value."""

    name: str | None
    type: Type
    annotation: Annotation | None

    @property
    def is_write(self) -> bool:
        """Whether this return is an argument that the operator writes."""
        return _is_written(self.type, self.annotation)

    def __str__(self) -> str:
        text = _annotated(self.type, self.annotation)
        return text if self.name is None else f"{text} {self.name}"


class SelfArgument(Struct, frozen=True):
    """The positional argument named `self`, which a method is called on."""

    argument: Argument


class TensorOptionsArguments(Struct, frozen=True):
    """Four consecutive keyword arguments, which C++ combines into one TensorOptions."""

    dtype: Argument
    layout: Argument
    device: Argument
    pin_memory: Argument

    def all(self) -> tuple[Argument, ...]:
        """Return the four arguments in the order of the schema."""
        return (self.dtype, self.layout, self.device, self.pin_memory)


class Arguments(Struct, frozen=True, cache_hash=True, dict=True):
    """Arguments in the order of the schema: positional, keyword-only and out arguments.

    `has_options` is whether four of the keyword-only ones are one TensorOptions in C++. As those of an Argument, hash and
    text are cached.
    """

    flat_positional: tuple[Argument, ...]
    flat_kwarg_only: tuple[Argument, ...] = ()
    out: tuple[Argument, ...] = ()
    has_options: bool = False

    @cached_property
    def self_arg(self) -> SelfArgument | None:
        """The positional argument named `self`, or None."""
        return next((SelfArgument(a) for a in self.flat_positional if a.name == "self"), None)

    @cached_property
    def tensor_options(self) -> TensorOptionsArguments | None:
        """The four arguments that are one TensorOptions in C++, or None."""
        if not self.has_options:
            return None
        start = [a.name for a in self.flat_kwarg_only].index("dtype")
        return TensorOptionsArguments(*self.flat_kwarg_only[start : start + 4])

    @property
    def post_self_positional(self) -> tuple[Argument, ...]:
        """The positional arguments after self; without self, all."""
        own = self.self_arg
        return self.flat_positional[
            0 if own is None else self.flat_positional.index(own.argument) + 1 :
        ]

    @property
    def flat_without_options(self) -> tuple[Argument, ...]:
        """The keyword-only arguments, without the tensor options and the out arguments."""
        options = () if self.tensor_options is None else self.tensor_options.all()
        return tuple(a for a in self.flat_kwarg_only if a not in options)

    @property
    def flat_non_out(self) -> tuple[Argument, ...]:
        """The arguments in the order of the schema, without the out arguments."""
        return self.flat_positional + self.flat_kwarg_only

    @cached_property
    def flat_all(self) -> tuple[Argument, ...]:
        """All arguments in the order of the schema."""
        return self.flat_positional + self.flat_kwarg_only + self.out

    @property
    def non_out(self) -> Iterator[Argument | SelfArgument | TensorOptionsArguments]:
        """As `flat_non_out`, but self and the tensor options are marked by their classes."""
        own, options = self.self_arg, self.tensor_options
        for a in self.flat_positional:
            yield own if own is not None and a is own.argument else a
        for a in self.flat_kwarg_only:
            if options is None or a not in options.all():
                yield a
            elif a is options.dtype:
                yield options

    @property
    def mutable_arg_names(self) -> tuple[str, ...]:
        """The names of the arguments that the operator writes, in the order of the schema."""
        return tuple(a.name for a in self.flat_all if a.is_write)

    def has_tensor_arg(self) -> bool:
        """Return whether an argument other than out is a Tensor, or an optional or list of them."""
        return any(a.type.is_tensor_like() for a in self.flat_non_out)

    def has_generator_arg(self) -> bool:
        """Return whether an argument other than out is a Generator, or an optional or list of them."""
        return any(a.type.is_generator_like() for a in self.flat_non_out)

    def signature(self, *, strip_default: bool = False) -> Arguments:
        """Return the arguments that all variants of an operator share; see FunctionSchema.signature."""

        def stripped(a: Argument) -> Argument:
            default = None if strip_default else a.default
            same = a.annotation is None and a.default == default
            return a if same else Argument(a.name, a.type, default, None)

        return Arguments(self.flat_positional, self.flat_without_options).changed(stripped)

    def changed(self, change: Callable[[Argument], Argument]) -> Arguments:
        """Return these arguments as `change` returns them."""
        lists = (self.flat_positional, self.flat_kwarg_only, self.out)
        positional, keyword, out = (tuple(map(change, some)) for some in lists)
        return Arguments(positional, keyword, out, self.has_options)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        keywords = self.flat_kwarg_only + self.out
        mark = ("*",) if keywords else ()
        return ", ".join(map(str, (*self.flat_positional, *mark, *keywords)))


class FunctionSchema(Struct, frozen=True, dict=True):
    """`name.overload(arguments) -> returns`, without a namespace, parsed by the rules of `profile`."""

    name: OperatorName
    arguments: Arguments
    returns: tuple[Return, ...]
    profile: Profile = Profile.torchgen

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        returns = ", ".join(map(str, self.returns))
        # A single tuple needs parentheses around it, or its elements would be the returns.
        if len(self.returns) != 1 or returns.startswith("("):
            returns = f"({returns})"
        return f"{self.name}({self.arguments}) -> {returns}"

    @property
    def is_mutable(self) -> bool:
        """Whether the operator writes any argument."""
        return any(a.is_write for a in self.arguments.flat_all)

    @property
    def is_inplace(self) -> bool:
        """Whether the name is that of an in-place operator: `add_`, `__iadd__`."""
        return self.name.name.inplace

    @property
    def is_factory(self) -> bool:
        """Whether the operator creates a tensor from tensor options, and takes no tensor whose options it could use."""
        return self.arguments.tensor_options is not None and not self.arguments.has_tensor_arg()

    @property
    def creates_tensor(self) -> bool:
        """Whether the operator returns a tensor and takes none, with or without tensor options."""
        makes_tensor = any(r.type.is_tensor_like() for r in self.returns)
        return makes_tensor and not self.arguments.has_tensor_arg()

    def is_functional_fn(self) -> bool:
        """Return whether the overload's name contains "functional". The operator may still write arguments."""
        return "functional" in self.name.overload_name

    def is_out_fn(self) -> bool:
        """Return whether the operator has out arguments."""
        return bool(self.arguments.out)

    def returns_are_aliased(self) -> bool:
        """Return whether any return is a written argument."""
        return any(r.is_write for r in self.returns)

    def has_symint(self) -> bool:
        """Return whether an argument other than out is a SymInt, or an optional or list of them."""
        return any(a.type.is_symint_like() for a in self.arguments.flat_non_out)

    def kind(self) -> SchemaKind:
        """Return the kind of the schema. By torchgen's rules, a written `self` alone does not make an operator mutable."""
        return self._kind

    @cached_property
    def _kind(self) -> SchemaKind:
        if self.name.name.inplace:
            return SchemaKind.inplace
        if self.arguments.out:
            scratch = any(a.name.startswith(SCRATCH_PREFIX) for a in self.arguments.out)
            scratch &= self.profile is Profile.torchgen
            return SchemaKind.scratch if scratch else SchemaKind.out
        if self.profile is Profile.library:
            return SchemaKind.mutable if self.is_mutable else SchemaKind.functional
        mutable = any(a.is_write for a in self.arguments.post_self_positional)
        return SchemaKind.mutable if mutable else SchemaKind.functional

    def returns_only_written(self) -> bool:
        """Return whether the operator takes tensors, and returns only arguments that it writes.

        It does not if such an argument is optional: the result for a missing argument is unknown.
        """
        arguments = {a.name: a for a in self.arguments.flat_all}
        returned = zip(self.aliased_return_names(), self.returns)
        return any(a.type.is_tensor_like() for a in arguments.values()) and all(
            name is not None and value.is_write and not arguments[name].type.is_nullable()
            for name, value in returned
        )

    def aliased_return_names(self) -> tuple[str | None, ...]:
        """Return, for each return, the name of the argument that it aliases, the first with the same annotation; or
        None.
        """
        annotated = [a for a in self.arguments.flat_all if a.annotation is not None]
        return tuple(
            next((a.name for a in annotated if may_alias(a.annotation, r.annotation)), None)
            for r in self.returns
        )

    def with_name(self, name: OperatorName) -> FunctionSchema:
        """Return the same schema with another name."""
        return replace(self, name=name)

    def signature(
        self,
        *,
        strip_default: bool = False,
        strip_view_copy_name: bool = False,
        keep_return_names: bool = False,
    ) -> FunctionSchema:
        """Return the schema that functional, in-place, out and mutable variants of one operator share.

        It is the functional form: no overload, no marks in the name, no annotations, no tensor options, no out
        arguments. Arguments that a variant writes but does not return become returns.
        """
        arguments = self.arguments.signature(strip_default=strip_default)
        if self.name.overload_name == "p" and str(self.name) == "bernoulli.p":
            # Its in-place form, bernoulli_.float, has a default, but bernoulli.p cannot have one.
            arguments = arguments.changed(
                lambda a: replace(a, default="0.5") if a.name == "p" else a
            )
        base = self.name.name.base
        if strip_view_copy_name and base.endswith("_copy"):
            base = base.replace("_copy", "")
        elif strip_view_copy_name and base.endswith("_scatter"):
            # slice_inverse is the view operator of slice_scatter.
            base = base.replace("scatter", "inverse")
        name = BaseOperatorName(base, False, self.name.name.dunder_method)
        kept = tuple(
            Return(r.name if keep_return_names else None, r.type, None) for r in self.returns
        )
        added = tuple(
            Return(f"{a.name}_out" if keep_return_names else None, a.type, None)
            for a in self._written_but_not_returned()
        )
        return FunctionSchema(OperatorName(name, ""), arguments, kept + added, self.profile)

    def view_signature(self) -> FunctionSchema:
        """Return the schema that a view operator and the operator that copies instead (`f_copy`) share."""
        return self.signature(strip_view_copy_name=True)

    def _written_but_not_returned(self) -> Iterator[Argument]:
        arguments = self.arguments
        if self.profile is Profile.library:
            candidates = arguments.out + arguments.flat_non_out
        else:
            # Positional arguments before self are never written.
            own = () if arguments.self_arg is None else (arguments.self_arg.argument,)
            candidates = own + arguments.out + arguments.post_self_positional
        for a in candidates:
            if a.is_write and not any(may_alias(a.annotation, r.annotation) for r in self.returns):
                yield a


def argument_offsets(schema: FunctionSchema) -> Iterator[tuple[Argument, int]]:
    """Yield each argument with the offset of its text in `str(schema)`."""
    position = len(str(schema.name)) + 1
    positional = schema.arguments.flat_positional
    for argument in positional:
        yield argument, position
        position += len(str(argument)) + 2
    position += len("*, ")
    for argument in schema.arguments.flat_kwarg_only + schema.arguments.out:
        yield argument, position
        position += len(str(argument)) + 2


def return_offsets(schema: FunctionSchema) -> Iterator[tuple[Return, int]]:
    """Yield each return with the offset of its text in `str(schema)`."""
    position = len(str(schema.name)) + len(f"({schema.arguments}) -> ")
    if len(schema.returns) > 1:
        position += 1
    for value in schema.returns:
        yield value, position
        position += len(str(value)) + 2


TENSOR = BaseType(BaseTy.Tensor)
TENSOR_LIST = ListType(TENSOR, None)
OPTIONAL_TENSOR = OptionalType(TENSOR)
