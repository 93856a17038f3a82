"""Report a backend's coverage of operators as text, as a page of HTML, and as JSON values."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from opgen.autograd.kernels import AVAILABLE, GradientCoverage, GradientKind
from opgen.emit.common.base import GeneratedFile, Record, generated, group_by
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


class Count(Record, frozen=True):
    """The number of operators of one kind.

    `gradients` says how many of those that are differentiable have a gradient; empty if that is unknown.
    """

    kind: str
    label: str
    count: int
    padded: str
    gradients: str


class ShownOperator(Record, frozen=True):
    """An operator on the page of HTML. `lacks` are the names of operators that its formulas call."""

    name: str
    calls: str
    kind: str
    label: str
    mark: str
    lacks: tuple[str, ...]


class OperatorList(Record, frozen=True):
    label: str
    names: tuple[str, ...]


def build_coverage(
    backend: str, against: str, operators: Sequence[CoveredOperator], template: str
) -> GeneratedFile:
    """Return the contents of the text and of the page. Operators are grouped by kind and sorted by name."""
    ordered, title = _ordered(operators), _title(backend, against, operators)
    return generated(
        path="",
        template=template,
        title=title,
        title_as_html=html.escape(title),
        heading=_heading(operators),
        counts=_counts(operators),
        todo=(*_operators_to_do(ordered), *_gradients_to_do(ordered)),
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


def _heading(operators: Sequence[CoveredOperator]) -> str:
    """The line above the counts, whose only text is that of the column of gradients."""
    if not any(o.gradient is not None for o in operators):
        return ""
    return " " * (len(str(len(operators))) + 4 + _LABEL) + "with a gradient"


def _gradients(operators: Sequence[CoveredOperator]) -> str:
    found = [o.gradient.kind for o in operators if o.gradient is not None]
    differentiable = [kind for kind in found if kind is not GradientKind.none]
    if not found:
        return ""
    return f"{sum(kind in AVAILABLE for kind in differentiable)} of {len(differentiable)}"


def _operators_to_do(ordered: Sequence[CoveredOperator]) -> Iterator[OperatorList]:
    for kind in (Coverage.fallback, Coverage.missing):
        names = tuple(_with_calls(o) for o in ordered if o.coverage is kind)
        if names:
            yield OperatorList(kind.value, names)


def _gradients_to_do(ordered: Sequence[CoveredOperator]) -> Iterator[OperatorList]:
    lacking = [o for o in ordered if o.gradient is not None and o.gradient.lacks]
    if lacking:
        names = (f"{o.name}: {', '.join(o.gradient.lacks)}" for o in lacking if o.gradient)
        yield OperatorList("gradients whose formulas call a missing operator", tuple(names))
    missing = (o for o in ordered if o.gradient and o.gradient.kind is GradientKind.missing)
    names_of_missing = tuple(map(_with_calls, missing))
    if names_of_missing:
        yield OperatorList("gradients without a formula", names_of_missing)


def _ordered(operators: Iterable[CoveredOperator]) -> list[CoveredOperator]:
    kinds = list(Coverage)
    return sorted(operators, key=lambda o: (kinds.index(o.coverage), o.name))


def _title(backend: str, against: str, operators: Sequence[CoveredOperator]) -> str:
    own = sum(o.coverage in OWN for o in operators)
    title = f"{backend} runs {own} of {len(operators)} operators ({against}) by kernels of its own"
    calls = sum(o.calls for o in operators)
    if not calls:
        return title
    of_own = sum(o.calls for o in operators if o.coverage in OWN)
    return f"{title}, {of_own} of {calls} calls"


def _counts(operators: Sequence[CoveredOperator]) -> tuple[Count, ...]:
    by_kind = group_by(operators, lambda o: o.coverage)
    digits = len(str(len(operators)))
    found = []
    for kind in Coverage:
        count, gradients = len(by_kind.get(kind, ())), _gradients(by_kind.get(kind, ()))
        padded = f"{count:{digits}}  {kind.value:{_LABEL}}  {gradients}".rstrip()
        found.append(Count(kind.name, kind.value, count, padded, gradients))
    return tuple(found)


def _shown(operator: CoveredOperator) -> ShownOperator:
    gradient = operator.gradient
    if gradient is None or gradient.kind is GradientKind.none:
        mark = ""
    else:
        mark = _HAS_GRADIENT if gradient.kind in AVAILABLE else _LACKS_GRADIENT
    return ShownOperator(
        name=operator.name,
        calls=_with_calls(operator).removeprefix(operator.name),
        kind=operator.coverage.name,
        label=_label(operator),
        mark=mark,
        lacks=() if gradient is None else gradient.lacks,
    )


def _label(operator: CoveredOperator) -> str:
    label, found = operator.coverage.value, operator.gradient
    if found is None:
        return label
    lacks = f" ({', '.join(found.lacks)})" if found.lacks else ""
    return f"{label}; gradient: {found.kind.value}{lacks}"


def _with_calls(operator: CoveredOperator) -> str:
    if not operator.calls:
        return operator.name
    return f"{operator.name} ({operator.calls} call{'' if operator.calls == 1 else 's'})"
