"""Define an entry of native_functions.yaml as a value: a schema with the values of all keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import cached_property

from msgspec import Struct

from opgen.diagnostics import Edit, Located, Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import (
    Argument,
    FunctionSchema,
    OperatorName,
    argument_offsets,
    may_share_memory,
    return_offsets,
)
from opgen.model.profile import Profile


class Variant(Enum):
    """The forms in which C++ and Python can call an operator: a free function, or a method of Tensor."""

    function = auto()
    method = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


class DeviceCheckType(Enum):
    """The check before a kernel runs: that all tensors are on one device (`ExactSame`), or none."""

    NoCheck = auto()
    ExactSame = auto()


class ViewSchemaKind(Enum):
    """Whether an operator returns views (`aliasing`), changes how self views its storage (`aliasing_inplace`), or neither."""

    aliasing = auto()
    aliasing_inplace = auto()
    non_aliasing = auto()


class EffectType(Enum):
    """What a call does outside of tensors. `ordered`: compilers keep every call, in the order of the program."""

    ordered = auto()


class AliasAnalysisKind(Enum):
    """What TorchScript assumes of an operator's effects on its arguments, in the order of PyTorch's AliasAnalysisKind.

    `conservative`: it may write each of them; `from_schema`: it does what the schema says; `pure_function`: it neither
    writes nor returns one.
    """

    conservative = auto()
    from_schema = auto()
    pure_function = auto()


class UfuncKey(Enum):
    """The kind of a ufunc's inner loop. Generic and ScalarOnly stand for several of the others."""

    CUDAFunctor = auto()
    CUDAFunctorOnOther = auto()
    CUDAFunctorOnSelf = auto()
    CPUScalar = auto()
    CPUVector = auto()
    ScalarOnly = auto()
    Generic = auto()

    def __str__(self) -> str:
        return self.name


class ScalarType(Enum):
    """Element types that a ufunc's inner loop may be made for."""

    Byte = auto()
    Char = auto()
    Short = auto()
    Int = auto()
    Long = auto()
    Half = auto()
    Float = auto()
    Double = auto()
    ComplexHalf = auto()
    ComplexFloat = auto()
    ComplexDouble = auto()
    Bool = auto()
    BFloat16 = auto()
    Float8_e5m2 = auto()
    Float8_e5m2fnuz = auto()
    Float8_e4m3fn = auto()
    Float8_e4m3fnuz = auto()
    Float8_e8m0fnu = auto()

    def __str__(self) -> str:
        return self.name


_INTEGRAL = (ScalarType.Byte, ScalarType.Char, ScalarType.Int, ScalarType.Long, ScalarType.Short)
_FLOATING = (ScalarType.Float, ScalarType.Double)
_COMPLEX = (ScalarType.ComplexFloat, ScalarType.ComplexDouble)

# Names for several element types. Bool and the low-precision types belong to none.
DTYPE_CLASSES: Mapping[str, tuple[ScalarType, ...]] = {
    "Integral": _INTEGRAL,
    "Floating": _FLOATING,
    "Complex": _COMPLEX,
    "All": _INTEGRAL + _FLOATING,
    "AllAndComplex": _INTEGRAL + _FLOATING + _COMPLEX,
    "FloatingAndComplex": _FLOATING + _COMPLEX,
}


class UfuncInnerLoop(Struct, frozen=True):
    """`name (dtypes)`: an inner loop and its element types, each once."""

    name: str
    supported_dtypes: tuple[ScalarType, ...]
    ufunc_key: UfuncKey


class Precompute(Struct, frozen=True):
    """The values that a structured kernel receives from its meta function.

    `replace` holds pairs of an argument's name and the arguments that the kernel receives in its
    place; `add` holds additional arguments.
    """

    replace: tuple[tuple[str, tuple[Argument, ...]], ...]
    add: tuple[Argument, ...]


# The value of a row in a dispatch table that has no kernel.
FALLTHROUGH = "fallthrough"
# The value of a row whose kernel is Python code that its author registers.
PYTHON = "python"


