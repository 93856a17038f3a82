"""The schema of the installed torch, and what torchgen derives from it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def _find_packaged() -> Path | None:
    """Return the folder with the native_functions.yaml that comes with torch."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "packaged" / "ATen"
    return folder if (folder / "native" / "native_functions.yaml").is_file() else None


@pytest.fixture(scope="session")
def packaged() -> Path:
    """The installed torchgen's source folder: native/native_functions.yaml, native/tags.yaml, templates."""
    folder = _find_packaged()
    if folder is None and os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
        pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
    if folder is None:
        pytest.skip("torch is not installed: it is needed for the comparison")
    return folder


@pytest.fixture(scope="session")
def torchgen_facts(packaged: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the facts that torchgen derives from the packaged files: one object for each function."""
    out = tmp_path_factory.mktemp("facts") / "facts.json"
    native = packaged / "native"
    script = [str(HERE / "torchgen_facts.py"), "-o", str(out)]
    files = [str(native / "native_functions.yaml"), str(native / "tags.yaml")]
    subprocess.run([sys.executable, *script, *files], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert isinstance(rows, list)
    return rows
