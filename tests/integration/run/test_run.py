"""From YAML to numbers: `<feature>/{input.yaml,kernels.cpp,main.cpp}` are generated, built and run; the output must
equal expected.txt.

The generated sources, stubs and kernels become one shared library, linked as by the generated CMake.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from support.build import cache_folder, link_library, link_program, locked, run_program
from support.selection import some
from support.trees import generate, sources

HERE = Path(__file__).parent
FEATURES = sorted(
    p.parent.name for p in HERE.glob("*/input.yaml") if (p.parent / "main.cpp").exists()
)


@pytest.mark.parametrize("feature", some(FEATURES, 5))
def test_its_output(feature: str) -> None:
    with locked(f"run-{feature}"):
        program = build(HERE / feature, cache_folder() / "run" / feature)
        code, printed, complained = run_program(program)
    assert not complained and code == 0, f"exit {code}\n{printed}{complained}"
    compare(HERE / feature / "expected.txt", printed)


def build(feature: Path, folder: Path) -> Path:
    """Build the program of a feature, linked to the library of its operators."""
    tree = generate(feature / "input.yaml", folder / "tree", **additions(feature))
    kernels = [path for path in [feature / "kernels.cpp"] if path.exists()]
    # A base class of the author has its own header next to the kernels.
    include = [tree / "include", feature]
    library = link_library("operators", folder, [*sources(tree), *kernels], include)
    return link_program(folder, [feature / "main.cpp"], include, library)


def additions(feature: Path) -> dict[str, object]:
    """Return the options for a feature with a backend.yaml or a selective.yaml."""
    backend, selective = feature / "backend.yaml", feature / "selective.yaml"
    return {
        "backend_yaml": backend if backend.exists() else None,
        "select": (selective,) if selective.exists() else (),
    }


def compare(file: Path, printed: str) -> None:
    if os.environ.get("OPGEN_UPDATE_GOLDEN"):
        file.write_text(printed)
    expected = file.read_text() if file.exists() else ""
    lines = expected.splitlines(keepends=True), printed.splitlines(keepends=True)
    difference = "".join(difflib.unified_diff(*lines, "expected", "printed"))
    update = "OPGEN_UPDATE_GOLDEN=1 pytest tests/integration/run"
    assert not difference, f"{difference}\nIf this is intended: {update}"
