"""The user's cache of compiled parts: where it is, what is listed and what is removed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from opgen.io import build_cache


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HOME": "/home/ann"}, "/home/ann/.cache/opgen"),
        ({"HOME": "/home/ann", "XDG_CACHE_HOME": "/var/ann"}, "/var/ann/opgen"),
        ({"HOME": "/home/ann", "XDG_CACHE_HOME": "relative"}, "/home/ann/.cache/opgen"),
        ({"HOME": "/home/ann", "OPGEN_CACHE_DIR": "/disk/parts"}, "/disk/parts"),
        ({"HOME": "/home/ann", "OPGEN_CACHE": "Off"}, None),
        ({}, None),
    ],
)
def test_the_folder(
    variables: dict[str, str], folder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects the rules, which CMake code follows as well."""
    monkeypatch.setattr("sys.platform", "linux")
    found = build_cache.cache_folder(variables)
    assert found == (None if folder is None else Path(folder))


def _make(folder: Path, name: str, days: float, record: object = None) -> None:
    (folder / name).mkdir()
    (folder / name / "libopgen_runtime.so").write_bytes(b"x" * 1000)
    if record is not None:
        (folder / name / "entry.json").write_text(json.dumps(record))
    then = time.time() - days * 86400
    for path in (*(folder / name).iterdir(), folder / name):
        os.utime(path, (then, then))


def test_only_entries_are_listed_and_removed(tmp_path: Path) -> None:
    """Protects other files in a folder that OPGEN_CACHE_DIR names."""
    whole, damaged = f"opgen_runtime-{'a' * 32}", f"opgen_python-{'b' * 32}"
    unfinished = "opgen_new-0123456789abcdef"
    _make(tmp_path, whole, 1, {"made_for": "GNU 12.2.0, Release"})
    _make(tmp_path, damaged, 90, ["no record"])
    _make(tmp_path, unfinished, 2)
    _make(tmp_path, "opgen_runtime-notes", 500)
    (tmp_path / "letter.txt").write_text("dear")
    found = build_cache.entries(tmp_path)
    assert [entry.folder.name for entry in found] == [whole, unfinished, damaged]
    assert [entry.made_for for entry in found] == ["GNU 12.2.0, Release", "half-written", "damaged"]
    assert [entry.folder.name for entry in build_cache.unused(found, 60)] == [unfinished, damaged]
    assert build_cache.remove(found) > 3000
    assert sorted(os.listdir(tmp_path)) == ["letter.txt", "opgen_runtime-notes"]
    assert build_cache.entries(tmp_path / "missing") == []
