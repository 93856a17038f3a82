"""Check operators of libraries: entries that PyTorch accepts, but that do not work as their authors probably intend.

Source of the rules about tracing: torch.compile and torch.export of PyTorch 2.13, by trial.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Sequence
from itertools import islice

from opgen.cpp.cpp_types import can_change_elements
from opgen.diagnostics import Diagnostics, Edit
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.model.function_schema import TENSOR, may_share_memory
from opgen.model.mistakes import shared_letters
from opgen.model.native_function import AliasAnalysisKind, NativeFunction
from opgen.model.registry import Registry
from opgen.model.types import BaseType
from opgen.parse.entries.rules import explain_random
from opgen.resolve.dispatch_tables import first_backend_key, lacks_fake, selects_backend
from opgen.resolve.functional_forms import finds_tensors, views_first_argument
from opgen.resolve.overload_order import by_overloads, in_order_of_registration, taken_calls

_EXPLICIT = DispatchKey.CompositeExplicitAutograd


def lint_library(
    f: NativeFunction,
    registry: Registry,
    diagnostics: Diagnostics,
    *,
    traced: bool,
    several_views: bool,
) -> None:
    """Check one operator of a library. `traced` is whether its calls may be traced, as torch.compile does, and
    `several_views` whether that works for operators that return more than one view.
    """
    lint_blanks(f, diagnostics)
    _names_say_what_it_does(f, registry.tags, diagnostics)
    _arguments_are_usable(f, diagnostics, traced=traced)
    if traced:
        _calls_have_an_effect(f, diagnostics)
        _returns_can_be_traced(f, diagnostics)
        _results_are_known(f, registry, diagnostics)
        _views_can_be_replaced(f, diagnostics, several=several_views)
    _calls_reach_the_kernel(f, diagnostics)
    _letters_tell_tensors_apart(f, diagnostics)


def lint_blanks(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Report white space that differs from the canonical spelling."""
    for edit in f.spans.misplaced_blanks():
        message = f"unusual white space in the schema of '{f.func.name}'"
        hint = (
            "opgen format corrects it"
            if len(edit.replacement) > 60
            else f"write '{edit.replacement}'"
        )
        diagnostics.warning("W1019", message, edit.span, hint=hint, fix=edit)


def _names_say_what_it_does(
    f: NativeFunction, tags: Collection[str], diagnostics: Diagnostics
) -> None:
    tag, name, full = "nondeterministic_seeded", str(f.func.name.name), f.func.name
    reason = None if tag in f.tags or tag not in tags else explain_random(f.func, tags)
    if reason is not None:
        message = f"'{full}' seems to draw random numbers: {reason}"
        hint = f"if it does, add the tag '{tag}'"
        diagnostics.warning("W1020", message, f.span, hint=hint)
    if name.endswith("_") and not name.endswith("__") and not f.func.is_mutable:
        message = f"'{name}' has the name of an operator that writes its argument, but writes none"
        hint = "mark what it writes, as in 'Tensor(a!) self'"
        diagnostics.warning("W1028", message, f.span, hint=hint)
    if full.overload_name and name == f.namespace:
        # It is `mylib.f`, and not `mylib::f`.
        message = f"this is the overload '{full.overload_name}' of an operator '{name}'"
        hint = f"did you mean '{f.namespace}::{full.overload_name}'?"
        diagnostics.warning("W1033", message, f.span, hint=hint)


def _arguments_are_usable(f: NativeFunction, diagnostics: Diagnostics, *, traced: bool) -> None:
    is_out = f.func.name.overload_name.endswith("out") and not f.func.is_mutable
    for a in f.func.arguments.flat_all:
        if a.written is not None:
            message = f"'{f.func.name}' has two arguments named '{a.written}'"
            hint = f"in C++ this one is '{a.name}'"
            diagnostics.warning("W1022", message, f.argument_name_span(a.name), hint=hint)
        elif keyword.iskeyword(a.name):
            message = f"'{a.name}' is a keyword of Python: no call can pass this argument by name"
            diagnostics.warning("W1021", message, f.argument_name_span(a.name))
        if a.annotation is not None and not a.type.is_tensor_like():
            message = f"'{a.type_text}' is not a tensor, so it cannot be written"
            hint = f"write '{a.type} {a.written or a.name}'"
            diagnostics.warning("W1023", message, f.argument_type_span(a.name), hint=hint)
        if traced and not finds_tensors(a.type):
            message = f"torch.compile does not find the tensors in '{a.type}'"
            hint = "use lists: 'Tensor[]', and another list for the other elements"
            diagnostics.warning("W1029", message, f.argument_type_span(a.name), hint=hint)
        if is_out and a.name.startswith("out") and a.annotation is None and a.type == TENSOR:
            message = f"'{a.name}' is not marked as written"
            hint = f"write 'Tensor(a!) {a.name}', and return 'Tensor(a!)'"
            diagnostics.warning("W1032", message, f.argument_type_span(a.name), hint=hint)


