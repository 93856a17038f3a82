"""Packages that the tests have built, called from a separate Python process."""

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

# The Python that packages are built for and run with; it may differ from the one that runs the
# tests.
PYTHON = os.environ.get("OPGEN_TEST_PYTHON", sys.executable)

# For programs that `run_python` runs: `call` raises `kind`, with these texts in its message.
FAILS = """
def fails(kind, call, *texts):
    try:
        call()
    except kind as error:
        for text in texts:
            assert text in str(error), str(error)
    else:
        raise AssertionError("no exception")
"""

_CALLS = REPOSITORY / "tests" / "integration" / "run" / "python"


@functools.cache
def calls_package(python: str = PYTHON) -> Path:
    """Build the package `calls` (tests/integration/run/python), with an operator for each form of call; return
    the folder to import it from.
    """
    require_headers(python)
    folder = cache_folder() / f"calls-{_tag(python)}"
    definitions = (
        *DEBUG,
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror",
        f"-DPython_EXECUTABLE={python}",
        *project_definitions(),
    )
    with locked(folder.name):
        cmake_build(_CALLS, folder, *definitions)
    return folder / "python"


def _tag(python: str) -> str:
    return run([python, "-c", "import sys; print(sys.implementation.cache_tag)"]).strip()


def run_python(lines: str, *folders: Path, python: Path | str = PYTHON) -> str:
    """Run `lines`, which may import from `folders`, and return what they print.

    An exception, any output on standard error, or a signal is a failure. Python's development mode is on.
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


@functools.cache
def gradients_package() -> Path:
    """Build the package `grads` (tests/integration/run/gradients), whose operators have gradients; return the folder
    to import it from.
    """
    require_headers()
    folder = cache_folder() / "grads"
    definitions = (
        *DEBUG,
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror",
        f"-DPython_EXECUTABLE={sys.executable}",
        *project_definitions(),
    )
    with locked(folder.name):
        cmake_build(_CALLS.parent / "gradients", folder, *definitions)
    return folder / "python"


@functools.cache
def jax_packages() -> tuple[Path, ...]:
    """Build the packages `forms` (tests/integration/run/jax) and `everywhere` (examples/everywhere), which JAX calls;
    return the folders to import them from.
    """
    require_headers(PYTHON)
    folder = cache_folder() / ("jax" if sys.executable == PYTHON else f"jax-{_tag(PYTHON)}")
    definitions = (
        *DEBUG,
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror",
        f"-DPython_EXECUTABLE={PYTHON}",
        f"-DEVERYWHERE={REPOSITORY / 'examples' / 'everywhere'}",
        *project_definitions(),
    )
    with locked(folder.name):
        cmake_build(_CALLS.parent / "jax", folder, *definitions)
    return (folder / "python",)
