"""Measure the time to compile a header of opgen's runtime, and a library of five operators, by hand and generated.

    python benchmarks/compile.py TREE [RUNS]

TREE: the output folder of `opgen build` for ../native_functions.yaml (its class Tensor and its runtime are used).
Prints a Markdown table of processor seconds (user and system) as median (min-max), and the size of the stripped
libraries. It compiles the generated library from scratch, without `opgen generate`, with two compilers at a time:
first as opgen's CMake functions compile a small library (all generated sources as one unit, and the kernels as
another), then source by source. Wall times are not meaningful on a busy machine. The table therefore also shows the
longest unit, which is the minimum for two idle processors, and the total time of all units.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fno-gnu-unique")
HEADERS = ("opgen/tensor.h", "aten/ops/add.h", "opgen/library.h", "opgen/kernel.h")


def processor_seconds(command: Sequence[str]) -> float:
    """Return the user and system seconds of a command and its child processes."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def cells(what: str, measured: Sequence[float]) -> str:
    return (
        f"| {what} | {statistics.median(measured):.2f} ({min(measured):.2f}-{max(measured):.2f}) |"
    )


def row(what: str, command: Sequence[str], runs: int) -> str:
    return cells(what, [processor_seconds(command) for _ in range(runs)])


def sized(library: str) -> str:
    subprocess.run(["strip", library], check=True)
    return f"{Path(library).stat().st_size:,} bytes, stripped"


def generated(tree: Path, compiler: Sequence[str], folder: Path, runs: int) -> list[str]:
    """Return the rows of the table for the library of ops5.yaml."""
    opgen = [sys.executable, "-c", "from opgen.cli.main import main; main()"]
    output, base = folder / "ops5", tree / "opgen_manifest.json"
    yaml = HERE / "runtime" / "ops5.yaml"
    started = time.perf_counter()
    command = [*opgen, "generate", str(yaml), "-o", str(output), "--extends", str(base)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    taken = time.perf_counter() - started
    generated_units = sorted([*output.glob("src/*.cpp"), *output.glob("stubs/*.cpp")])
    one = folder / "one_unit.cpp"
    one.write_text("".join(f'#include "{unit}"\n' for unit in generated_units))
    kernels = HERE / "runtime" / "ops5_kernels.cpp"
    runtime = tree / "cmake-build" / "opgen-runtime"
    library = str(folder / "libops5_generated.so")
    lines: list[str] = []
    for units in ([*generated_units, kernels], [one, kernels]):
        objects = [f"{folder}/{i}.o" for i in range(len(units))]
        commands = [
            [*compiler, f"-I{output}/include", "-c", str(unit), "-o", target]
            for unit, target in zip(units, objects, strict=True)
        ]
        link = ["g++", "-shared", *objects, "-o", library, f"-L{runtime}", "-lopgen_core"]
        walls, totals, longest = [], [], []
        for _ in range(runs):
            started = time.perf_counter()
            with ThreadPoolExecutor(2) as two:
                taken_by = list(two.map(processor_seconds, commands))
            linking = processor_seconds(link)
            walls.append(time.perf_counter() - started)
            totals.append(sum(taken_by) + linking)
            longest.append(max(max(taken_by), sum(taken_by) / 2) + linking)
        what = f"the same generated, {len(units)} units and link"
        lines += [
            cells(f"{what}: wall, -j2", walls),
            cells(f"{what}: the longest unit, or half of all, and link", longest),
            cells(f"{what}: all of it", totals),
        ]
    return [
        *lines,
        f"\n`opgen generate` took {taken:.2f} s. The generated library has {sized(library)}.",
    ]


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tree = Path(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    runtime = tree / "cmake-build" / "opgen-runtime"
    compiler = ["g++", *FLAGS, f"-I{tree}/include", f"-I{HERE.parent}/runtime/include"]
    print("| source | seconds |")
    print("|---|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for header in HEADERS:
            source = Path(folder, "one.cpp")
            source.write_text(f"#include <{header}>\n")
            command = [*compiler, "-c", str(source), "-o", f"{folder}/one.o"]
            print(row(f"`#include <{header}>`", command, runs))
        library = f"{folder}/libops5.so"
        source = HERE / "runtime" / "ops5.cpp"
        link = [f"-L{runtime}", "-lopgen_core"]
        command = [*compiler, "-shared", str(source), "-o", library, *link]
        print(row("five operators by hand, compile and link", command, runs))
        print("\n".join(generated(tree, compiler, Path(folder), runs)))
        print(f"The library by hand has {sized(library)}.")


if __name__ == "__main__":
    main()
