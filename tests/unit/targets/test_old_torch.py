"""A package for torch-stable with a PyTorch that is older than the one it was built for, or with none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import RUNTIME

LOADING = RUNTIME / "torch_stable" / "package" / "_loading.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the package `of_user` for torch 2.12, without its library."""
    package = tmp_path / "of_user"
    package.mkdir()
    (package / "__init__.py").write_text("from . import _loading\n\n_loading.load()\n")
    (package / "_built_for.py").write_text('TORCH, CUDA = "2.12", ""\n')
    shutil.copy(LOADING, package)
    return tmp_path


def error_of_import(folder: Path) -> str:
    """Import the package without the packages of this environment; return the last line of the traceback."""
    command = [sys.executable, "-S", "-c", "import of_user"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("version", ["2.9.1", "2.11.0+cpu"])
def test_an_older_torch(version: str, folder: Path) -> None:
    """Protects users from an error of the dynamic loader: this one names both releases, and what to install."""
    (folder / "torch.py").write_text(f'__version__ = "{version}"\n')
    assert error_of_import(folder) == (
        f"ImportError: of_user works with torch 2.12 and newer, and torch {version} is installed: "
        "pip install 'torch>=2.12'"
    )


@pytest.mark.parametrize("version", ["2.12.0", "2.13.0+cpu", "3.0.0"])
def test_the_same_or_a_newer_torch(version: str, folder: Path) -> None:
    """Protects one library for many releases: the package goes on to its library, which this torch cannot load."""
    (folder / "torch.py").write_text(f'__version__ = "{version}"\n')
    assert "no attribute 'ops'" in error_of_import(folder)


def test_no_torch(folder: Path) -> None:
    """Protects from an error that does not say which torch is needed."""
    assert error_of_import(folder) == (
        "ImportError: of_user needs PyTorch 2.12 or newer: pip install 'torch>=2.12'"
    )
