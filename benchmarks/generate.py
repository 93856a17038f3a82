"""Time of generating from PyTorch's native_functions.yaml: opgen beside torchgen, in turn, as whole processes.

    python benchmarks/generate.py [RUNS]

Needs torch (for torchgen and its packaged files). Prints a Markdown table: seconds of wall time as median (min-max)
over the runs, and the ratio of each pair of neighbouring runs.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

IGNORED = "MPS,SparseMPS,SparseCsrMPS,XPU,MTIA"


def packaged() -> Path:
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: there is no torchgen to compare with")
    return Path(spec.origin).parent / "packaged" / "ATen"


def opgen_command(yaml: Path, output: Path, command: str = "generate") -> list[str]:
    program = [sys.executable, "-c", "from opgen.cli.main import main; main()"]
    return [*program, command, str(yaml), "-o", str(output), "--ignore-keys", IGNORED]


def torchgen_command(source: Path, output: Path) -> list[str]:
    output.mkdir(parents=True, exist_ok=True)
    program = [sys.executable, "-m", "torchgen.gen", "-s", str(source), "-d", str(output)]
    aoti = output / "aoti"
    aoti.mkdir(exist_ok=True)
    return [
        *program,
        "--per-operator-headers",
        "--aoti-install-dir",
        str(aoti),
        "--update-aoti-c-shim",
    ]


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def row(name: str, measured: list[float], peer: list[float] | None = None) -> str:
    cells = [f"{statistics.median(measured):.2f} ({min(measured):.2f}-{max(measured):.2f})"]
    if peer is None:
        cells.append("1")
    else:
        ratios = [a / b for a, b in zip(measured, peer)]
        cells.append(f"{statistics.median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f})")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    source = packaged()
    yaml = source / "native" / "native_functions.yaml"
    measured: dict[str, list[float]] = {"torchgen": [], "cold": [], "again": [], "check": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = Path(folder, "opgen"), Path(folder, "torchgen")
            steps: list[tuple[str, Callable[[], list[str]]]] = [
                ("torchgen", lambda theirs=theirs: torchgen_command(source, theirs)),  # type: ignore[misc]
                ("cold", lambda ours=ours: opgen_command(yaml, ours)),  # type: ignore[misc]
                ("again", lambda ours=ours: opgen_command(yaml, ours)),  # type: ignore[misc]
                ("check", lambda ours=ours: opgen_command(yaml, ours, "check")),  # type: ignore[misc]
            ]
            for name, command in steps:
                measured[name].append(seconds(command()))
    print("| what | seconds | of torchgen |")
    print("|---|---|---|")
    print(row("torchgen.gen, full", measured["torchgen"]))
    print(row("opgen generate, cold", measured["cold"], measured["torchgen"]))
    print(row("opgen generate, nothing changed", measured["again"], measured["torchgen"]))
    print(row("opgen check, up to date", measured["check"], measured["torchgen"]))


if __name__ == "__main__":
    main()
