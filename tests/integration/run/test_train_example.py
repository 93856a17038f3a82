"""`examples/train`: a network trained in C++ and Python, on the runtime and with PyTorch, has the losses of torch.nn."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.build import (
    DEBUG,
    REPOSITORY,
    cache_folder,
    cmake_build,
    locked,
    project_definitions,
    require_headers,
    run,
)
from support.torch_extension import build_extension, require_torch

EXAMPLE = REPOSITORY / "examples" / "train"
FLAGS = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror"


@pytest.fixture(scope="module")
def runtime() -> Path:
    """The folder of the library for the runtime, with its package and the C++ program."""
    require_headers()
    folder = cache_folder() / "run" / "train"
    definitions = (*DEBUG, FLAGS, f"-DPython_EXECUTABLE={sys.executable}", *project_definitions())
    with locked("run-train-example"):
        cmake_build(EXAMPLE, folder, *definitions)
    return folder


@pytest.fixture(scope="module")
def packages(runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of the package lookup, by target."""
    require_torch()
    tree = tmp_path_factory.mktemp("train") / "tree"
    yaml, kernels = EXAMPLE / "native_functions.yaml", EXAMPLE / "kernels"
    torch = build_extension(yaml, kernels, tree, "--python").parents[1]
    return {"runtime": runtime / "python", "torch": torch}


def python(*command: str | Path, package: Path | None = None) -> str:
    path = {"PYTHONPATH": str(package)} if package else {}
    return run([sys.executable, *command], env={**os.environ, **path}, cwd=EXAMPLE)


def numbers(printed: str) -> Iterator[float]:
    return map(float, printed.split())


@pytest.mark.slow
def test_the_losses(runtime: Path, packages: dict[str, Path], tmp_path: Path) -> None:
    """Protects the gradients, and README.md: four trainings have the losses and the graph that it shows."""
    graph = tmp_path / "graph.svg"
    printed = {
        "cpp": run([runtime / "train"]),
        "runtime": python("train.py", "runtime", graph, package=packages["runtime"]),
        "torch": python("train.py", "torch", package=packages["torch"]),
        "nn": python("reference.py"),
    }
    header, *rows = (EXAMPLE / "losses.csv").read_text().splitlines()
    assert header.split(",")[1] == "nn"
    committed = [float(row.split(",")[1]) for row in rows]
    assert len(committed) == 100 and committed[0] > 1 and committed[-1] < 0.01
    for name, lines in printed.items():
        losses = list(numbers(lines))
        assert len(losses) == 100, name
        worst = max(abs(a - b) for a, b in zip(losses, committed, strict=True))
        assert worst < 1e-5, f"{name} differs from losses.csv by {worst}"
    assert graph.read_text() == (EXAMPLE / "graph.svg").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_the_gradients(packages: dict[str, Path], target: str) -> None:
    """Protects the formulas on both targets: at least 20 calls of each agree with finite differences."""
    command = ("-m", "pytest", "-q", "-n0", "-rP", "-p", "no:cacheprovider", "-o", "addopts=")
    said = python(*command, "tests", package=packages[target])
    checked = re.findall(r"^(lookup::\S+) float64: .* (\d+) checked", said, re.MULTILINE)
    assert len(checked) == 9 and all(int(count) >= 20 for _, count in checked), said


def test_the_readme_shows_the_losses() -> None:
    """Protects README.md and the picture: both show losses.csv."""
    said = python("report.py")
    assert "differ from those of torch.nn by at most" in said