class KernelSource(Enum):
    """The origin of the function in a row of a dispatch table.

    `author`: an author defines it under the name that opgen declares. `existing`: the function exists already, and opgen
    calls it. `fallthrough`: there is no function; the dispatcher goes on to the next key. `python`: the author's Python code
    registers a function, and C++ knows none.
    """

    author = auto()
    existing = auto()
    fallthrough = auto()
    python = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


class Kernel(Struct, frozen=True):
    """The C++ function for one dispatch key. `namespace` is as written, or None.

    For an existing function, `name` and `namespace` are its name and namespace in C++.
    """

    name: str
    namespace: str | None
    structured: bool
    source: KernelSource = KernelSource.author

    @property
    def is_declared(self) -> bool:
        """Whether opgen declares a function for the author to define. (Structured kernels are classes.)"""
        return self.source is KernelSource.author and not self.structured

    @property
    def supports_symint(self) -> bool:
        """Whether the kernel takes SymInts. Source of the rule: torchgen, which looks for `_symint` in its name."""
        return "_symint" in self.name

    @property
    def cpp_name(self) -> str:
        """The qualified name of an existing function: `::vllm::rms_norm`."""
        return f"::{self.namespace}::{self.name}" if self.namespace else f"::{self.name}"


class EntrySpans:
    """The positions of an entry's parts. For a missing part, methods return the position of a part near it."""

    __slots__ = ()

    @property
    def entry(self) -> Span:
        """The whole entry."""
        raise NotImplementedError

    def key(self, name: str) -> Span:
        """Return the key `name`."""
        return self.entry

    def value(self, name: str) -> Span:
        """Return the value of the key `name`."""
        return self.entry

    def item(self, name: str, text: str) -> Span:
        """Return one item (a tag, a variant, an operator's name) in the value of the key `name`."""
        return self.entry

    def dispatch_key(self, key: DispatchKey) -> Span:
        """Return the name of `key` in the dispatch table."""
        return self.entry

    def kernel(self, key: DispatchKey) -> Span:
        """Return the kernel for `key` in the dispatch table."""
        return self.entry

    def schema(self, start: int, end: int) -> Span:
        """Return characters of the schema, counted without its namespace."""
        return self.entry

    def add_key(self, text: str) -> Edit | None:
        """Return the edit that adds these lines, a key with its value; None if a person has to do it."""
        return None

    def remove_key(self, name: str) -> Edit | None:
        """Return the edit that removes the key `name`; None if a person has to do it."""
        return None

    def add_tag(self, tag: str) -> Edit | None:
        """Return the edit that adds a tag; None if a person has to do it."""
        return None

    def misplaced_blanks(self) -> tuple[Edit, ...]:
        """Return the edits that give the schema the white space of its canonical spelling."""
        return ()


class OneSpan(EntrySpans, Struct, frozen=True):
    """Positions of an entry whose parts are all at one place."""

    entry: Span


class VariantSpans(EntrySpans, Struct, frozen=True):
    """Positions of a variant that the entry of another one asks for with `autogen`.

    `base` are the positions in that entry, and `written` is the schema there. The name of the variant is the item in the
    value of `autogen`; everything else is at its place in the entry.
    """

    base: EntrySpans
    written: FunctionSchema
    func: FunctionSchema

    @property
    def entry(self) -> Span:
        return self.base.entry

    def key(self, name: str) -> Span:
        return self._or_name(self.base.key(name))

    def value(self, name: str) -> Span:
        return self._or_name(self.base.value(name))

    def item(self, name: str, text: str) -> Span:
        return self._or_name(self.base.item(name, text))

    def dispatch_key(self, key: DispatchKey) -> Span:
        return self._or_name(self.base.dispatch_key(key))

    def kernel(self, key: DispatchKey) -> Span:
        return self._or_name(self.base.kernel(key))

    def schema(self, start: int, end: int) -> Span:
        places = {a.name: (str(a), at) for a, at in argument_offsets(self.written)}
        for a, at in argument_offsets(self.func):
            if at <= start < at + len(str(a)) and a.name in places:
                text, place = places[a.name]
                # Of an argument that the variant writes, the parts have other places.
                part = (start - at, end - at) if text == str(a) else (0, len(text))
                return self.base.schema(place + part[0], place + part[1])
        return self._name

    def add_key(self, text: str) -> Edit | None:
        return self.base.add_key(text)

    def remove_key(self, name: str) -> Edit | None:
        return self.base.remove_key(name)

    def add_tag(self, tag: str) -> Edit | None:
        return self.base.add_tag(tag)

    @property
    def _name(self) -> Span:
        return self.base.item("autogen", str(self.func.name))

    def _or_name(self, place: Span) -> Span:
        """Return `place`, or the variant's name if `place` is that of the written operator: a key is missing."""
        return self._name if place == self.base.schema(0, len(str(self.written.name))) else place


