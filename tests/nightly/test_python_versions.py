"""opgen itself, and packages that it builds, on every supported CPython that this machine has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from support.build import REPOSITORY, run
from support.interpreters import VERSIONS, requirements, venv_of
from support.pytorch import packaged_native_functions

pytestmark = pytest.mark.nightly

_TESTS = (
    "tests/integration/run/test_python_module.py",
    "tests/integration/run/test_python_safety.py",
)
_JAX = "tests/integration/run/test_jax.py"
_VALUES = "tests/unit/model/test_values.py"
_SOURCES = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_with_this_python(version: str) -> None:
    """All tests of calls pass when compiled for each version and run by it."""
    python = venv_of(version, "numpy", "typing_extensions")
    run(
        [sys.executable, "-m", "pytest", "-q", "-m", "slow", *_TESTS],
        cwd=REPOSITORY,
        env={**os.environ, "OPGEN_TEST_PYTHON": python},
    )


@pytest.mark.parametrize("version", ("3.12", "3.13"))
def test_jax_with_this_python(version: str) -> None:
    """Protects calls by the newest JAX that pip installs: packages are built with its headers and run with it."""
    python = venv_of(version, "numpy", "jax", "apache-tvm-ffi")
    run(
        [sys.executable, "-m", "pytest", "-q", "-m", "slow", "--whole", _JAX],
        cwd=REPOSITORY,
        env={**os.environ, "OPGEN_TEST_PYTHON": python},
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_values_with_this_python(version: str) -> None:
    """The model's values are frozen, compared, hashed, pickled, matched and replaced alike: msgspec makes their methods."""
    python = venv_of(version, *requirements(), "pytest")
    told = run(
        [python, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", _VALUES],
        cwd=REPOSITORY,
        env=_SOURCES,
    )
    assert " passed" in told and "skipped" not in told


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    files = _generated(sys.executable, tmp_path_factory.mktemp("ours"))
    assert len(files) > 8000
    return files


@pytest.mark.parametrize("version", VERSIONS)
def test_this_python_writes_the_same_bytes(
    version: str, ours: dict[str, bytes], tmp_path: Path
) -> None:
    """Protects committed trees: opgen's own file and PyTorch's, which uses every feature."""
    python = venv_of(version, *requirements(), "pytest")
    assert _generated(python, tmp_path) == ours


def _generated(python: str, folder: Path) -> dict[str, bytes]:
    """Return every file that `python` generates from both files, except the stamps: they describe one folder."""
    program = "from opgen.cli.main import main; main()"
    for name, yaml in (
        ("own", REPOSITORY / "native_functions.yaml"),
        ("pytorch", packaged_native_functions()),
    ):
        options = ["--namespace", "aten", "--python", "--shards", "2", "--name", "aten"]
        run(
            [python, "-c", program, "generate", str(yaml), "-o", str(folder / name), *options],
            env=_SOURCES,
        )
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.startswith(".opgen_stamp")
    }
