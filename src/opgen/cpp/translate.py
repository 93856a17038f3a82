"""Convert between signatures: write each parameter of one as an expression over the parameters of another.

Each parameter must follow from one with the same name, directly or by one rule. `Conversions` holds the expressions,
which differ between targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from msgspec import Struct

from opgen.cpp.cpp_types import (
    I_OPT_TENSOR_LIST_REF,
    INT,
    INT_ARRAY_REF,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SCALAR_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSOR_REF,
    OPTIONAL_TENSORS,
    SCALAR,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_OPTIONS,
    ArrayRef,
    Base,
    ConstRef,
    CType,
    MutRef,
    Optional,
    Vector,
)
from opgen.cpp.signatures import Binding


class Conversions(Struct, frozen=True, kw_only=True, cache_hash=True):
    """The C++ text of each conversion. `{0}` is the converted expression."""

    this_tensor: str = "const_cast<Tensor&>(*this)"
    dtype_of_options: str
    layout_of_options: str = "{0}.layout_opt()"
    device_of_options: str = "{0}.device_opt()"
    pin_memory_of_options: str = "{0}.pinned_memory_opt()"
    memory_format_of_options: str
    gather_options: str
    no_value: str = "::std::nullopt"
    optional_tensor_ref: str = "{0}"
    optional_scalar_ref: str = "{0}"
    optional_tensor_list_ref: str = "{0}"
    int_from_sym: str = "{0}"
    sym_from_int: str = "{0}"
    optional_int_from_sym: str = "{0}"
    optional_sym_from_int: str = "{0}"
    ints_from_syms: str = "{0}"
    syms_from_ints: str = "{0}"
    optional_ints_from_syms: str = "{0}"
    optional_syms_from_ints: str = "{0}"
    optional_ints: str = "{0}"


class NoConversion(Exception):
    """There is no expression for the parameter `wanted`."""

    def __init__(self, wanted: Binding) -> None:
        self.wanted = wanted
        super().__init__(f"there is no conversion to the type of '{wanted.name}'")


_Rule = Callable[["_Scope", str], str | None]


class _Scope(Struct, frozen=True):
    """The available expressions by name, each with its type, and the target's conversions."""

    available: dict[str, list[tuple[CType, str]]]
    wanted_names: frozenset[str]
    conversions: Conversions

    def find(self, name: str, *types: CType) -> str | None:
        """Return the expression `name` that has one of `types`; the first of the types has priority."""
        candidates = self.available.get(name, ())
        for wanted in types:
            for ctype, expression in candidates:
                if ctype is wanted or ctype == wanted:
                    return expression
        return None

    def convert(self, name: str, template: str, *types: CType) -> str | None:
        """Return `template` applied to the expression `name` that has one of `types`."""
        expression = self.find(name, *types)
        return None if expression is None else template.format(expression)


@lru_cache(maxsize=65536)
def translate(
    have: tuple[Binding, ...],
    want: tuple[Binding, ...],
    conversions: Conversions,
    *,
    method: bool = False,
) -> tuple[str, ...]:
    """Return an expression over `have` for each parameter of `want`. In a `method`, self is available as `*this`.

    Raises NoConversion.
    """
    types = {b.name: b.type for b in have}
    scope: _Scope | None = None
    expressions = []
    for b in want:
        # Six of seven parameters are passed unchanged. Finding that out by the rules would take most of the time.
        if types.get(b.name) is b.type and b.name != _MEMORY_FORMAT_NAME:
            expressions.append(b.name)
            continue
        scope = scope or _scope(have, want, conversions, method)
        expressions.append(_solve(scope, b))
    return tuple(expressions)


def _scope(
    have: Iterable[Binding], want: Iterable[Binding], conversions: Conversions, method: bool
) -> _Scope:
    available: dict[str, list[tuple[CType, str]]] = {}
    for b in have:
        available.setdefault(b.name, []).append((b.type, b.name))
    if method:
        available.setdefault("self", []).append((MutRef(TENSOR), conversions.this_tensor))
    return _Scope(available, frozenset(b.name for b in want), conversions)


def _solve(scope: _Scope, wanted: Binding) -> str:
    name, goal = wanted.name, wanted.type
    # TensorOptions may have a memory format, which is merged even if the types agree.
    expression = _memory_format(scope, name) if goal == _MEMORY_FORMAT else None
    if expression is None:
        expression = scope.find(name, goal) or scope.find(name, *_same(goal))
    if expression is None:
        rule = _RULES.get(goal)
        expression = rule(scope, name) if rule is not None else None
    if expression is None and goal == MutRef(TENSOR):
        expression = scope.convert(name, "const_cast<Tensor&>({0})", ConstRef(TENSOR))
    if expression is None:
        raise NoConversion(wanted)
    return expression