class NativeFunction(Located, Struct, frozen=True, dict=True):
    """An operator with its attributes. Keys that were not written have their defaults.

    `dispatch` is in the order written, with one pair for each key, without the ignored keys; an entry
    without a table has the one row that the default implies. A generated operator has the spans of
    the entry that it is generated from.
    """

    namespace: str
    func: FunctionSchema
    spans: EntrySpans
    # The keys of an entry, with their types and defaults; opgen.parse.entries.keys describes them.
    variants: frozenset[Variant] = frozenset((Variant.function,))
    dispatch: tuple[tuple[DispatchKey, Kernel], ...] = ()
    tags: frozenset[str] = frozenset()
    structured: bool = False
    structured_delegate: OperatorName | None = None
    structured_inherits: str | None = None
    precomputed: Precompute | None = None
    autogen: tuple[OperatorName, ...] = ()
    ufunc_inner_loop: tuple[tuple[UfuncKey, UfuncInnerLoop], ...] = ()
    cpp_no_default_args: frozenset[str] = frozenset()
    use_const_ref_for_mutable_tensors: bool = False
    manual_kernel_registration: bool = False
    manual_cpp_binding: bool = False
    device_guard: bool = True
    device_check: DeviceCheckType = DeviceCheckType.ExactSame
    python_module: str | None = None
    category_override: str | None = None
    # A Python expression over its arguments for the result where tensors have no data.
    fake: str | None = None
    # The Python module that registers its fake kernel, if the author says so.
    fake_module: str | None = None
    effects: EffectType | None = None
    # None stands for `from_schema`.
    alias_analysis: AliasAnalysisKind | None = None
    strict_autograd: bool = False
    # The author's documentation. Before the entry is resolved, an empty string means that it has none.
    doc: str | None = None
    # Not keys: whether backends must implement it, because not all its kernels are composite-implicit.
    is_abstract: bool = False
    # Headers that declare its existing kernels, as written after `#include`.
    includes: tuple[str, ...] = ()
    # Whether other libraries may also define operators of its namespace.
    shares_namespace: bool = False
    # Whether its dispatch table has rows for ignored keys, which are not in `dispatch`.
    has_ignored_rows: bool = False

    _places = ("spans",)

    @cached_property
    def full_name(self) -> str:
        """`aten::add.Tensor`. Computed once, because it is the key of nearly every table."""
        return f"{self.namespace}::{self.func.name}"

    @property
    def profile(self) -> Profile:
        """The rules that hold for this operator."""
        return self.func.profile

    @cached_property
    def is_library(self) -> bool:
        """Whether the rules of PyTorch's runtime hold for it instead of torchgen's."""
        return self.func.profile is Profile.library

    @property
    def scope(self) -> str:
        """The namespace in which its name is unique: empty under torchgen's rules, which ignore namespaces."""
        return self.namespace if self.is_library else ""

    @cached_property
    def scoped_name(self) -> str:
        """Its unique name: `add.Tensor`, `custom::add.Tensor`."""
        return self.full_name if self.is_library else str(self.func.name)

    @cached_property
    def scoped_root(self) -> str:
        """The root name, preceded by the namespace of a library's operator."""
        return f"{self.namespace}::{self.root_name}" if self.is_library else self.root_name

    @cached_property
    def root_name(self) -> str:
        """`add` for add.Tensor, add_.Tensor and add.out."""
        return self.func.name.name.base

    @cached_property
    def signature(self) -> FunctionSchema:
        """What all variants of an operator share. Computed once: grouping and gradients compare it."""
        return self.func.signature()

    @cached_property
    def plain_signature(self) -> FunctionSchema:
        """`signature` without defaults."""
        return self.func.signature(strip_default=True)

    @property
    def part_of_structured_group(self) -> bool:
        """Whether the operator is structured, or delegates to a structured operator."""
        return self.structured or self.structured_delegate is not None

    def find_kernel(self, key: DispatchKey) -> Kernel | None:
        """Return the kernel that this entry names for `key`, or None."""
        for k, kernel in self.dispatch:
            if k is key:
                return kernel
        return None

    @cached_property
    def has_plain_autograd(self) -> bool:
        """Whether autograd, without a formula, does what PyTorch does for any kernel: existing functions may rely on it."""
        sources = {kernel.source for _, kernel in self.dispatch}
        is_existing = KernelSource.existing in sources and KernelSource.author not in sources
        return is_existing and not self.strict_autograd

    @property
    def has_composite_implicit_autograd_kernel(self) -> bool:
        """Whether the entry has a row for CompositeImplicitAutograd, also by default."""
        return self.find_kernel(DispatchKey.CompositeImplicitAutograd) is not None

    @property
    def has_composite_explicit_autograd_kernel(self) -> bool:
        """Whether the entry has a row for CompositeExplicitAutograd."""
        return self.find_kernel(DispatchKey.CompositeExplicitAutograd) is not None

    @property
    def has_composite_kernel(self) -> bool:
        """Whether a composite kernel serves the operator; one for nested tensors alone does not count."""
        return (
            self.has_composite_implicit_autograd_kernel
            or self.has_composite_explicit_autograd_kernel
            or self.find_kernel(DispatchKey.CompositeExplicitAutogradNonFunctional) is not None
        )

    @property
    def is_view_op(self) -> bool:
        """Whether a result may share the storage of an argument without being that argument."""
        arguments = [a.annotation for a in self.func.arguments.flat_all if a.annotation is not None]
        results = [r.annotation for r in self.func.returns if r.annotation is not None]
        aliases = [own for own in results if not own.is_write]
        if self.is_library:
            # A return may name an alias set that contains no argument.
            return any(may_share_memory(a, own) for own in aliases for a in arguments)
        if aliases:
            return True
        # These change the storage itself, so they are not views.
        if "inplace_view" in self.tags and str(self.func.name) not in ("resize_", "resize_as_"):
            return True
        return any("*" in a.alias_set_after for a in arguments)

    @property
    def view_schema_kind(self) -> ViewSchemaKind:
        """Whether the operator returns views, and whether it does so in place."""
        if not self.is_view_op:
            return ViewSchemaKind.non_aliasing
        if self.func.name.name.inplace:
            return ViewSchemaKind.aliasing_inplace
        return ViewSchemaKind.aliasing

    @property
    def span(self) -> Span:
        """The operator's name in the schema, where problems of the whole entry are shown."""
        return self.spans.schema(0, len(str(self.func.name)))

    def argument_span(self, name: str) -> Span:
        """Return the first argument of this name, from its type to its default."""
        return self._part(name, lambda a: (0, len(str(a))))

    def argument_type_span(self, name: str) -> Span:
        """Return the type of the first argument of this name."""
        return self._part(name, lambda a: (0, len(a.type_text)))

    def argument_name_span(self, name: str) -> Span:
        """Return the name of the first argument of this name."""
        return self._part(name, lambda a: (len(a.type_text) + 1, len(a.type_text) + 1 + len(name)))

    def argument_default_span(self, name: str) -> Span:
        """Return the default, without `=`, of the first argument of this name that has one."""
        return self._part(name, lambda a: (len(str(a)) - len(a.default or ""), len(str(a))))

    def _part(self, name: str, part: Callable[[Argument], tuple[int, int]]) -> Span:
        """Return a `part` of the first argument of this name, which is a range of its text."""
        for argument, start in argument_offsets(self.func):
            if argument.name == name:
                first, last = part(argument)
                return self.spans.schema(start + first, start + last)
        return self.span

    def return_span(self, index: int) -> Span:
        """Return the return at this position, with its name."""
        for i, (value, start) in enumerate(return_offsets(self.func)):
            if i == index:
                return self.spans.schema(start, start + len(str(value)))
        return self.span
