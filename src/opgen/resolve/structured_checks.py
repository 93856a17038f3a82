"""Check structured operators without an out variant (E0530 to E0535) and inner loops (E0520 to E0525), one function per rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import NativeFunction, ScalarType, UfuncInnerLoop, UfuncKey
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup
from opgen.model.types import BaseTy, BaseType
from opgen.resolve.checks import Entries
from opgen.resolve.group_checks import Completed, add_delegate, check_structured_kernels

_DECOMPOSES = "it has a kernel for each backend, or for all by CompositeExplicitAutograd"
_NOT_STRUCTURED = {
    DispatchKey.CompositeImplicitAutograd: _DECOMPOSES,
    DispatchKey.CompositeImplicitAutogradNestedTensor: _DECOMPOSES,
    DispatchKey.Meta: "its meta function serves for that",
}


def check_structured_beside_out(variants: Completed, diagnostics: Diagnostics) -> None:
    """Report a functional operator that is structured, although its out variant should be."""
    functional = variants.all.find(SchemaKind.functional)
    out = variants.all.find(SchemaKind.out)
    if functional is None or out is None or not functional.structured:
        return
    place = out.span
    hint = f"write 'structured_delegate: {out.func.name}', and 'structured: True' there"
    if "generated" in out.tags:
        place, hint = variants.autogen_span, "remove 'autogen'"
    message = (
        f"'{functional.func.name}' is structured, but it has the out variant '{out.func.name}'"
    )
    span, labels = functional.spans.key("structured"), [(place, "the out variant")]
    diagnostics.error("E0530", message, span, labels=labels, hint=hint)


def check_outless_group(group: OutlessGroup, entries: Entries, diagnostics: Diagnostics) -> None:
    """Report every rule that this group breaks."""
    check_structured_kernels(group, _NOT_STRUCTURED, diagnostics)
    f = group.functional
    has_kernel = any(kernel.structured for _, kernel in f.dispatch)
    is_sound = _views_have_one_base(group, diagnostics)
    if is_sound and not (group.all_views or f.manual_kernel_registration or has_kernel):
        index = next(i for i, r in enumerate(f.func.returns) if r.annotation is None)
        message = f"'{f.func.name}' is structured and returns a new tensor, but no kernel fills it"
        labels = [(f.return_span(index), "a new tensor")]
        hint = (
            "name a kernel under 'dispatch:', for CPU or, made of other operators, for"
            " CompositeExplicitAutograd"
        )
        diagnostics.error("E0531", message, f.spans.key("structured"), labels=labels, hint=hint)
    if f.precomputed is not None and group.all_views and not has_kernel:
        message = f"'{f.func.name}' has no kernel that could receive what is precomputed"
        span, fix = f.spans.key("precomputed"), f.spans.remove_key("precomputed")
        diagnostics.error("E0534", message, span, hint="remove 'precomputed'", fix=fix)
    if group.inplace is not None:
        _inplace_delegates(group, group.inplace, entries, diagnostics)
        _inplace_is_alike(group, group.inplace, diagnostics)


def _views_have_one_base(group: OutlessGroup, diagnostics: Diagnostics) -> bool:
    f = group.functional
    sound = True
    for index, value in enumerate(f.func.returns):
        found = group.base_candidates(value)
        if value.annotation is None or len(found) == 1:
            continue
        sound = False
        names = [f.func.arguments.flat_all[i].name for i in found]
        of = " and ".join(f"'{name}'" for name in names) or "no argument that is a Tensor"
        message = f"'{f.func.name}' is structured, and this output is a view of {of}"
        labels = [(f.argument_type_span(name), "may be viewed") for name in names]
        diagnostics.error("E0532", message, f.return_span(index), labels=labels)
    return sound


def _inplace_delegates(
    group: OutlessGroup, inplace: NativeFunction, entries: Entries, diagnostics: Diagnostics
) -> None:
    functional = group.functional
    name = functional.func.name
    if inplace.structured_delegate == name:
        return
    if inplace.structured_delegate is not None and not entries.has_structured_delegate(inplace):
        # The delegate itself is invalid, and already reported.
        return
    message = f"'{name}' is structured, but '{inplace.func.name}' does not delegate to it"
    labels = [(functional.spans.key("structured"), "structured here")]
    fix, hint = add_delegate(inplace, functional), f"add 'structured_delegate: {name}'"
    diagnostics.error("E0535", message, inplace.span, labels=labels, hint=hint, fix=fix)


def _inplace_is_alike(
    group: OutlessGroup, inplace: NativeFunction, diagnostics: Diagnostics
) -> None:
    """Report an in-place form that is a view while the functional one is not, or the reverse.

    An in-place form of a view is an in-place view, which the rules about views check.
    """
    if group.has_views == ("inplace_view" in inplace.tags) and (
        not group.has_views or len(group.functional.func.returns) == 1
    ):
        return
    if group.has_views:
        does, makes, hint = "writes its argument", "makes views", "add"
    else:
        does, makes = "changes the sizes or strides of its argument", "makes a new tensor"
        hint = "remove"
    message = f"'{inplace.func.name}' {does}, but '{group.functional.func.name}' {makes}"
    labels, hint = [(group.functional.span, makes)], f"{hint} the tag 'inplace_view'"
    diagnostics.error("E0533", message, inplace.span, labels=labels, hint=hint)


_ITERATOR = "TensorIteratorBase"
_SHARED = (UfuncKey.ScalarOnly, UfuncKey.Generic)
_SPECIAL_FUNCTORS = (UfuncKey.CUDAFunctorOnSelf, UfuncKey.CUDAFunctorOnOther)


class _Loops(Struct, frozen=True):
    """The inner loops of one group."""

    group: NativeFunctionsGroup
    by_key: Mapping[UfuncKey, UfuncInnerLoop]

    @property
    def name(self) -> str:
        return str(self.group.out.func.name)

    @property
    def span(self) -> Span:
        return self.group.out.spans.value("ufunc_inner_loop")

    @property
    def is_binary(self) -> bool:
        arguments = self.group.functional.func.arguments.flat_non_out
        return sum(a.type.is_tensor_like() for a in arguments) == 2

    def dtypes(self, *keys: UfuncKey) -> frozenset[ScalarType]:
        """Return the element types of all loops under `keys`."""
        found = (self.by_key[key].supported_dtypes for key in keys if key in self.by_key)
        return frozenset(dtype for dtypes in found for dtype in dtypes)

    def missing_functors(self) -> tuple[UfuncKey, ...]:
        """Return the CUDA functors that are made from the shared loops, because no entry names them."""
        wanted = (*(_SPECIAL_FUNCTORS if self.is_binary else ()), UfuncKey.CUDAFunctor)
        return tuple(key for key in wanted if key not in self.by_key)


# Returns whether it reported anything.
_Rule = Callable[[_Loops, Diagnostics], bool]


def check_ufunc(group: NativeFunctionsGroup, diagnostics: Diagnostics) -> None:
    """Report every rule that the inner loops of `group` break."""
    if not (group.structured and group.out.ufunc_inner_loop):
        return
    loops, functional, out = (
        _Loops(group, dict(group.out.ufunc_inner_loop)),
        group.functional,
        group.out,
    )
    for a in functional.func.arguments.flat_non_out:
        if a.type not in (TENSOR, BaseType(BaseTy.Scalar)):
            message = f"'{a.name}' of '{functional.func.name}' is '{a.type}', which has no elements"
            span = functional.argument_type_span(a.name)
            diagnostics.error("E0524", message, span, labels=[(loops.span, "the inner loop")])
    if out.structured_inherits != _ITERATOR:
        message = (
            f"'{loops.name}' has an inner loop, so it needs 'structured_inherits: {_ITERATOR}'"
        )
        missing = out.structured_inherits is None
        fix = out.spans.add_key(f"structured_inherits: {_ITERATOR}") if missing else None
        diagnostics.error("E0525", message, out.spans.key("ufunc_inner_loop"), fix=fix)
    # any() stops at the first rule that reports: later ones would report the same mistake again.
    any(rule(loops, diagnostics) for rule in _RULES)


def _functors_have_two_tensors(loops: _Loops, diagnostics: Diagnostics) -> bool:
    found = [key for key in _SPECIAL_FUNCTORS if key in loops.by_key]
    if loops.is_binary or not found:
        return False
    message = f"{found[0].name} takes one of two tensors as a number, but '{loops.name}' does not have two"
    diagnostics.error("E0522", message, loops.span)
    return True


def _kernels_can_be_made(loops: _Loops, diagnostics: Diagnostics) -> bool:
    if any(key in loops.by_key for key in _SHARED):
        return False
    missing = loops.missing_functors()
    if UfuncKey.CPUScalar not in loops.by_key and UfuncKey.CPUVector not in loops.by_key:
        message = f"no inner loop of '{loops.name}' is for the CPU"
    elif missing:
        names = " and ".join(key.name for key in missing)
        message = f"no inner loop provides {names} for '{loops.name}'"
    else:
        return False
    diagnostics.error("E0523", message, loops.span, hint="write a loop for Generic")
    return True


def _functors_have_one_name(loops: _Loops, diagnostics: Diagnostics) -> bool:
    names = {loops.by_key[key].name for key in _SHARED if key in loops.by_key}
    if len(names) < 2 or not loops.missing_functors():
        return False
    message = f"ScalarOnly and Generic of '{loops.name}' have different names"
    diagnostics.error("E0520", message, loops.span)
    return True


def _special_loops_have_plain_ones(loops: _Loops, diagnostics: Diagnostics) -> bool:
    scalar = loops.dtypes(UfuncKey.CPUScalar, *_SHARED)
    own = UfuncKey.CUDAFunctor in loops.by_key
    functor = loops.dtypes(*((UfuncKey.CUDAFunctor,) if own else _SHARED))
    # A special functor without a loop of its own is made for all types of the shared loops.
    special = loops.dtypes(*_SPECIAL_FUNCTORS)
    if any(key in loops.missing_functors() for key in _SPECIAL_FUNCTORS):
        special |= loops.dtypes(*_SHARED)
    for what, alone in (
        ("CPUVector", loops.dtypes(UfuncKey.CPUVector) - scalar),
        ("a functor on a number", special - functor),
    ):
        if alone:
            dtypes = ", ".join(sorted(dtype.name for dtype in alone))
            message = f"'{loops.name}' has {what} for {dtypes}, but no loop for single elements"
            diagnostics.error("E0521", message, loops.span)
            return True
    return False


_RULES: tuple[_Rule, ...] = (
    _functors_have_two_tensors,
    _kernels_can_be_made,
    _functors_have_one_name,
    _special_loops_have_plain_ones,
)
