"""Sort operators into sets of variants, which differ only in how they return their results, and form groups of them."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from opgen import data
from opgen.model import profile
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import (
    TENSOR,
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
    SchemaKind,
)
from opgen.model.native_function import (
    DeviceCheckType,
    Kernel,
    NativeFunction,
    OneSpan,
    Variant,
    ViewSchemaKind,
)
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup

Role: TypeAlias = SchemaKind | ViewSchemaKind


class Variants(Struct, frozen=True):
    """The operators of one signature by role, in order of appearance: by kind, or in a view group as views.

    `duplicates` are those whose role was taken already.
    """

    by_role: Mapping[Role, NativeFunction]
    duplicates: tuple[NativeFunction, ...] = ()

    @staticmethod
    def of(functions: Iterable[NativeFunction], role: Callable[[NativeFunction], Role]) -> Variants:
        first: dict[Role, NativeFunction] = {}
        others = tuple(f for f in functions if first.setdefault(role(f), f) is not f)
        return Variants(first, others)

    @property
    def members(self) -> tuple[NativeFunction, ...]:
        return tuple(self.by_role.values())

    def find(self, role: Role) -> NativeFunction | None:
        return self.by_role.get(role)

    def with_member(self, function: NativeFunction) -> Variants:
        """Return the set with one more member, of a new kind."""
        return replace(self, by_role={**self.by_role, function.func.kind(): function})


def collect_variants(functions: Iterable[NativeFunction]) -> tuple[Variants, ...]:
    """Return one set for each signature, in order of first appearance."""

    def name(f: NativeFunction) -> Hashable:
        return f.scoped_root

    sets = group_by_signature(functions, name, lambda f: f.signature)
    return tuple(Variants.of(s, lambda f: f.func.kind()) for s in sets)


def group_by_signature(
    functions: Iterable[NativeFunction],
    name: Callable[[NativeFunction], Hashable],
    signature: Callable[[NativeFunction], FunctionSchema],
) -> tuple[tuple[NativeFunction, ...], ...]:
    """Return the functions of each signature, in order of its first appearance.

    Functions of different `name` have different signatures. Most are alone with their name, and
    only the others' signatures are made and compared: that takes a quarter of the time.
    """
    functions = tuple(functions)
    count = Counter(map(name, functions))
    sets: list[list[NativeFunction]] = []
    places: dict[tuple[Hashable, FunctionSchema], int] = {}
    for f in functions:
        if count[name(f)] == 1:
            sets.append([f])
            continue
        place = places.setdefault((name(f), signature(f)), len(sets))
        if place == len(sets):
            sets.append([])
        sets[place].append(f)
    return tuple(map(tuple, sets))


def find_group(variants: Variants) -> NativeFunctionsGroup | None:
    """Return the group of `variants`; None for an operator without an out variant."""
    functional = variants.find(SchemaKind.functional)
    out = variants.find(SchemaKind.out)
    if functional is None or out is None:
        return None
    return NativeFunctionsGroup(
        functional=functional,
        out=out,
        inplace=variants.find(SchemaKind.inplace),
        mutable=variants.find(SchemaKind.mutable),
    )


def find_outless_group(variants: Variants) -> OutlessGroup | None:
    """Return the group of `variants` if the functional one is structured and there is no out variant; else None."""
    functional = variants.find(SchemaKind.functional)
    if functional is None or not functional.structured or variants.find(SchemaKind.out) is not None:
        return None
    return OutlessGroup(functional, variants.find(SchemaKind.inplace))


def with_documentation(functions: tuple[NativeFunction, ...]) -> tuple[NativeFunction, ...]:
    """Give each out variant without documentation that of its functional variant.

    An empty text, by which an entry suppresses its documentation, becomes None.
    """
    known = {
        (f.namespace, f.signature): f.doc
        for f in functions
        if f.doc and f.func.kind() is SchemaKind.functional
    }
    documented = []
    for f in functions:
        doc = f.doc or None
        if known and f.doc is None and f.func.is_out_fn():
            doc = known.get((f.namespace, f.signature))
        documented.append(f if doc == f.doc else replace(f, doc=doc))
    return tuple(documented)


# Tags that a generated variant inherits from the operator that it is made from.
INHERITED_TAGS = frozenset({"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"})

# Kinds of members from which variants are made: the first that exists is used.
_BASE_KINDS = (SchemaKind.mutable, SchemaKind.inplace, SchemaKind.out, SchemaKind.functional)

# In-place operators whose schema differs from that of their other variants.
_APART: frozenset[str] = frozenset(data.read_names("inplace_apart.txt"))


def generate_variants(
    variants: Variants, base: NativeFunction | None, tags: Collection[str]
) -> Variants:
    """Return `variants` with the members that the `autogen` of `base` requests: an out, then a functional one.

    `tags` are those that are declared: files of releases that do not know the tag `out` get none.
    """
    if base is None or not any(f.autogen or not f.is_library for f in variants.members):
        return variants
    if wants_out(variants, base):
        schema = find_out_schema(base.func)
        if schema is None:
            return variants
        variants = variants.with_member(_generated(base, schema, tags))
    if variants.find(SchemaKind.functional) is None and variants.find(SchemaKind.out) is not None:
        variants = variants.with_member(_generated(base, _functional_schema(base.func), tags))
    return variants


def find_base(variants: Variants, tags: Collection[str]) -> NativeFunction | None:
    """Return the member from which others may be made; None if no variants are made for this operator."""
    if not may_have_variants(variants, tags) or is_lone_out(variants):
        return None
    inplace = variants.find(SchemaKind.inplace)
    if inplace is not None and str(inplace.func.name) in _APART:
        return None
    return next((f for kind in _BASE_KINDS if (f := variants.find(kind)) is not None), None)


def may_have_variants(variants: Variants, tags: Collection[str]) -> bool:
    """Return whether variants may be generated: not for views, nor for operators that bypass the dispatcher or
    decompose.
    """
    return not (
        all(f.manual_cpp_binding for f in variants.members)
        or decomposes(variants, tags)
        # set_ counts as an ordinary in-place operator.
        or any(f.is_view_op and str(f.func.name.name) != "set_" for f in variants.members)
    )


def decomposes(variants: Variants, tags: Collection[str]) -> bool:
    """Return whether every member decomposes into other operators, and none is a core operator."""
    if not all(f.has_composite_implicit_autograd_kernel for f in variants.members):
        return False
    is_core = any("core" in f.tags for f in variants.members)
    return not (is_core and profile.holds(profile.Rule.VARIANTS_OF_CORE_COMPOSITES, tags))


def is_lone_out(variants: Variants) -> bool:
    return len(variants.by_role) == 1 and variants.find(SchemaKind.out) is not None


def can_have_out(base: NativeFunction) -> bool:
    """Return whether the operator returns anything that an out argument could receive."""
    return base.func.is_inplace or any(r.type.is_tensor_like() for r in base.func.returns)


def wants_out(variants: Variants, base: NativeFunction) -> bool:
    return (
        variants.find(SchemaKind.out) is None
        and can_have_out(base)
        and any("out" in str(name) for name in base.autogen)
    )


def find_out_schema(func: FunctionSchema) -> FunctionSchema | None:
    """Return the schema of the out variant of `func`; None if it cannot have one (see checks)."""
    name = func.name.to_out()
    if func.is_inplace:
        return _out_of_inplace(func, name)
    if func.returns_are_aliased() or not all(r.type.is_tensor_like() for r in func.returns):
        return None
    letters = _free_letters(func)
    if len(letters) < len(func.returns):
        return None
    names = ["out"] if len(func.returns) == 1 else [f"out{i}" for i in range(len(func.returns))]
    outs = tuple(
        Argument(name, value.type, None, Annotation((letter,), True, ()))
        for name, value, letter in zip(names, func.returns, letters)
    )
    arguments = (
        func.arguments.signature()
        if func.kind() is SchemaKind.functional
        else func.arguments  # the out variant of a mutable operator writes the same arguments, too
    )
    # It returns its outs, if all of them are plain tensors.
    is_returned = all(out.type == TENSOR for out in outs)
    returns = tuple(Return(None, TENSOR, out.annotation) for out in outs if is_returned)
    return FunctionSchema(name, replace(arguments, out=outs), returns, func.profile)


def _functional_schema(func: FunctionSchema) -> FunctionSchema:
    """Return the schema of the functional variant, which returns the arguments that `func` writes."""
    name = BaseOperatorName(
        base=func.name.name.base,
        inplace=False,
        dunder_method=func.name.name.dunder_method,
        # A mutable operator already has the plain name.
        functional_overload=func.kind() is SchemaKind.mutable,
    )
    return func.signature(keep_return_names=True).with_name(
        OperatorName(name, func.name.overload_name)
    )


def _out_of_inplace(func: FunctionSchema, name: OperatorName) -> FunctionSchema | None:
    arguments: Arguments = func.arguments
    if arguments.self_arg is None:
        return None
    own = arguments.self_arg.argument
    out = Argument("out", own.type, None, own.annotation)
    plain = arguments.changed(lambda a: replace(a, annotation=None) if a is own else a)
    return FunctionSchema(name, replace(plain, out=(out,)), func.returns, func.profile)


def _free_letters(func: FunctionSchema) -> str:
    """Return the letters for the alias sets of new out arguments, in alphabetical order."""
    used = [
        letter
        for a in func.arguments.flat_all
        if a.annotation is not None
        for letter in a.annotation.alias_set
        if len(letter) == 1
    ]
    if func.kind() is not SchemaKind.functional:
        return "".join(c for c in string.ascii_lowercase if c not in used)
    # The out variant of a functional operator keeps no annotation, so every letter is free.
    # torchgen still skips a, b, c, ... as far as they occur in this order.
    skipped = 0
    for letter in used:
        skipped += letter == string.ascii_lowercase[skipped : skipped + 1]
    return string.ascii_lowercase[skipped:]


def _generated(base: NativeFunction, func: FunctionSchema, tags: Collection[str]) -> NativeFunction:
    """Return a generated operator of schema `func`, with one kernel, which opgen writes."""
    name = func.name.unambiguous_name if func.is_out_fn() else str(func.name.name)
    name += "_symint" if base.func.has_symint() else ""
    own_tags = {"out"}.intersection(tags) if func.is_out_fn() else ()
    return replace(
        base,
        func=func,
        variants=frozenset({Variant.function}),
        dispatch=((DispatchKey.CompositeExplicitAutograd, Kernel(name, None, False)),),
        tags=frozenset({"generated", *(base.tags & INHERITED_TAGS), *own_tags}),
        structured=False,
        structured_delegate=None,
        structured_inherits=None,
        precomputed=None,
        autogen=(),
        ufunc_inner_loop=(),
        cpp_no_default_args=frozenset(),
        manual_kernel_registration=False,
        manual_cpp_binding=False,
        device_guard=False,
        device_check=DeviceCheckType.NoCheck,
        # A library's generated operators are called from Python, too, like their base.
        python_module=base.python_module if base.is_library else None,
        category_override=None,
        doc=base.doc if func.is_out_fn() and base.func.kind() is SchemaKind.functional else None,
        # A generated schema has no place in the file: diagnostics point to the name of its base.
        spans=OneSpan(base.span),
    )
