"""Report a backend's coverage of operators as text, as a page of HTML, and as JSON values."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from opgen.autograd.kernels import AVAILABLE, GradientCoverage, GradientKind
from opgen.emit.common.base import GeneratedFile, Item, Record, generated, group_by
from opgen.resolve.computed_table import OWN, Coverage

# The width of the text of a kind.
_LABEL = max(len(kind.value) for kind in Coverage)
# Beside the name of an operator that has a gradient, or lacks it.
_HAS_GRADIENT, _LACKS_GRADIENT = "\N{BLACK CIRCLE}", "\N{WHITE CIRCLE}"


class CoveredOperator(Record, frozen=True):
    """An operator, what runs it, and how often it is called (0: unknown).

    `gradient` is None if the formulas of gradients are unknown, and of an operator that does not run.
    """

    name: str
    coverage: Coverage
    calls: int
    gradient: GradientCoverage | None = None


def build_coverage(
    backend: str, against: str, operators: Sequence[CoveredOperator], template: str
) -> GeneratedFile:
    """Return the contents of the text and of the page. Operators are grouped by kind and sorted by name."""
    kinds, title = list(Coverage), _title(backend, against, operators)
    # The line above the counts, whose only text is that of the column of gradients.
    margin = " " * (len(str(len(operators))) + 4 + _LABEL)
    has_gradients = any(o.gradient is not None for o in operators)
    ordered = sorted(operators, key=lambda o: (kinds.index(o.coverage), o.name))
    return generated(
        path="",
        template=template,
        title=title,
        title_as_html=html.escape(title),
        heading=f"{margin}with a gradient" if has_gradients else "",
        counts=tuple(_counts(operators)),
        todo=tuple((label, names) for label, names in _to_do(ordered) if names),
        operators=tuple(map(_shown, ordered)),
    )


def coverage_values(
    backend: str, against: str, operators: Sequence[CoveredOperator]
) -> dict[str, Any]:
    """Return the report as JSON values: counts by kind, and every operator."""
    by_kind = group_by(operators, lambda o: o.coverage)
    return {
        "backend": backend,
        "against": against,
        "counts": {kind.name: len(by_kind.get(kind, ())) for kind in Coverage},
        "operators": [
            {"name": o.name, "coverage": o.coverage.name, "calls": o.calls, **_gradient_values(o)}
            for o in sorted(operators, key=lambda o: o.name)
        ],
    }


def _gradient_values(operator: CoveredOperator) -> dict[str, Any]:
    found = operator.gradient
    if found is None:
        return {}
    return {"gradient": found.kind.name, **({"lacks": list(found.lacks)} if found.lacks else {})}


def _to_do(ordered: Sequence[CoveredOperator]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what lacks a kernel or a gradient, and the operators of which that is so."""
    gradients = [(o, o.gradient) for o in ordered if o.gradient is not None]
    yield from (
        (kind.value, tuple(_with_calls(o) for o in ordered if o.coverage is kind))
        for kind in (Coverage.fallback, Coverage.missing)
    )
    yield (
        "gradients whose formulas call a missing operator",
        tuple(f"{o.name}: {', '.join(found.lacks)}" for o, found in gradients if found.lacks),
    )
    missing = (o for o, found in gradients if found.kind is GradientKind.missing)
    yield "gradients without a formula", tuple(map(_with_calls, missing))


def _title(backend: str, against: str, operators: Sequence[CoveredOperator]) -> str:
    own = sum(o.coverage in OWN for o in operators)
    title = f"{backend} runs {own} of {len(operators)} operators ({against}) by kernels of its own"
    calls = sum(o.calls for o in operators)
    if not calls:
        return title
    of_own = sum(o.calls for o in operators if o.coverage in OWN)
    return f"{title}, {of_own} of {calls} calls"


def _counts(operators: Sequence[CoveredOperator]) -> Iterator[Item]:
    """Yield the number of operators of each kind, and how many of those that are differentiable have a gradient."""
    by_kind = group_by(operators, lambda o: o.coverage)
    digits = len(str(len(operators)))
    for kind in Coverage:
        own = by_kind.get(kind, ())
        found = [o.gradient.kind for o in own if o.gradient is not None]
        differentiable = [one for one in found if one is not GradientKind.none]
        available = sum(one in AVAILABLE for one in differentiable)
        count = len(own)
        gradients = f"{available} of {len(differentiable)}" if found else ""
        padded = f"{count:{digits}}  {kind.value:{_LABEL}}  {gradients}".rstrip()
        yield Item(
            kind=kind.name, label=kind.value, count=count, padded=padded, gradients=gradients
        )


def _shown(operator: CoveredOperator) -> Item:
    """Return an operator on the page of HTML. `lacks` are the names of operators that its formulas call."""
    label, mark, found = operator.coverage.value, "", operator.gradient
    lacks: tuple[str, ...] = ()
    if found is not None:
        lacks = found.lacks
        label += f"; gradient: {found.kind.value}" + (f" ({', '.join(lacks)})" if lacks else "")
        if found.kind is not GradientKind.none:
            mark = _HAS_GRADIENT if found.kind in AVAILABLE else _LACKS_GRADIENT
    return Item(
        name=operator.name,
        calls=_with_calls(operator).removeprefix(operator.name),
        kind=operator.coverage.name,
        label=label,
        mark=mark,
        lacks=lacks,
    )


def _with_calls(operator: CoveredOperator) -> str:
    if not operator.calls:
        return operator.name
    return f"{operator.name} ({operator.calls} call{'' if operator.calls == 1 else 's'})"
