"""Decide whether PyTorch can trace calls of an operator: whether something computes its results without data."""

from __future__ import annotations

from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import KernelSource, NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.dispatch_tables import RegistrationKind, find_registration

# Prefixes of the names of keys above the backends.
_ABOVE_BACKENDS = (
    *("Autograd", "Autocast", "Batched", "FuncTorch", "Python", "TESTING_ONLY", "VmapMode"),
    *("ADInplaceOrView", "BackendSelect", "Conjugate", "DeferredInit", "Fake", "Functionalize"),
    *("Named", "Negative", "PreDispatch", "Tracer", "ZeroTensor"),
)


def lacks_fake(registry: Registry, f: NativeFunction) -> bool:
    """Return whether `f` has a backend kernel, but no kernel or `fake` rule for tensors without data."""
    return (
        f.is_library
        and f.fake is None
        and not f.has_composite_kernel
        and not f.manual_kernel_registration
        and first_backend_key(f) is not None
        and find_registration(registry, f, DispatchKey.Meta) is None
    )


# The kernels that compute results without data, the first that there is.
_WITHOUT_DATA = (
    DispatchKey.Meta,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def key_of_fake(registry: Registry, f: NativeFunction) -> DispatchKey | None:
    """Return the key of the kernel by which generated code knows the results of `f` without data; None without one.

    An operator that decomposes, and one with a `fake` line, needs none. An existing function is registered for PyTorch.
    """
    if f.fake is not None or f.has_composite_implicit_autograd_kernel:
        return None
    for key in _WITHOUT_DATA:
        row = find_registration(registry, f, key)
        if row is not None:
            return None if row.kind is RegistrationKind.existing else key
    return None


def first_backend_key(f: NativeFunction) -> DispatchKey | None:
    """Return the first backend key of the dispatch table that has a kernel."""
    for key, kernel in f.dispatch:
        above = key in COMPOSITE_DISPATCH_KEYS or key.name.startswith(_ABOVE_BACKENDS)
        if not above and kernel.source is not KernelSource.fallthrough:
            return key
    return None
