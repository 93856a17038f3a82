"""Measure how the time to generate grows with the number of operators: 1, 2, 4 and 8 times PyTorch's entries.

    python benchmarks/growth.py [RUNS] [--entries N] [--folder DIR] [--write]

Needs torch (for its native_functions.yaml) and valgrind. Operators and kernels of the copies are renamed. Views are
left out, because their names depend on those of their copying siblings. Each copy is a separate file. Times are
processor times of one process on one processor, minus the time for an empty file, divided by the number of entries.
Instructions are per additional entry compared with the previous row, so that fixed costs are left out. callgrind
counts them and takes fifty times as long, so these copies contain only the first operators, N entries or a few more
(160). --write puts the table into RESULTS.md and draws growth.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from generate import HERE, IGNORED, PROGRAM, packaged, spread
from results import write_between

Entry = dict[str, Any]
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TIMES = (1, 2, 4, 8)
NAME = re.compile(r"^([\w.]+)\(")
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 360, 60, 40


def root_of(entry: Entry) -> str:
    name = entry["func"].partition("(")[0].partition(".")[0]
    inner = re.fullmatch(r"__i?(\w+)__", name)
    return inner[1] if inner else name.rstrip("_")


def is_of_views(entry: Entry) -> bool:
    tags = str(entry.get("tags", ""))
    return (
        bool(re.search(r"\((\w|\w -> \*)\)", entry["func"]))
        or "view" in tags
        or "_copy" in entry["func"]
    )


def prefixed(text: str, prefix: str) -> str:
    return ", ".join(prefix + part.strip() for part in text.split(","))


def renamed(entry: Entry, prefix: str) -> Entry:
    """Return the entry with another name and other kernels."""
    copy = {**entry, "func": prefix + entry["func"]}
    for key in ("structured_delegate", "autogen"):
        if key in entry:
            copy[key] = prefixed(entry[key], prefix)
    for key in ("dispatch", "ufunc_inner_loop"):
        if key in entry:
            copy[key] = {
                keys: re.sub(r"(\w+)( \(\w+(, \w+)*\))?$", rf"{prefix}\1\2", value)
                for keys, value in entry[key].items()
            }
    return copy


def text_of(entries: Sequence[Entry], prefix: str) -> tuple[str, list[int]]:
    """Return a YAML text, and the line on which each entry begins."""
    chunks, starts, line = [], [], 1
    for entry in entries:
        chunk = yaml.safe_dump([renamed(entry, prefix)], sort_keys=False, width=10**6)
        chunks.append(chunk)
        starts.append(line)
        line += chunk.count("\n")
    return "".join(chunks), starts


def sound(entries: list[Entry], path: Path) -> list[Entry]:
    """Return the entries that may be renamed, because some rules depend on names. Leaves out all overloads of a name."""
    while True:
        text, starts = text_of(entries, "c0_")
        path.write_text(text)
        command = [*PROGRAM, "lint", str(path), "--format", "json", "--ignore-keys", IGNORED]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found = [json.loads(line) for line in said.splitlines()]
        lines = [one["span"]["line"] for one in found if one["severity"] == "error"]
        if not lines:
            return entries
        wrong = {root_of(entries[sum(start <= line for start in starts) - 1]) for line in lines}
        entries = [entry for entry in entries if root_of(entry) not in wrong]


def first_roots(entries: list[Entry], count: int) -> list[Entry]:
    """Return all entries of the first names: `count` entries or a few more."""
    roots: set[str] = set()
    for entry in entries:
        if sum(root_of(one) in roots for one in entries) >= count:
            break
        roots.add(root_of(entry))
    return [entry for entry in entries if root_of(entry) in roots]


def write_copies(entries: list[Entry], folder: Path) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"copy{i}.yaml" for i in range(max(TIMES))]
    for i, path in enumerate(paths):
        path.write_text(text_of(entries, f"c{i}_")[0])
    return paths


def command_for(paths: Sequence[Path], output: Path) -> list[str]:
    options = ["-o", str(output), "--ignore-keys", IGNORED]
    return [*PROGRAM, "generate", *map(str, paths), *options]


def processor_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(["taskset", "-c", "0", *command])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions(command: Sequence[str]) -> int:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    said = run(["taskset", "-c", "0", *tool, *command])
    found = re.search(r"Collected : (\d+)", said)
    assert found, said
    return int(found[1])


def run(command: Sequence[str]) -> str:
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONHASHSEED": "0"}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        sys.exit(result.stderr)
    return result.stderr


def table(
    entries: int, seconds: dict[int, list[float]], counted: int, counts: dict[int, int]
) -> Iterator[str]:
    yield "| copies | entries | ms per entry, min / median / max | ratio to 1 (minima) | entries counted | instructions per additional entry | ratio to 2 |"
    yield "|---:|---:|---|---:|---:|---:|---:|"
    per = per_entry(entries, seconds)
    more = {n: (counts[n] - counts[n // 2]) / ((n - n // 2) * counted) for n in TIMES}
    for n in TIMES:
        took = spread([(value - min(seconds[0])) / (n * entries) * 1e3 for value in seconds[n]], 3)
        added = f"{more[n] / 1e6:.2f} M | {more[n] / more[2]:.3f}" if n > 1 else " | "
        yield (
            f"| {n} | {n * entries:,} | {took} | {per[n] / per[1]:.2f} | {n * counted:,} | {added} |"
        )


def per_entry(entries: int, seconds: dict[int, list[float]]) -> dict[int, float]:
    """Return the milliseconds of the fastest run."""
    return {n: (min(seconds[n]) - min(seconds[0])) / (n * entries) * 1e3 for n in TIMES}


def picture(entries: int, seconds: dict[int, list[float]]) -> str:
    """Return an SVG plot of processor seconds over entries: runs as dots, and a line through the origin and the first."""
    most_x = max(TIMES) * entries
    start = min(seconds[0])
    seconds = {n: [value - start for value in seconds[n]] for n in TIMES}
    slope = min(seconds[1]) / entries
    most_y = max(value for n in TIMES for value in seconds[n]) * 1.1

    def x(value: float) -> float:
        return LEFT + value / most_x * (WIDTH - LEFT - 20)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - value / most_y * (HEIGHT - BOTTOM - 20)

    def text(at_x: float, at_y: float, what: str, anchor: str = "middle") -> str:
        return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}">{what}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="M{LEFT} 20V{y(0):.1f}H{WIDTH - 20}" fill="none" stroke="black"/>',
        f'<path d="M{x(0):.1f} {y(0):.1f}L{x(most_x):.1f} {y(slope * most_x):.1f}" stroke="gray" stroke-dasharray="4"/>',
        text(WIDTH / 2, HEIGHT - 6, "entries"),
        text(
            LEFT + 8,
            16,
            "processor seconds, without those of an empty file; dashed: as much for each entry as in 1×",
            "start",
        ),
    ]
    for n in TIMES:
        parts.append(text(x(n * entries), y(0) + 16, f"{n * entries:,}"))
        parts += [
            f'<circle cx="{x(n * entries):.1f}" cy="{y(value):.1f}" r="4" fill="steelblue"/>'
            for value in seconds[n]
        ]
    for i in range(1, 5):
        value = most_y * i / 5
        parts.append(text(LEFT - 6, y(value) + 4, f"{value:.1f}", "end"))
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", type=int, nargs="?", default=3)
    parser.add_argument("--entries", type=int, default=160, help="counted by callgrind, once")
    parser.add_argument("--folder", type=Path, help="where outputs are written")
    parser.add_argument("--write", action="store_true", help="RESULTS.md and growth.svg")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        empty = folder / "empty.yaml"
        empty.write_text("[]\n")
        every = yaml.load((packaged() / "native" / "native_functions.yaml").read_text(), Loader)
        whole = sound([e for e in every if not is_of_views(e)], folder / "all.yaml")
        few = sound(first_roots(whole, given.entries), folder / "few.yaml")
        copies, small = write_copies(whole, folder / "whole"), write_copies(few, folder / "part")
        seconds: dict[int, list[float]] = {n: [] for n in (0, *TIMES)}
        for turn in range(given.runs):
            for n in seconds:
                paths = copies[:n] or [empty]
                output = folder / f"time{turn}-{n}"
                seconds[n].append(processor_seconds(command_for(paths, output)))
        counts = {
            n: instructions(command_for(small[:n] or [empty], folder / f"count{n}"))
            for n in (0, *TIMES)
        }
    lines = list(table(len(whole), seconds, len(few), counts))
    print("\n".join(lines))
    if given.write:
        write_between("growth.py", "\n".join(lines))
        (HERE / "growth.svg").write_text(picture(len(whole), seconds))


if __name__ == "__main__":
    main()
