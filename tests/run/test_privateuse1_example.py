"""`examples/privateuse1`: a device of one's own for PyTorch does what its README says, and what the CPU does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import (
    REPOSITORY,
    cache_folder,
    environment,
    launcher,
    locked,
    run,
    tool,
)
from support.pytorch import torch_folder

EXAMPLE = REPOSITORY / "examples" / "privateuse1"
HERE = Path(__file__).parent / "privateuse1"


@pytest.fixture(scope="session")
def pocket() -> dict[str, str]:
    """The environment in which `import pocket` finds the example, built without optimisation."""
    torch_folder()
    variables = {
        **environment(),
        "CXXFLAGS": "-O0 -Wall -Wextra -Wshadow -Werror",
        **({"CMAKE_CXX_COMPILER_LAUNCHER": launcher()[0]} if launcher() else {}),
    }
    tree = cache_folder() / "run" / "privateuse1"
    command = [tool("opgen"), "build", "--target", "torch", "--name", "pocket", "-o", tree]
    command += ["--backend-yaml", EXAMPLE / "backend.yaml", "--kernels", EXAMPLE / "src"]
    # A unit with ATen's headers takes a gigabyte: one at a time.
    with locked("torch"):
        run([*command, "--build-type", "None", "-j", "1"], env=variables)
    library = tree / "cmake-build" / "libpocket.so"
    return {**os.environ, "POCKET_LIBRARY": str(library), "PYTHONPATH": str(EXAMPLE)}


def python(pocket: dict[str, str], *command: str | Path) -> str:
    """What a script prints in a process of its own: a device has its name once."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env=pocket,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr[-8000:]}"
    return done.stdout


@pytest.mark.slow
def test_it_trains(pocket: dict[str, str]) -> None:
    """Protects what the README shows: SGD and Adam end where the CPU's do, and what has no kernel is named."""
    assert python(pocket, EXAMPLE / "main.py") == (EXAMPLE / "expected.txt").read_text()


@pytest.mark.slow
def test_it_is_a_device(pocket: dict[str, str]) -> None:
    """Protects the parts that PyTorch asks for: memory, guards, copies, views, saving, printing."""
    python(pocket, HERE / "device.py")


@pytest.mark.slow
def test_every_structured_operator(pocket: dict[str, str]) -> None:
    """Protects generated wrappers and the loops of opgen/device: 3,000 calls beside the CPU's."""
    python(pocket, HERE / "operators.py", EXAMPLE / "backend.yaml", "3000", "1")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_every_structured_operator_often(pocket: dict[str, str], seed: int) -> None:
    """As above, 25,000 calls for each of four seeds."""
    python(pocket, HERE / "operators.py", EXAMPLE / "backend.yaml", "25000", f"{100 + seed}")


@pytest.mark.slow
def test_the_readme_counts_what_is_generated(pocket: dict[str, str]) -> None:
    """What the README says of opgen's share, about."""
    tree = Path(pocket["POCKET_LIBRARY"]).parent.parent
    count = sum(map(code_lines, [*tree.glob("include/**/*.h"), *tree.glob("src/*.cpp")]))
    said = re.search(r"opgen adds about (\d+) lines", (EXAMPLE / "README.md").read_text())
    assert said and abs(int(said[1]) - count) < 0.1 * count, count


def test_the_readme_counts_right() -> None:
    """What the README says of lines and operators."""
    readme = (EXAMPLE / "README.md").read_text()
    for file, count in re.findall(r"^\| `([\w/.]+)` \| (\d+) \|", readme, re.MULTILINE):
        assert code_lines(EXAMPLE / file) == int(count), file
    listed = (EXAMPLE / "backend.yaml").read_text().split("supported:")[0]
    operators = len(re.findall(r"^- ", listed, re.MULTILINE))
    assert f"{operators} structured operators" in readme


def code_lines(file: Path) -> int:
    """Lines without comments and blank ones."""
    lines = [line.strip() for line in file.read_text().splitlines()]
    return len([line for line in lines if line and not line.startswith(("//", "#"))])
