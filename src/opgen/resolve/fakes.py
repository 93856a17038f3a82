"""An operator into whether PyTorch can trace a call of it: what says which tensors it returns, without their data."""

from __future__ import annotations

from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import KernelSource, NativeFunction
from opgen.model.registry import Registry
from opgen.resolve.dispatch_tables import find_registration

# How the names of keys begin that stand above the backends.
_ABOVE_BACKENDS = (
    *("Autograd", "Autocast", "Batched", "FuncTorch", "Python", "TESTING_ONLY", "VmapMode"),
    *("ADInplaceOrView", "BackendSelect", "Conjugate", "DeferredInit", "Fake", "Functionalize"),
    *("Named", "Negative", "PreDispatch", "Tracer", "ZeroTensor"),
)


def lacks_fake(registry: Registry, f: NativeFunction) -> bool:
    """Whether `f` has a kernel for a backend, and nothing in C++ or YAML that serves tensors without data."""
    return (
        f.is_library
        and f.fake is None
        and not f.has_composite_kernel
        and not f.manual_kernel_registration
        and first_backend_key(f) is not None
        and find_registration(registry, f, DispatchKey.Meta) is None
    )


def first_backend_key(f: NativeFunction) -> DispatchKey | None:
    """The first key of the dispatch table that is a backend's and has a kernel."""
    for key, kernel in f.dispatch:
        above = key in COMPOSITE_DISPATCH_KEYS or key.name.startswith(_ABOVE_BACKENDS)
        if not above and kernel.source is not KernelSource.fallthrough:
            return key
    return None
