"""Lints of what PyTorch's runtime takes from a library, and what then does not do what its author means.

Source of what tracing does: torch.compile and torch.export of PyTorch 2.13, by trial.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection

from opgen.diagnostics import Diagnostics, Edit
from opgen.lints.codes_libraries import (
    W1019,
    W1020,
    W1021,
    W1022,
    W1023,
    W1024,
    W1025,
    W1026,
    W1027,
    W1028,
    W1029,
    W1030,
)
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.model.function_schema import TENSOR, may_share_memory
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.model.types import BaseType
from opgen.parse.entry_checks import random_reason
from opgen.resolve.dispatch_tables import selects_backend
from opgen.resolve.fakes import first_backend_key, lacks_fake
from opgen.resolve.functional_forms import finds_tensors

_EXPLICIT = DispatchKey.CompositeExplicitAutograd


def lint_library(
    f: NativeFunction, registry: Registry, diagnostics: Diagnostics, *, traced: bool
) -> None:
    """Report what goes against a convention in an operator of a library.

    `traced`: compilers may trace its calls, as torch.compile does.
    """
    lint_blanks(f, diagnostics)
    _random_is_tagged(f, registry.tags, diagnostics)
    _arguments_can_be_named(f, diagnostics)
    _marks_are_of_tensors(f, diagnostics)
    if traced:
        _tensors_are_found(f, diagnostics)
        _calls_have_an_effect(f, diagnostics)
        _returns_can_be_traced(f, diagnostics)
        _results_are_known(f, registry, diagnostics)
    _calls_reach_the_kernel(f, diagnostics)
    _aliases_are_of_arguments(f, diagnostics)
    _name_promises_what_it_does(f, diagnostics)


def lint_blanks(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Report white space that is not that of the canonical spelling."""
    for edit in f.spans.misplaced_blanks():
        message = f"white space in the schema of '{f.func.name}' is not as it is usual"
        hint = (
            "opgen format writes it so" if len(edit.replacement) > 60 else f"'{edit.replacement}'"
        )
        diagnostics.warning(W1019, message, edit.span, hint=hint, fix=edit)


def _random_is_tagged(f: NativeFunction, tags: Collection[str], diagnostics: Diagnostics) -> None:
    tag = "nondeterministic_seeded"
    reason = None if tag in f.tags or tag not in tags else random_reason(f.func, tags)
    if reason is not None:
        message = f"'{f.func.name}' looks like an operator that draws random numbers: {reason}"
        hint = f"tag it '{tag}', if it does"
        diagnostics.warning(W1020, message, f.span, hint=hint)


def _arguments_can_be_named(f: NativeFunction, diagnostics: Diagnostics) -> None:
    for a in f.func.arguments.flat_all:
        if a.written is not None:
            message = f"'{f.func.name}' has two arguments called '{a.written}'"
            hint = f"'{a.name}' in C++"
            diagnostics.warning(W1022, message, f.argument_name_span(a.name), hint=hint)
        elif keyword.iskeyword(a.name):
            message = f"'{a.name}' is a keyword of Python: no call can pass it by its name"
            diagnostics.warning(W1021, message, f.argument_name_span(a.name))


def _marks_are_of_tensors(f: NativeFunction, diagnostics: Diagnostics) -> None:
    for a in f.func.arguments.flat_all:
        if a.annotation is not None and not a.type.is_tensor_like():
            message = f"'{a.type_text}' is no tensor, so nothing can be written to it"
            hint = f"write '{a.type} {a.written or a.name}'"
            diagnostics.warning(W1023, message, f.argument_type_span(a.name), hint=hint)


def _tensors_are_found(f: NativeFunction, diagnostics: Diagnostics) -> None:
    for a in f.func.arguments.flat_all:
        if not finds_tensors(a.type):
            message = f"torch.compile does not find the tensors in '{a.type}'"
            hint = "pass lists: 'Tensor[]' and another for what goes with each"
            diagnostics.warning(W1029, message, f.argument_type_span(a.name), hint=hint)


