"""`examples/backend` prints its expected output: an accelerator in its own shared library can run the structured
operators.
"""

from __future__ import annotations

import pytest
from test_run import compare

from support.build import REPOSITORY, cache_folder, link_library, link_program, locked, run
from support.trees import generate, sources

EXAMPLE = REPOSITORY / "examples" / "backend"


@pytest.mark.slow
def test_its_output() -> None:
    """Memory, guard, copy and two kernels are enough; an operation that the device lacks is an error."""
    with locked("run-backend-example"):
        folder = cache_folder() / "run" / "backend_example"
        tree = generate(EXAMPLE / "native_functions.yaml", folder / "tree")
        include = [tree / "include"]
        files = [*sources(tree), EXAMPLE / "kernels.cpp"]
        demo = link_library("demo", folder, files, include)
        toy = link_library("toy", folder, [EXAMPLE / "toy.cpp"], include, demo)
        printed = run([link_program(folder, [EXAMPLE / "main.cpp"], include, demo), toy])
    compare(EXAMPLE / "expected.txt", printed)


def test_it_is_a_hundred_lines() -> None:
    """Protects the README's number of lines of code, without comments and blank lines, including streams."""
    lines = [line.strip() for line in (EXAMPLE / "toy.cpp").read_text().splitlines()]
    count = len([line for line in lines if line and not line.startswith("//")])
    assert f"{count} lines of code" in (EXAMPLE / "README.md").read_text()
    assert count <= 115
