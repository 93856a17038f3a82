"""Draw lines of English at random from comments, docstrings, messages and pages, for a reader to count where they stop.

`python benchmarks/prose_sample.py 31337 330` prints 330 lines with seed 31337, in runs of up to six lines of one file.
"""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("src", "runtime", "docs")
# Made from other files, which are drawn themselves.
GENERATED = {"docs/reference/diagnostics.md"}
RUN = 6
_CPP = re.compile(r'//|"[^"]* [^"]* [^"]* [^"]*"')


def of_python(lines: list[str]) -> Iterator[int]:
    """Yield the lines of comments, docstrings and strings of several words."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        is_text = token.type == tokenize.STRING and (
            token.string.startswith('"""') or token.string.count(" ") > 4
        )
        if is_text or token.type == tokenize.COMMENT:
            found.update(range(token.start[0] - 1, token.end[0]))
    yield from (i for i in sorted(found) if lines[i].strip())


def of_page(lines: list[str]) -> Iterator[int]:
    """Yield the lines of a page with at least four words, outside of code blocks."""
    in_code = False
    for i, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and len(line.split()) > 3:
            yield i


def english(path: Path, lines: list[str]) -> list[int]:
    """Return the indices of the lines of a file that contain English."""
    match path.suffix:
        case ".py" | ".pyi":
            return list(of_python(lines))
        case ".h" | ".cpp":
            return [i for i, line in enumerate(lines) if _CPP.search(line)]
        case ".cmake":
            return [i for i, line in enumerate(lines) if line.lstrip().startswith("#")]
        case ".md":
            return list(of_page(lines))
    return []


def main(seed: int, wanted: int) -> None:
    """Print runs of lines until `wanted` are printed, and how many there are in all."""
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    runs: list[tuple[str, list[str]]] = []
    all_lines = all_english = 0
    for name in sorted(set(listed.stdout.split()) - GENERATED):
        path = REPOSITORY / name
        if path.suffix not in (".py", ".pyi", ".h", ".cpp", ".cmake", ".md"):
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        found = english(path, lines)
        all_lines += len(lines)
        all_english += len(found)
        for start in range(0, len(found), RUN):
            runs.append((name, [f"{i + 1}|{lines[i]}" for i in found[start : start + RUN]]))
    random.Random(seed).shuffle(runs)
    printed = 0
    while runs and printed < wanted:
        name, some = runs.pop()
        print(f"===== {name}", *some, sep="\n")
        printed += len(some)
    print(f"{printed} of {all_english:,} lines of English, in files of {all_lines:,} lines")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
