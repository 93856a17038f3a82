"""Measure calls from Python of a generated package, of PyTorch and of NumPy, alternately in one process.

    python benchmarks/python_calls.py [--runs N] [--core K] [--build DIR] [--no-build] [--write]

Builds the four operators of `benchmarks/python` as a package with CMake and prints two Markdown tables. Times are
nanoseconds per call, median (min-max) of the runs, with one thread pinned to a core, minus the time of an empty loop.
valgrind counts instructions: the difference between two loops divided by the difference of their lengths, minus that of an
empty loop. "Binding" is the time of the call from Python minus that of the same call from C++. `--write` puts the tables into
benchmarks/RESULTS.md. Needs g++, CMake, Ninja, valgrind, and torch and NumPy to compare with.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from processes import run
from results import write_between

HERE = Path(__file__).resolve().parent
LOOPS = (2_000, 22_000)  # lengths of the two loops for counting instructions


@dataclass(frozen=True, slots=True)
class Form:
    """An expression: its name in the tables, and its form for each library."""

    name: str
    goal: int  # nanoseconds
    own: str
    torch: str
    numpy: str


FORMS = (
    Form("noop(a, b)", 60, "m.noop(a, b)", "f(a, b)", ""),
    Form("add(a, b)", 120, "m.add(a, b)", "m.add(a, b)", "m.add(a, b)"),
    Form("add(a, b, out=o)", 100, "m.add(a, b, out=o)", "m.add(a, b, out=o)", "m.add(a, b, out=o)"),
    Form("a.add_(b)", 90, "a.add_(b)", "a.add_(b)", "a += b"),
    Form("empty((2, 3))", 80, "m.empty((2, 3))", "m.empty((2, 3))", "m.empty((2, 3))"),
)
SIDES = ("own", "torch", "numpy")

# Code that runs before the expressions.
_SETUP = {
    "own": "import called as m; a = m.tensor([0.0]); b = m.tensor([0.0]); o = m.tensor([0.0])",
    "torch": """
import torch as m
m.set_num_threads(1)
mode = m.inference_mode(); mode.__enter__()  # not left again, so that PyTorch is as fast as possible
a = m.zeros(1); b = m.zeros(1); o = m.zeros(1)
f = m.ops.aten._has_compatible_shallow_copy_type  # its kernel only compares two keys
""",
    "numpy": """
import numpy as m
a = m.zeros(1, m.float32); b = m.zeros(1, m.float32); o = m.zeros(1, m.float32)
""",
}


def build(folder: Path) -> None:
    definitions = (
        f"-Dopgen_DIR={run(['opgen', '--cmake-dir']).strip()}",
        f"-DPython_EXECUTABLE={sys.executable}",
    )
    run(["cmake", "-S", HERE / "python", "-B", folder, "-G", "Ninja", *definitions])
    run(["cmake", "--build", folder])


def loop(setup: str, expression: str) -> Callable[[int], None]:
    """Return a function that evaluates the expression `count` times."""
    names: dict[str, object] = {"repeat": itertools.repeat, "m": None}
    exec(setup.strip(), names)
    given = ", ".join(f"{name}={name}" for name in ("m", "a", "b", "o", "f") if name in names)
    body = f"    for _ in repeat(None, count):\n        {expression or 'pass'}\n"
    exec(f"def loop(count, {given}):\n{body}", names)
    found = names["loop"]
    assert callable(found)
    return found


def timed(work: Callable[[int], None], count: int) -> float:
    """Return the nanoseconds of processor time per call."""
    start = time.process_time_ns()
    work(count)
    return (time.process_time_ns() - start) / count


def measure(folder: Path, runs: int) -> dict[str, dict[str, list[float]]]:
    """Return nanoseconds per call by form and side, one value for each run. Measures in this process."""
    times: dict[str, dict[str, list[float]]] = {form.name: {} for form in FORMS}
    empty = loop("", "")
    loops = {
        (form.name, side): loop(_SETUP[side], getattr(form, side))
        for form in FORMS
        for side in SIDES
        if getattr(form, side)
    }
    for _ in range(runs):
        for (name, side), work in loops.items():
            timed(work, 1_000)
            alone = timed(empty, 50_000)
            best = min(timed(work, 10_000) for _ in range(5))
            times[name].setdefault(side, []).append(best - alone)
        for form in FORMS:
            found = run([folder / "calls", form.name, "1000000"])
            times[form.name].setdefault("c++", []).append(float(found))
    return times


def instructions(command: Callable[[int], Sequence[str | Path]], **variables: str) -> float:
    """Return the instructions of one call in the command's loop."""
    totals = []
    for count in LOOPS:
        with tempfile.NamedTemporaryFile() as report:
            valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={report.name}"]
            run([*valgrind, *command(count)], **variables)
            total = re.search(r"^(?:totals|summary): (\d+)", Path(report.name).read_text(), re.M)
            assert total is not None
            totals.append(int(total[1]))
    return (totals[1] - totals[0]) / (LOOPS[1] - LOOPS[0])


