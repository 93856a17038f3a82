"""Operators into a Registry: generated variants, groups, view groups, and rules across entries."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.dispatch_key import SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsGroup, Registry
from opgen.resolve.autogen import generate_variants
from opgen.resolve.grouping import collect_groups
from opgen.resolve.variants import collect_variants
from opgen.resolve.views import collect_view_groups, collect_view_variants

CODES: tuple[Code, ...] = ()

__all__ = ["CODES", "resolve"]


def resolve(
    functions: tuple[NativeFunction, ...],
    diagnostics: Diagnostics,
    tags: tuple[str, ...] = (),
) -> Registry:
    """All operators of `functions` with those that are generated for them, and how they belong
    together. Reports what contradicts; the registry then is as good as it can be."""
    written = collect_variants(functions)
    completed = tuple(generate_variants(v, tags) for v in written)
    generated = tuple(
        f for before, after in zip(written, completed) for f in after.members[len(before.members) :]
    )
    functions = functions + generated
    groups = collect_groups(completed)
    return Registry(
        functions=functions,
        groups=groups,
        view_groups=collect_view_groups(collect_view_variants(functions)),
        dispatch_keys=_keys_in_use(functions, groups),
        tags=tags,
    )


def _keys_in_use(
    functions: tuple[NativeFunction, ...], groups: tuple[NativeFunctionsGroup, ...]
) -> tuple[DispatchKey, ...]:
    """The keys that anything is registered for, in the order of SUPPORTED_DISPATCH_KEYS.

    What a structured group registers for Meta and for all backends is named by no entry.
    """
    used = {key for f in functions for key, _ in f.dispatch}
    if any(group.structured for group in groups):
        used |= {DispatchKey.Meta, DispatchKey.CompositeExplicitAutogradNonFunctional}
    return tuple(key for key in SUPPORTED_DISPATCH_KEYS if key in used)
