"""Operator schemas as values: name, arguments, returns, and what follows from them.

Every `str(x)` is the text that `x` is parsed from, character by character.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from opgen.dataclasses import dataclass, field, replace
from opgen.model.profile import Profile
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type


class SchemaKind(Enum):
    functional = auto()
    inplace = auto()
    out = auto()
    mutable = auto()
    scratch = auto()

    # In C, by identity: Enum's own goes through Python.
    __hash__ = object.__hash__


# Names that Python has an augmented assignment for: `__iadd__` is the in-place form of `__add__`.
AUGMENTED_ASSIGNMENT_NAMES: tuple[str, ...] = (
    "add",
    "sub",
    "mul",
    "div",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "xor",
    "or",
)

# An out argument with this prefix is work space: it is written, but not returned.
SCRATCH_PREFIX = "_scratch_"


@dataclass(frozen=True, slots=True)
class BaseOperatorName:
    """`add`, `add_`, `__iadd__`, `foo_functional`: `base` is what is left without the marks."""

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


@dataclass(frozen=True, slots=True)
class OperatorName:
    """A name with its overload; `overload_name` is empty if there is none."""

    name: BaseOperatorName
    overload_name: str

    def __str__(self) -> str:
        return f"{self.name}.{self.overload_name}" if self.overload_name else str(self.name)

    def unambiguous_name(self) -> str:
        """`add_Tensor` for `add.Tensor`."""
        return f"{self.name}_{self.overload_name}" if self.overload_name else str(self.name)

    def remove_inplace(self) -> OperatorName:
        """The name without the marks for in-place and `_functional`."""
        return self._plain(self.overload_name)

    def with_overload(self, overload: str) -> OperatorName:
        """The name without the marks for in-place and `_functional`, and with another overload."""
        return self._plain(overload)

    def _plain(self, overload: str) -> OperatorName:
        base = BaseOperatorName(self.name.base, False, self.name.dunder_method)
        return OperatorName(base, overload)


@dataclass(frozen=True, slots=True)
class Annotation:
    """Alias information: `a`, `a!` (written), `a -> *` (goes into the alias set `*`).

    Without `alias_set` it is a bare `!`: written, and in an alias set that no other is in. It stands after
    `depth` marks of the type: `Tensor(a!)[]` has depth 0, `Tensor[](a!)` 1. `inner` is one of the elements:
    `Tensor(a)[](b)`.
    """

    alias_set: tuple[str, ...]
    is_write: bool
    alias_set_after: tuple[str, ...]
    depth: int = 0
    inner: Annotation | None = None

    @property
    def text(self) -> str:
        """As it stands in a type: `(a!)`, `!`."""
        return f"({self})" if self.alias_set else str(self)

    def __str__(self) -> str:
        before = f"{'|'.join(self.alias_set)}{'!' if self.is_write else ''}"
        return f"{before} -> {'|'.join(self.alias_set_after)}" if self.alias_set_after else before


def may_alias(one: Annotation | None, other: Annotation | None) -> bool:
    """Whether two annotations name the same alias set. A bare `!` names none."""
    return one is not None and one == other and bool(one.alias_set)


def may_share_memory(one: Annotation, other: Annotation) -> bool:
    """Whether two annotations name one alias set, or one of them every set (`*`)."""
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
    """The text of a type in parts: what its marks stand behind, then mark by mark."""
    marks = []
    while isinstance(type, OptionalType | ListType):
        marks.append(str(type)[len(str(type.elem)) :])
        type = type.elem
    return [str(type), *reversed(marks)]


@dataclass(frozen=True, slots=True)
class Argument:
    """`default` is the text after `=`, as written.

    `name` is that of no other argument of the operator. `written` is what the schema calls it, where that is not
    the same: PyTorch takes two arguments of one name.
    The same few hundred are looked up and written tens of thousands of times, so hash and text are made once.
    """

    name: str
    type: Type
    default: str | None
    annotation: Annotation | None
    written: str | None = None
    _hash: int = field(init=False, repr=False, compare=False)
    _text: str | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        value = hash((self.name, self.type, self.default, self.annotation))
        object.__setattr__(self, "_hash", value)

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_write(self) -> bool:
        """Whether it is a tensor, or several, that the operator writes. (`int!` is none.)"""
        return _is_written(self.type, self.annotation)

    @property
    def type_text(self) -> str:
        """The type with its annotation inside, as written: `Tensor(a!)[]`."""
        return _annotated(self.type, self.annotation)

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = f"{self.type_text} {self.written or self.name}"
            if self.default is not None:
                text = f"{text}={self.default}"
            object.__setattr__(self, "_text", text)
        return text


def _is_written(type: Type, annotation: Annotation | None) -> bool:
    if annotation is None or not type.is_tensor_like():
        return False
    return annotation.is_write or (annotation.inner is not None and annotation.inner.is_write)


@dataclass(frozen=True, slots=True)
class Return:
    name: str | None
    type: Type
    annotation: Annotation | None

    @property
    def is_write(self) -> bool:
        """Whether it is an argument that the operator writes."""
        return _is_written(self.type, self.annotation)

    def __str__(self) -> str:
        text = _annotated(self.type, self.annotation)
        return text if self.name is None else f"{text} {self.name}"


@dataclass(frozen=True, slots=True)
class SelfArgument:
    """The positional argument named `self`: the object of a method call."""

    argument: Argument


@dataclass(frozen=True, slots=True)
class TensorOptionsArguments:
    """Four consecutive keyword arguments that C++ gathers into one TensorOptions."""

    dtype: Argument
    layout: Argument
    device: Argument
    pin_memory: Argument

    def all(self) -> tuple[Argument, ...]:
        return (self.dtype, self.layout, self.device, self.pin_memory)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments sorted into the roles they play; read in field order they are in schema order."""

    pre_self_positional: tuple[Argument, ...]
    self_arg: SelfArgument | None
    post_self_positional: tuple[Argument, ...]
    pre_tensor_options_kwarg_only: tuple[Argument, ...]
    tensor_options: TensorOptionsArguments | None
    post_tensor_options_kwarg_only: tuple[Argument, ...]
    out: tuple[Argument, ...]
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Made once, when it is first asked for."""
        value = self._hash
        if value is None:
            value = hash((self.all, len(self.out)))
            object.__setattr__(self, "_hash", value)
        return value

    @property
    def flat_positional(self) -> tuple[Argument, ...]:
        if self.self_arg is None:
            return self.pre_self_positional + self.post_self_positional
        return (*self.pre_self_positional, self.self_arg.argument, *self.post_self_positional)

    @property
    def flat_kwarg_only(self) -> tuple[Argument, ...]:
        """Keyword-only arguments without the out arguments."""
        options = () if self.tensor_options is None else self.tensor_options.all()
        return self.pre_tensor_options_kwarg_only + options + self.post_tensor_options_kwarg_only

    @property
    def flat_non_out(self) -> tuple[Argument, ...]:
        return self.flat_positional + self.flat_kwarg_only

    @property
    def flat_all(self) -> tuple[Argument, ...]:
        return self.flat_positional + self.flat_kwarg_only + self.out

    @property
    def post_self_positional_mutable(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.post_self_positional if a.is_write)

    @property
    def positional(self) -> tuple[Argument | SelfArgument, ...]:
        if self.self_arg is None:
            return self.pre_self_positional + self.post_self_positional
        return (*self.pre_self_positional, self.self_arg, *self.post_self_positional)

    @property
    def kwarg_only(self) -> tuple[Argument | TensorOptionsArguments, ...]:
        if self.tensor_options is None:
            return self.pre_tensor_options_kwarg_only + self.post_tensor_options_kwarg_only
        return (
            *self.pre_tensor_options_kwarg_only,
            self.tensor_options,
            *self.post_tensor_options_kwarg_only,
        )

    @property
    def non_out(self) -> tuple[Argument | SelfArgument | TensorOptionsArguments, ...]:
        return (*self.positional, *self.kwarg_only)

    @property
    def all(self) -> tuple[Argument | SelfArgument | TensorOptionsArguments, ...]:
        return (*self.positional, *self.kwarg_only, *self.out)

    @property
    def mutable_arg_names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.flat_all if a.is_write)

    def has_tensor_arg(self) -> bool:
        return self._has(BaseTy.Tensor)

    def has_symint_arg(self) -> bool:
        return self._has(BaseTy.SymInt)

    def has_generator_arg(self) -> bool:
        return self._has(BaseTy.Generator)

    def _has(self, base_ty: BaseTy) -> bool:
        return any(a.type.is_base_ty_like(base_ty) for a in self.flat_non_out)

    def signature(self, *, strip_default: bool = False) -> Arguments:
        """What variants of one operator have in common: see FunctionSchema.signature."""

        def strip(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
            return tuple([_stripped(a, strip_default) for a in arguments])

        return Arguments(
            pre_self_positional=strip(self.pre_self_positional),
            self_arg=(
                None
                if self.self_arg is None
                else SelfArgument(_stripped(self.self_arg.argument, strip_default))
            ),
            post_self_positional=strip(self.post_self_positional),
            pre_tensor_options_kwarg_only=strip(
                self.pre_tensor_options_kwarg_only + self.post_tensor_options_kwarg_only
            ),
            tensor_options=None,
            post_tensor_options_kwarg_only=(),
            out=(),
        )

    def remove_self_annotation(self) -> Arguments:
        """The same with an unannotated self. There must be a self."""
        assert self.self_arg is not None
        return replace(
            self, self_arg=SelfArgument(replace(self.self_arg.argument, annotation=None))
        )

    def with_out_args(self, outs: tuple[Argument, ...]) -> Arguments:
        """The same with out arguments. There must be none yet."""
        assert not self.out
        return replace(self, out=outs)

    def __str__(self) -> str:
        return ", ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield from map(str, self.flat_positional)
        keywords = self.flat_kwarg_only + self.out
        if keywords:
            yield "*"
            yield from map(str, keywords)


def _stripped(argument: Argument, strip_default: bool) -> Argument:
    if argument.annotation is None and not (strip_default and argument.default is not None):
        return argument
    default = None if strip_default else argument.default
    return Argument(argument.name, argument.type, default, None)


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """`name.overload(arguments) -> returns`, without a namespace, as it is read by the rules of `profile`."""

    name: OperatorName
    arguments: Arguments
    returns: tuple[Return, ...]
    profile: Profile = Profile.torchgen

    def __str__(self) -> str:
        returns = ", ".join(map(str, self.returns))
        # A single tuple: without parentheses around it, its elements would be the returns.
        if len(self.returns) != 1 or returns.startswith("("):
            returns = f"({returns})"
        return f"{self.name}({self.arguments}) -> {returns}"

    @property
    def is_mutable(self) -> bool:
        """Whether any argument is written."""
        return any(a.is_write for a in self.arguments.flat_all)

    @property
    def is_inplace(self) -> bool:
        return self.name.name.inplace

    def is_functional_fn(self) -> bool:
        """Whether the overload's name claims that it is functional. It need not be so."""
        return "functional" in self.name.overload_name

    def is_out_fn(self) -> bool:
        return bool(self.arguments.out)

    def returns_are_aliased(self) -> bool:
        """Whether any return is a written argument."""
        return any(r.is_write for r in self.returns)

    def has_symint(self) -> bool:
        return self.arguments.has_symint_arg()

    def kind(self) -> SchemaKind:
        """Note that by torchgen's rules a written `self` alone does not make an operator mutable."""
        if self.name.name.inplace:
            return SchemaKind.inplace
        if self.arguments.out:
            scratch = any(a.name.startswith(SCRATCH_PREFIX) for a in self.arguments.out)
            scratch &= self.profile is Profile.torchgen
            return SchemaKind.scratch if scratch else SchemaKind.out
        if self.profile is Profile.library:
            return SchemaKind.mutable if self.is_mutable else SchemaKind.functional
        if self.arguments.post_self_positional_mutable:
            return SchemaKind.mutable
        return SchemaKind.functional

    def aliased_return_names(self) -> tuple[str | None, ...]:
        """For each return the argument that it aliases: the first that has its annotation."""
        annotated = [a for a in self.arguments.flat_all if a.annotation is not None]
        return tuple(
            next((a.name for a in annotated if may_alias(a.annotation, r.annotation)), None)
            for r in self.returns
        )

    def with_name(self, name: OperatorName) -> FunctionSchema:
        return replace(self, name=name)

    def signature(
        self,
        *,
        strip_default: bool = False,
        strip_view_copy_name: bool = False,
        keep_return_names: bool = False,
    ) -> FunctionSchema:
        """What functional, in-place, out and mutable variants of one operator have in common.

        The functional form: no overload, no marks in the name, no annotations, no tensor options,
        no out arguments; what a variant writes without returning it is returned instead.
        """
        arguments = self.arguments.signature(strip_default=strip_default)
        if self.name.overload_name == "p" and str(self.name) == "bernoulli.p":
            arguments = _with_default(arguments, "p", "0.5")
        name = BaseOperatorName(
            base=(
                _without_copy(self.name.name.base) if strip_view_copy_name else self.name.name.base
            ),
            inplace=False,
            dunder_method=self.name.name.dunder_method,
        )
        kept = tuple(
            Return(r.name if keep_return_names else None, r.type, None) for r in self.returns
        )
        added = tuple(
            Return(f"{a.name}_out" if keep_return_names else None, a.type, None)
            for a in self._written_but_not_returned()
        )
        return FunctionSchema(OperatorName(name, ""), arguments, kept + added, self.profile)

    def view_signature(self) -> FunctionSchema:
        """What a view operator and its copying sibling have in common."""
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


def _without_copy(base: str) -> str:
    if base.endswith("_copy"):
        return base.replace("_copy", "")
    # slice_scatter copies what slice_inverse views.
    return base.replace("scatter", "inverse") if base.endswith("_scatter") else base


def _with_default(arguments: Arguments, name: str, default: str) -> Arguments:
    """`arguments` with another default for one positional argument.

    bernoulli.p alone needs it: its in-place form has a default that it cannot have itself.
    """
    changed = tuple(
        replace(a, default=default) if a.name == name else a for a in arguments.post_self_positional
    )
    return replace(arguments, post_self_positional=changed)


def argument_offsets(schema: FunctionSchema) -> Iterator[tuple[Argument, int]]:
    """Each argument with the offset of its text in `str(schema)`."""
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
    """Each return with the offset of its text in `str(schema)`."""
    position = len(str(schema.name)) + len(f"({schema.arguments}) -> ")
    if len(schema.returns) > 1:
        position += 1
    for value in schema.returns:
        yield value, position
        position += len(str(value)) + 2


TENSOR = BaseType(BaseTy.Tensor)
TENSOR_LIST = ListType(TENSOR, None)
OPTIONAL_TENSOR = OptionalType(TENSOR)
