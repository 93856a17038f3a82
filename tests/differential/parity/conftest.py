"""The schema of the installed torch, and what torchgen derives from it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
_STEP = 10


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


@pytest.fixture(scope="session", params=["sample", pytest.param("whole", marks=pytest.mark.slow)])
def source(
    request: pytest.FixtureRequest, packaged: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder as `packaged`, with a sample of its operators; slowly, with all."""
    if request.param == "whole":
        return packaged
    folder = tmp_path_factory.mktemp("sample")
    (folder / "templates").symlink_to(packaged / "templates")
    (folder / "native").mkdir()
    (folder / "native" / "tags.yaml").symlink_to(packaged / "native" / "tags.yaml")
    text = (packaged / "native" / "native_functions.yaml").read_text(encoding="utf-8")
    (folder / "native" / "native_functions.yaml").write_text(_sample(text), encoding="utf-8")
    return folder


def _sample(text: str) -> str:
    """Return the entries of each tenth operator, with all of its variants and overloads."""
    entries = re.split(r"^(?=- func: )", text, flags=re.MULTILINE)[1:]
    roots: dict[str, list[str]] = {}
    for entry in entries:
        name = re.match(r"- func: (\w+)", entry)
        assert name is not None, entry
        roots.setdefault(name[1].removesuffix("_copy").strip("_"), []).append(entry)
    return "".join(entry for root in sorted(roots)[::_STEP] for entry in roots[root])


@pytest.fixture(scope="session")
def torchgen_facts(source: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the facts that torchgen derives from the files of `source`: one object for each function."""
    out = tmp_path_factory.mktemp("facts") / "facts.json"
    native = source / "native"
    script = [str(HERE / "torchgen_facts.py"), "-o", str(out)]
    files = [str(native / "native_functions.yaml"), str(native / "tags.yaml")]
    subprocess.run([sys.executable, *script, *files], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert isinstance(rows, list)
    return rows
