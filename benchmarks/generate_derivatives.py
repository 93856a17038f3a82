"""Measure the generation of gradients for PyTorch's native_functions.yaml with opgen and with torchgen.

    python benchmarks/generate_derivatives.py [RUNS] [--folder DIR] [--write]

Needs torch (for torchgen and its packaged files). Runs whole processes alternately: opgen generate into a new folder,
without and with PyTorch's derivatives.yaml, and torchgen's gen_autograd, which is a program of its own. Prints Markdown
tables: seconds as minimum, median and maximum over the runs, the differences between neighbouring runs, and the lines of
the sources with nodes and kernels of autograd. --write puts them into RESULTS.md. Outputs are written to --folder
(default: the system's temporary folder).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from generate import Measured, opgen_command, packaged, run, spread
from results import write_between

# Writes torchgen's sources of autograd, without Python bindings.
AUTOGRAD = """
import sys
from torchgen.packaged.autograd.gen_autograd import gen_autograd
from torchgen.selective_build.selector import SelectiveBuilder
native, tags, out, autograd = sys.argv[1:]
gen_autograd(native, tags, out, autograd, SelectiveBuilder.get_nop_selector())
"""
NAMES = {
    "without": "opgen generate, without formulas",
    "with": "opgen generate, with formulas",
    "torchgen": "torchgen's gen_autograd",
}


def torchgen_command(source: Path, output: Path) -> list[str]:
    output.mkdir(parents=True, exist_ok=True)
    files = [source / "native/native_functions.yaml", source / "native/tags.yaml", output]
    return [sys.executable, "-c", AUTOGRAD, *map(str, (*files, source.parent / "autograd"))]


def measure(runs: int, folder: Path) -> dict[str, Measured]:
    """Run the commands alternately, `runs` times each, after a run that compiles modules."""
    source = packaged()
    yaml = source / "native" / "native_functions.yaml"
    formulas = ["--derivatives", str(source.parent / "autograd" / "derivatives.yaml")]
    measured = {name: Measured() for name in NAMES}
    run([*opgen_command(yaml, folder / "warm-up"), *formulas])
    for _ in range(runs):
        for name in ("without", "with"):
            shutil.rmtree(folder / name, ignore_errors=True)
        run(opgen_command(yaml, folder / "without"), measured["without"])
        run([*opgen_command(yaml, folder / "with"), *formulas], measured["with"])
        run(torchgen_command(source, folder / "torchgen"), measured["torchgen"])
    return measured


def times(measured: dict[str, Measured]) -> Iterator[str]:
    yield "| command | seconds, min / median / max | processor seconds | peak MB |"
    yield "|---|---|---|---:|"
    for name, text in NAMES.items():
        one = measured[name]
        cells = (text, spread(one.seconds, 2), spread(one.processor_seconds, 2))
        yield f"| {' | '.join(cells)} | {max(one.megabytes):.0f} |"
    pairs = zip(measured["with"].processor_seconds, measured["without"].processor_seconds)
    added = spread([a - b for a, b in pairs], 2)
    yield ""
    yield f"The formulas add {added} processor seconds to a neighbouring run (goal: 0.25)."


def lines_in(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def lines(folder: Path) -> Iterator[str]:
    """Return a table of the lines of both programs' sources, in total and for each recorded operator."""
    sources = tuple((folder / "with" / "src").glob("Derivatives*.cpp"))
    ours = lines_in(sources)
    names = ("VariableType_[0-9]*.cpp", "VariableType.h", "Functions.cpp", "Functions.h")
    theirs = lines_in(path for name in names for path in (folder / "torchgen").glob(name))
    count = sum(path.read_text().count("opgen::autograd::recorded<") for path in sources)
    yield "| nodes and kernels of autograd | lines | for each recorded operator |"
    yield "|---|---:|---:|"
    yield f"| torchgen: `VariableType` and `Functions` | {theirs:,} | {theirs / count:.1f} |"
    yield f"| opgen: `Derivatives.cpp` | {ours:,} | {ours / count:.1f} |"
    yield ""
    yield f"{count:,} operators are recorded; opgen writes {ours / theirs:.3f} of the lines (goal: 1/6)."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--folder", type=Path, help="where outputs are written")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        measured = measure(given.runs, Path(name))
        text = "\n".join([*times(measured), "", *lines(Path(name))])
    print(text)
    if given.write:
        write_between("generate_derivatives.py", text)


if __name__ == "__main__":
    main()
