"""Lints of the names in one schema: overloads, outs, returns."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.lints.codes import W1004, W1005, W1010
from opgen.model.native_function import NativeFunction


def lint_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    _overload_of_types(f, diagnostics)
    _out_names(f, diagnostics)
    _half_named_returns(f, diagnostics)


def _overload_of_types(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """One type is the fallback that the convention allows; a list of them says what is seen anyway."""
    name = f.func.name.overload_name
    words = name.removesuffix("_out").lower().split("_")
    types = [str(a.type).strip("?[]").lower() for a in f.func.arguments.flat_positional]
    if len(words) < 2 or words != types:
        return
    start = len(str(f.func.name)) - len(name)
    diagnostics.warning(
        W1004,
        f"the overload name '{name}' only repeats the types of the arguments",
        f.spans.schema(start, start + len(name)),
        hint="say what this overload does differently",
    )


def _out_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    outs = f.func.arguments.out
    if not outs:
        return
    wanted = ["out"] if len(outs) == 1 else [f"out{i}" for i in range(len(outs))]
    returned = [r.name for r in f.func.returns]
    for out, name, result in zip(outs, wanted, returned or [None] * len(outs)):
        # A named result has a name of its own in Python, and its out may share it.
        if out.name not in (name, result):
            diagnostics.warning(
                W1005,
                f"the out argument '{out.name}' of '{f.func.name}' is not called '{name}'",
                f.argument_name_span(out.name),
                hint=f"call it '{name}'" if result is None else f"'{name}' or '{result}'",
            )


def _half_named_returns(f: NativeFunction, diagnostics: Diagnostics) -> None:
    named = [r.name is not None for r in f.func.returns]
    if len(set(named)) == 2:
        index = named.index(False)
        diagnostics.warning(
            W1010,
            f"some results of '{f.func.name}' have names, and this one has none",
            f.return_span(index),
        )
