"""Many small files, valid and invalid: opgen and torchgen agree on each, or differ in a listed way.

torchgen generates everything, so that problems it finds only while generating count, too. All allowed differences are
listed in docs/reference/torchgen-differences.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from compare import Difference, differences
from differences_table import Table, read_table
from schema_files import draw_file

from opgen.diagnostics import Diagnostics, Source
from opgen.emit.reports.dump import dump_rows
from opgen.model.profile import TagSet
from opgen.model.registry import Registry
from opgen.parse.files.native_functions import parse_tags
from opgen.pipeline.checking import Stage, inspect
from opgen.targets import TARGETS
from support.inputs import text_inputs

_TORCH = TARGETS["torch"]
_SAMPLE = 500
_ALL = 5_000


@dataclass(frozen=True)
class _Comparison:
    """Compares the verdicts of both tools on a file; knows the allowed differences."""

    real: Path
    tags: TagSet
    tags_text: str
    table: Table

    def outcome(self, number: int) -> str:
        """Return the outcome for the file of this number; it begins with `WRONG` if the difference is not listed."""
        text = draw_file(number, self.real)
        codes, registry = self._judge(text)
        theirs = _torchgen()(text, frozenset(self.tags.names), generate=True)
        if codes and not theirs.accepts:
            return "both refuse"
        if codes:
            listed = codes <= self.table.stricter or "E0401" in codes
            return f"opgen is stricter: {' '.join(sorted(codes))}" if listed else f"WRONG {codes}"
        if not theirs.accepts:
            return _known(self.table.looser, theirs.error, "opgen is looser")
        assert registry is not None
        rows = dump_rows(registry, _TORCH, "signatures", None)
        found = differences(rows, theirs.rows)
        if not found:
            return "both accept, every field equal"
        outcomes = {self._difference(d) for d in found}
        return next((o for o in outcomes if o.startswith("WRONG")), min(outcomes))

    def _judge(self, text: str) -> tuple[frozenset[str], Registry | None]:
        diagnostics = Diagnostics()
        inputs = text_inputs(text, tags=self.tags_text, target="torch", strict_torchgen=True)
        registry = inspect(inputs, diagnostics, until=Stage.check)
        accepted = None if diagnostics.has_errors else registry
        return frozenset(str(d.code) for d in diagnostics), accepted

    def _difference(self, difference: Difference) -> str:
        return _known(self.table.otherwise, str(difference), "derived otherwise")


def _known(listed: Any, text: str, what: str) -> str:
    name = next((name for name, pattern in listed.items() if pattern.search(text)), None)
    return f"WRONG {what}: {text}" if name is None else f"{what}: {name}"


def _torchgen() -> Callable[..., Any]:
    oracle = pytest.importorskip("torchgen_oracle")
    judge: Callable[..., Any] = oracle.judge
    return judge


@pytest.fixture(scope="module")
def comparison(packaged: Path) -> _Comparison:
    native = packaged / "native"
    diagnostics = Diagnostics()
    text = (native / "tags.yaml").read_text(encoding="utf-8")
    tags = parse_tags(Source("tags.yaml", text), diagnostics)
    return _Comparison(native / "native_functions.yaml", tags, text, read_table())


def _compare(
    comparison: _Comparison, numbers: range, record: Callable[[str, object], None]
) -> None:
    outcomes = {number: comparison.outcome(number) for number in numbers}
    for outcome, count in Counter(map(_kind, outcomes.values())).most_common():
        record(f"differential: {outcome}", count)
    wrong = {number: o for number, o in outcomes.items() if o.startswith("WRONG")}
    number = min(wrong, default=0)
    assert not wrong, (
        f"{len(wrong)} files, the first is {number}: {wrong[number]}\n"
        f"{draw_file(number, comparison.real)}"
    )


def _kind(outcome: str) -> str:
    return outcome.partition(": ")[0] if not outcome.startswith("WRONG") else "not listed"


def test_sample(comparison: _Comparison, record_property: Callable[[str, object], None]) -> None:
    """Protects verdicts and fields of files for which nobody wrote an example."""
    _compare(comparison, range(_SAMPLE), record_property)


@pytest.mark.slow
def test_all(comparison: _Comparison, record_property: Callable[[str, object], None]) -> None:
    """Protects the same with ten times as many files, in a minute."""
    _compare(comparison, range(_SAMPLE, _ALL), record_property)