@cache
def _same(goal: CType) -> tuple[CType, ...]:
    """Return the types that convert to `goal` implicitly."""
    if isinstance(goal, ConstRef):
        return (goal, MutRef(goal.elem), goal.elem)
    if goal == INT_ARRAY_REF:
        return (goal, ArrayRef(INT), Vector(INT))
    if goal == ArrayRef(INT):
        return (goal, INT_ARRAY_REF)
    if isinstance(goal, MutRef):
        return (goal,)
    return (goal, ConstRef(goal), MutRef(goal))


def _from(field: str, *types: CType) -> _Rule:
    """Return the rule that applies the conversion `field` to an expression with one of `types`."""

    def rule(scope: _Scope, name: str) -> str | None:
        return scope.convert(name, getattr(scope.conversions, field), *types)

    return rule


def _option(field: str, from_out: str) -> _Rule:
    """Return the rule for dtype, layout, device or pin_memory: take it from `options`, or else from the tensor `out`."""

    def rule(scope: _Scope, name: str) -> str | None:
        options = scope.find("options", TENSOR_OPTIONS)
        if options is not None:
            template: str = getattr(scope.conversions, field)
            return template.format(options)
        out = scope.find("out", MutRef(TENSOR), ConstRef(TENSOR))
        if out is None:
            return None
        return from_out.format(out) if from_out else scope.conversions.no_value

    return rule


def _pin_memory_or_bool(scope: _Scope, name: str) -> str | None:
    if name != "pin_memory":
        return None
    return _option("pin_memory_of_options", "")(scope, name)


def _memory_format(scope: _Scope, name: str) -> str | None:
    """Merge the memory format with that of the options, unless the goal takes options itself."""
    explicit = scope.find("memory_format", Optional(Base("MemoryFormat")))
    options = scope.find("options", TENSOR_OPTIONS)
    if name != _MEMORY_FORMAT_NAME or explicit is None or options is None:
        return None
    if "options" in scope.wanted_names:
        return None
    return scope.conversions.memory_format_of_options.format(options, explicit)


def _gather(scope: _Scope, name: str) -> str | None:
    parts = ("dtype", "layout", "device", "pin_memory")
    return scope.conversions.gather_options if scope.available.keys() >= set(parts) else None


_MEMORY_FORMAT = Optional(Base("MemoryFormat"))
_MEMORY_FORMAT_NAME = "memory_format"

_RULES: dict[CType, _Rule] = {
    Optional(Base("ScalarType")): _option("dtype_of_options", "{0}.scalar_type()"),
    Optional(Base("Layout")): _option("layout_of_options", "{0}.layout()"),
    Optional(Base("Device")): _option("device_of_options", "{0}.device()"),
    Optional(Base("bool")): _pin_memory_or_bool,
    TENSOR_OPTIONS: _gather,
    SYM_INT: _from("sym_from_int", INT),
    INT: _from("int_from_sym", SYM_INT),
    Optional(SYM_INT): _from("optional_sym_from_int", Optional(INT)),
    Optional(INT): _from("optional_int_from_sym", Optional(SYM_INT)),
    SYM_INT_ARRAY_REF: _from("syms_from_ints", INT_ARRAY_REF, ArrayRef(INT)),
    INT_ARRAY_REF: _from("ints_from_syms", SYM_INT_ARRAY_REF),
    ArrayRef(INT): _from("ints_from_syms", SYM_INT_ARRAY_REF),
    OPTIONAL_SYM_INT_ARRAY_REF: _from("optional_syms_from_ints", OPTIONAL_INT_ARRAY_REF),
    OPTIONAL_INT_ARRAY_REF: _from("optional_ints_from_syms", OPTIONAL_SYM_INT_ARRAY_REF),
    Optional(ArrayRef(INT)): _from("optional_ints", OPTIONAL_INT_ARRAY_REF),
    OPTIONAL_TENSOR_REF: _from("optional_tensor_ref", ConstRef(Optional(TENSOR))),
    OPTIONAL_SCALAR_REF: _from("optional_scalar_ref", ConstRef(Optional(SCALAR))),
    I_OPT_TENSOR_LIST_REF: _from("optional_tensor_list_ref", OPTIONAL_TENSORS),
}
