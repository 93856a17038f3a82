"""Check dispatch tables: kernels under the wrong key, and kernels that no call reaches."""

from __future__ import annotations

from collections import Counter

from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, UFUNC_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import KernelSource, NativeFunction, ViewSchemaKind
from opgen.model.registry import Registry
from opgen.resolve.computed_table import computed_table, serving_alias
from opgen.resolve.dispatch_tables import needs_backend_select

# Names of backends, and of libraries for some backends. A kernel with one in its name is not for all backends.
_BACKEND_WORDS = frozenset(
    (
        *("cpu", "cuda", "cudnn", "hip", "miopen", "mkl", "mkldnn", "mps", "mtia", "vulkan"),
        *("xla", "xpu"),
    )
)
_STUB_ENDINGS = ("_stub", "_kernel")


def lint_kernels(f: NativeFunction, registry: Registry, diagnostics: Diagnostics) -> None:
    """Check the dispatch table of one operator."""
    _shadowed(f, registry, diagnostics)
    _stub_under_composite(f, diagnostics)
    if not f.is_library:
        _no_key_to_dispatch_on(f, diagnostics)
    _non_functional_view(f, diagnostics)
    _duplicate_rows(f, diagnostics)


def lint_keys(
    registry: Registry, tensor_keys: frozenset[DispatchKey] | None, diagnostics: Diagnostics
) -> None:
    """Report each key, once, that no tensor can have: it is not in `tensor_keys`. None stands for all keys."""
    if tensor_keys is None:
        return
    rows = [
        (key, f)
        for f in registry.functions
        for key, _ in f.dispatch
        # These keys are added for an inner loop, not written in the table.
        if not (f.ufunc_inner_loop and key in UFUNC_DISPATCH_KEYS)
    ]
    counts = Counter(key for key, _ in rows)
    covered = {*tensor_keys, *COMPOSITE_DISPATCH_KEYS}
    for key, f in rows:
        if key in covered:
            continue
        covered.add(key)
        kernels = "1 kernel is" if counts[key] == 1 else f"{counts[key]} kernels are"
        diagnostics.warning(
            "W1009",
            f"{kernels} for {key}, but this target has no backend with such tensors",
            f.spans.dispatch_key(key),
            hint=f"--ignore-keys {key} leaves them out",
        )


def _shadowed(f: NativeFunction, registry: Registry, diagnostics: Diagnostics) -> None:
    rows = [(key, kernel) for key, kernel in f.dispatch if key in COMPOSITE_DISPATCH_KEYS]
    if not rows or (len(f.dispatch) == 1 and registry.group_of(f) is None):
        return
    reached = {
        cell.registration.key
        for cell in computed_table(registry, f)
        if cell.registration is not None
    }
    # Composite kernels also serve backends that do not exist yet: PrivateUse1 stands for them.
    reached.add(serving_alias(registry, f, DispatchKey.PrivateUse1) or DispatchKey.Undefined)
    for key, kernel in rows:
        if key not in reached:
            diagnostics.warning(
                "W1007",
                f"no call reaches the kernel '{kernel.name}' for {key}: another one is called first",
                f.spans.kernel(key),
                hint="remove the row",
            )


def _stub_under_composite(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if f.is_library and not f.func.arguments.has_tensor_arg():
        return
    for key, kernel in f.dispatch:
        if key not in COMPOSITE_DISPATCH_KEYS:
            continue
        own = set(str(f.func.name.name).split("_"))
        words = [w for w in kernel.name.split("_") if w in _BACKEND_WORDS and w not in own]
        if words:
            purpose = f"for {words[0]}"
        elif kernel.name.endswith(_STUB_ENDINGS):
            purpose = "the loop of a DispatchStub"
        else:
            continue
        diagnostics.warning(
            "W1008",
            f"by its name, '{kernel.name}' is {purpose}, but {key} is for every backend",
            f.spans.kernel(key),
            hint="list it under the keys that it works for",
        )


def _no_key_to_dispatch_on(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Report backend kernels of an operator without tensors and options: no call has the key of a backend."""
    arguments = f.func.arguments
    if needs_backend_select(f) or any(
        a.type.is_tensor_like() or a.type.is_generator_like() for a in arguments.flat_all
    ):
        return
    for key, kernel in f.dispatch:
        if key not in COMPOSITE_DISPATCH_KEYS:
            diagnostics.warning(
                "W1011",
                f"no call reaches '{kernel.name}': no argument of '{f.func.name}' can select {key}",
                f.spans.kernel(key),
                hint="add a Tensor, or dtype, layout, device and pin_memory",
            )
            return


def _non_functional_view(f: NativeFunction, diagnostics: Diagnostics) -> None:
    key = DispatchKey.CompositeExplicitAutogradNonFunctional
    aliasing = f.view_schema_kind is ViewSchemaKind.aliasing
    if aliasing and f.find_kernel(key) is not None:
        diagnostics.warning(
            "W1012",
            f"'{f.func.name}' returns a view, but {key} is for operators that do not",
            f.spans.dispatch_key(key),
            hint="use CompositeExplicitAutograd",
        )


def _duplicate_rows(f: NativeFunction, diagnostics: Diagnostics) -> None:
    first: dict[str, DispatchKey] = {}
    for key, kernel in f.dispatch:
        if kernel.source in (KernelSource.fallthrough, KernelSource.python):
            continue
        name = f"{kernel.namespace or ''}::{kernel.name}"
        other = first.setdefault(name, key)
        here, there = f.spans.kernel(key), f.spans.kernel(other)
        if other is not key and here != there:
            is_existing = kernel.source is KernelSource.existing
            written = kernel.cpp_name if is_existing else kernel.name
            diagnostics.warning(
                "W1013",
                f"{other} and {key} have the same kernel, in two rows",
                here,
                labels=[(there, "the first one")],
                hint=f"write '{other}, {key}: {written}'",
            )
