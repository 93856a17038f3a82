"""Lints of what the variants of one operator have to do with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from opgen.diagnostics import Diagnostics
from opgen.lints.codes import W1002, W1003, W1006
from opgen.model.function_schema import TENSOR, Argument, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.resolve.variants import Variants, collect_variants

_Types: TypeAlias = tuple[str, ...]
_Key: TypeAlias = tuple[str, str, _Types]


def lint_variants(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Report operators that lack a sibling, or call an argument otherwise than their siblings do."""
    sets = collect_variants(functions)
    kept = {_key(f) for f in functions if f.func.kind() is SchemaKind.functional}
    for variants in sets:
        f = variants.find(SchemaKind.inplace)
        # With other names of the arguments it is there, and W1006 reports the names.
        # Of a library's, opgen makes the functional form that graphs need.
        if f is not None and _key(f) not in kept and not f.is_library:
            _inplace_alone(f, diagnostics)
    _without_out(sets, diagnostics)
    _renamed_arguments(functions, diagnostics)


def _inplace_alone(f: NativeFunction, diagnostics: Diagnostics) -> None:
    diagnostics.warning(
        W1002,
        f"'{f.func.name}' changes its argument, and no operator of this signature returns the result",
        f.span,
        hint=f"write '{f.func.name.remove_inplace()}', or name it under 'autogen'",
    )


def _without_out(sets: Sequence[Variants], diagnostics: Diagnostics) -> None:
    """Sets of one base name: if some have an out variant, so should those that could have one."""
    for _, found in groupby(sorted(sets, key=_base_name), key=_base_name):
        overloads = list(found)
        outs = [out for v in overloads if (out := v.find(SchemaKind.out)) is not None]
        for f in (v.find(SchemaKind.functional) for v in overloads if outs):
            if f is None or f.is_view_op or not _returns_new_tensors(f):
                continue
            if any(_shared_types(f) == _shared_types(out) for out in outs):
                continue
            diagnostics.warning(
                W1003,
                f"'{f.func.name}' has no out= variant, and other overloads of it have",
                f.span,
                labels=[(outs[0].span, "one that has")],
            )


def _base_name(variants: Variants) -> tuple[str, str]:
    f = variants.members[0]
    return f.namespace, f.root_name


def _returns_new_tensors(f: NativeFunction) -> bool:
    """A list of results has a length that callers need not know, so they cannot give outs for it."""
    returns = f.func.returns
    return bool(returns) and all(r.type == TENSOR and r.annotation is None for r in returns)


def _renamed_arguments(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Operators of one base name and the same types are variants: their arguments share names."""
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
                    W1006,
                    f"'{own.name}' of '{f.func.name}' is called '{theirs.name}' in"
                    f" '{other.func.name}'",
                    f.argument_name_span(own.name),
                    labels=[(other.argument_name_span(theirs.name), "the same argument")],
                )


def _non_out(f: NativeFunction) -> Iterator[Argument]:
    return iter(f.func.arguments.flat_non_out)


def _key(f: NativeFunction) -> _Key:
    """What variants of one operator share, whatever they call their arguments."""
    return f.namespace, f.root_name, tuple(str(a.type) for a in _non_out(f))


def _shared_types(f: NativeFunction) -> _Types:
    """Without TensorOptions: an out tensor has them, so an out variant does not take them."""
    options = f.func.arguments.tensor_options
    left_out = () if options is None else options.all()
    return tuple(str(a.type) for a in _non_out(f) if a not in left_out)
