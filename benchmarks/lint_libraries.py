"""Measure the time to lint the operators of many libraries: a YAML file for each, all in one process.

    python benchmarks/lint_libraries.py SCHEMAS.json [--runs N] [--write]

SCHEMAS.json: a list of objects with `project` and `schema`, as in `{"project": "owner/name", "schema":
"ns::f(Tensor x) -> Tensor"}`. The schemas of each namespace of a project become a file, with a CPU kernel for
each operator, or a kernel for all backends if it has no tensor argument. Schemas of `aten`, and schemas that PyTorch rejects (`torch` is
null), are left out. Each run is a separate process, measured from its start including imports. Wall and processor
seconds, minimum, median and maximum. `--write` puts the table into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from compile import processor_seconds
from results import write_between

from opgen.diagnostics import Diagnostics
from opgen.pipeline.checking import inspect
from opgen.pipeline.inputs import Inputs

GOAL = 2.0
_TENSOR = re.compile(r"(?<![\w(])Tensor(\([^)]*\))?!? ?\w")


def write_files(rows: list[dict[str, Any]], folder: Path) -> tuple[int, int]:
    """Write the YAML files of the schemas; return the numbers of files and of schemas."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        namespace, _, schema = row["schema"].partition("::")
        rejected = row.get("torch", "") is None or schema.endswith("-> None")
        if namespace != "aten" and not rejected:
            groups[row["project"], namespace].append(schema)
    for i, ((_, namespace), schemas) in enumerate(sorted(groups.items())):
        name = f"q{i}_{namespace}"
        entries = [f"- namespace: {name}\n"]
        for n, schema in enumerate(schemas):
            takes_tensors = _TENSOR.search(schema.partition("->")[0])
            key = "CPU" if takes_tensors else "CompositeExplicitAutograd"
            entries.append(f"- func: {json.dumps(schema)}\n  dispatch:\n    {key}: kernel_{n}\n")
        (folder / f"{name}.yaml").write_text("".join(entries))
    return len(groups), sum(map(len, groups.values()))


def lint(folder: Path) -> Counter[str]:
    """Return the number of diagnostics for each code."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("*.yaml")):
        diagnostics = Diagnostics()
        inspect(Inputs((path,), target="torch"), diagnostics, unsupported=True)
        found.update(str(each.code) for each in diagnostics)
    return found


def cells(taken: list[float]) -> str:
    return f"{min(taken):.2f} / {statistics.median(taken):.2f} / {max(taken):.2f}"


def table(rows: list[dict[str, Any]], runs: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        files, schemas = write_files(rows, Path(name))
        command = [sys.executable, __file__, "--lint", name]
        said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        wall, processor = [], []
        for _ in range(runs):
            started = time.perf_counter()
            processor.append(processor_seconds([*command, "--quiet"]))
            wall.append(time.perf_counter() - started)
    codes = ", ".join(f"{code} {count}" for code, count in sorted(said.items()))
    return "\n".join(
        [
            "| files | schemas | goal, s | seconds, min / median / max | processor seconds |",
            "|---:|---:|---:|---|---|",
            f"| {files} | {schemas:,} | {GOAL:.0f} | {cells(wall)} | {cells(processor)} |",
            "",
            f"Reported, by code: {codes}.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("schemas", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--lint", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lint:
        found = lint(given.schemas)
        print("" if given.quiet else json.dumps(found), end="")
        return
    text = table(json.loads(given.schemas.read_text()), given.runs)
    print(text)
    if given.write:
        write_between("lint_libraries.py", text)


if __name__ == "__main__":
    main()
