"""Measure every operator of our own library, compared with PyTorch and, where it has the function, NumPy, in one process.

    python benchmarks/kernels.py [--operators REGEX] [--forms REGEX] [--dtypes D,D] [--sizes S,S] [--threads N,N]
                                 [--quick] [--busy] [--rounds N] [--all] [--build DIR] [--no-build] [--json FILE]
                                 [--read FILE] [--against FILE] [--write]

The calls are derived from native_functions.yaml (kernel_cases.py): every function and method that both libraries have in
Python, contiguous, strided, transposed, broadcast, beside tensors of other dtypes, and along the first, the middle, the last
and all dimensions. In each round, the sides run one after the other and the best of several batches counts; a ratio is that
of neighbouring times, and a row has the median of the rounds' ratios with the smallest and the largest. With several
threads, a side starts after those of the others have fallen asleep; they need all processors, so on a busy machine run it
with `chrt -f 10`.

Prints a table sorted by ratio, and the geometric mean of each family (the headings of the YAML). `--write` puts them into
benchmarks/RESULTS.md, and a picture into benchmarks/kernels.svg. `--all` measures all dtypes and sizes, which takes hours.
`--against` compares with the rows of an earlier `--json`, such as those of another machine or of OPGEN_CPU_CAPABILITY=avx2.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import torch
from kernel_cases import DTYPES, SIZES, Case, Cases
from processes import run
from results import write_between

HERE = Path(__file__).resolve().parent
YAML = HERE.parent / "native_functions.yaml"
# A call that takes less, for a million elements, does not read them: a view, a query.
CALL = 3e-6
# The goals, of torch's time and of NumPy's.
GOAL, MOST, MOST_OF_NUMPY = 0.9, 1.25, 1.05
WIDTH, HEIGHT, LEFT, BOTTOM = 900, 420, 60, 40

# What is measured, as JSON: the name of each field is that of a column.
Row = dict[str, Any]


def build(folder: Path) -> None:
    command = ["opgen", "build", YAML, "-o", folder, "--kernels", HERE.parent / "kernels"]
    run([*command, "--python", "-j", str(os.cpu_count() or 1)])


def clock_of(given: argparse.Namespace) -> Callable[[], float]:
    """Return the clock to measure with: on a busy machine, that of this thread, which stands still while others run."""
    return time.thread_time if given.busy else time.perf_counter


def timed(
    clock: Callable[[], float],
    work: Callable[..., Any],
    sets: Sequence[tuple[list[Any], dict[str, Any]]],
    times: int,
) -> float:
    """Return the seconds of one call; every set of arguments is used `times` times."""
    if len(sets) == 1:
        args, named = sets[0]
        if named:
            start = clock()
            for _ in repeat(None, times):
                work(*args, **named)
            return (clock() - start) / times
        start = clock()
        for _ in repeat(None, times):
            work(*args)
        return (clock() - start) / times
    start = clock()
    for args, named in sets:
        work(*args, **named)
    return (clock() - start) / len(sets)


class Measurement:
    """The calls of one case, with arguments whose memory the sides share."""

    def __init__(self, case: Case, clock: Callable[[], float], pause: float) -> None:
        self.case, self.clock, self.pause = case, clock, pause
        # What a call has changed is restored before the next batch.
        copies = 1 if not case.mutates or case.size in ("1M", "16M") else 16
        drawn = [case.arguments() for _ in range(copies)]
        self.sets = {side: [arguments[side] for arguments in drawn] for side in case.sides}
        self.restored = {
            side: [(tensor, tensor.clone()) for given in sets for tensor in _tensors_of(given)]
            for side, sets in self.sets.items()
            if case.mutates
        }
        self.times = dict.fromkeys(case.sides, 1)

    def best(self, side: str, batches: int) -> float:
        best = math.inf
        if self.pause:
            time.sleep(self.pause)
        for _ in range(batches):
            # By the side itself: its threads are awake then, and those of the others asleep.
            for tensor, first in self.restored.get(side, ()):
                tensor.copy_(first)
            took = timed(self.clock, self.case.sides[side], self.sets[side], self.times[side])
            best = min(best, took)
        return best

    def rounds(self, count: int, batches: int, batch: float) -> dict[str, list[float]]:
        """Return the seconds of a call by side, one for each round."""
        for side in self.case.sides:
            took = self.best(side, 2)
            if not self.restored:
                self.times[side] = max(1, min(10_000, round(batch / max(took, 1e-8))))
            if took > 0.3:
                count, batches = min(count, 3), 1
        found: dict[str, list[float]] = {side: [] for side in self.case.sides}
        for _ in range(count):
            for side in self.case.sides:
                found[side].append(self.best(side, batches))
        return found


def _tensors_of(given: tuple[list[Any], dict[str, Any]]) -> list[Any]:
    every = [*given[0], *given[1].values()]
    flat = [
        item for value in every for item in (value if isinstance(value, (list, tuple)) else [value])
    ]
    return [each for each in flat if hasattr(each, "clone")]


def measure(given: argparse.Namespace, threads: int) -> Iterator[Row]:
    """Measure in this process, which must have set the threads of our library in its environment."""
    sys.path.insert(0, str(given.build / "cmake-build" / "python"))
    own = importlib.import_module("aten")
    warnings.simplefilter("ignore")
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    cases = Cases(given.yaml, own)
    # Threads of OpenMP wait actively for milliseconds, on a processor that threads of the other side need.
    pause = 0.02 if threads > 1 else 0.0
    rounds, batches, batch = (3, 2, 1e-4) if given.quick else (given.rounds, 4, 3e-4)
    if threads > 1:
        batch = 2e-3
    for case in cases.find(given.operators, given.forms, given.dtypes, given.sizes):
        try:
            seconds = Measurement(case, clock_of(given), pause).rounds(rounds, batches, batch)
        except Exception as error:
            print(f"{case.name}: {error}", file=sys.stderr)
            continue
        row: Row = {
            "operator": case.operator,
            "family": case.family,
            "form": case.form,
            "dtype": case.dtype,
            "size": case.size,
            "threads": threads,
        }
        for side, values in seconds.items():
            row[side] = min(values)
            if side != "own":
                ratios = [a / b for a, b in zip(seconds["own"], values)]
                row[f"{side} ratio"] = [statistics.median(ratios), min(ratios), max(ratios)]
        yield row
    for name, why in cases.left_out.items():
        yield {"left out": name, "why": why}


def in_processes(given: argparse.Namespace) -> list[Row]:
    """Measure in a new process for each number of threads."""
    rows: list[Row] = []
    for threads in given.threads:
        command = [sys.executable, __file__, *sys.argv[1:], "--measure", str(threads)]
        variables = {
            **os.environ,
            "OPGEN_NUM_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads),
            # Threads of OpenBLAS sleep after 2**20 cycles, and not after 2**26.
            "OPENBLAS_THREAD_TIMEOUT": "20",
            # Freed memory stays: a call whose result gets new pages takes up to five times as long.
            "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
            "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
        }
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as process:
            assert process.stdout is not None
            for line in process.stdout:
                row = json.loads(line)
                rows.append(row)
                if "operator" in row:
                    print(_progress(row), file=sys.stderr)
        if process.returncode:
            sys.exit(f"the measuring process ended with {process.returncode}")
    return rows


def _progress(row: Row) -> str:
    name = " ".join(str(row[key]) for key in ("operator", "form", "dtype", "size", "threads"))
    against = f", NumPy {row['numpy ratio'][0]:.2f}" if "numpy ratio" in row else ""
    return f"{row['torch ratio'][0]:7.3f}  {name}{against}"


def is_call(row: Row) -> bool:
    """Return whether the row measures a call rather than a loop."""
    return bool(row["size"] in ("1M", "16M") and max(row["own"], row["torch"]) < CALL)


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def ratio_cell(ratio: Sequence[float]) -> str:
    return f"{ratio[0]:.2f} ({ratio[1]:.2f}-{ratio[2]:.2f})"


def means(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table of geometric means: a line for each family, a column for each dtype, size and number of threads."""
    columns = sorted(
        {(row["threads"], row["dtype"], row["size"]) for row in rows},
        key=lambda c: (c[0], c[1] != "float32", c[1], c[2]),
    )
    heads = [f"{d}, {s}, {'one thread' if t == 1 else f'{t} threads'}" for t, d, s in columns]
    yield f"| geometric mean of opgen's time over torch's | {' | '.join(heads)} |"
    yield f"|---|{'---:|' * len(columns)}"
    grouped: dict[str, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        column = (row["threads"], row["dtype"], row["size"])
        for family in (row["family"], "all"):
            grouped[family][column].append(row["torch ratio"][0])
    for family in sorted(grouped, key=lambda name: (name != "all", name)):
        cells = [
            (
                f"{geometric_mean(found):.2f} of {len(found)}"
                if (found := grouped[family].get(c))
                else ""
            )
            for c in columns
        ]
        yield f"| {family} | {' | '.join(cells)} |"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the rows, the slowest first."""
    yield "| operator | form | dtype | size | threads | opgen | torch | ratio to torch | ratio to NumPy |"
    yield "|---|---|---|---|---:|---:|---:|---|---|"
    for row in sorted(rows, key=lambda row: -float(row["torch ratio"][0])):
        cells = [row["operator"], row["form"], row["dtype"], row["size"], row["threads"]]
        cells += [duration(row["own"]), duration(row["torch"]), ratio_cell(row["torch ratio"])]
        cells.append(ratio_cell(row["numpy ratio"]) if "numpy ratio" in row else "")
        yield f"| {' | '.join(map(str, cells))} |"


def describe_processor() -> str:
    """Return the processor's name, and the instruction sets that both libraries choose on it."""
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    own = os.environ.get("OPGEN_CPU_CAPABILITY", "the highest")
    return (
        f"{found[1] if found else platform.machine()}; instruction set of torch: "
        f"{torch.backends.cpu.get_cpu_capability()}, of opgen: {own}"
    )


def comparison(rows: Sequence[Row], earlier: Sequence[Row]) -> Iterator[str]:
    """Yield how the ratios to torch of two runs differ, the largest increase first."""

    def ratios(of: Sequence[Row]) -> dict[tuple[Any, ...], float]:
        keys = ("operator", "form", "dtype", "size", "threads")
        return {
            tuple(row[key] for key in keys): row["torch ratio"][0]
            for row in of
            if "operator" in row and not is_call(row)
        }

    now, before = ratios(rows), ratios(earlier)
    shared = sorted(now.keys() & before.keys(), key=lambda key: before[key] / now[key])
    if not shared:
        yield "No row is in both runs."
        return
    change = geometric_mean([now[key] / before[key] for key in shared])
    yield f"{len(shared)} rows in both runs: their ratios to torch are {change:.2f} of the earlier ones in the geometric mean."
    yield ""
    yield "| operator | form | dtype | size | threads | ratio to torch, earlier | now |"
    yield "|---|---|---|---|---:|---:|---:|"
    for key in shared:
        yield f"| {' | '.join(map(str, key))} | {before[key]:.2f} | {now[key]:.2f} |"


def report(rows: Sequence[Row], only_above: float = 0.0) -> Iterator[str]:
    for row in rows:
        if "processor" in row:
            yield f"{row['processor']}."
            yield ""
    loops = [row for row in rows if "operator" in row and not is_call(row)]
    calls = sum(1 for row in rows if "operator" in row) - len(loops)
    left_out = [row for row in rows if "left out" in row]
    ratios = [row["torch ratio"][0] for row in loops]
    numpy = [row["numpy ratio"][0] for row in loops if "numpy ratio" in row]
    if not ratios:
        yield "No row."
        return
    yield from means(loops)
    yield ""
    yield (
        f"{len(ratios)} rows, {sum(r > MOST for r in ratios)} above {MOST}; compared with NumPy {len(numpy)} rows, geometric mean "
        f"{geometric_mean(numpy) if numpy else math.nan:.2f}, {sum(r > MOST_OF_NUMPY for r in numpy)} above {MOST_OF_NUMPY}. "
        f"{calls} rows of views and queries, which take less than {duration(CALL)}, are left out, and "
        f"{len(left_out)} operators that one of the two does not have in Python or rejects."
    )
    yield ""
    shown = [row for row in loops if row["torch ratio"][0] >= only_above]
    yield from table(shown)


def picture(rows: Sequence[Row]) -> str:
    """Return an SVG plot: the ratios to torch in ascending order, on a logarithmic scale, one colour for each size."""
    loops = [row for row in rows if "operator" in row and not is_call(row)]
    series: dict[str, list[float]] = defaultdict(list)
    for row in loops:
        threads = "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
        series[f"{row['dtype']}, {row['size']}, {threads}"].append(row["torch ratio"][0])
    low, high = 1 / 32, 32.0

    def y(ratio: float) -> float:
        share = math.log(min(max(ratio, low), high) / low) / math.log(high / low)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 20)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(-5, 6):
        at = y(2.0**power)
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        dash = "" if power == 0 else ' stroke-dasharray="2 4"'
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - 20}" stroke="gray"{dash}/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    colours = (
        "steelblue",
        "darkorange",
        "seagreen",
        "firebrick",
        "purple",
        "saddlebrown",
        "deeppink",
        "olive",
    )
    for number, (name, values) in enumerate(sorted(series.items())):
        colour = colours[number % len(colours)]
        values.sort()
        step = (WIDTH - LEFT - 20) / max(1, len(values) - 1)
        points = " ".join(f"{LEFT + i * step:.1f},{y(v):.1f}" for i, v in enumerate(values))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        at = 30 + 16 * number
        parts.append(
            f'<text x="{LEFT + 12}" y="{at}" fill="{colour}">{name}: {len(values)} rows</text>'
        )
    parts.append(
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">rows, by opgen\'s time over torch\'s</text>'
    )
    return "\n".join([*parts, "</svg>", ""])


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--operators", default="", help="operators that match, such as '^add'")
    parser.add_argument("--forms", default="", help="forms that match, such as strided")
    parser.add_argument("--dtypes", type=names, default=("float32",))
    parser.add_argument("--sizes", type=names, default=("1M",), help="of 1k, 64k, 1M and 16M")
    parser.add_argument(
        "--threads", default="1", type=lambda text: tuple(map(int, text.split(",")))
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument(
        "--busy", action="store_true", help="count this thread's processor time; for one thread"
    )
    parser.add_argument(
        "--all", action="store_true", help="all dtypes and sizes, one thread and all"
    )
    parser.add_argument("--yaml", type=Path, default=YAML)
    parser.add_argument("--build", type=Path, default=HERE / "build" / "kernels")
    parser.add_argument("--no-build", action="store_true", help="the package is there already")
    parser.add_argument(
        "--read", type=Path, nargs="+", help="rows of --json files instead of measuring"
    )
    parser.add_argument("--json", type=Path, help="the file that receives the rows")
    parser.add_argument("--against", type=Path, help="rows of an earlier --json to compare with")
    parser.add_argument("--above", type=float, default=0.0, help="the smallest ratio in the table")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # the process that measures
    given = parser.parse_args()
    if given.all:
        given.dtypes, given.sizes = DTYPES, tuple(SIZES)
        given.threads = tuple(sorted({1, os.cpu_count() or 1}))
    if given.measure is not None:
        for row in measure(given, given.measure):
            print(json.dumps(row), flush=True)
        return
    if given.read:
        rows = [row for path in given.read for row in json.loads(path.read_text())]
    else:
        if not given.no_build:
            build(given.build)
        if not given.busy and os.getloadavg()[0] > 0.5:
            print("the machine is busy: give --busy, or wait", file=sys.stderr)
        rows = [{"processor": describe_processor()}, *in_processes(given)]
    if given.json:
        given.json.write_text(json.dumps(rows))
    lines = list(report(rows, given.above))
    earlier = json.loads(given.against.read_text()) if given.against else None
    print("\n".join(lines if earlier is None else comparison(rows, earlier)))
    for row in rows:
        if "left out" in row:
            print(f"left out: {row['left out']}: {row['why']}", file=sys.stderr)
    if given.write:
        write_between("kernels.py", "\n".join(lines))
        (HERE / "kernels.svg").write_text(picture(rows))


if __name__ == "__main__":
    main()