def _calls_have_an_effect(f: NativeFunction, diagnostics: Diagnostics) -> None:
    has_effect = bool(f.func.returns) or f.func.is_mutable or f.effects is not None
    copied = [
        a
        for a in f.func.arguments.flat_all
        # PyTorch copies containers of these types for each call, and the kernel could fill them.
        if "Tensor" not in str(a.type)
        and can_change_elements(a.type)
        and a.annotation is None
        and (not has_effect or a.name.startswith("out"))
    ]
    if copied:
        first = copied[0].name
        message = f"a kernel that fills '{first}' fills a copy: the caller's stays as it is"
        hint = "return what it computes"
        if not has_effect:
            hint += "; if it has another effect, add 'effects: ordered'"
        diagnostics.warning("W1036", message, f.argument_type_span(first), hint=hint)
        return
    if has_effect:
        return
    message = f"'{f.func.name}' returns nothing, and no argument is marked as written"
    hint = (
        "mark what it writes, as in 'Tensor! out'; if it has another effect, add 'effects: ordered'"
    )
    diagnostics.warning("W1024", message, f.span, hint=hint)


def _returns_can_be_traced(f: NativeFunction, diagnostics: Diagnostics) -> None:
    returns = f.func.returns
    if len(returns) != 1 or not isinstance(returns[0].type, BaseType) or returns[0].type == TENSOR:
        return
    type = returns[0].type
    if str(type) != "SymInt":
        message = f"torch.compile cannot trace a call that returns '{type}'"
        hint = "it breaks the graph; return a Tensor if the call must be in a graph"
        diagnostics.warning("W1025", message, f.return_span(0), hint=hint)
    elif f.func.is_mutable:
        message = (
            f"torch.compile drops a call that returns 'SymInt', so '{f.func.name}' writes nothing"
        )
        hint = "return a Tensor, or nothing"
        diagnostics.warning("W1025", message, f.return_span(0), hint=hint)


def _results_are_known(f: NativeFunction, registry: Registry, diagnostics: Diagnostics) -> None:
    """Report operators without a Meta or fake kernel. Those that return no tensors are left to W1025."""
    returns = f.func.returns
    if not any(r.type.is_tensor_like() for r in returns) and len(returns) == 1:
        return
    if not lacks_fake(registry, f):
        return
    key = first_backend_key(f)
    assert key is not None
    message = f"'{f.func.name}' cannot be traced: it has a kernel for {key}, but none for Meta"
    name = f.func.name.name
    hint = f"add a row 'Meta: {name}_meta', or a line 'fake: ...'"
    diagnostics.warning("W1030", message, f.spans.dispatch_key(key), hint=hint)


def _views_can_be_replaced(f: NativeFunction, diagnostics: Diagnostics, *, several: bool) -> None:
    """Report views that nothing replaces."""
    is_replaced = (
        views_first_argument(f, several=several)
        or f.has_composite_implicit_autograd_kernel
        or f.find_kernel(DispatchKey.Functionalize) is not None
    )
    if not f.is_view_op or is_replaced:
        return
    index = next(i for i, r in enumerate(f.func.returns) if r.annotation is not None)
    message = f"torch.compile and opcheck refuse '{f.func.name}', which returns other views than of its first argument, or more"
    hint = "return one view of the first argument, or a list of them: 'Tensor(a)[]'"
    diagnostics.warning("W1037", message, f.return_span(index), hint=hint)


