"""PyTorch's own test inputs for our Python package: every entry of torch.testing's op_db for which we have an
operator.

These are sample inputs, reference inputs for NumPy, and inputs that must be rejected. They run in separate processes,
so that a crash is reported and the others are still compared.
"""

from __future__ import annotations

import collections
import fnmatch
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from differential.numerics.op_db_exceptions import EXPECTED
from support.build import REPOSITORY, run
from support.library import own_operators
from support.sampling import commit_number

pytestmark = pytest.mark.whole_library

# Entries of op_db per process.
CHUNK = 50
# No input takes longer; a kernel that hangs is reported like a crash.
SECONDS_PER_ENTRY = 900
# Compare every n-th entry, other ones for each commit, unless all are compared.
STEP = 5


@pytest.fixture(scope="module")
def command(torch_installed: None) -> list[str]:
    """Return the command that runs numerics.op_db with our package. Skips the test without torch and expecttest."""
    if importlib.util.find_spec("expecttest") is None:
        pytest.skip("expecttest is not installed: torch.testing cannot be imported")
    return [
        sys.executable,
        "-m",
        "differential.numerics.op_db",
        str(own_operators().packages),
        "aten",
    ]


@pytest.fixture(scope="module")
def entries(command: list[str]) -> dict[int, str]:
    """Return the positions in op_db of the operators that we have, and their names."""
    output = run([*command, "--list"], env=_environment(), cwd=REPOSITORY / "tests")
    listed = json.loads(output.splitlines()[-1])
    return {int(place): name for place, name in listed.items()}


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY / "tests")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}


def _results(
    command: list[str], entries: dict[int, str], whole: bool, folder: Path
) -> Iterator[dict[str, object]]:
    """Return one result per entry, in order; for an entry that ends its process, one that says so."""
    rest = list(entries)
    while rest:
        chunk = rest[:CHUNK]
        ended, output = _lines([*command, *map(str, chunk), *(["--whole"] * whole)], folder)
        done = [line for line in output if "ended" in line]
        yield from done
        rest = rest[len(done) :]
        if len(done) < len(chunk):
            text = (folder / "stderr").read_text(errors="replace")[-2000:]
            place = chunk[len(done)]
            crash = {":crash:": [1, f"the process ended with {ended}: {text}"]}
            yield {"ended": place, "counts": {}, "mismatches": crash}
            rest = rest[1:]


def _lines(command: list[str], folder: Path) -> tuple[int | str, list[dict[str, object]]]:
    with (folder / "stdout").open("w+") as out, (folder / "stderr").open("w") as errors:
        try:
            ended: int | str = subprocess.run(
                command,
                stdout=out,
                stderr=errors,
                env=_environment(),
                cwd=REPOSITORY / "tests",
                timeout=SECONDS_PER_ENTRY * CHUNK,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            ended = "a time limit"
        out.seek(0)
        return ended, [
            json.loads(line) for line in out if line.startswith("{") and line.endswith("}\n")
        ]


@pytest.mark.parametrize(
    "whole",
    [
        pytest.param(False, id="few", marks=pytest.mark.slow),
        pytest.param(True, id="whole", marks=pytest.mark.nightly),
    ],
)
def test_agrees_with_torch_on_its_own_test_inputs(
    whole: bool,
    command: list[str],
    entries: dict[int, str],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    chosen = entries if whole else dict(list(entries.items())[commit_number() % STEP :: STEP])
    counts: collections.Counter[str] = collections.Counter()
    kinds: collections.Counter[str] = collections.Counter()
    unlisted: list[str] = []
    met: set[str] = set()
    for result in _results(command, chosen, whole, tmp_path):
        counts.update(result["counts"])  # type: ignore[arg-type]
        for key, (count, example) in result["mismatches"].items():  # type: ignore[attr-defined]
            full = f"{entries[int(result['ended'])]}:{key}"  # type: ignore[call-overload]
            kinds[key.split(":")[1]] += count
            rows = [row for row in EXPECTED if fnmatch.fnmatchcase(full, row)]
            met.update(rows)
            if not rows:
                unlisted.append(f"{full} ({count} times)\n    {example}")
    record_property("op_db: entries", len(chosen))
    for name, number in (
        counts + collections.Counter({f"mismatches: {k}": n for k, n in kinds.items()})
    ).items():
        record_property(f"op_db: {name}", number)
    if unlisted:
        text = "\n".join(unlisted[:20])
        pytest.fail(
            f"{len(unlisted)} kinds of mismatch without a row in op_db_exceptions.py\n{text}",
            pytrace=False,
        )
    assert counts["compared"] > 5 * len(chosen), counts
    if whole:
        assert set(EXPECTED) == met, "rows that no longer match a difference: remove them"


@pytest.mark.slow
def test_most_entries_of_op_db_with_an_operator_of_ours_are_compared(
    entries: dict[int, str],
) -> None:
    """Protects against comparing fewer and fewer entries."""
    assert len(entries) > 395


@pytest.mark.slow
def test_exceptions_name_entries(entries: dict[int, str]) -> None:
    patterns = {row.partition(":")[0] for row in EXPECTED}
    assert {each for each in patterns if not fnmatch.filter(entries.values(), each)} == set()