def python_instructions(folder: Path, expression: str) -> float:
    def command(count: int) -> Sequence[str | Path]:
        asked = json.dumps([expression, count])
        return [sys.executable, __file__, "--build", folder, "--loop", asked]

    return instructions(command, PYTHONHASHSEED="0", PYTHONPATH=str(folder / "python"))


def cpp_instructions(folder: Path, form: str) -> float:
    return instructions(lambda count: [folder / "calls", form, str(count)])


def import_times(folder: Path, runs: int) -> list[float]:
    """Return the milliseconds of processor time of each import, each in a separate process."""
    program = "import time; s = time.process_time(); import called; print(time.process_time() - s)"
    variables = {"PYTHONPATH": str(folder / "python")}
    return [1e3 * float(run([sys.executable, "-c", program], **variables)) for _ in range(runs)]


def cell(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f}-{max(values):.0f})"


def tables(folder: Path, times: dict[str, dict[str, list[float]]], runs: int) -> Iterator[str]:
    yield "| call, ns | opgen | goal | PyTorch | NumPy | C++ | binding |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for form in FORMS:
        by_side = times[form.name]
        binding = [own - cpp for own, cpp in zip(by_side["own"], by_side["c++"])]
        cells = [cell(by_side[side]) if side in by_side else "" for side in SIDES]
        cells = [cells[0], str(form.goal), *cells[1:], cell(by_side["c++"]), cell(binding)]
        yield f"| `{form.name}` | {' | '.join(cells)} |"
    yield ""
    yield f"`import called`: {cell(import_times(folder, runs))} ms of processor time."
    yield ""
    yield "| call, instructions | opgen | C++ | binding |"
    yield "|---|---:|---:|---:|"
    empty = python_instructions(folder, "")
    for form in FORMS:
        own = python_instructions(folder, form.own) - empty
        cpp = cpp_instructions(folder, form.name)
        yield f"| `{form.name}` | {own:,.0f} | {cpp:,.0f} | {own - cpp:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--build", type=Path, default=HERE / "build" / "python")
    parser.add_argument("--no-build", action="store_true", help="the package is there already")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    parser.add_argument("--loop", help=argparse.SUPPRESS)  # the process under valgrind
    arguments = parser.parse_args()
    if arguments.loop is not None:
        expression, count = json.loads(arguments.loop)
        loop(_SETUP["own"], expression)(count)
        return
    if not arguments.no_build:
        build(arguments.build)
    os.sched_setaffinity(0, {arguments.core})
    sys.path.insert(0, str(arguments.build / "python"))
    lines = list(tables(arguments.build, measure(arguments.build, arguments.runs), arguments.runs))
    print("\n".join(lines))
    if arguments.write:
        write_between("python_calls.py", "\n".join(lines))


if __name__ == "__main__":
    main()
