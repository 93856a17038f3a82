"""Check the rules about several entries, one function per rule: E04xx."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from opgen import data
from opgen.diagnostics import Diagnostics, Edit
from opgen.diagnostics.suggestions import Vocabulary, only_near
from opgen.model.function_schema import BaseOperatorName
from opgen.model.mistakes import find_inplace_mistake, find_out_mistake
from opgen.model.native_function import NativeFunction
from opgen.model.registry import InvalidEntries, StructuredGroup

_KEYWORD_ARGUMENTS = data.read_exempt("V115")
_NO_VIEWS = frozenset(row[0] for row in data.read_exempt("V116"))


class Entries(Struct, frozen=True, dict=True):
    """All written operators, with the look-ups that rules need, by scoped names (NativeFunction.scope).

    A missing operator may be among the `invalid` entries, whose errors have been reported.
    """

    functions: tuple[NativeFunction, ...]
    by_name: Mapping[str, NativeFunction]
    base_names: frozenset[tuple[str, BaseOperatorName]]
    invalid: InvalidEntries

    @cached_property
    def structured(self) -> Vocabulary:
        """The names of operators that may be a delegate."""
        return Vocabulary(str(f.func.name) for f in self.functions if f.structured)

    @staticmethod
    def of(functions: tuple[NativeFunction, ...], invalid: InvalidEntries) -> Entries:
        by_name: dict[str, NativeFunction] = {}
        for f in functions:
            by_name.setdefault(f.scoped_name, f)
        base_names = frozenset((f.scope, f.func.name.name) for f in functions)
        return Entries(tuple(by_name.values()), by_name, base_names, invalid)

    def find_delegate(self, f: NativeFunction) -> NativeFunction | None:
        """Return the operator that `f` names as its structured delegate."""
        if f.structured_delegate is None:
            return None
        name = str(f.structured_delegate)
        return self.by_name.get(f"{f.scope}::{name}" if f.scope else name)

    def has_base_name(self, f: NativeFunction, name: BaseOperatorName) -> bool:
        """Return whether there is an operator `name` in the scope of `f`."""
        return (f.scope, name) in self.base_names

    def has_structured_delegate(self, f: NativeFunction) -> bool:
        """Return whether the structured delegate that `f` names exists and is structured."""
        target = self.find_delegate(f)
        return target is not None and target.structured


def check_names(
    functions: Iterable[NativeFunction], invalid: InvalidEntries, diagnostics: Diagnostics
) -> None:
    """Report every operator whose name an earlier one has, or an invalid entry."""
    others = {(e.scope, str(e.name)): e for e in invalid.entries if e.name is not None}
    first: dict[str, NativeFunction] = {}
    for f in functions:
        other = first.setdefault(f.scoped_name, f)
        message = f"operator '{f.func.name}' is defined twice"
        if other is f:
            bad = others.get((f.scope, str(f.func.name))) if others else None
            if bad is not None:
                label = (bad.span, "the other one, which has errors of its own")
                diagnostics.error("E0401", message, f.span, labels=[label])
            continue
        notes, hint = [], None
        if other.namespace != f.namespace:
            notes.append(f"'{other.full_name}' has it too: namespaces do not tell operators apart")
        elif not f.func.name.overload_name and other.func.signature() != f.func.signature():
            # The type of the last argument, as part of a name.
            types = [re.sub(r"\W", "", str(a.type)) for a in f.func.arguments.flat_non_out]
            hint = f"an overload has a name: '{f.func.name}.{types[-1] if types else 'other'}'"
        labels = [(other.span, "first defined here")]
        diagnostics.error("E0401", message, f.span, labels=labels, notes=notes, hint=hint)


def check_entries(entries: Entries, diagnostics: Diagnostics) -> None:
    """Report every other rule about entries that one of them breaks."""
    for f in entries.functions:
        if f.structured_delegate is not None:
            _delegate_is_structured(f, entries, diagnostics)
        words = () if f.is_library else (a.name for a in f.func.arguments.flat_all)
        for name in filter(keyword.iskeyword, words):
            if (str(f.func.name), name) not in _KEYWORD_ARGUMENTS:
                message = f"argument '{name}' of '{f.func.name}' has the name of a Python keyword"
                span = f.argument_name_span(name)
                diagnostics.error("E0404", message, span, hint="give it another name")
        if "inplace_view" in f.tags and not f.is_library:
            _inplace_view_has_view(f, entries, diagnostics)
        if "generated" in f.tags:
            message = f"'{f.func.name}' is written, so it cannot have the tag 'generated'"
            diagnostics.error("E0407", message, f.spans.item("tags", "generated"))


def check_delegates_in_group(
    entries: Entries, groups: Iterable[StructuredGroup], diagnostics: Diagnostics
) -> None:
    """Report operators that delegate to an operator whose group is complete without them."""
    groups = tuple(groups)
    members = {id(f) for group in groups for f in group.functions()}
    primaries = {id(group.primary) for group in groups}
    for f in entries.functions:
        target = entries.find_delegate(f)
        if (
            target is None
            or id(f) in members
            or id(target) not in primaries
            or not target.structured
        ):
            continue
        if _is_not_marked(f, target, diagnostics):
            continue
        diagnostics.error(
            "E0408",
            f"'{f.func.name}' delegates to '{target.func.name}', which has another signature",
            f.spans.value("structured_delegate"),
            labels=[(target.span, "the out variant" if target.func.is_out_fn() else "structured")],
            notes=signature_notes(f, target),
            hint=describe_difference(f, target),
        )


def _is_not_marked(f: NativeFunction, target: NativeFunction, diagnostics: Diagnostics) -> bool:
    """Report a delegate whose out arguments are not marked as written, so that they are part of its signature."""
    mistake = None if target.func.is_out_fn() else find_out_mistake(target.func)
    if mistake is None or mistake.argument is None:
        return False
    message = f"'{f.func.name}' delegates to '{target.func.name}', which is not an out variant: {mistake.message}"
    span = target.argument_type_span(mistake.argument.name)
    labels = [(f.spans.value("structured_delegate"), "delegates to it")]
    diagnostics.error("E0408", message, span, labels=labels, hint=mistake.hint)
    return True


def signature_notes(*functions: NativeFunction) -> tuple[str, ...]:
    """Return the signatures by which operators are compared, as one note for each of `functions`."""
    return tuple(f"signature of '{f.func.name}': {f.func.signature()}" for f in functions)


def describe_difference(f: NativeFunction, other: NativeFunction) -> str | None:
    """Return the first difference between the arguments of two signatures, for a hint."""
    mistake = find_inplace_mistake(f.func)
    if mistake is not None:
        return mistake
    names = f.func.name.name.base, other.func.name.name.base
    if names[0] != names[1] and only_near(names[0], names[1:]) is not None:
        return f"one of the two names is misspelt: '{names[0]}' or '{names[1]}'"
    ours = [str(a) for a in f.func.signature().arguments.flat_all]
    theirs = [str(a) for a in other.func.signature().arguments.flat_all]
    for mine, its in zip(ours, theirs):
        if mine != its:
            return f"'{mine}' here, '{its}' there"
    if len(ours) == len(theirs):
        return None
    longer, name = (ours, other.func.name) if len(ours) > len(theirs) else (theirs, f.func.name)
    return f"'{name}' has no '{longer[min(len(ours), len(theirs))]}'"


def _delegate_is_structured(f: NativeFunction, entries: Entries, diagnostics: Diagnostics) -> None:
    target = entries.find_delegate(f)
    span = f.spans.value("structured_delegate")
    delegates = f"'{f.func.name}' delegates to '{f.structured_delegate}'"
    if target is None:
        if f.structured_delegate is None or entries.invalid.may_define(f.structured_delegate):
            return
        base = f.func.name.name.base
        meant = [
            str(g.func.name)
            for g in entries.functions
            if g.structured
            and g.scope == f.scope
            and g.func.name.name.base == base
            and g.func.signature() == f.func.signature()
        ]
        known = Vocabulary(meant) if meant else entries.structured
        near = known.nearest(str(f.structured_delegate))
        hint = "write its entry, with 'structured: True'"
        if near is not None:
            is_own = f.structured_delegate.name.base == base and not meant
            hint = f"is '{near}' misspelt?" if is_own else f"did you mean '{near}'?"
        message = f"{delegates}, which is not defined"
        fix = Edit(span, meant[0]) if len(meant) == 1 else None
        diagnostics.error("E0402", message, span, hint=hint, fix=fix)
    elif not target.structured:
        message = f"{delegates}, which is not structured"
        labels = [(target.span, "this needs 'structured: True'")]
        meant_out = f"did you mean '{f.func.name}.out'?" if target is f else None
        diagnostics.error("E0403", message, span, labels=labels, hint=meant_out)


def _inplace_view_has_view(f: NativeFunction, entries: Entries, diagnostics: Diagnostics) -> None:
    name = f.func.name.name
    # set_ is exempt with all its overloads.
    if str(f.func.name) in _NO_VIEWS or str(name) == "set_":
        return
    span = f.spans.item("tags", "inplace_view")
    if not name.inplace:
        message = f"'{f.func.name}' has the tag 'inplace_view', but its name does not end in '_'"
        diagnostics.error("E0405", message, span)
        return
    view = BaseOperatorName(name.base, False, name.dunder_method)
    if not entries.has_base_name(f, view) and not entries.invalid.may_have_base(view.base):
        message = f"'{f.func.name}' has the tag 'inplace_view', but there is no view '{view}'"
        diagnostics.error("E0406", message, span)
