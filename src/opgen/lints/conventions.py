"""Check names, base classes, variants and dispatch tables: what conventions of the schema language say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeAlias

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import Vocabulary
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, UFUNC_DISPATCH_KEYS, DispatchKey
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import KernelSource, NativeFunction, Variant, ViewSchemaKind
from opgen.model.registry import Registry
from opgen.resolve.computed_table import computed_table, serving_alias
from opgen.resolve.dispatch_tables import needs_backend_select
from opgen.resolve.variants import Variants, collect_variants

_OPTIONS = ("dtype", "layout", "device", "pin_memory")
_LIBRARIES = ("cudnn_", "mkldnn_", "miopen_")


def lint_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Check the names in the schema of `f`."""
    _overload_of_types(f, diagnostics)
    _out_names(f, diagnostics)
    named = [r.name is not None for r in f.func.returns]
    if len(set(named)) == 2:
        message = f"some returns of '{f.func.name}' have names, but this one has none"
        diagnostics.warning("W1010", message, f.return_span(named.index(False)))
    _partial_options(f, diagnostics)
    is_internal = f.root_name.lstrip("_").startswith(_LIBRARIES)
    if Variant.method in f.variants and (is_internal or f.root_name.endswith("_backward")):
        message = f"'{f.func.name}' is for other operators, but is a method of every tensor"
        span = f.spans.item("variants", "method")
        diagnostics.warning("W1018", message, span, hint="write 'variants: function'")


def lint_base(f: NativeFunction, bases: Collection[str], diagnostics: Diagnostics) -> None:
    """Report a base class of structured kernels that is spelt almost like one of `bases`, the target's own."""
    name = f.structured_inherits
    if name is None or name in bases:
        return
    near = Vocabulary(bases).nearest(name)
    if near is not None:
        message = f"'{name}' is not a class that opgen declares"
        span = f.spans.value("structured_inherits")
        diagnostics.warning("W1034", message, span, hint=f"did you mean '{near}'?")


