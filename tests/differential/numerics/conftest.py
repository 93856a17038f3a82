"""Fixtures: the library of our operators, built and loaded once per session."""

from __future__ import annotations

import importlib.util
import os

import pytest

import opgen
from differential.numerics.driver import Library
from support.library import own_operators, own_registry


@pytest.fixture(autouse=True)
def part() -> str:
    """Which library a test is for, "slice" or "whole": see selection.py, whose marks replace this."""
    return "slice"


@pytest.fixture(scope="session")
def registry() -> opgen.Registry:
    return own_registry()


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(own_operators())


@pytest.fixture(scope="session")
def torch_installed() -> None:
    """Skip the test without torch; fail it if OPGEN_REQUIRE_TORCH=1."""
    if importlib.util.find_spec("torch") is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: it is needed for the comparison")
