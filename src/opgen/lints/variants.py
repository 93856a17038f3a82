"""Check the variants of an operator against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from opgen.diagnostics import Diagnostics
from opgen.model.function_schema import TENSOR, Argument, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.resolve.variants import Variants, collect_variants

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
            _inplace_alone(f, diagnostics)
    _without_out(sets, diagnostics)
    _renamed_arguments(functions, diagnostics)


def _inplace_alone(f: NativeFunction, diagnostics: Diagnostics) -> None:
    diagnostics.warning(
        "W1002",
        f"'{f.func.name}' changes its argument, but no operator with this signature returns the result",
        f.span,
        hint=f"add '{f.func.name.remove_inplace()}', or list it under 'autogen'",
    )


def _without_out(sets: Sequence[Variants], diagnostics: Diagnostics) -> None:
    """Report overloads without an out variant, if other overloads of the same name have one."""
    for _, group in groupby(sorted(sets, key=_base_name), key=_base_name):
        overloads = list(group)
        outs = [out for v in overloads if (out := v.find(SchemaKind.out)) is not None]
        for f in (v.find(SchemaKind.functional) for v in overloads if outs):
            if f is None or f.is_view_op or not _returns_new_tensors(f):
                continue
            if any(_shared_types(f) == _shared_types(out) for out in outs):
                continue
            diagnostics.warning(
                "W1003",
                f"'{f.func.name}' has no out= variant, but other overloads have one",
                f.span,
                labels=[(outs[0].span, "one of them")],
            )


def _base_name(variants: Variants) -> tuple[str, str]:
    f = variants.members[0]
    return f.namespace, f.root_name


def _returns_new_tensors(f: NativeFunction) -> bool:
    """Return whether all returns are new tensors. For a list, callers may not know how many outputs to pass."""
    returns = f.func.returns
    return bool(returns) and all(r.type == TENSOR and r.annotation is None for r in returns)


def _renamed_arguments(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Report different argument names in variants: operators with the same base name and types."""
    first: dict[_Key, NativeFunction] = {}
    for f in functions:
        if "generated" in f.tags:
            continue
        other = first.setdefault(_key(f), f)
        if other.func.kind() is f.func.kind():
            continue
        for own, theirs in zip(_non_out(f), _non_out(other)):
            if own.name != theirs.name:
                diagnostics.warning(
                    "W1006",
                    f"'{own.name}' of '{f.func.name}' is named '{theirs.name}' in"
                    f" '{other.func.name}'",
                    f.argument_name_span(own.name),
                    labels=[(other.argument_name_span(theirs.name), "the same argument")],
                )


def _non_out(f: NativeFunction) -> Iterator[Argument]:
    return iter(f.func.arguments.flat_non_out)


def _key(f: NativeFunction) -> _Key:
    """Return the base name and argument types, which variants of an operator share."""
    return f.namespace, f.root_name, tuple(str(a.type) for a in _non_out(f))


def _shared_types(f: NativeFunction) -> _Types:
    """Return the argument types without TensorOptions, which an out variant takes from its out tensor."""
    options = f.func.arguments.tensor_options
    excluded = () if options is None else options.all()
    return tuple(str(a.type) for a in _non_out(f) if a not in excluded)
