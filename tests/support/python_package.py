"""Packages that the tests have built, called from a Python of its own."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import textwrap
from pathlib import Path

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

# The Python that packages are built for and run by, which need not be that of the tests.
PYTHON = os.environ.get("OPGEN_TEST_PYTHON", sys.executable)

_CALLS = REPOSITORY / "tests" / "run" / "python"


@functools.cache
def calls_package(python: str = PYTHON) -> Path:
    """The folder to import `calls` from: tests/run/python, an operator for each form of call."""
    require_headers(python)
    tag = run([python, "-c", "import sys; print(sys.implementation.cache_tag)"]).strip()
    folder = cache_folder() / f"calls-{tag}"
    definitions = (
        *DEBUG,
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror",
        f"-DPython_EXECUTABLE={python}",
        *project_definitions(),
    )
    with locked(folder.name):
        cmake_build(_CALLS, folder, *definitions)
    return folder / "python"


def run_python(lines: str, *folders: Path, python: Path | str = PYTHON) -> str:
    """Runs `lines`, which may import what lies in `folders`; what they print.

    An exception, a word on standard error and a signal at the end are failures, with Python's own
    development mode on.
    """
    done = subprocess.run(
        [str(python), "-X", "dev", "-c", textwrap.dedent(lines)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": os.pathsep.join(map(str, folders))},
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}"
    assert done.stderr == ""
    return done.stdout
