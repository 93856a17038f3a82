"""The hidden operators of a target whose autograd kernels cannot call the next kernel: they have the kernels below it."""

from __future__ import annotations

from opgen.model.cpp_identifier import RESERVED_PREFIX
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import KernelSource, NativeFunction
from opgen.resolve.number_forms import takes_numbers

HIDDEN_PREFIX = f"{RESERVED_PREFIX}below_"


def has_default_gradient(f: NativeFunction) -> bool:
    """Return whether the target decides what autograd does for `f`.

    False for operators that decompose, that have an Autograd kernel of their author, or that have no gradient by their types;
    and for existing functions, for which PyTorch does what it did before.
    """
    if f.has_composite_implicit_autograd_kernel:
        return False
    if any(kernel.source is KernelSource.existing for _, kernel in f.dispatch):
        return False
    if not any(a.type.is_tensor_like() for a in f.func.arguments.flat_all):
        return False
    if any(key.name.startswith(DispatchKey.Autograd.name) for key, _ in f.dispatch):
        return False
    return f.func.is_mutable or any(r.type.is_tensor_like() for r in f.func.returns)


def has_form_below(f: NativeFunction) -> bool:
    """Return whether `f` has a hidden operator below autograd.

    Those that take numbers are called through Python anyway. Of those with effects, compilers must see `f` itself.
    """
    return has_default_gradient(f) and not takes_numbers(f) and f.effects is None


def name_below(f: NativeFunction) -> str:
    """Return the name of the hidden operator, without its overload: `mylib::opgen_below_mix`."""
    return f"{f.namespace}::{HIDDEN_PREFIX}{f.func.name.name}"