def _calls_reach_the_kernel(f: NativeFunction, diagnostics: Diagnostics) -> None:
    """Report backend kernels of an operator without tensors and devices: no call has the key of a backend."""
    arguments = f.func.arguments.flat_all
    always_reached = any(a.type == TENSOR for a in arguments)
    if always_reached or selects_backend(f) or f.has_composite_kernel or f.part_of_structured_group:
        return
    maybe = any(a.type.is_tensor_like() or a.type.is_generator_like() for a in arguments)
    rows = [key for key, _ in f.dispatch if key not in COMPOSITE_DISPATCH_KEYS]
    if not rows:
        return
    calls = "calls without tensors do not reach" if maybe else "no call reaches"
    message = (
        f"{calls} the kernel for {rows[0]}: "
        f"'{f.func.name}' has no argument that is always a Tensor"
    )
    span = f.spans.dispatch_key(rows[0])
    fix = Edit(span, str(_EXPLICIT)) if len(f.dispatch) == 1 and not maybe else None
    hint = f"write '{_EXPLICIT}' for '{rows[0]}'" if fix else f"add a row for {_EXPLICIT}"
    diagnostics.warning("W1026", message, span, hint=hint, fix=fix)


def _letters_tell_tensors_apart(f: NativeFunction, diagnostics: Diagnostics) -> None:
    arguments = [a.annotation for a in f.func.arguments.flat_all if a.annotation is not None]
    for index, value in enumerate(f.func.returns):
        own = value.annotation
        if own is not None and not any(may_share_memory(a, own) for a in arguments):
            message = f"no argument of '{f.func.name}' is annotated '{own}'"
            hint = "the return is new: remove the annotation"
            diagnostics.warning("W1027", message, f.return_span(index), hint=hint)
    for first, a, letter in shared_letters(f.func):
        message = f"'{first.name}' and '{a.name}' have the same letter: they may share memory"
        hint = f"give each a letter of its own, as in 'Tensor({letter}!) {a.name}', also in the returns"
        diagnostics.warning("W1031", message, f.argument_type_span(a.name), hint=hint)


def lint_writes(
    functions: Sequence[NativeFunction], with_formulas: Collection[str], diagnostics: Diagnostics
) -> None:
    """Report, once, existing functions that write arguments without a formula: PyTorch's autograd is not told of it."""
    unseen = [
        f
        for f in functions
        if f.has_plain_autograd
        and f.func.is_mutable
        and not f.has_composite_implicit_autograd_kernel
        and not any(key.name.startswith("Autograd") for key, _ in f.dispatch)
        and f.full_name not in with_formulas
    ]
    if not unseen:
        return
    f = unseen[0]
    written = next(a.name for a in f.func.arguments.flat_all if a.is_write)
    others = f", nor of what {len(unseen) - 1} more write" if len(unseen) > 1 else ""
    message = f"autograd does not learn that '{f.func.name}' writes '{written}'{others}"
    hint = "add 'strict_autograd: True': it counts writes, and a gradient without a formula is an error"
    diagnostics.warning("W1038", message, f.argument_type_span(written), hint=hint)


def lint_conservative(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Report, once, operators with tensors whose schemas do not say what they write: TorchScript assumes everything."""
    unsaid = [
        f
        for f in functions
        if f.alias_analysis is AliasAnalysisKind.conservative
        and any(a.type.is_tensor_like() for a in f.func.arguments.flat_all)
    ]
    if not unsaid:
        return
    f = unsaid[0]
    name = next(a.name for a in f.func.arguments.flat_all if a.type.is_tensor_like())
    others = f"; so may {len(unsaid) - 1} more" if len(unsaid) > 1 else ""
    message = f"'{f.func.name}' may write each argument, for all that its schema says{others}"
    hint = f"mark what it writes, as in 'Tensor(a!) {name}', and remove 'alias_analysis'"
    diagnostics.warning("W1039", message, f.argument_type_span(name), hint=hint)


def lint_overloads(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    """Report overloads of a library's operators some of whose calls go to an overload that is registered before them."""
    namespaces = dict.fromkeys(f.namespace for f in functions if f.is_library)
    for namespace in namespaces:
        ordered = in_order_of_registration(f for f in functions if f.namespace == namespace)
        for name, overloads in by_overloads(ordered).items():
            for i, f in enumerate(overloads):
                before = [] if "generated" in f.tags else overloads[:i]
                taken = ((g, call) for g in before for call in taken_calls(g.func, f.func))
                for other, call in islice(taken, 1):
                    written = f"{name}({', '.join(call.values)})"
                    message = f"'{written}' calls '{other.func.name}' and not '{f.func.name}'"
                    hint = (
                        "give one of the two another name, or call it by the name of its overload"
                    )
                    diagnostics.warning("W1035", message, f.span, hint=hint)
