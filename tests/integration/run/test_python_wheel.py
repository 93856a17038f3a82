"""A library of operators as a wheel: built by pip from pyproject.toml, installed where opgen is not installed."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.build import (
    DEBUG,
    REPOSITORY,
    RUNTIME_ABI,
    cache_folder,
    environment,
    launcher,
    locked,
    require_headers,
    run,
)
from support.python_package import run_python

pytestmark = pytest.mark.slow

EXAMPLE = REPOSITORY / "examples" / "python_package"


@pytest.fixture(scope="module")
def wheel() -> Iterator[Path]:
    """The example's wheel, from an environment that has the wheel of opgen and scikit-build-core.

    Always in the same folder, so that ccache finds the runtime's objects again.
    """
    require_headers()
    folder = cache_folder() / "wheel"
    variables = {**environment(), "PYTHONPATH": "", "CCACHE_NOHASHDIR": "1"}
    variables["CMAKE_ARGS"] = shlex.join(DEBUG)
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    with locked("wheel"):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(EXAMPLE, folder / "project")
        build = _venv(folder / "build-environment")
        pip = [sys.executable, "-m", "pip"]
        run([*pip, "wheel", "-q", REPOSITORY, "--no-deps", "-w", folder / "opgen"])
        (opgen,) = (folder / "opgen").glob("opgen-*.whl")
        run([*pip, "--python", build, "install", "-q", opgen, "scikit-build-core>=0.10"])
        make = ["wheel", "-q", folder / "project", "--no-deps", "--no-build-isolation"]
        settings = ["-C", f"build-dir={folder / 'build'}"]
        run([*pip, "--python", build, *make, *settings, "-w", folder / "dist"], env=variables)
        (made,) = (folder / "dist").glob("mixops-*.whl")
        # The sources are removed before the wheel is used.
        for name in ("project", "build", "build-environment"):
            shutil.rmtree(folder / name)
        yield made


def _venv(folder: Path) -> Path:
    run([sys.executable, "-m", "venv", "--without-pip", folder])
    return folder / "bin" / "python"


def test_its_contents(wheel: Path) -> None:
    """Protects against a wheel that needs the checkout, and against one with a second copy of the runtime."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    libraries = {name for name in names if ".so" in name}
    modules = {name for name in libraries if name.startswith("mixops/_C.")}
    assert len(modules) == 1
    assert libraries - modules == {
        f"mixops/lib{name}"
        for name in (
            "mixops.so",
            f"opgen_core.so.{RUNTIME_ABI}",
            f"opgen_runtime.so.{RUNTIME_ABI}",
            f"opgen_python.so.{RUNTIME_ABI}",
        )
    }
    others = names - libraries
    assert {f"mixops/{name}" for name in ("__init__.py", "__init__.pyi", "py.typed")} <= others
    assert all(re.fullmatch(r"mixops/.*\.(pyi?|typed)", name) for name in others), others


def test_it_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """Protects `$ORIGIN`: every library of opgen that the process loads is in the environment."""
    python = _venv(tmp_path / "fresh")
    run([sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel])
    run_python(
        f"""
        import mixops
        a, b = mixops.tensor([0.0, 2.0]), mixops.tensor([4.0, 4.0])
        assert mixops.mix(a, b).tolist() == [2, 3] and a.mix(b, 0.25).tolist() == [1, 2.5]
        assert a.mix_(b, weight=1.0) is a and a.tolist() == [4, 4]
        with open("/proc/self/maps") as file:
            mapped = {{line.split()[-1] for line in file if ".so" in line}}
        ours = [path for path in mapped if "opgen" in path or "mixops" in path]
        assert len(ours) == 5 and all(path.startswith({str(tmp_path)!r}) for path in ours), ours
        """,
        python=python,
    )
