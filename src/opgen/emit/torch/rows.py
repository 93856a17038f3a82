"""Find the functions that a target registers for an operator outside of its dispatch table: autograd, functionalization."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from opgen.emit.common.context import Context
from opgen.emit.torch.autograd import AutogradRow, find_autograd_row
from opgen.emit.torch.functionalize import find_functionalized
from opgen.emit.torch.twins import find_twin_rows
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.targets.base import FileKind

_AUTOGRAD = {
    "opgen::autograd_of_out": "there is no gradient through an out argument: tensors that require one are rejected",
    "opgen::autograd_of_written": "no formula: computing a gradient through its results or written arguments is an error",
}
_NO_FORMULA = "no formula: computing a gradient through it is an error"
_DECOMPOSES = "decomposes into the hidden {0} while it is traced, which writes the same arguments and returns the new tensors"


class OtherRegistration(Struct, frozen=True):
    """A function registered for a key that the dispatch table does not name; `function` is "nothing" if PyTorch acts itself."""

    key: str
    function: str
    reason: str


def other_registrations(context: Context, f: NativeFunction) -> tuple[OtherRegistration, ...]:
    """Return the functions registered for `f` and keys that its dispatch table does not name."""
    return tuple(_others(context, f))


def hidden_operators(context: Context, f: NativeFunction) -> tuple[str, ...]:
    """Return the schemas of the operators that replace `f` where nothing may be written."""
    if FileKind.REGISTER_TWINS not in context.target.plan.kinds or not f.is_library:
        return ()
    return tuple(context.spell.schema(twin) for twin in find_twin_rows(context, f)[0])


def _others(context: Context, f: NativeFunction) -> Iterator[OtherRegistration]:
    files = context.target.plan.kinds
    if f.manual_kernel_registration:
        return
    if FileKind.REGISTER_AUTOGRAD in files:
        row = find_autograd_row(context, f)
        if row is not None:
            yield from _autograd(f, row)
    if FileKind.REGISTER_FUNCTIONALIZE in files:
        yield from _functionalize(context, f)


def _autograd(f: NativeFunction, row: AutogradRow) -> Iterator[OtherRegistration]:
    if row.kernel:
        function = row.kernel.function
        reason = _AUTOGRAD.get(function.removesuffix("_uncounted"), _NO_FORMULA)
        yield OtherRegistration("Autograd", function, reason)
    if row.tracking:
        what = "views" if f.is_view_op else "writes"
        reason = _NO_FORMULA if row.refusal else f"reports its {what} to autograd"
        yield OtherRegistration("ADInplaceOrView", row.tracking.function, reason)


def _functionalize(context: Context, f: NativeFunction) -> Iterator[OtherRegistration]:
    found = find_functionalized(context, f)
    if found is not None:
        function, sibling = found
        yield OtherRegistration(
            "Functionalize", function, f"replaced by {sibling.func.name}, which {_does(f)}"
        )
        return
    twins, rows = find_twin_rows(context, f) if f.is_library else ((), ())
    for key, function in rows:
        if key == "CompositeImplicitAutograd":
            reason = _DECOMPOSES.format(twins[0].func.name)
        elif len(rows) > 1:
            reason = "returns new tensors, which replace those that it would write"
        else:
            reason = f"replaced by the hidden {twins[0].func.name}, which {_does(f)}"
        yield OtherRegistration(key, function, reason)
    is_own = f.find_kernel(DispatchKey.Functionalize) is not None
    if (
        f.is_library
        and f.func.is_mutable
        and not (rows or is_own or f.has_composite_implicit_autograd_kernel)
    ):
        reason = "PyTorch itself replaces operators that write tensors and return only new tensors"
        yield OtherRegistration("Functionalize", "nothing", reason)


def _does(f: NativeFunction) -> str:
    return "copies" if f.is_view_op else "returns the values that would be written"
