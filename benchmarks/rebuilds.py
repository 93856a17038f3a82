"""Count the units that Ninja compiles after edits of PyTorch's native_functions.yaml.

    python benchmarks/rebuilds.py [SHARDS ...]

Needs torch (for its packaged file). Builds a project with a kernel source for each root name and a program that includes every operator.
Instead of the compiler, it runs a program that follows the includes and writes correct depfiles and empty objects, so
that the same units are out of date, but nothing is compiled. Prints a Markdown table for each number of shards.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import opgen  # noqa: E402
from support.pytorch import packaged_native_functions  # noqa: E402
from support.rebuilds import GROUP, METHOD, Edit, Project, make_project, numbers  # noqa: E402

IGNORED = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")
CDIST = "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode)"
BINCOUNT = "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0)"
SEGMENT = "  autogen: _segment_reduce_backward.out\n"

EDITS = (
    Edit("nothing", "- func: bincount(", "- func: bincount("),
    Edit("a comment in the YAML", "- func: bincount(", "# Counts.\n- func: bincount("),
    Edit("a tag more", SEGMENT, SEGMENT + "  tags: nondeterministic_seeded\n"),
    Edit("a kernel's name", "CPU: _bincount_cpu\n", "CPU: bincount_on_cpu\n"),
    Edit("an additional argument of a function", CDIST, CDIST[:-1] + ", bool fast=False)"),
    Edit("an additional structured group, functions", "", GROUP),
    Edit("an additional argument of a method", BINCOUNT, BINCOUNT[:-1] + ", bool fast=False)"),
    Edit("an additional operator, a method", "", METHOD),
)


def row(project: Project, edit: Edit) -> str:
    counted = project.after(edit)
    kinds = ", ".join(f"{n} {kind}" for kind, n in numbers(counted.generated).items())
    if len(counted.generated) > 20:
        kinds = "all that include class Tensor"
    return f"| {edit.what} | {counted.total:,} | {len(counted.generated):,} | {len(counted.written):,} | {kinds} |"


def main() -> None:
    yaml = packaged_native_functions()
    registry = opgen.load(opgen.Inputs(yaml, ignore_keys=IGNORED))
    roots = sorted({f.root_name for f in registry.functions})
    for shards in map(int, sys.argv[1:] or ["1", "8"]):
        with tempfile.TemporaryDirectory() as folder:
            options = f"--ignore-keys {','.join(IGNORED)}"
            project = make_project(Path(folder), yaml, roots, shards=shards, options=options)
            compiled = project.build.folder.rglob("*.o")
            print(
                f"\n--shards {shards}: {sum(1 for _ in compiled)} units in all, {len(roots) + 1} of them not generated\n"
            )
            print("| edit | compiled | generated | hand-written | generated units |")
            print("|---|---:|---:|---:|---|")
            for edit in EDITS:
                print(row(project, edit), flush=True)
            project.yaml.write_text(project.yaml.read_text() + GROUP)
            project.build.build()
            gone = Edit("that group removed again", GROUP, "")
            print(row(project, gone), flush=True)


if __name__ == "__main__":
    main()