def _calls_have_an_effect(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if not f.func.returns and not f.func.is_mutable:
        message = f"'{f.func.name}' returns nothing and says of no argument that it writes it"
        hint = (
            "mark what it writes, as in 'Tensor! out'; else a compiled program leaves the call out"
        )
        diagnostics.warning(W1024, message, f.span, hint=hint)


def _returns_can_be_traced(f: NativeFunction, diagnostics: Diagnostics) -> None:
    returns = f.func.returns
    if len(returns) != 1 or not isinstance(returns[0].type, BaseType) or returns[0].type == TENSOR:
        return
    type = returns[0].type
    if str(type) != "SymInt":
        message = f"torch.compile cannot trace a call that returns '{type}'"
        hint = "it breaks the graph; return a Tensor if the call has to be in one"
        diagnostics.warning(W1025, message, f.return_span(0), hint=hint)
    elif f.func.is_mutable:
        message = (
            f"torch.compile drops a call that returns 'SymInt', and so what '{f.func.name}' writes"
        )
        hint = "return a Tensor, or nothing"
        diagnostics.warning(W1025, message, f.return_span(0), hint=hint)


def _results_are_known(f: NativeFunction, registry: Registry, diagnostics: Diagnostics) -> None:
    """Of what returns no tensors, W1025 says that it cannot be traced."""
    returns = f.func.returns
    if not any(r.type.is_tensor_like() for r in returns) and len(returns) == 1:
        return
    if not lacks_fake(registry, f):
        return
    key = first_backend_key(f)
    assert key is not None
    message = f"'{f.func.name}' cannot be traced: it has a kernel for {key}, and none for Meta"
    name = f.func.name.name
    hint = f"add a row 'Meta: {name}_meta', or a line 'fake: ...'"
    diagnostics.warning(W1030, message, f.spans.dispatch_key(key), hint=hint)


def _calls_reach_the_kernel(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Without a tensor, and without a device, no call has the key of a backend."""
    arguments = f.func.arguments.flat_all
    certain = any(a.type == TENSOR for a in arguments)
    if certain or selects_backend(f) or f.has_composite_kernel or f.part_of_structured_group:
        return
    maybe = any(a.type.is_tensor_like() or a.type.is_generator_like() for a in arguments)
    rows = [key for key, _ in f.dispatch if key not in COMPOSITE_DISPATCH_KEYS]
    if not rows:
        return
    called = "a call without any tensor reaches" if maybe else "no call reaches"
    message = f"{called} the kernel for {rows[0]}: '{f.func.name}' has no argument that is always a Tensor"
    span = f.spans.dispatch_key(rows[0])
    fix = Edit(span, str(_EXPLICIT)) if len(f.dispatch) == 1 and not maybe else None
    hint = f"write '{_EXPLICIT}' for '{rows[0]}'" if fix else f"add a row for {_EXPLICIT}"
    diagnostics.warning(W1026, message, span, hint=hint, fix=fix)


def _aliases_are_of_arguments(f: NativeFunction, diagnostics: Diagnostics) -> None:
    every = [a.annotation for a in f.func.arguments.flat_all if a.annotation is not None]
    for index, value in enumerate(f.func.returns):
        own = value.annotation
        if own is None or any(may_share_memory(a, own) for a in every):
            continue
        message = f"no argument of '{f.func.name}' is annotated '{value.annotation}'"
        diagnostics.warning(
            W1027,
            message,
            f.return_span(index),
            hint="what it returns is new: leave the annotation out",
        )


def _name_promises_what_it_does(f: NativeFunction, diagnostics: Diagnostics) -> None:
    name = str(f.func.name.name)
    if name.endswith("_") and not name.endswith("__") and not f.func.is_mutable:
        message = f"'{name}' is called like an operator that writes its argument, and writes none"
        diagnostics.warning(
            W1028, message, f.span, hint="mark what it writes, as in 'Tensor(a!) self'"
        )
