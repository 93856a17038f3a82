"""Lints of dispatch tables: kernels under the wrong key, and kernels that nothing reaches."""

from __future__ import annotations

from collections import Counter

from opgen.diagnostics import Diagnostics
from opgen.lints.codes import W1007, W1008, W1009, W1011, W1012, W1013
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, UFUNC_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import KernelSource, NativeFunction, ViewSchemaKind
from opgen.model.registry import Registry
from opgen.resolve.computed_table import computed_table, serving_alias
from opgen.resolve.dispatch_tables import needs_backend_select

# Names of backends and of libraries that are for some only: a kernel called so is not for all.
_BACKEND_WORDS = frozenset(
    {
        "cpu",
        "cuda",
        "cudnn",
        "hip",
        "miopen",
        "mkl",
        "mkldnn",
        "mps",
        "xpu",
        "vulkan",
        "xla",
        "mtia",
    }
)
_STUB_ENDINGS = ("_stub", "_kernel")


def lint_kernels(f: NativeFunction, registry: Registry, diagnostics: Diagnostics) -> None:
    _shadowed(f, registry, diagnostics)
    _stub_under_composite(f, diagnostics)
    if not f.is_library:
        _no_key_to_dispatch_on(f, diagnostics)
    _non_functional_view(f, diagnostics)
    _rows_apart(f, diagnostics)


def lint_keys(
    registry: Registry, tensor_keys: frozenset[DispatchKey] | None, diagnostics: Diagnostics
) -> None:
    """Report each key, once, that no tensor has: it is not among `tensor_keys` (None: all are)."""
    if tensor_keys is None:
        return
    rows = [
        (key, f)
        for f in registry.functions
        for key, _ in f.dispatch
        # An inner loop is for these keys without anybody naming them.
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
            W1009,
            f"{kernels} for {key}, and this target has no backend with such tensors",
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
    # A backend that nobody has thought of yet is what a composite kernel is for.
    reached.add(serving_alias(registry, f, DispatchKey.PrivateUse1) or DispatchKey.Undefined)
    for key, kernel in rows:
        if key not in reached:
            diagnostics.warning(
                W1007,
                f"nothing reaches the kernel '{kernel.name}' for {key}: another one is called first",
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
            why = f"by its name for {words[0]}"
        elif kernel.name.endswith(_STUB_ENDINGS):
            why = "by its name the loop behind a DispatchStub"
        else:
            continue
        diagnostics.warning(
            W1008,
            f"'{kernel.name}' is {why}, and stands under {key}, which is for every backend",
            f.spans.kernel(key),
            hint="list it under the keys that it works for",
        )


def _no_key_to_dispatch_on(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Without tensors and without options no call has the key of a backend."""
    arguments = f.func.arguments
    if needs_backend_select(f) or any(
        a.type.is_tensor_like() or a.type.is_generator_like() for a in arguments.flat_all
    ):
        return
    for key, kernel in f.dispatch:
        if key not in COMPOSITE_DISPATCH_KEYS:
            diagnostics.warning(
                W1011,
                f"no call reaches '{kernel.name}': '{f.func.name}' takes nothing that says {key}",
                f.spans.kernel(key),
                hint="take a Tensor, or dtype, layout, device and pin_memory",
            )
            return


def _non_functional_view(f: NativeFunction, diagnostics: Diagnostics) -> None:
    key = DispatchKey.CompositeExplicitAutogradNonFunctional
    aliasing = f.view_schema_kind is ViewSchemaKind.aliasing
    if aliasing and f.find_kernel(key) is not None:
        diagnostics.warning(
            W1012,
            f"'{f.func.name}' returns a view, and {key} is for operators that do not",
            f.spans.dispatch_key(key),
            hint="CompositeExplicitAutograd",
        )


def _rows_apart(f: NativeFunction, diagnostics: Diagnostics) -> None:
    first: dict[str, DispatchKey] = {}
    for key, kernel in f.dispatch:
        if kernel.source is KernelSource.fallthrough:
            continue
        name = f"{kernel.namespace or ''}::{kernel.name}"
        other = first.setdefault(name, key)
        here, there = f.spans.kernel(key), f.spans.kernel(other)
        if other is not key and here != there:
            diagnostics.warning(
                W1013,
                f"{other} and {key} have the same kernel, in two rows",
                here,
                labels=[(there, "the first of them")],
                hint=f"write '{other}, {key}: {kernel.name}'",
            )
