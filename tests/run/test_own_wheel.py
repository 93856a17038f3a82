"""opgen's own wheel and sdist: all that is needed is in them, and they are used where there is no checkout and no network."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

import pytest

import opgen
from support.build import REPOSITORY, run
from support.opgen_wheel import fresh_environment, opgen_packages

pytestmark = pytest.mark.slow

# What is packed, and where it lies in the wheel.
PACKED = {"src/opgen": "opgen", "templates": "opgen/templates", "runtime": "opgen/runtime"}


def wanted() -> set[str]:
    files = set()
    for folder, place in PACKED.items():
        top = REPOSITORY / folder
        for path in top.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files.add(f"{place}/{path.relative_to(top).as_posix()}")
    return files


def test_the_wheel_has_every_file() -> None:
    """Protects against a template, a header or `py.typed` that only a checkout has."""
    sdist, wheel = opgen_packages()
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        (metadata,) = [name for name in packed.namelist() if name.endswith("/METADATA")]
        assert f"\nVersion: {opgen.__version__}\n" in packed.read(metadata).decode()
    assert names == wanted()
    assert {"opgen/py.typed", "opgen/__main__.py", "opgen/cmake/opgen_torchConfig.cmake"} <= names
    with tarfile.open(sdist) as packed_sources:
        top = f"opgen-{opgen.__version__}/"
        sources = {name.removeprefix(top) for name in packed_sources.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "src/opgen/py.typed",
        "templates/new/kernels.cpp.j2",
    } <= sources


@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_it_is_installed_and_used_without_a_network(kind: str, tmp_path: Path) -> None:
    sdist, wheel = opgen_packages()
    package = sdist if kind == "sdist" else wheel
    options = ("--no-index", "--no-build-isolation")
    python = fresh_environment(tmp_path / "environment", package, options=options)
    clean = {**os.environ, "PYTHONPATH": ""}
    at = {"cwd": tmp_path, "env": clean}
    for command in (["-m", "opgen"], [str(python.parent / "opgen")]):
        start = [str(python), *command] if command[0] == "-m" else command
        assert run([*start, "--version"], **at).strip() == f"opgen, version {opgen.__version__}"
    run([python, "-m", "opgen", "new", "mylib", "--target", "torch"], **at)
    generate = ["generate", "mylib/native_functions.yaml", "-o", "tree", "--python"]
    for target in ("runtime", "torch"):
        run([python, "-m", "opgen", *generate, "--target", target], **at)
    folder = run([python, "-m", "opgen", "--cmake-dir"], **at).strip()
    assert folder.startswith(str(tmp_path)) and (Path(folder) / "opgenConfig.cmake").exists()
