"""Count the lines of the runtime: python benchmarks/lines.py [--write]

Prints a Markdown table with a row for each layer of runtime/CMakeLists.txt: files and lines of its public headers, of
those in src/ and of its sources, and the longest files. `--write` puts it into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from results import write_between

RUNTIME = Path(__file__).resolve().parents[1] / "runtime"
PUBLIC, SOURCES = RUNTIME / "include/opgen", RUNTIME / "src"
# Names of rows, and their folders.
LAYERS = {
    "`core`": ("core", "device", "tensor", "dispatch", "structured", "iterator"),
    "`registration`": ("registration",),
    "`cpu`, and headers of `kernels`": ("cpu",),
    "`kernels`": ("kernels",),
    "`schema`": ("schema",),
    "`autograd`": ("autograd",),
    "`transforms`": ("transforms",),
    "entrances, C interface": (".",),
}
PARTS_OF_CORE = {
    "of `core`: folders `core`, `device`": LAYERS["`core`"][:2],
    "of `core`: `tensor`, `dispatch`, `structured`, `iterator`": LAYERS["`core`"][2:],
}


def files(root: Path, folders: Iterable[str], suffix: str) -> list[Path]:
    return sorted(path for folder in folders for path in (root / folder).glob(f"*{suffix}"))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("//")


def row(name: str, folders: Iterable[str]) -> str:
    groups = [
        files(*kind)
        for kind in ((PUBLIC, folders, ".h"), (SOURCES, folders, ".h"), (SOURCES, folders, ".cpp"))
    ]
    counts = [
        f"{len(group):,} | {sum(map(lines, group)):,}" if group else " | " for group in groups
    ]
    code = sum(is_code(line) for path in groups[0] for line in path.read_text().splitlines())
    counts.insert(1, f"{code:,}" if code else "")
    longest = sorted(chain(*groups), key=lines, reverse=True)[:4]
    return f"| {name} | {' | '.join(counts)} | {', '.join(f'{path.name} {lines(path):,}' for path in longest)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    every = [folder for folders in LAYERS.values() for folder in folders]
    rows = {**LAYERS, "all": every, **PARTS_OF_CORE}
    table = "\n".join(
        (
            "| layer | headers | lines | without comments | internal headers | lines | sources | lines | longest |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---|",
            *(row(*item) for item in rows.items()),
        )
    )
    write_between("lines.py", table) if parser.parse_args().write else print(table)


if __name__ == "__main__":
    main()
