"""Measure time and memory of generating code from PyTorch's native_functions.yaml with opgen and with torchgen.

    python benchmarks/generate.py [RUNS] [--folder DIR] [--write]

Needs torch (for torchgen and its packaged files). Runs whole processes alternately. Prints Markdown tables: wall seconds as
minimum, median and maximum over the runs, ratios between neighbouring runs, and the largest resident set; then the
processor time of each stage. --write puts them into RESULTS.md.

"torchgen, reduced" leaves out parts that have no counterpart in opgen: functionalization, vmap plumbing, the
AOTInductor shim and Declarations.yaml. Outputs are written to --folder (default: the system's temporary folder). They
are all removed at the end, because ext4 takes a long time to allocate inodes after many were freed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from results import write_between

HERE = Path(__file__).resolve().parent
IGNORED = "MPS,SparseMPS,SparseCsrMPS,XPU,MTIA"
PROGRAM = (sys.executable, "-c", "from opgen.cli.main import main; main()")
# The edit: a changed default of one operator.
EDITED = re.compile(rb"(- func: bincount\(Tensor self, Tensor\? weights=None, SymInt minlength=)0")

REDUCED = """
import torchgen.gen as g
for name in (
    "definition", "registration", "view_inverse_declaration", "view_meta_classes_decl", "view_meta_classes_impl",
):
    setattr(g, "gen_functionalization_" + name, lambda *_: [])
g.gen_all_vmap_plumbing = lambda *_: ""
g.gen_aoti_c_shim_files = lambda *_, **__: None
g.main()
"""

STAGES = """
import gc, sys, time
gc.disable()
def lap(name, began):
    now = time.process_time()
    print(f"{name}\\t{now - began:.4f}")
    return now
now = lap("Python itself", 0.0)
import opgen.cli.main, opgen.cli.generating
from opgen.pipeline import checking, generating as g, loading
from opgen.pipeline.inputs import Inputs
import opgen.io.writer
from pathlib import Path
now = lap("imports", now)
inputs = Inputs((Path(sys.argv[1]),), ignore_keys=tuple(sys.argv[3].split(",")))
found = g.Diagnostics()
sources = [g.with_contents(inputs)]
registry = g.read_registry(sources[0], found)
now = lap("parse and resolve", now)
g.read_registry = lambda *_: registry
context = g.checked_context(sources[0], found)
now = lap("checks", now)
contents = tuple(g.build_files(context))
now = lap("emit", now)
files = g.Renderer(*g.target_templates(context.target.plan.templates)).render_all(contents)
now = lap("render", now)
tree = g.Tree(files, g.manifest_header(context, files))
now = lap("manifest", now)
opgen.io.writer.write(tree, Path(sys.argv[2]), found)
now = lap("write", now)
"""


@dataclass
class Measured:
    """Measurements of one command, one value for each run."""

    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)


def packaged() -> Path:
    """Return the folder of the schema files in the package torchgen."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: torchgen is needed for the comparison")
    return Path(spec.origin).parent / "packaged" / "ATen"


def opgen_command(yaml: Path, output: Path, command: str = "generate") -> list[str]:
    return [*PROGRAM, command, str(yaml), "-o", str(output), "--ignore-keys", IGNORED]


def torchgen_command(source: Path, output: Path, *, reduced: bool) -> list[str]:
    aoti = output / "aoti"
    aoti.mkdir(parents=True, exist_ok=True)
    program = ["-c", REDUCED] if reduced else ["-m", "torchgen.gen"]
    options = ["-s", str(source), "-d", str(output), "--per-operator-headers"]
    shim = ["--aoti-install-dir", str(aoti), "--update-aoti-c-shim"]
    only = ["--generate", "headers", "sources"] if reduced else []
    return [sys.executable, *program, *options, *shim, *only]


