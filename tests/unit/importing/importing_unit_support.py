"""Read registrations from source texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.importing.entries.merge import Entry
from opgen.pipeline.importing import Imports, collect_entries


@dataclass(frozen=True, slots=True)
class Found:
    entries: dict[str, Entry]
    codes: list[str]

    @property
    def schemas(self) -> list[str]:
        return [f"{entry.namespace}::{entry.schema}" for entry in self.entries.values()]

    def rows(self, name: str) -> dict[str, str]:
        """Return the kernel of each key of an operator."""
        return {key: row.written for key, row in self.entries[name].rows.items()}


def read(
    folder: Path,
    files: Mapping[str, str] | str,
    *,
    defines: Mapping[str, str] | None = None,
    as_they_are: bool = False,
) -> Found:
    """Return the registrations read from files, given by name and text, or from one C++ source."""
    named = {"ops.cpp": files} if isinstance(files, str) else files
    for name, text in named.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    diagnostics = Diagnostics()
    paths = tuple(str(folder / name) for name in named)
    output = str(folder / "out.yaml")
    imports = Imports(paths, (), (), defines or {}, as_they_are, output)
    collected = collect_entries(imports, diagnostics)
    entries = {} if collected is None else {entry.name: entry for entry in collected.entries}
    return Found(entries, [item.code for item in diagnostics])


def library(*lines: str) -> str:
    return "\n".join(("TORCH_LIBRARY(demo, m) {", *lines, "}\n"))
