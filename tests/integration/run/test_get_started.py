"""The pages for a first day: each command runs, in the order of the page, with the files that the page shows."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from support.build import (
    DEBUG,
    REPOSITORY,
    cache_folder,
    environment,
    launcher,
    locked,
    require_headers,
    run,
)
from support.console import Command, commands, follow
from support.opgen_wheel import fresh_environment, opgen_packages
from support.pytorch import packaged_native_functions

START = REPOSITORY / "docs" / "start"


def text(page: str) -> str:
    return (START / page).read_text(encoding="utf-8")


def variables(programs: Path) -> dict[str, str]:
    """Return the environment of a reader whose Python and opgen are in the folder `programs`."""
    found = {
        **environment(),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "CCACHE_NOHASHDIR": "1",
        "CMAKE_BUILD_PARALLEL_LEVEL": "1",
        "COLUMNS": "200",
    }
    if launcher():
        found["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    return found


def test_the_output_of_a_page() -> None:
    """Protects the tests below: text is compared, and only `…` stands for other text."""
    lint, build = commands("$ opgen lint a.yaml\n2 entries\n$ opgen build a.yaml\n…\nlib…so\n")
    assert (lint.line, build.line) == ("opgen lint a.yaml", "opgen build a.yaml")
    assert lint.matches("2 entries\n") and not lint.matches("3 entries\n")
    assert not lint.matches("2 entries\n1 warning\n")
    assert build.matches("one\ntwo\nlibleaky.so\n") and not build.matches("one\ntwo\n")
    assert Command("true", "", "").matches("") and not Command("true", "", "").matches("x\n")


@pytest.mark.slow
def test_an_operator_in_ten_minutes() -> None:
    """Protects every command, listing and output of the page for a new user."""
    require_headers()
    folder = cache_folder() / "start-runtime"
    with locked(folder.name):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        met = follow(text("runtime.md"), folder, variables(Path(sys.executable).parent), {})
    assert len(met) >= 9 and met[-1].startswith("opgen explain")


@pytest.mark.slow
def test_a_package_for_pytorch() -> None:
    """Protects every command, listing and output of the page for a new user of target torch."""
    packaged_native_functions()  # skips without torch
    folder = cache_folder() / "start-torch"
    with locked(folder.name):
        shutil.rmtree(folder, ignore_errors=True)
        _, wheel = opgen_packages()
        python = fresh_environment(folder / "environment", wheel, "scikit-build-core>=1.1")
        # torch is that of the tests; pip installs nothing for it.
        clean = {
            **variables(python.parent),
            "PYTHONPATH": "",
            "PIP_NO_DEPS": "1",
            "CMAKE_ARGS": shlex.join(DEBUG),
        }
        (folder / "work").mkdir()
        page = text("torch.md").split("\n## Supported releases")[0]
        met = follow(page, folder / "work", clean, MADE_ABOVE)
    assert met[-1].startswith("unzip")


@pytest.mark.slow
def test_install(tmp_path: Path) -> None:
    """Protects the ways to install opgen: from a checkout, from a wheel of it, and with an extra."""
    python = fresh_environment(tmp_path / "environment", opgen_packages()[1])
    run([python, "-m", "pip", "uninstall", "-q", "-y", "opgen"])
    (tmp_path / "path" / "to").mkdir(parents=True)
    (tmp_path / "path" / "to" / "opgen").symlink_to(REPOSITORY)
    (tmp_path / "wheels").symlink_to(tmp_path / "dist")
    clean = {**variables(python.parent), "PYTHONPATH": ""}
    left_out = {VENV: "the environment of this test"}
    met = follow(text("install.md"), tmp_path, clean, left_out)
    assert len(met) == 8


VENV = "python3 -m venv .venv && . .venv/bin/activate"
MADE_ABOVE = {
    VENV: "the environment of this test",
    'pip install "path/to/opgen[verify]" "torch>=2.9" "scikit-build-core>=1.1" "pytest>=8"': "the environment of this test",
}
