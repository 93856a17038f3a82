"""Packages for every supported CPython that this machine has."""

from __future__ import annotations

import os
import sys

import pytest

from support.build import REPOSITORY, run
from support.interpreters import venv_of

pytestmark = pytest.mark.nightly

_TESTS = (
    "tests/integration/run/test_python_module.py",
    "tests/integration/run/test_python_safety.py",
)


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_calls_with_this_python(version: str) -> None:
    """All tests of calls pass when compiled for each version and run by it."""
    python = venv_of(version, "numpy", "typing_extensions")
    run(
        [sys.executable, "-m", "pytest", "-q", "-m", "slow", *_TESTS],
        cwd=REPOSITORY,
        env={**os.environ, "OPGEN_TEST_PYTHON": python},
    )
