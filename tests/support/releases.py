"""Older releases of PyTorch: their YAML files, and the facts that their torchgen derives from them.

Both are committed, compressed, in tests/differential/releases; the README there explains how to make them.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from support.build import REPOSITORY

FOLDER = REPOSITORY / "tests" / "differential" / "releases"
RELEASES = ("2.0.1", "2.4.1", "2.8.0")


def write_files(release: str, folder: Path) -> Path:
    """Write native_functions.yaml and tags.yaml of `release` into `folder`, which is returned."""
    for name, text in _read("files.json.xz")[release].items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def facts_of(release: str) -> list[dict[str, Any]]:
    """Return a row for each function of `release`, with the fields of torchgen_facts.py."""
    columns = {field: values[release] for field, values in _read("facts.json.xz").items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def pack(folder: Path) -> None:
    """Make both files from `folder`, which has `<release>/{native_functions.yaml,tags.yaml,facts.json}`."""
    names = ("native_functions.yaml", "tags.yaml")
    files = {r: {name: (folder / r / name).read_text() for name in names} for r in RELEASES}
    _write("files.json.xz", files)
    rows = {r: json.loads((folder / r / "facts.json").read_text()) for r in RELEASES}
    fields = list(rows[RELEASES[-1]][0])
    assert all(list(row) == fields for release in rows.values() for row in release)
    # Stored by field, not by function: similar texts are near one another, which makes the file 40
    # % smaller.
    _write("facts.json.xz", {f: {r: [row[f] for row in rows[r]] for r in RELEASES} for f in fields})


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(lzma.decompress((FOLDER / name).read_bytes()))
    return content


def _write(name: str, content: object) -> None:
    text = json.dumps(content, separators=(",", ":")).encode()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 64 << 20}]
    (FOLDER / name).write_bytes(lzma.compress(text, filters=filters))
