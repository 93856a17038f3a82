"""The contents of `--select FILE`, and the operators and element types that a selective build keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import reduce

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Located, Span
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry


class Mention(Located, Struct, frozen=True):
    """`aten::add.Tensor` somewhere in a file; with `any_overload`, every overload of `aten::add`."""

    name: str
    any_overload: bool
    span: Span


class SelectedOperator(Located, Struct, frozen=True):
    """One operator, or, with `include_all_overloads`, every overload of the name."""

    name: str
    include_all_overloads: bool = True
    span: Span | None = None


class Selector(Struct, frozen=True):
    """Decides what a selective build keeps. The default selects nothing.

    The other keys of torchgen's files are checked, and have no effect: no part of opgen is selected by them.
    """

    include_all_operators: bool = False
    include_all_non_op_selectives: bool = False
    operators: Mapping[str, SelectedOperator] = field(default_factory=dict)
    kernel_metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_operator_selected(self, name: str) -> bool:
        """Return whether `name` (`aten::add.Tensor`) is kept: by its own name, or by `aten::add` with all overloads."""
        base = self.operators.get(name.partition(".")[0])
        by_base = base is not None and base.include_all_overloads
        return self.include_all_operators or name in self.operators or by_base

    @property
    def selects_dtypes(self) -> bool:
        return not (self.include_all_operators or self.include_all_non_op_selectives)


def merge(selectors: Iterable[Selector]) -> Selector:
    """Return a selector that keeps everything that one of `selectors` keeps."""
    return reduce(_merge_two, selectors)


def _merge_two(a: Selector, b: Selector) -> Selector:
    operators = dict(a.operators)
    for name, operator in b.operators.items():
        known = operators.setdefault(name, operator)
        overloads = known.include_all_overloads or operator.include_all_overloads
        operators[name] = replace(known, include_all_overloads=overloads)
    metadata = {
        tag: tuple(
            dict.fromkeys((*a.kernel_metadata.get(tag, ()), *b.kernel_metadata.get(tag, ())))
        )
        for tag in {**a.kernel_metadata, **b.kernel_metadata}
    }
    return Selector(
        a.include_all_operators or b.include_all_operators,
        a.include_all_non_op_selectives or b.include_all_non_op_selectives,
        operators,
        metadata,
    )


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