def _overload_of_types(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Report an overload name that lists the types of the arguments. The convention allows the name of one type."""
    name = f.func.name.overload_name
    words = name.removesuffix("_out").lower().split("_")
    positional = f.func.arguments.flat_positional
    types = [str(a.type).strip("?[]").lower() for a in positional]
    types_after_self = types[1:] if positional and positional[0].name == "self" else types
    if len(words) < 2 or words not in (types, types_after_self):
        return
    start = len(str(f.func.name)) - len(name)
    message = f"the overload name '{name}' only repeats the types of the arguments"
    span = f.spans.schema(start, start + len(name))
    diagnostics.warning("W1004", message, span, hint="name what this overload does differently")


def _out_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    outs = f.func.arguments.out
    if not outs:
        return
    usual = ["out"] if len(outs) == 1 else [f"out{i}" for i in range(len(outs))]
    returns = [r.name for r in f.func.returns]
    for out, name, result in zip(outs, usual, returns or [None] * len(outs)):
        # An out argument may also have the name of its return, which is a field in Python.
        if out.name not in (name, result):
            message = f"the out argument '{out.name}' of '{f.func.name}' is not named '{name}'"
            hint = f"rename it to '{name}'" + ("" if result is None else f" or '{result}'")
            diagnostics.warning("W1005", message, f.argument_name_span(out.name), hint=hint)


def _partial_options(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if f.func.is_factory or not f.func.creates_tensor:
        return
    named = [a for a in f.func.arguments.flat_kwarg_only if a.name in _OPTIONS]
    if named:
        missing = [name for name in _OPTIONS if name not in {a.name for a in named}]
        message = f"'{f.func.name}' creates a tensor, but takes '{named[0].name}' without the other options"
        hint = f"add {', '.join(missing)}" if missing else None
        diagnostics.warning("W1017", message, f.argument_name_span(named[0].name), hint=hint)


_Types: TypeAlias = tuple[str, ...]
_Key: TypeAlias = tuple[str, str, _Types]


def lint_variants(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Report operators that lack a variant, or whose variants have different names for an argument."""
    sets = collect_variants(functions)
    functional = {_key(f) for f in functions if f.func.kind() is SchemaKind.functional}
    for variants in sets:
        f = variants.find(SchemaKind.inplace)
        # If only argument names differ, W1006 reports these. For libraries, opgen generates the functional form.
        if f is not None and _key(f) not in functional and not f.is_library:
            message = f"'{f.func.name}' changes its argument, but no operator with this signature returns the result"
            hint = f"add '{f.func.name.remove_inplace()}', or list it under 'autogen'"
            diagnostics.warning("W1002", message, f.span, hint=hint)
    _without_out(sets, diagnostics)
    _renamed_arguments(functions, diagnostics)


def _without_out(sets: Sequence[Variants], diagnostics: Diagnostics) -> None:
    """Report overloads without an out variant, if other overloads of the same name have one."""
    by_name: dict[tuple[str, str], list[Variants]] = {}
    for variants in sets:
        first = variants.members[0]
        by_name.setdefault((first.namespace, first.root_name), []).append(variants)
    for overloads in by_name.values():
        outs = [out for v in overloads if (out := v.find(SchemaKind.out)) is not None]
        for f in (v.find(SchemaKind.functional) for v in overloads if outs):
            # For a list, callers may not know how many outputs to pass.
            is_new = (
                [r.type == TENSOR and r.annotation is None for r in f.func.returns] if f else []
            )
            if f is None or f.is_view_op or not is_new or not all(is_new):
                continue
            if any(_shared_types(f) == _shared_types(out) for out in outs):
                continue
            message = f"'{f.func.name}' has no out= variant, but other overloads have one"
            diagnostics.warning("W1003", message, f.span, labels=[(outs[0].span, "one of them")])


def _renamed_arguments(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Report different argument names in variants: operators with the same base name and types."""
    first: dict[_Key, NativeFunction] = {}
    for f in functions:
        if "generated" in f.tags:
            continue
        other = first.setdefault(_key(f), f)
        if other.func.kind() is f.func.kind():
            continue
        for own, theirs in zip(f.func.arguments.flat_non_out, other.func.arguments.flat_non_out):
            if own.name != theirs.name:
                name, span = f.func.name, f.argument_name_span(own.name)
                message = (
                    f"'{own.name}' of '{name}' is named '{theirs.name}' in '{other.func.name}'"
                )
                labels = [(other.argument_name_span(theirs.name), "the same argument")]
                diagnostics.warning("W1006", message, span, labels=labels)


def _key(f: NativeFunction) -> _Key:
    """Return the base name and argument types, which variants of an operator share."""
    return f.namespace, f.root_name, tuple(str(a.type) for a in f.func.arguments.flat_non_out)


def _shared_types(f: NativeFunction) -> _Types:
    """Return the argument types without TensorOptions, which an out variant takes from its out tensor."""
    options = f.func.arguments.tensor_options
    excluded = () if options is None else options.all()
    return tuple(str(a.type) for a in f.func.arguments.flat_non_out if a not in excluded)


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
    key = DispatchKey.CompositeExplicitAutogradNonFunctional
    is_view = f.view_schema_kind is ViewSchemaKind.aliasing
    if is_view and f.find_kernel(key) is not None:
        message = f"'{f.func.name}' returns a view, but {key} is for operators that do not"
        span = f.spans.dispatch_key(key)
        diagnostics.warning("W1012", message, span, hint="use CompositeExplicitAutograd")
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
        message = f"{kernels} for {key}, but this target has no backend with such tensors"
        span = f.spans.dispatch_key(key)
        diagnostics.warning("W1009", message, span, hint=f"--ignore-keys {key} leaves them out")


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
            message = (
                f"no call reaches the kernel '{kernel.name}' for {key}: another one is called first"
            )
            diagnostics.warning("W1007", message, f.spans.kernel(key), hint="remove the row")


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
        message = f"by its name, '{kernel.name}' is {purpose}, but {key} is for every backend"
        span = f.spans.kernel(key)
        diagnostics.warning("W1008", message, span, hint="list it under the keys that it works for")


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
            message = f"{other} and {key} have the same kernel, in two rows"
            labels = [(there, "the first one")]
            hint = f"write '{other}, {key}: {written}'"
            diagnostics.warning("W1013", message, here, labels=labels, hint=hint)
