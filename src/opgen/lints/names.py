"""Lints of the names in one schema: overloads, outs, returns."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.lints.codes import W1004, W1005, W1010, W1017, W1018
from opgen.model.native_function import NativeFunction, Variant

_OPTIONS = ("dtype", "layout", "device", "pin_memory")
_LIBRARIES = ("cudnn_", "mkldnn_", "miopen_")


def lint_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    _overload_of_types(f, diagnostics)
    _out_names(f, diagnostics)
    _half_named_returns(f, diagnostics)
    _partial_options(f, diagnostics)
    _internal_method(f, diagnostics)


def _overload_of_types(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """One type is the fallback that the convention allows; a list of them says what is seen anyway."""
    name = f.func.name.overload_name
    words = name.removesuffix("_out").lower().split("_")
    positional = f.func.arguments.flat_positional
    types = [str(a.type).strip("?[]").lower() for a in positional]
    of_the_others = types[1:] if positional and positional[0].name == "self" else types
    if len(words) < 2 or words not in (types, of_the_others):
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


def _partial_options(f: NativeFunction, diagnostics: Diagnostics) -> None:
    arguments = f.func.arguments
    if arguments.tensor_options is not None or arguments.has_tensor_arg():
        return
    named = [a for a in arguments.flat_kwarg_only if a.name in _OPTIONS]
    if named and any(r.type.is_tensor_like() for r in f.func.returns):
        missing = [name for name in _OPTIONS if name not in {a.name for a in named}]
        diagnostics.warning(
            W1017,
            f"'{f.func.name}' makes a tensor and takes '{named[0].name}' without the other options",
            f.argument_name_span(named[0].name),
            hint=f"take {', '.join(missing)}, too" if missing else None,
        )


def _internal_method(f: NativeFunction, diagnostics: Diagnostics) -> None:
    name = f.root_name
    if Variant.method in f.variants and (
        name.endswith("_backward") or name.lstrip("_").startswith(_LIBRARIES)
    ):
        diagnostics.warning(
            W1018,
            f"'{f.func.name}' is called by other operators, and is a method of every tensor",
            f.spans.item("variants", "method"),
            hint="variants: function",
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
