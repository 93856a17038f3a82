"""A Selector and the operators into a Selection: which operators are kept, and what for."""

from __future__ import annotations

from dataclasses import dataclass

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.model.selector import SelectedOperator, Selector
from opgen.resolve.codes_backend import W1842


@dataclass(frozen=True, slots=True)
class Selection:
    """The full names of the operators that are kept, and the selector that has chosen them."""

    selector: Selector
    operators: frozenset[str]

    def keeps(self, f: NativeFunction) -> bool:
        return f.full_name in self.operators


def select(registry: Registry, selector: Selector, diagnostics: Diagnostics) -> Selection:
    """The operators of `registry` that `selector` selects. Names that select nothing are warned of."""
    known = {f.full_name for f in registry.functions}
    names = known | {name.partition(".")[0] for name in known}
    vocabulary = Vocabulary(sorted(names))
    namespaces = {f.namespace for f in registry.functions}
    for operator in selector.operators.values():
        if operator.name.partition("::")[0] in namespaces and operator.name not in names:
            _warn(operator, vocabulary, diagnostics)
    selected = (name for name in known if selector.is_operator_selected(name))
    return Selection(selector, frozenset(selected))


def _warn(operator: SelectedOperator, known: Vocabulary, diagnostics: Diagnostics) -> None:
    message = f"there is no operator '{shorten(operator.name)}'"
    hint = known.did_you_mean(operator.name)
    diagnostics.warning(W1842, message, operator.span, hint=hint)
