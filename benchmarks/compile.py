"""What it costs to compile against opgen's runtime: a header, and a library of five operators written by hand.

    python benchmarks/compile.py TREE [RUNS]

TREE: a tree that `opgen build` made of ../native_functions.yaml (its class Tensor and its runtime are used). Prints a
Markdown table: seconds of user time as median (min-max), and the size of the stripped library.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fno-gnu-unique")
HEADERS = ("opgen/tensor.h", "aten/ops/add.h", "opgen/library.h", "opgen/kernel.h")


def user_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def row(what: str, command: Sequence[str], runs: int) -> str:
    measured = [user_seconds(command) for _ in range(runs)]
    return (
        f"| {what} | {statistics.median(measured):.2f} ({min(measured):.2f}-{max(measured):.2f}) |"
    )


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tree = Path(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    runtime = tree / "cmake-build" / "opgen-runtime"
    compiler = ["g++", *FLAGS, f"-I{tree}/include", f"-I{HERE.parent}/runtime/include"]
    print("| what | seconds of user time |")
    print("|---|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for header in HEADERS:
            source = Path(folder, "one.cpp")
            source.write_text(f"#include <{header}>\n")
            command = [*compiler, "-c", str(source), "-o", f"{folder}/one.o"]
            print(row(f"`#include <{header}>`", command, runs))
        library = f"{folder}/libops5.so"
        source = HERE / "runtime" / "ops5.cpp"
        link = [f"-L{runtime}", "-lopgen_runtime"]
        command = [*compiler, "-shared", str(source), "-o", library, *link]
        print(row("five operators by hand, compile and link", command, runs))
        subprocess.run(["strip", library], check=True)
        print(f"\nThe library has {Path(library).stat().st_size:,} bytes, stripped.")


if __name__ == "__main__":
    main()
