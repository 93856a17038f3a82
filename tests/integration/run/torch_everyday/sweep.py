"""The table of the operators in native_functions.yaml and what PyTorch does with them.

`python sweep.py LIBRARY [TWIN] [--all] [--columns CHECK...] [--only WORD] [--keep FOLDER] [--write FILE]`

TWIN is the library of by_hand.cpp: the same schemas and kernels, registered by hand. If a check fails in the same way
for the operator's twin, it is PyTorch's own failure. Any other failure, and without TWIN every one, gives exit code 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cases
import checks
import torch
from checks import Case

Check = Callable[[Case, Any], None]
MINE, TWIN = "everyday", "everyday_by_hand"


@dataclass(frozen=True)
class Failure:
    """The exception of a check, without the parts that differ between two operators that fail alike."""

    text: str
    trace: str

    @property
    def plain(self) -> str:
        return re.sub(r"0x[0-9a-f]+|\b\d+\b", "N", self.text.replace(TWIN, MINE))[:200]

    @property
    def note(self) -> str:
        """Return the message, the same for every operator."""
        return re.sub(rf"{MINE}::[\w.]+(\(.*)?", "the operator ", self.plain).replace(" ;", ";")


@dataclass(frozen=True)
class Cell:
    """Whether a check of a case passes; `shared` is the failure that it has in common with its twin."""

    case: Case
    check: str
    failure: Failure | None
    shared: bool = False


def attempt(check: Check, case: Case, namespace: str) -> Failure | None:
    try:
        check(case, case.operator(namespace))
    except Exception as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        return Failure(f"{type(error).__name__}: {first.strip()}", traceback.format_exc())
    return None


def cell(check: Check, case: Case) -> Cell:
    failure = attempt(check, case, MINE)
    if failure is None:
        return Cell(case, check.__name__, None)
    known = hasattr(getattr(torch.ops, TWIN), "nms")
    twin = attempt(check, case, TWIN) if known else None
    # Our message may be longer.
    shared = twin is not None and failure.plain.startswith(twin.plain)
    if not shared:
        print(f"\n{case.name}: {check.__name__} fails: {failure.text}")
        by_hand = twin.text if twin else "passes" if known else "is not loaded"
        print(f"its twin: {by_hand}\n{failure.trace[-3000:]}")
    return Cell(case, check.__name__, failure, shared)


def aoti_column(chosen: Sequence[Case], kept: Path | None) -> list[Cell]:
    """Return the cells of AOTInductor. The cases that pass become one program, which is left in `kept`."""
    failing = checks.aoti_failing(chosen, MINE)
    passing = [case for case in chosen if case not in failing]
    if kept is not None:
        checks.aoti_of(passing, [case.operator(MINE) for case in passing], kept)
    made = {case.name: cell(checks.aoti, case) for case in failing}
    return [made.get(case.name, Cell(case, "aoti", None)) for case in chosen]


def sweep(chosen: Sequence[Case], columns: Sequence[Check], kept: Path | None) -> list[Cell]:
    cells = []
    for check in columns:
        begun = time.monotonic()
        if check is checks.aoti:
            cells += aoti_column(chosen, kept)
        else:
            cells += [cell(check, case) for case in chosen]
        print(f"{check.__name__}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return cells


def table(cells: Sequence[Cell]) -> str:
    names = list(dict.fromkeys(c.check for c in cells))
    notes: dict[str, int] = {}
    lines = ["| | " + " | ".join(n.replace("_", " ") for n in names) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for case in dict.fromkeys(c.case.name for c in cells):
        row = []
        for c in (c for c in cells if c.case.name == case):
            if c.failure is None:
                row.append("✓")
            elif c.shared:
                row.append(f"[{notes.setdefault(c.failure.note, len(notes) + 1)}]")
            else:
                row.append("**fails**")
        lines.append(f"| `{case}` | " + " | ".join(row) + " |")
    said = [f"{number}. {text}" for text, number in notes.items()]
    return "\n".join([*lines, "", *said])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("twin", nargs="?")
    parser.add_argument("--all", action="store_true", help="run also the checks that compile C++")
    parser.add_argument("--only", default="", help="run only cases whose names contain this")
    parser.add_argument("--columns", nargs="*", help="run only these checks")
    parser.add_argument("--keep", type=Path, help="leave the program of AOTInductor in this folder")
    parser.add_argument("--write", type=Path, help="replace the table in this page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.ops.load_library(options.library)
    cases.register_fakes(MINE)
    if options.twin is not None:
        torch.ops.load_library(options.twin)
        cases.register_fakes(TWIN)
        cases.register_fakes_by_hand(TWIN)
    every = (*checks.QUICK, *(checks.COMPILERS if options.all or options.columns else ()))
    columns = [c for c in every if c.__name__ in (options.columns or [c.__name__])]
    cells = sweep([c for c in cases.CASES if options.only in c.name], columns, options.keep)
    made = table(cells)
    print(made)
    if options.write:
        head = options.write.read_text().split("<!-- table -->")[0]
        options.write.write_text(f"{head}<!-- table -->\n\n{made}\n")
    bad = [c for c in cells if c.failure is not None and not c.shared]
    shared = sum(c.shared for c in cells)
    print(f"{len(cells)} checks: {shared} fail as by hand, {len(bad)} fail")
    sys.exit(bool(bad))


main()
