"""Pages whose examples a reader copies: what their fenced blocks contain, and the folders and sessions made of them.

The title of a block says what it is. It is the name of a file, with the target if the file differs between targets:

    ```cpp title="kernels/gamma.cpp"
    ```cpp title="kernels/crop.cpp (target torch)"

Blocks of the same title on one page are one file. `pycon` blocks are sessions with the package that a page's files
make; those titled `(target torch)` are sessions with PyTorch. A C++ file outside of kernels/ is a program, and a `text`
block titled "Output of FILE" is what it prints. Files in tests/ are run by pytest. The commands of `console` blocks run in
the folder of the page's files, and print what stands below them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from support.build import REPOSITORY, tool

DOCS = REPOSITORY / "docs"
GUIDES = DOCS / "guides"

_FENCE = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]*)\")?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_TARGET = re.compile(r"^(?P<name>.*?) ?\(target (?P<target>runtime|torch)\)$")
_OUTPUT = "Output of "
_REPORT = "Report of "


@dataclass(frozen=True)
class Block:
    """One fenced block. `target` is empty if the block is for both targets."""

    language: str
    title: str
    target: str
    text: str
    line: int

    @property
    def is_file(self) -> bool:
        return bool(self.title) and not self.title.startswith((_OUTPUT, _REPORT))

    def serves(self, target: str) -> bool:
        return self.target in ("", target)


@dataclass(frozen=True)
class Page:
    """One page of the documentation."""

    path: Path

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        found = []
        for match in _FENCE.finditer(self.text):
            title, target = match["title"] or "", ""
            if split := _TARGET.match(title):
                title, target = split["name"], split["target"]
            line = self.text.count("\n", 0, match.start()) + 2
            found.append(Block(match["language"], title, target, match["text"], line))
        return tuple(found)

    def files(self, target: str) -> dict[str, str]:
        """Return the files of this page for `target`: their names and texts."""
        found: dict[str, str] = {}
        for block in self.blocks:
            if block.is_file and block.serves(target):
                before = found.get(block.title)
                found[block.title] = block.text if before is None else f"{before}\n{block.text}"
        return found

    def tests(self, target: str = "runtime") -> tuple[str, ...]:
        """Return the names of the page's files that pytest runs; for target torch, those that are for it alone."""
        only = {b.title for b in self.blocks if b.target == target}
        names = (name for name in self.files(target) if name.startswith("tests/"))
        return tuple(name for name in names if target == "runtime" or name in only)

    def output(self, program: str) -> str:
        """Return what the page says that `program` prints."""
        return self._text_of(f"{_OUTPUT}{program}")

    def report(self, program: str) -> tuple[str, ...]:
        """Return the parts of a tool's report about `program`, in order; the page shows … between them."""
        text = self._text_of(f"{_REPORT}{program}")
        parts = (part for line in text.splitlines() for part in line.split("…"))
        return tuple(part for part in parts if part.strip())

    def _text_of(self, title: str) -> str:
        (block,) = (b for b in self.blocks if b.title == title)
        return block.text

    def commands(self) -> tuple[tuple[str, str], ...]:
        """Return the commands in `console` blocks, each with its output, in which … stands for anything."""
        found = []
        for block in self.blocks:
            if block.language == "console":
                for part in block.text.removeprefix("$ ").split("\n$ "):
                    command, _, output = part.partition("\n")
                    found.append((command, output.rstrip("\n")))
        return tuple(found)

    def session(self, target: str) -> str:
        """Return the Python sessions for `target` as a text for doctest, at the lines of the page."""
        wanted = "torch" if target == "torch" else ""
        lines = [""] * (self.text.count("\n") + 1)
        for block in self.blocks:
            if block.language == "pycon" and block.target == wanted:
                texts = block.text.splitlines()
                lines[block.line - 1 : block.line - 1 + len(texts)] = texts
        return "\n".join(lines)


@dataclass(frozen=True)
class Library:
    """What pages make together: schemas, kernels, and programs that call them."""

    yaml: tuple[Path, ...]
    kernels: tuple[Path, ...]
    programs: tuple[Path, ...]


def pages(folder: Path = GUIDES) -> tuple[Page, ...]:
    """Return the pages of a folder that have files for a reader to copy, by name."""
    every = (Page(path) for path in sorted(folder.glob("*.md")))
    return tuple(page for page in every if any(block.is_file for block in page.blocks))


def library(every: Iterable[Page], target: str, folder: Path) -> Library:
    """Write the files of all pages below `folder`, each page's in a folder of its name, and remove all others.

    Files that have not changed keep their time, so that a build in `folder` compiles only what changed.
    """
    texts = {
        f"{page.name}/{name}": text for page in every for name, text in page.files(target).items()
    }
    for old in folder.rglob("*"):
        if old.is_file() and old.relative_to(folder).as_posix() not in texts:
            old.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    sources = [folder / name for name in texts if name.endswith(".cpp")]
    return Library(
        yaml=tuple(folder / name for name in texts if name.endswith("/photo.yaml")),
        kernels=tuple(path for path in sources if path.parent.name == "kernels"),
        programs=tuple(path for path in sources if path.parent.parent == folder),
    )


def run_commands(page: Page, folder: Path) -> None:
    """Run the commands of a page in `folder`, which has its files. Each must print what the page shows."""
    for command, output in page.commands():
        done = subprocess.run(
            command.replace("opgen ", f"{tool('opgen')} ", 1),
            shell=True,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        pattern = ".*".join(map(re.escape, output.split("…")))
        said = f"{command}\n{done.stdout}"
        assert re.fullmatch(pattern, done.stdout.rstrip("\n"), re.DOTALL), said
