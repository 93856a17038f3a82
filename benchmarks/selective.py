"""Measure size and loading time of selective builds with 5, 80 and all operators.

    python benchmarks/selective.py FOLDER [--runs N] [--no-build] [--write]

Builds native_functions.yaml with its kernels in FOLDER/5, FOLDER/5-Float, FOLDER/80 and FOLDER/all with `opgen select`
and `opgen build --select` (a quarter of an hour of processor time), and only the registrations of PyTorch's file, like
startup.py. The 80 are the first operators by name with the tag core. 5-Float has the 5 operators with a `kernel_metadata` that
keeps only the type Float in the kernels. Prints Markdown tables: bytes of the stripped
library, rows of its tables, and milliseconds of processor time of `dlopen` as median (min-max), each in a separate
process. `--write` puts them into benchmarks/RESULTS.md. Needs g++, CMake, Ninja, and torch for its YAML.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import startup
from processes import run
from results import write_between

REPOSITORY = Path(__file__).resolve().parents[1]
OPGEN = startup.OPGEN
FIVE = ("aten::add.Tensor", "aten::mul.Tensor", "aten::relu", "aten::mm", "aten::sum.dim_IntList")

Fact = dict[str, Any]


def dump(yaml: Path, *given: str) -> list[Fact]:
    return list(json.loads(run([*OPGEN, "dump", str(yaml), *given])))


def first_80(operators: Iterable[Fact]) -> list[str]:
    """Return the selected names, which have no namespace in PyTorch's file."""
    named = ((f["name"], f["tags"]) for f in operators)
    full = ((n if "::" in n else f"aten::{n}", tags) for n, tags in named)
    return sorted(name for name, tags in full if "core" in tags)[:80]


def selection(yaml: Path, operators: Iterable[str], folder: Path) -> Path:
    """Return the selective-build YAML for a list of names, including the operators that they need."""
    names = folder / "names"
    names.write_text("\n".join(operators))
    path = folder / "selective.yaml"
    path.write_text(run([*OPGEN, "select", yaml, "--from-registrations", names]))
    return path


def of_float(path: Path) -> Path:
    """Add `kernel_metadata` to `path` that restricts all dispatches of the kernels to the element type Float."""
    sources = "".join(p.read_text() for p in (REPOSITORY / "kernels").iterdir())
    names = re.findall(r'OPGEN_DISPATCH\w*\([^"]*?"(\w+)"', sources)
    rows = "".join(f"  {name}: [Float]\n" for name in sorted(set(names)))
    path.write_text(f"{path.read_text()}kernel_metadata:\n{rows}")
    return path


def row(what: str, operators: int, rows: int, library: Path, program: Path, runs: int) -> str:
    stripped = library.with_suffix(".stripped")
    shutil.copy(library, stripped)
    run(["strip", stripped])
    times = [float(run([program, library]).split()[0]) for _ in range(runs)]
    spread = f"{statistics.median(times):.2f} ({min(times):.2f}-{max(times):.2f})"
    return f"| {what} | {operators} | {rows} | {stripped.stat().st_size:,} | {spread} |"


HEAD = (
    "| library | operators | rows of kernels | bytes, stripped | dlopen, ms |\n"
    "|---|---:|---:|---:|---:|"
)


def own(folder: Path, runs: int, build: bool) -> list[str]:
    """Return the rows for our own operators with their kernels."""
    yaml = REPOSITORY / "native_functions.yaml"
    operators = dump(yaml)
    wanted = {"5": FIVE, "5-Float": FIVE, "80": first_80(operators), "all": None}
    lines: list[str] = []
    program: Path | None = None
    for name, names in wanted.items():
        tree = folder / name
        with tempfile.TemporaryDirectory() as made:
            chosen = None if names is None else selection(yaml, names, Path(made))
            if chosen is not None and name.endswith("Float"):
                of_float(chosen)
            select = [] if chosen is None else ["--select", str(chosen)]
            if build:
                kernels = ["--kernels", str(REPOSITORY / "kernels")]
                run([*OPGEN, "build", str(yaml), *select, *kernels, "-o", str(tree)])
            rows = dump(yaml, "--stage", "registrations", *select)
        if program is None:
            runtime = tree / "cmake-build" / "opgen-runtime"
            program = folder / "start"
            startup.compile_program(folder, runtime, ["-o", str(program)], startup.MAIN)
        kept = {one["schema"] for one in rows}
        library = tree / "cmake-build" / "libaten.so"
        count = len(operators) if names is None else len(kept)
        lines.append(row(f"our own, {name}", count, len(rows), library, program, runs))
    return lines


def pytorchs(folder: Path, runs: int) -> list[str]:
    """Return the rows for the registrations of PyTorch's file, without kernels."""
    yaml = startup.packaged()
    operators = dump(yaml)
    lines = []
    for name, names in (("5", list(FIVE)), ("80", first_80(operators)), ("all", None)):
        chosen = None if names is None else selection(yaml, names, folder)
        given = [] if chosen is None else ["--select", str(chosen)]
        rows = dump(yaml, "--stage", "registrations", *given)
        kept = {one["schema"] for one in rows}
        few = [f for f in operators if names is None or f["schema"] in kept]
        library = folder / f"libtorch_{name}.so"
        text = startup.source(few, rows, kernels=True)
        arguments = ["-shared", "-o", str(library)]
        startup.compile_program(folder, folder / "runtime", arguments, text)
        held = sum(one["key"] in startup.KEYS for one in rows)
        what = f"PyTorch's, registrations of {name}"
        lines.append(row(what, len(few), held, library, folder / "start", runs))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    folder = given.folder.resolve()
    lines = [HEAD, *own(folder, given.runs, not given.no_build)]
    link = folder / "runtime"
    if not link.exists():
        link.symlink_to(folder / "5" / "cmake-build" / "opgen-runtime")
    lines += pytorchs(folder, given.runs)
    text = "\n".join(lines)
    print(text)
    if given.write:
        write_between("selective.py", text)


if __name__ == "__main__":
    main()
