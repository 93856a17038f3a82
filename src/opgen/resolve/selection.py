"""Apply a Selector to the operators: which are kept, and why."""

from __future__ import annotations

from collections.abc import Iterable, Set

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Span
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.model.selector import Mention, Selector


class Selection(Struct, frozen=True):
    """The full names of the operators that are kept, and the selector that chose them."""

    selector: Selector
    operators: frozenset[str]

    def keeps(self, f: NativeFunction) -> bool:
        return f.full_name in self.operators


def select(registry: Registry, selector: Selector, diagnostics: Diagnostics) -> Selection:
    """Return the operators of `registry` that `selector` selects. Warn about names that select nothing."""
    known = {f.full_name for f in registry.functions}
    names = known | {name.partition(".")[0] for name in known}
    written = [(operator.name, operator.span) for operator in selector.operators.values()]
    _warn_of_unknown(written, names, registry, diagnostics)
    selected = (name for name in known if selector.is_operator_selected(name))
    return Selection(selector, frozenset(selected))


def find_mentioned(
    registry: Registry, mentions: Iterable[Mention], diagnostics: Diagnostics
) -> frozenset[str]:
    """Return the full names of the operators that `mentions` name. Warn about names that do not exist."""
    overloads: dict[str, list[str]] = {}
    for f in registry.functions:
        overloads.setdefault(f.full_name.partition(".")[0], []).append(f.full_name)
        if "." in f.full_name:
            overloads[f.full_name] = [f.full_name]
    unknown, found = [], set()
    for mention in mentions:
        every = overloads.get(mention.name, [])
        meant = every if mention.any_overload else [n for n in every if n == mention.name]
        found.update(meant)
        if not meant:
            unknown.append((mention.name, mention.span))
    _warn_of_unknown(unknown, set(found), registry, diagnostics)
    return frozenset(found)


def _warn_of_unknown(
    written: Iterable[tuple[str, Span | None]],
    known: Set[str],
    registry: Registry,
    diagnostics: Diagnostics,
) -> None:
    """Warn about names that are not `known`. Ignore those of other libraries' namespaces."""
    namespaces = {f.namespace for f in registry.functions}
    unknown = [
        (name, span)
        for name, span in written
        if name not in known and name.partition("::")[0] in namespaces
    ]
    if not unknown:
        return
    every = {f.full_name for f in registry.functions}
    vocabulary = Vocabulary(sorted(every | {name.partition(".")[0] for name in every}))
    for name, span in unknown:
        message = f"there is no operator '{shorten(name)}'"
        diagnostics.warning("W1842", message, span, hint=vocabulary.did_you_mean(name))
