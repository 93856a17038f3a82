"""Fixtures: the library of our operators, built and loaded once per session."""

from __future__ import annotations

import importlib.util
import os

import pytest

import opgen
from differential.numerics.driver import Library
from support.build import REPOSITORY
from support.library import own_operators


@pytest.fixture(scope="session")
def registry() -> opgen.Registry:
    return opgen.load([REPOSITORY / "native_functions.yaml"])


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
