"""Check the names in one schema: overloads, out arguments, returns."""

from __future__ import annotations

from collections.abc import Collection

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import Vocabulary
from opgen.model.native_function import NativeFunction, Variant

_OPTIONS = ("dtype", "layout", "device", "pin_memory")
_LIBRARIES = ("cudnn_", "mkldnn_", "miopen_")


def lint_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Check the names in the schema of `f`."""
    _overload_of_types(f, diagnostics)
    _out_names(f, diagnostics)
    _half_named_returns(f, diagnostics)
    _partial_options(f, diagnostics)
    _internal_method(f, diagnostics)


def lint_base(f: NativeFunction, bases: Collection[str], diagnostics: Diagnostics) -> None:
    """Report a base class of structured kernels that is spelt almost like one of `bases`, the target's own."""
    name = f.structured_inherits
    if name is None or name in bases:
        return
    near = Vocabulary(bases).nearest(name)
    if near is not None:
        diagnostics.warning(
            "W1034",
            f"'{name}' is not a class that opgen declares",
            f.spans.value("structured_inherits"),
            hint=f"did you mean '{near}'?",
        )


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
    diagnostics.warning(
        "W1004",
        f"the overload name '{name}' only repeats the types of the arguments",
        f.spans.schema(start, start + len(name)),
        hint="name what this overload does differently",
    )


def _out_names(f: NativeFunction, diagnostics: Diagnostics) -> None:
    outs = f.func.arguments.out
    if not outs:
        return
    usual = ["out"] if len(outs) == 1 else [f"out{i}" for i in range(len(outs))]
    returns = [r.name for r in f.func.returns]
    for out, name, result in zip(outs, usual, returns or [None] * len(outs)):
        # An out argument may also have the name of its return, which is a field in Python.
        if out.name not in (name, result):
            diagnostics.warning(
                "W1005",
                f"the out argument '{out.name}' of '{f.func.name}' is not named '{name}'",
                f.argument_name_span(out.name),
                hint=f"rename it to '{name}'" + ("" if result is None else f" or '{result}'"),
            )


def _partial_options(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if f.func.is_factory or not f.func.creates_tensor:
        return
    named = [a for a in f.func.arguments.flat_kwarg_only if a.name in _OPTIONS]
    if named:
        missing = [name for name in _OPTIONS if name not in {a.name for a in named}]
        diagnostics.warning(
            "W1017",
            f"'{f.func.name}' creates a tensor, but takes '{named[0].name}' without the other options",
            f.argument_name_span(named[0].name),
            hint=f"add {', '.join(missing)}" if missing else None,
        )


def _internal_method(f: NativeFunction, diagnostics: Diagnostics) -> None:
    name = f.root_name
    if Variant.method in f.variants and (
        name.endswith("_backward") or name.lstrip("_").startswith(_LIBRARIES)
    ):
        diagnostics.warning(
            "W1018",
            f"'{f.func.name}' is for other operators, but is a method of every tensor",
            f.spans.item("variants", "method"),
            hint="write 'variants: function'",
        )


def _half_named_returns(f: NativeFunction, diagnostics: Diagnostics) -> None:
    named = [r.name is not None for r in f.func.returns]
    if len(set(named)) == 2:
        index = named.index(False)
        diagnostics.warning(
            "W1010",
            f"some returns of '{f.func.name}' have names, but this one has none",
            f.return_span(index),
        )