def run(command: Sequence[str], into: Measured | None = None) -> None:
    """Run `command` with compiled modules, like an installed program."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    if into is not None:
        into.seconds.append(seconds)
        into.processor_seconds.append(used.ru_utime + used.ru_stime)
        into.megabytes.append(used.ru_maxrss / 1024)


def states(folder: Path) -> dict[str, tuple[int, int]]:
    found = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): (seen.st_mtime_ns, seen.st_ino)
        for path, seen in found
        if path.name not in (".opgen_stamp", ".opgen_stamp_digests")
    }


def rewritten(before: dict[str, tuple[int, int]], folder: Path) -> list[str]:
    after = states(folder)
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def measure(runs: int, folder: Path) -> tuple[dict[str, Measured], list[str]]:
    """Run all commands alternately, `runs` times each; also return the files that the edit of an entry rewrote."""
    source = packaged()
    own = HERE.parent / "native_functions.yaml"
    yaml = folder / "native_functions.yaml"
    shutil.copy(source / "native" / "tags.yaml", folder)
    text = (source / "native" / "native_functions.yaml").read_bytes()
    edited, count = EDITED.subn(rb"\g<1>1", text)
    assert count == 1, "the entry to edit is not there"
    names = ("full", "reduced", "cold", "again", "edit", "check", "own")
    measured = {name: Measured() for name in names}
    changed: list[str] = []
    yaml.write_bytes(text)
    run(opgen_command(yaml, folder / "warm-up"))
    for turn in range(runs):
        ours, ours_own = folder / f"opgen-{turn}", folder / f"own-{turn}"
        yaml.write_bytes(text)
        peer = torchgen_command(source, folder / f"full-{turn}", reduced=False)
        run(peer, measured["full"])
        run(opgen_command(yaml, ours), measured["cold"])
        peer = torchgen_command(source, folder / f"reduced-{turn}", reduced=True)
        run(peer, measured["reduced"])
        run(opgen_command(yaml, ours), measured["again"])
        run(opgen_command(yaml, ours, "check"), measured["check"])
        before = states(ours)
        yaml.write_bytes(edited)
        run(opgen_command(yaml, ours), measured["edit"])
        changed = rewritten(before, ours)
        run([*PROGRAM, "generate", str(own), "-o", str(ours_own)], measured["own"])
    return measured, changed


def spread(values: Sequence[float], digits: int) -> str:
    return " / ".join(
        f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values))
    )


def ratios(ours: Measured, peer: Measured) -> str:
    return spread([a / b for a, b in zip(ours.seconds, peer.seconds)], 3)


def row(what: str, goal: str, measured: dict[str, Measured], name: str) -> str:
    one = measured[name]
    cells = (
        what,
        goal,
        spread(one.seconds, 2),
        ratios(one, measured["full"]),
        ratios(one, measured["reduced"]),
        spread(one.processor_seconds, 2),
        f"{max(one.megabytes):.0f}",
    )
    return f"| {' | '.join(cells)} |"


def table(measured: dict[str, Measured], changed: Sequence[str]) -> Iterator[str]:
    heads = ("command", "goal", "seconds, min / median / max", "ratio to full", "ratio to reduced")
    yield f"| {' | '.join(heads)} | processor seconds | peak MB |"
    yield "|---|---|---|---|---|---|---:|"
    yield row("torchgen, full", "", measured, "full")
    yield row("torchgen, reduced", "", measured, "reduced")
    yield row("opgen generate, cold", "1/10 of full, 1/7 of reduced", measured, "cold")
    yield row("nothing changed", "0.15 s", measured, "again")
    yield row("one entry edited", "as a cold run", measured, "edit")
    yield row("opgen check, up to date", "as a cold run", measured, "check")
    yield row("our own operators, cold", "0.35 s", measured, "own")
    yield ""
    told = f"The edit, a default of `bincount`, rewrote {len(changed)} files: "
    yield told + ", ".join(f"`{path}`" for path in changed) + "."


def profile(folder: Path, runs: int) -> Iterator[str]:
    """Return a table of the processor time of each stage."""
    yaml = packaged() / "native" / "native_functions.yaml"
    laps: dict[str, list[float]] = {}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(runs):
        command = [sys.executable, "-c", STAGES, str(yaml), str(folder / f"laps-{turn}"), IGNORED]
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        for line in out.stdout.splitlines():
            name, _, seconds = line.partition("\t")
            laps.setdefault(name, []).append(float(seconds))
    whole = sum(min(values) for values in laps.values())
    yield "| stage | processor seconds, min / median / max | share of the minima |"
    yield "|---|---|---:|"
    for name, values in laps.items():
        yield f"| {name} | {spread(values, 3)} | {min(values) / whole:.0%} |"
    yield f"| all | {whole:.3f} (minima) | |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--folder", type=Path, help="where outputs are written")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        measured, changed = measure(given.runs, Path(folder))
        lines = [*table(measured, changed), "", *profile(Path(folder), given.runs)]
    print("\n".join(lines))
    if given.write:
        write_between("generate.py", "\n".join(lines))


if __name__ == "__main__":
    main()
