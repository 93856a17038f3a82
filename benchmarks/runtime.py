"""Measure calls and loops of opgen's runtime and of libtorch, with the same expressions compiled for both.

    python benchmarks/runtime.py [--runs N] [--core K] [--build DIR] [--filter REGEX] [--program NAME] [--no-build] [--write]

Builds `benchmarks/runtime` and `benchmarks/peers` with CMake, runs the programs alternately, pinned to one core, and prints
a Markdown table for each program: nanoseconds per call as median (min-max) over the runs, ratios between neighbouring runs,
and instructions per call, counted by valgrind's callgrind as (I(2N) - I(N)) / N. `--write` puts each table into
its place in benchmarks/RESULTS.md. Needs g++, CMake, Ninja, Google Benchmark, valgrind and an installed torch.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from processes import run
from results import write_between

HERE = Path(__file__).resolve().parent
PROGRAMS = ("calls", "throughput", "tape")
SIDES = {"own": "runtime", "peer": "peers"}
TITLES = {
    "calls": "Calls, one thread",
    "throughput": "Large tensors, one thread",
    "tape": "Gradients, one thread",
}
# Groups of ids. The programs alternate after each group, so that the compared measurements are close in time.
GROUPS = {
    "calls": ("dispatch", "boxed", "tensor", "add", "meta"),
    "tape": ("tape.mul", "tape.backward", "tape.(chain|mixed)", "tape.record", "tape.mlp"),
    "throughput": (
        "add.*1M",
        "add.*16M",
        "add.(row|.*transposed)",
        "copy",
        "mul",
        "exp",
        "sum",
        "mm",
    ),
}

# program -> id -> numbers
Times = dict[str, list[float]]
Counts = dict[str, float]


def torch_root() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: it is needed for the comparison")
    return Path(spec.origin).parent


def build(folder: Path, programs: Sequence[str]) -> None:
    definitions = {
        "runtime": f"-Dopgen_DIR={run(['opgen', '--cmake-dir']).strip()}",
        "peers": f"-DTORCH_ROOT={torch_root()}",
    }
    for name, definition in definitions.items():
        run(["cmake", "-S", HERE / name, "-B", folder / name, "-G", "Ninja", definition])
        side = next(side for side, where in SIDES.items() if where == name)
        targets = [f"{side}_{program}" for program in programs]
        run(["cmake", "--build", folder / name, "--target", *targets])


def measure(program: Path, pattern: str, core: int) -> dict[str, float]:
    """Return nanoseconds of processor time per call by id: the median of five repetitions in one process."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        arguments = [
            f"--benchmark_filter=^{pattern}",
            "--benchmark_min_time=0.02",
            "--benchmark_repetitions=5",
            "--benchmark_report_aggregates_only=true",
            f"--benchmark_out={report.name}",
            "--benchmark_out_format=json",
        ]
        run(["taskset", "-c", str(core), program, *arguments], OMP_NUM_THREADS="1")
        measured = json.loads(Path(report.name).read_text())
    return {
        one["run_name"]: float(one["cpu_time"])
        for one in measured["benchmarks"]
        if one["aggregate_name"] == "median"
    }


def count(program: Path, wanted: str) -> Counts:
    """Return the instructions per call by id."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
        valgrind += [f"--callgrind-out-file={folder}/out", str(program)]
        run(valgrind, BENCH_INSTRUCTIONS=wanted, OMP_NUM_THREADS="1")
        totals: dict[str, dict[int, int]] = defaultdict(dict)
        for dump in Path(folder).iterdir():
            text = dump.read_text()
            trigger = re.search(r"Client Request: bench (\S+) (\d+)", text)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
            if trigger and total:
                totals[trigger[1]][int(trigger[2])] = int(total[1])
    counts = {}
    for name, by_calls in totals.items():
        (fewer, low), (more, high) = sorted(by_calls.items())
        counts[name] = (high - low) / (more - fewer)
    return counts


def number(nanoseconds: float) -> str:
    if nanoseconds >= 1e6:
        return f"{nanoseconds / 1e6:.2f} ms"
    if nanoseconds >= 1e4:
        return f"{nanoseconds / 1e3:.0f} us"
    return f"{nanoseconds:.1f}" if nanoseconds < 100 else f"{nanoseconds:.0f}"


def cell(values: Sequence[float]) -> str:
    return f"{number(statistics.median(values))} ({number(min(values))}-{number(max(values))})"


def table(own: Times, peer: Times, own_counts: Counts, peer_counts: Counts) -> list[str]:
    lines = [
        "| expression | opgen, ns | libtorch, ns | ratio | opgen, instr. | libtorch, instr. |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, values in own.items():
        theirs = peer.get(name)
        ratio = ""
        if theirs:
            ratios = [a / b for a, b in zip(values, theirs)]
            ratio = f"{statistics.median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f})"
        counts = [
            f"{source[name]:,.0f}" if name in source else "" for source in (own_counts, peer_counts)
        ]
        lines.append(
            f"| {name} | {cell(values)} | {cell(theirs) if theirs else ''} | {ratio} "
            f"| {' | '.join(counts)} |"
        )
    return lines


def part(program: str, folder: Path, runs: int, core: int, wanted: str) -> list[str]:
    """Return the lines of one program's table with its heading."""
    times: dict[str, Times] = {side: defaultdict(list) for side in SIDES}
    paths = {side: folder / name / f"{side}_{program}" for side, name in SIDES.items()}
    for _ in range(runs):
        for group in GROUPS[program]:
            for side, path in paths.items():
                for name, value in measure(path, group, core).items():
                    if re.search(wanted, name):
                        times[side][name].append(value)
    counts = {side: count(path, "") for side, path in paths.items()}
    return [
        f"### {TITLES[program]}",
        "",
        *table(times["own"], times["peer"], counts["own"], counts["peer"]),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--build", type=Path, default=HERE / "build")
    parser.add_argument("--filter", default="", help="ids that match are measured")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="default: all")
    parser.add_argument("--no-build", action="store_true", help="the programs are there already")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    arguments = parser.parse_args()
    programs: Sequence[str] = arguments.program or PROGRAMS
    if not arguments.no_build:
        build(arguments.build, programs)
    for program in programs:
        lines = part(program, arguments.build, arguments.runs, arguments.core, arguments.filter)
        print("\n".join(lines))
        if arguments.write:
            write_between(f"runtime.py {program}", "\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
