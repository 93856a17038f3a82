"""`examples/gradients`: operators that are used in training; the kernels are ours, and so are the gradients."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, run
from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

pytestmark = pytest.mark.slow

EXAMPLE = REPOSITORY / "examples" / "gradients"
HERE = Path(__file__).parent / "torch_gradients"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the package, in the folder of the package: `python/graded` of the build."""
    require_torch()
    tree = tmp_path_factory.mktemp("gradients") / "tree"
    yaml, kernels = EXAMPLE / "native_functions.yaml", EXAMPLE / "kernels"
    return build_extension(yaml, kernels, tree, "--python")


def test_the_example(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the tests that the package comes with: values, gradients, and each formula beside finite differences."""
    keep_no_graphs(monkeypatch)
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-rP", "-p", "no:cacheprovider"]
    command += ["-o", "addopts=", str(EXAMPLE / "tests")]
    said = run(command, env={**os.environ, "PYTHONPATH": str(library.parents[1])}, cwd=EXAMPLE)
    checked = re.findall(r"^(graded::\S+) float64: .* (\d+) checked", said, re.MULTILINE)
    assert len(checked) == 18 and all(int(count) >= 20 for _, count in checked), said
    assert "graded::bump complex128" in said


@pytest.mark.parametrize(
    "check", ["backward", "func", "forward", "vmap", "hessian", "opcheck", "variants"]
)
def test_transforms(check: str, library: Path) -> None:
    """Protects the gradients under PyTorch's transforms: they are those of the same functions of PyTorch."""
    assert "no failure" in run_script(HERE / "transforms.py", library, check)


def test_compile(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects training through inductor: one graph with symbolic sizes, and equal gradients."""
    keep_no_graphs(monkeypatch)
    assert "no failure" in run_script(HERE / "transforms.py", library, "compile")


def test_the_package_is_one_that_opgen_new_makes(tmp_path: Path) -> None:
    """Protects the example from falling behind what `opgen new --target torch` makes."""
    new = tmp_path / "graded"
    run([sys.executable, "-m", "opgen", "new", "graded", "--target", "torch", "-o", str(new)])
    made = (new / "pyproject.toml").read_text()
    made = made.replace("Operators for PyTorch", "Operators that are used in training")
    # The example is also built in other ways, so it has only the target as a setting.
    table = re.compile(r"(# What .*\n)?\[tool\.opgen\]\n(.+\n)+\n")
    assert table.sub("", (EXAMPLE / "pyproject.toml").read_text()) == table.sub("", made)
    assert (EXAMPLE / ".gitignore").read_text() == (new / ".gitignore").read_text()
