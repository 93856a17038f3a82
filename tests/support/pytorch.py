"""The native_functions.yaml and the headers of an installed torch."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest


def packaged_native_functions() -> Path:
    """Return the path of the native_functions.yaml in torch. Skip the test without torch; fail it with
    OPGEN_REQUIRE_TORCH=1.
    """
    spec = importlib.util.find_spec("torchgen")
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin).parent / "packaged/ATen/native/native_functions.yaml"
        if path.is_file():
            return path
    if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
        pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
    pytest.skip("torch is not installed: its native_functions.yaml is not at hand")


def torch_folder() -> Path:
    """Return the folder of the package torch; skip or fail as packaged_native_functions does."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: no headers to compile against")
    return Path(spec.origin).parent
