"""Run generated operators with a release of PyTorch: `python tests/nightly/torch_run.py PYTHON [--write]`.

PYTHON is the interpreter of an environment that has the release, and no opgen. Two libraries are built for it
(tests/integration/run/torch_target and tests/integration/run/torch_library), and torch_release/checks.py is run there.
`--write` puts the counts into the table of tests/RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.build import REPOSITORY
from support.torch_release import answer_of, build_for
from support.torch_releases_page import COLUMNS, write_cells

HERE = Path(__file__).parent


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("python")
    options.add_argument("--write", action="store_true", help="write the row of the page")
    given = options.parse_args()
    answer = run(given.python)
    for kind, found in answer["failed"].items():
        for text in found:
            print(f"--- {kind}: {text}\n")
    cells = {"build": "yes", **counts(answer)}
    version = answer["torch"].split("+")[0]
    print(f"torch {answer['torch']}: {cells}")
    if given.write:
        write_cells(version, cells)
    return len(answer["failed"])


def run(python: str) -> Any:
    """Build the two libraries by calling a compiler directly; return the output of checks.py."""
    tests = REPOSITORY / "tests" / "integration" / "run"
    with tempfile.TemporaryDirectory() as folder:
        libraries = [
            build_for(
                python,
                tests / name / yaml,
                tests / name / kernels,
                Path(folder) / name,
                flags=["-O0"],
            )
            for name, yaml, kernels in (
                ("torch_target", "operators.yaml", "kernels.cpp"),
                ("torch_library", "forms.yaml", "forms.cpp"),
            )
        ]
        return json.loads(answer_of(python, HERE / "torch_release" / "checks.py", *libraries))


def counts(answer: Mapping[str, Mapping[str, list[str]]]) -> dict[str, str]:
    """Return `passed of all` for each kind of check."""
    passed, failed = answer["passed"], answer["failed"]
    kinds = [kind for kind in COLUMNS if kind in passed or kind in failed]
    found = {kind: (len(passed.get(kind, ())), len(failed.get(kind, ()))) for kind in kinds}
    return {kind: f"{good} of {good + bad}" for kind, (good, bad) in found.items()}


if __name__ == "__main__":
    sys.exit(main())
