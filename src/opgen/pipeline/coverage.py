"""Report which operators an external backend runs: as text, as a page of HTML and as JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from opgen.autograd.coverage import GradientKind, GradientTable
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.emit.reports.coverage import CoveredOperator, build_coverage, coverage_values
from opgen.io.resources import templates_dir
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.parse.operator_names.lists import ListedOperator, parse_operator_list
from opgen.pipeline.checking import read_additions
from opgen.pipeline.derivatives import derive_gradients
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load
from opgen.pipeline.reading import read_source
from opgen.resolve.computed_table import Coverage, CoverageTable
from opgen.templating.render import Renderer

# Names for sets of operators that a backend is measured against: every operator, and those with the tag `core`.
ALL, CORE = "all", "core"


class CoverageReport(Struct, frozen=True):
    """A report in three forms."""

    text: str
    html: str
    values: dict[str, Any]


@until_too_many(lambda: None)
def report_coverage(
    inputs: Inputs, against: str, diagnostics: Diagnostics
) -> CoverageReport | None:
    """Return the coverage of `core`, of `all`, or of the operators that the file `against` names.

    Return None if there are errors.
    """
    registry = load(inputs, diagnostics)
    wanted = None if registry is None else _wanted(registry, against, diagnostics)
    backend = None if registry is None else read_additions(registry, inputs, diagnostics).backend
    if registry is None or wanted is None or backend is None or diagnostics.has_errors:
        return None
    table = CoverageTable(backend, registry)
    gradients = derive_gradients(registry, inputs, Signatures(), diagnostics).functions
    if diagnostics.has_errors:
        return None
    of_gradients = (
        GradientTable(gradients, backend.autograd, lambda f: table.of(f) is Coverage.missing)
        if gradients
        else None
    )
    operators = [_covered(f, calls, table, of_gradients) for f, calls in wanted]
    asked = (backend.forward.key.name, Path(against).name, operators)
    renderer = Renderer(templates_dir() / "text")
    return CoverageReport(
        text=renderer.render(build_coverage(*asked, "coverage.txt.j2")),
        html=renderer.render(build_coverage(*asked, "coverage.html.j2")),
        values=coverage_values(*asked),
    )


def _covered(
    f: NativeFunction, calls: int, table: CoverageTable, gradients: GradientTable | None
) -> CoveredOperator:
    coverage = table.of(f)
    gradient = None if gradients is None else gradients.of(f)
    if coverage is Coverage.missing and gradient is not None:
        gradient = gradient if gradient.kind is GradientKind.own else None
    return CoveredOperator(f.full_name, coverage, calls, gradient)


def _wanted(
    registry: Registry, against: str, diagnostics: Diagnostics
) -> list[tuple[NativeFunction, int]] | None:
    """Return the wanted operators and how often each is called; None if the file cannot be read."""
    if against == ALL:
        return [(f, 0) for f in registry.functions]
    if against == CORE:
        return [(f, 0) for f in registry.functions if CORE in f.tags]
    source = read_source(Path(against), diagnostics)
    if source is None:
        return None
    known = Vocabulary(f.full_name for f in registry.functions)
    return [
        (f, listed.calls)
        for listed in parse_operator_list(source)
        for f in _named(registry, listed, known, diagnostics)
    ]


def _named(
    registry: Registry, listed: ListedOperator, known: Vocabulary, diagnostics: Diagnostics
) -> Iterator[NativeFunction]:
    """Yield the operator of that name, or all of its overloads."""
    f = registry.find_function(listed.name)
    if f is not None:
        yield f
        return
    found = [f for f in registry.functions if f.full_name.startswith(f"{listed.name}.")]
    if not found:
        message = f"there is no operator '{shorten(listed.name)}'"
        diagnostics.warning("W0915", message, listed.span, hint=known.did_you_mean(listed.name))
    yield from found
