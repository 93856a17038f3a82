"""Report a backend's coverage of operators as text, as a picture, and as JSON values."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from opgen.autograd.coverage import AVAILABLE, GradientCoverage, GradientKind
from opgen.emit.common.base import GeneratedFile, Record, group_by
from opgen.resolve.coverage import OWN, Coverage

# Blue: kernels of the backend. Grey: operators that work because of these. Orange and red: missing ones. People with
# any kind of colour blindness can distinguish them.
_COLOURS = {
    Coverage.structured: "#08519c",
    Coverage.kernel: "#3182bd",
    Coverage.made: "#9ecae1",
    Coverage.composite: "#d9d9d9",
    Coverage.fallback: "#fdae6b",
    Coverage.missing: "#de2d26",
}
_LIGHT = frozenset({Coverage.made, Coverage.composite, Coverage.fallback})
_COLUMNS = 6
_TILE_WIDTH, _TILE_HEIGHT, _GAP = 176, 18, 2
_TOP, _SIDE = 112, 16
# From the square of a kind to its name, in the legend.
_LEGEND_GAP = 17
_WIDTH = 2 * _SIDE + _COLUMNS * (_TILE_WIDTH + _GAP) - _GAP
# How many characters of 6 units' width fit into a tile.
_TEXT = 25
# The width of the text of a kind.
_LABEL = max(len(kind.value) for kind in Coverage)
_NOTE = "A filled circle: the operator has a gradient. An empty one: the gradient is missing. None: not differentiable."


class CoveredOperator(Record, frozen=True):
    """An operator, what runs it, and how often it is called (0: unknown).

    `gradient` is None if the formulas of gradients are unknown, and of an operator that does not run.
    """

    name: str
    coverage: Coverage
    calls: int
    gradient: GradientCoverage | None = None


class Count(Record, frozen=True):
    """The number of operators of one kind, with its position in the bar and in the legend.

    `gradients` says how many of those that are differentiable have a gradient; empty if that is unknown.
    """

    label: str
    count: int
    padded: str
    gradients: str
    colour: str
    x: int
    width: int
    legend_x: int
    label_x: int


class Tile(Record, frozen=True):
    name: str
    text: str
    label: str
    colour: str
    text_colour: str
    x: int
    y: int
    text_x: int
    text_y: int
    marks: tuple[Mark, ...]


class Mark(Record, frozen=True):
    """A circle in a tile: filled if the operator has a gradient, empty if that is missing."""

    x: int
    y: int
    fill: str
    colour: str


class OperatorList(Record, frozen=True):
    label: str
    names: tuple[str, ...]


class CoverageFile(GeneratedFile, frozen=True):
    title: str
    title_as_xml: str
    heading: str
    note: str
    counts: tuple[Count, ...]
    todo: tuple[OperatorList, ...]
    tiles: tuple[Tile, ...]
    width: int
    height: int
    tile_width: int
    tile_height: int


def build_coverage(
    backend: str, against: str, operators: Sequence[CoveredOperator], template: str
) -> CoverageFile:
    """Return the contents of the text and of the picture. Operators are grouped by kind and sorted by name."""
    ordered, title = _ordered(operators), _title(backend, against, operators)
    rows = -(-len(ordered) // _COLUMNS)
    return CoverageFile(
        path="",
        template=template,
        title=title,
        title_as_xml=html.escape(title),
        heading=_heading(operators),
        note=_NOTE if _has_gradients(operators) else "",
        counts=_counts(operators),
        todo=(*_operators_to_do(ordered), *_gradients_to_do(ordered)),
        tiles=tuple(_tile(index, operator) for index, operator in enumerate(ordered)),
        width=_WIDTH,
        height=_TOP + rows * (_TILE_HEIGHT + _GAP) + _SIDE,
        tile_width=_TILE_WIDTH,
        tile_height=_TILE_HEIGHT,
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


def _has_gradients(operators: Iterable[CoveredOperator]) -> bool:
    return any(o.gradient is not None for o in operators)


def _heading(operators: Sequence[CoveredOperator]) -> str:
    """The line above the counts, whose only text is that of the column of gradients."""
    if not _has_gradients(operators):
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
    bar, before = _WIDTH - 2 * _SIDE, 0
    found = []
    for index, kind in enumerate(Coverage):
        count = len(by_kind.get(kind, ()))
        start, end = (bar * n // max(len(operators), 1) for n in (before, before + count))
        gradients = _gradients(by_kind.get(kind, ()))
        place = _SIDE + index * (_TILE_WIDTH + _GAP)
        padded = f"{count:{digits}}"
        found.append(
            Count(
                label=kind.value,
                count=count,
                padded=f"{padded}  {kind.value:{_LABEL}}  {gradients}".rstrip(),
                gradients=gradients,
                colour=_COLOURS[kind],
                x=_SIDE + start,
                width=end - start,
                legend_x=place,
                label_x=place + _LEGEND_GAP,
            )
        )
        before += count
    return tuple(found)


def _tile(index: int, operator: CoveredOperator) -> Tile:
    row, column = divmod(index, _COLUMNS)
    x, y = _SIDE + column * (_TILE_WIDTH + _GAP), _TOP + row * (_TILE_HEIGHT + _GAP)
    short = operator.name.removeprefix("aten::")
    colour = "#000000" if operator.coverage in _LIGHT else "#ffffff"
    return Tile(
        name=_with_calls(operator),
        text=short if len(short) <= _TEXT else f"{short[: _TEXT - 1]}…",
        label=_label(operator),
        colour=_COLOURS[operator.coverage],
        text_colour=colour,
        x=x,
        y=y,
        text_x=x + 5,
        text_y=y + 13,
        marks=_marks(operator, x, y, colour),
    )


def _label(operator: CoveredOperator) -> str:
    label, found = operator.coverage.value, operator.gradient
    if found is None:
        return label
    lacks = f" ({', '.join(found.lacks)})" if found.lacks else ""
    return f"{label}; gradient: {found.kind.value}{lacks}"


def _marks(operator: CoveredOperator, x: int, y: int, colour: str) -> tuple[Mark, ...]:
    if operator.gradient is None or operator.gradient.kind is GradientKind.none:
        return ()
    fill = colour if operator.gradient.kind in AVAILABLE else "none"
    return (Mark(x + _TILE_WIDTH - 9, y + _TILE_HEIGHT // 2, fill, colour),)


def _with_calls(operator: CoveredOperator) -> str:
    if not operator.calls:
        return operator.name
    return f"{operator.name} ({operator.calls} call{'' if operator.calls == 1 else 's'})"
