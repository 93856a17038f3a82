"""Check inner loops (`ufunc_inner_loop`), one function per rule: E0520 and following.

opgen generates a kernel for the CPU and one for CUDA from the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Span
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import ScalarType, UfuncInnerLoop, UfuncKey
from opgen.model.registry import NativeFunctionsGroup
from opgen.model.types import BaseTy, BaseType

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
    loops = _Loops(group, dict(group.out.ufunc_inner_loop))
    _arguments_are_elements(loops, diagnostics)
    _meta_is_an_iterator(loops, diagnostics)
    # any() stops at the first rule that reports: later ones would report the same mistake again.
    any(rule(loops, diagnostics) for rule in _RULES)


def _arguments_are_elements(loops: _Loops, diagnostics: Diagnostics) -> None:
    functional = loops.group.functional
    for a in functional.func.arguments.flat_non_out:
        if a.type not in (TENSOR, BaseType(BaseTy.Scalar)):
            diagnostics.error(
                "E0524",
                f"'{a.name}' of '{functional.func.name}' is '{a.type}', which has no elements",
                functional.argument_type_span(a.name),
                labels=[(loops.span, "the inner loop")],
            )


def _meta_is_an_iterator(loops: _Loops, diagnostics: Diagnostics) -> None:
    if loops.group.out.structured_inherits != _ITERATOR:
        message = (
            f"'{loops.name}' has an inner loop, so it needs 'structured_inherits: {_ITERATOR}'"
        )
        span = loops.group.out.spans.key("ufunc_inner_loop")
        missing = loops.group.out.structured_inherits is None
        fix = loops.group.out.spans.add_key(f"structured_inherits: {_ITERATOR}")
        diagnostics.error("E0525", message, span, fix=fix if missing else None)


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
