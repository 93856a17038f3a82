"""`examples/train`: a network trained in C++ and Python, on the runtime and with PyTorch, has the losses of torch.nn."""

from __future__ import annotations

import os
import re
import sys
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
def torch_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder from which `import lookup` imports the package for PyTorch."""
    require_torch()
    tree = tmp_path_factory.mktemp("train") / "tree"
    yaml, kernels = EXAMPLE / "native_functions.yaml", EXAMPLE / "kernels"
    return build_extension(yaml, kernels, tree, "--python").parents[1]


def python(*command: str | Path, package: Path | None = None) -> str:
    """Run Python in the example's folder; PyTorch uses one thread, because its tensors are tiny."""
    path = {"PYTHONPATH": str(package)} if package else {}
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **path}
    return run([sys.executable, *command], env=variables, cwd=EXAMPLE)


@pytest.mark.slow
def test_the_losses(runtime: Path, torch_package: Path, tmp_path: Path) -> None:
    """Protects the gradients, and README.md: four trainings have the losses and the graph that it shows."""
    graph = tmp_path / "graph.svg"
    printed = {
        "cpp": run([runtime / "train"]),
        "runtime": python("train.py", "runtime", graph, package=runtime / "python"),
        "torch": python("train.py", "torch", package=torch_package),
        "nn": python("reference.py"),
    }
    header, *rows = (EXAMPLE / "losses.csv").read_text().splitlines()
    assert header.split(",")[1] == "nn"
    committed = [float(row.split(",")[1]) for row in rows]
    assert len(committed) == 100 and committed[0] > 1 and committed[-1] < 0.01
    for name, lines in printed.items():
        losses = [float(line) for line in lines.split()]
        assert len(losses) == 100, name
        worst = max(abs(a - b) for a, b in zip(losses, committed, strict=True))
        assert worst < 1e-5, f"{name} differs from losses.csv by {worst}"
    assert graph.read_text() == (EXAMPLE / "graph.svg").read_text()


def check_gradients(package: Path) -> None:
    command = ("-m", "pytest", "-q", "-n0", "-rP", "-p", "no:cacheprovider", "-o", "addopts=")
    said = python(*command, "tests", package=package)
    checked = re.findall(r"^(lookup::\S+) float64: .* (\d+) checked", said, re.MULTILINE)
    assert len(checked) == 9 and all(int(count) >= 20 for _, count in checked), said


@pytest.mark.slow
def test_the_gradients_on_the_runtime(runtime: Path) -> None:
    """Protects the formulas: at least 20 calls of each agree with finite differences."""
    check_gradients(runtime / "python")


@pytest.mark.slow
def test_the_gradients_with_pytorch(torch_package: Path) -> None:
    """As above, for the package for PyTorch."""
    check_gradients(torch_package)


def test_the_readme_shows_the_losses() -> None:
    """Protects README.md and the picture: both show losses.csv."""
    said = python("report.py")
    assert "differ from those of torch.nn by at most" in said


def test_the_readme_shows_the_files() -> None:
    """Protects readers: a file of the example contains each block of code, apart from its indentation."""
    readme = (EXAMPLE / "README.md").read_text()
    blocks = re.findall(r"^```(python|cpp|yaml)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    files = [path for name in ("*.py", "*.cpp", "*.yaml") for path in EXAMPLE.glob(name)]
    texts = ["\n".join(map(str.strip, path.read_text().splitlines())) for path in files]
    assert len(blocks) >= 5
    for _, block in blocks:
        for part in block.strip().split("\n\n"):
            plain = "\n".join(map(str.strip, part.splitlines()))
            assert any(plain in text for text in texts), f"in no file:\n{part}"
