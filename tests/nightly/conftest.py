"""Fixtures: PyTorch's own native_functions.yaml: its tree is generated and compiled once per session."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import opgen
from differential.numerics.driver import Library
from opgen.data import cmake_dir
from opgen.model.registry import Registry
from support.build import WARNINGS, cmake_build
from support.library import OperatorLibrary
from support.pytorch import packaged_native_functions
from support.trees import generate

# torchgen leaves these out by default.
IGNORED = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")


@pytest.fixture(scope="session")
def registry() -> Registry:
    return opgen.load(opgen.Inputs(packaged_native_functions(), ignore_keys=IGNORED))


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that opgen generates from the file ($OPGEN_NIGHTLY_TREE keeps it between runs)."""
    kept = os.environ.get("OPGEN_NIGHTLY_TREE")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("pytorch")
    return generate(packaged_native_functions(), folder, ignore_keys=IGNORED, python=True)


@pytest.fixture(scope="session")
def built(tree: Path) -> OperatorLibrary:
    """Every source compiled with all warnings as errors, and linked with a stub for every kernel."""
    folder = tree / "cmake-build"
    flags = " ".join(WARNINGS)
    options = [f"-Dopgen_DIR={cmake_dir()}", f"-DCMAKE_CXX_FLAGS={flags}"]
    options.append(f"-DPython_EXECUTABLE={sys.executable}")
    cmake_build(tree, folder, "-DCMAKE_BUILD_TYPE=Debug", *options)
    runtime = folder / "opgen-runtime" / "libopgen_runtime.so"
    return OperatorLibrary(folder / "libaten.so", runtime, tree)


@pytest.fixture(scope="session")
def library(built: OperatorLibrary) -> Library:
    return Library(built)
