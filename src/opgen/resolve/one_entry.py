"""Replace a structured functional entry that asks for its other variants by the entries that it stands for.

    - func: myops::add(Tensor self, Tensor other) -> Tensor
      structured: True
      autogen: add.out, add_
      dispatch:
        CPU: add_cpu

becomes `add` and `add_`, which delegate to `add.out`, and the structured `add.out` with the kernel `add_cpu`. Everything
behind this module sees three entries. This is an opgen extension, for operators of libraries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Edit
from opgen.diagnostics.suggestions import only_near
from opgen.model.dispatch_key import STRUCTURED_DISPATCH_KEYS, DispatchKey
from opgen.model.function_schema import (
    TENSOR,
    Annotation,
    FunctionSchema,
    Return,
    SchemaKind,
)
from opgen.model.native_function import NativeFunction, Variant, VariantSpans
from opgen.model.registry import InvalidEntries, InvalidEntry
from opgen.resolve.group_checks import NOT_STRUCTURED, report_no_out, report_rows, report_same_names
from opgen.resolve.variants import can_have_out, find_out_schema

_ALL_BACKENDS = {
    DispatchKey.CompositeExplicitAutograd: "only without 'autogen', one kernel can serve all backends"
}


def split_entries(
    functions: Iterable[NativeFunction],
    invalid: InvalidEntries,
    tags: Collection[str],
    diagnostics: Diagnostics,
) -> tuple[tuple[NativeFunction, ...], InvalidEntries]:
    """Return `functions` with three in place of each one that stands for all variants, in the usual order of entries.

    Reports entries that ask for variants that they cannot have, and moves them to the invalid ones. `tags` are those that
    are declared.
    """
    result: list[NativeFunction] = []
    bad: list[InvalidEntry] = []
    for f in functions:
        is_functional = f.func.kind() is SchemaKind.functional
        if not (f.is_library and f.structured and is_functional and f.autogen):
            result.append(f)
            continue
        before = len(diagnostics)
        if _check_names(f, diagnostics):
            _check_inplace(f, diagnostics)
            _check_out(f, diagnostics)
        report_rows(f, NOT_STRUCTURED | _ALL_BACKENDS, diagnostics)
        if len(diagnostics) > before:
            bad.append(InvalidEntry(f.span, f.root_name, f.func.name, f.func, f.scope))
        else:
            result += _split(f, tags)
    if bad:
        invalid = replace(invalid, entries=(*invalid.entries, *bad))
    return tuple(result), invalid


def _check_names(f: NativeFunction, diagnostics: Diagnostics) -> bool:
    out, inplace = str(f.func.name.to_out()), str(f.func.name.to_inplace())
    asked = [str(name) for name in f.autogen]
    wrong = next((name for name in asked if name not in (out, inplace)), None)
    if wrong is None and out in asked:
        return True
    if wrong is None:
        span = f.spans.value("autogen")
        message = (
            f"'autogen' asks for '{inplace}', but not for '{out}', whose kernels serve all variants"
        )
        near: str | None = f"{out}, {inplace}"
        hint: str | None = f"write 'autogen: {near}'"
    else:
        span = f.spans.item("autogen", wrong)
        message = f"'autogen' asks for '{wrong}', but the variants of '{f.func.name}' are '{out}' and '{inplace}'"
        near = only_near(wrong, [name for name in (out, inplace) if name not in asked])
        hint = f"did you mean '{near}'?" if near else None
    fix = Edit(span, near) if near is not None and span.text in asked else None
    diagnostics.error("E0511", message, span, hint=hint, fix=fix)
    return False


def _check_inplace(f: NativeFunction, diagnostics: Diagnostics) -> None:
    name, own, returns = f.func.name.to_inplace(), f.func.arguments.self_arg, f.func.returns
    if name not in f.autogen:
        return
    if own is None:
        reason = "no positional argument is named 'self'"
    elif own.argument.type != TENSOR:
        reason = f"'self' is a {own.argument.type}, not a Tensor"
    elif len(returns) != 1:
        reason = f"it returns {len(returns)} values, and 'self' can be only one of them"
    elif returns[0].type != TENSOR:
        reason = f"it returns {returns[0].type}, and 'self' is a Tensor"
    else:
        return
    message = f"'{f.func.name}' cannot have the in-place variant '{name}': {reason}"
    span = f.spans.item("autogen", str(name))
    diagnostics.error("E0537", message, span, hint=f"write 'autogen: {f.func.name.to_out()}'")


def _check_out(f: NativeFunction, diagnostics: Diagnostics) -> None:
    place = f.spans.item("autogen", str(f.func.name.to_out()))
    schema = find_out_schema(f.func)
    if f.is_view_op:
        message = f"'{f.func.name}' cannot have an out variant: it returns a view of an argument"
        fix = f.spans.remove_key("autogen")
        diagnostics.error("E0537", message, place, hint="remove 'autogen'", fix=fix)
    elif not can_have_out(f):
        message = f"'{f.func.name}' returns no tensor, so there can be no out variant of it"
        diagnostics.error("E0503", message, place)
    elif schema is None:
        report_no_out(f, place, diagnostics)
    else:
        report_same_names(f, schema, diagnostics)


def _split(f: NativeFunction, tags: Collection[str]) -> Iterator[NativeFunction]:
    """Yield the functional, the in-place and the out variant, as they would be written in entries of their own.

    The kernels of `f` become those of the out variant. Rows for keys of other kinds, such as Autograd or SparseCPU, are
    of the functional operator alone, and all other keys hold for all variants.
    """
    out_schema = find_out_schema(f.func)
    assert out_schema is not None
    unstructured = replace(
        f,
        dispatch=(),
        structured=False,
        structured_delegate=out_schema.name,
        structured_inherits=None,
        precomputed=None,
        autogen=(),
        ufunc_inner_loop=(),
        is_abstract=True,
    )
    own = [
        (k, replace(v, structured=False))
        for k, v in f.dispatch
        if k not in STRUCTURED_DISPATCH_KEYS
    ]
    yield replace(unstructured, dispatch=tuple(own))
    if f.func.name.to_inplace() in f.autogen:
        annotation = Annotation(("a",), True, ())
        arguments = f.func.arguments.signature().changed(
            lambda a: replace(a, annotation=annotation) if a.name == "self" else a
        )
        returns = (Return(None, TENSOR, annotation),)
        schema = FunctionSchema(f.func.name.to_inplace(), arguments, returns, f.profile)
        yield _variant(unstructured, f, schema, f.variants, _tags(f, "inplace", tags))
    out = replace(
        f,
        dispatch=tuple((k, v) for k, v in f.dispatch if k in STRUCTURED_DISPATCH_KEYS),
        autogen=(),
    )
    yield _variant(out, f, out_schema, frozenset({Variant.function}), _tags(f, "out", tags))


def _variant(
    f: NativeFunction,
    written: NativeFunction,
    schema: FunctionSchema,
    variants: frozenset[Variant],
    tags: frozenset[str],
) -> NativeFunction:
    return replace(
        f,
        func=schema,
        variants=variants,
        tags=tags,
        # Reported at the functional operator.
        manual_kernel_registration=False,
        doc=None,
        spans=VariantSpans(written.spans, written.func, schema),
    )


def _tags(f: NativeFunction, own: str, declared: Collection[str]) -> frozenset[str]:
    # The tag `generated` is reported at the functional operator.
    return (f.tags - {"generated"}) | ({own} & set(declared))
