"""Rules about what entries say of each other, one function each: E04xx."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping

from opgen import data
from opgen.dataclasses import dataclass
from opgen.diagnostics import Diagnostics, Edit
from opgen.diagnostics.suggestions import Vocabulary
from opgen.model.function_schema import BaseOperatorName, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.refused import Refused
from opgen.model.registry import StructuredGroup
from opgen.resolve import codes_entries as codes

_KEYWORD_ARGUMENTS = data.read_exempt("V115")
_NO_VIEWS = frozenset(row[0] for row in data.read_exempt("V116"))


@dataclass(frozen=True, slots=True)
class Entries:
    """All written operators, and look-ups by what rules ask for, by scoped names (NativeFunction.scope).

    Of what is missing here, `refused` may be the reason, and has been reported.
    """

    functions: tuple[NativeFunction, ...]
    by_name: Mapping[str, NativeFunction]
    base_names: frozenset[tuple[str, BaseOperatorName]]
    refused: Refused
    # The names of those that may be a delegate.
    structured: Vocabulary

    @staticmethod
    def of(functions: tuple[NativeFunction, ...], refused: Refused) -> Entries:
        by_name: dict[str, NativeFunction] = {}
        for f in functions:
            by_name.setdefault(f.scoped_name, f)
        base_names = frozenset((f.scope, f.func.name.name) for f in functions)
        structured = Vocabulary(str(f.func.name) for f in by_name.values() if f.structured)
        return Entries(tuple(by_name.values()), by_name, base_names, refused, structured)

    def delegators(self, out: NativeFunction) -> tuple[NativeFunction, ...]:
        """The operators that name `out` as their structured delegate."""
        return tuple(
            f
            for f in self.functions
            if f.structured_delegate == out.func.name and f.scope == out.scope
        )

    def find_delegate(self, f: NativeFunction) -> NativeFunction | None:
        """The operator that `f` names as its structured delegate."""
        if f.structured_delegate is None:
            return None
        name = str(f.structured_delegate)
        return self.by_name.get(f"{f.scope}::{name}" if f.scope else name)

    def has_base_name(self, f: NativeFunction, name: BaseOperatorName) -> bool:
        """Whether there is an operator called `name` beside `f`."""
        return (f.scope, name) in self.base_names

    def has_structured_delegate(self, f: NativeFunction) -> bool:
        """Whether what `f` names as its structured delegate exists and is structured."""
        target = self.find_delegate(f)
        return target is not None and target.structured

    def functionals(self, out: NativeFunction) -> tuple[NativeFunction, ...]:
        """The functional operators of the root name of `out`."""
        return tuple(
            f
            for f in self.functions
            if f.scoped_root == out.scoped_root and f.func.kind() is SchemaKind.functional
        )


def check_names(
    functions: Iterable[NativeFunction], refused: Refused, diagnostics: Diagnostics
) -> None:
    """Report every operator whose name an earlier one has, or one that was refused."""
    others = {(e.scope, str(e.name)): e for e in refused.entries if e.name is not None}
    first: dict[str, NativeFunction] = {}
    for f in functions:
        other = first.setdefault(f.scoped_name, f)
        if other is f:
            bad = others.get((f.scope, str(f.func.name))) if others else None
            if bad is not None:
                message = f"operator '{f.func.name}' is defined twice"
                label = (bad.span, "the other one, which has errors of its own")
                diagnostics.error(codes.E0401, message, f.span, labels=[label])
            continue
        notes: tuple[str, ...] = ()
        if other.namespace != f.namespace:
            notes = (f"'{other.full_name}' has it too: namespaces do not tell operators apart",)
        diagnostics.error(
            codes.E0401,
            f"operator '{f.func.name}' is defined twice",
            f.span,
            labels=[(other.span, "first defined here")],
            notes=notes,
        )


def check_entries(entries: Entries, diagnostics: Diagnostics) -> None:
    """Report every other rule about entries that one of them breaks."""
    for f in entries.functions:
        if f.structured_delegate is not None:
            _delegate_is_structured(f, entries, diagnostics)
        if not f.is_library:
            _arguments_are_no_keywords(f, diagnostics)
        if "inplace_view" in f.tags and not f.is_library:
            _inplace_view_has_view(f, entries, diagnostics)
        if "generated" in f.tags:
            _written_is_not_generated(f, diagnostics)


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
        diagnostics.error(
            codes.E0408,
            f"'{f.func.name}' delegates to '{target.func.name}', which has another signature",
            f.spans.value("structured_delegate"),
            labels=[(target.span, "the out variant" if target.func.is_out_fn() else "structured")],
            notes=signature_notes(f, target),
        )


def signature_notes(*functions: NativeFunction) -> tuple[str, ...]:
    """What the given operators are compared by, one line each."""
    return tuple(f"signature of '{f.func.name}': {f.func.signature()}" for f in functions)


def _delegate_is_structured(f: NativeFunction, entries: Entries, diagnostics: Diagnostics) -> None:
    target = entries.find_delegate(f)
    span = f.spans.value("structured_delegate")
    delegates = f"'{f.func.name}' delegates to '{f.structured_delegate}'"
    if target is None:
        if f.structured_delegate is None or entries.refused.may_define(f.structured_delegate):
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
        diagnostics.error(
            codes.E0402,
            f"{delegates}, which is not defined",
            span,
            hint=known.did_you_mean(str(f.structured_delegate)),
            fix=Edit(span, meant[0]) if len(meant) == 1 else None,
        )
    elif not target.structured:
        diagnostics.error(
            codes.E0403,
            f"{delegates}, which is not structured",
            span,
            labels=[(target.span, "this needs 'structured: True'")],
        )


def _arguments_are_no_keywords(f: NativeFunction, diagnostics: Diagnostics) -> None:
    for a in f.func.arguments.flat_all:
        if keyword.iskeyword(a.name) and (str(f.func.name), a.name) not in _KEYWORD_ARGUMENTS:
            diagnostics.error(
                codes.E0404,
                f"argument '{a.name}' of '{f.func.name}' is called like a Python keyword",
                f.argument_name_span(a.name),
                hint="give it another name",
            )


def _inplace_view_has_view(f: NativeFunction, entries: Entries, diagnostics: Diagnostics) -> None:
    name = f.func.name.name
    # set_ is exempt with all its overloads.
    if str(f.func.name) in _NO_VIEWS or str(name) == "set_":
        return
    span = f.spans.item("tags", "inplace_view")
    if not name.inplace:
        message = f"'{f.func.name}' has the tag 'inplace_view', but its name does not end in '_'"
        diagnostics.error(codes.E0405, message, span)
        return
    view = BaseOperatorName(name.base, False, name.dunder_method)
    if not entries.has_base_name(f, view) and not entries.refused.may_have_base(view.base):
        message = f"'{f.func.name}' has the tag 'inplace_view', but there is no view '{view}'"
        diagnostics.error(codes.E0406, message, span)


def _written_is_not_generated(f: NativeFunction, diagnostics: Diagnostics) -> None:
    message = f"'{f.func.name}' is written, so it cannot have the tag 'generated'"
    diagnostics.error(codes.E0407, message, f.spans.item("tags", "generated"))
