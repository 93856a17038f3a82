"""`examples/dispatch` prints its expected output; docs/concepts/dispatch.md shows the program and its output exactly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_run import compare

from support.build import (
    REPOSITORY,
    cache_folder,
    link_library,
    link_program,
    locked,
    run_program,
)
from support.trees import generate, sources

EXAMPLE = REPOSITORY / "examples" / "dispatch"
PAGE = REPOSITORY / "docs" / "concepts" / "dispatch.md"


@pytest.mark.slow
def test_its_output() -> None:
    """Every cross-cutting key works on generated and on hand-registered operators."""
    with locked("run-dispatch-example"):
        code, printed, complained = run_program(_build(cache_folder() / "run" / "dispatch_example"))
    assert not complained and code == 0, f"exit {code}\n{printed}{complained}"
    compare(EXAMPLE / "expected.txt", printed)


def test_the_page_shows_all_that_is_printed() -> None:
    """docs/concepts/dispatch.md has each section of the output, line by line."""
    text = (EXAMPLE / "expected.txt").read_text()
    sections = re.split(r"^== (.*) ==\n", text, flags=re.MULTILINE)[1:]
    shown = [block for kind, block in _blocks() if kind == ""]
    for name, printed in zip(sections[::2], sections[1::2], strict=True):
        assert (
            printed in shown
        ), f"docs/concepts/dispatch.md does not show what {name} prints:\n{printed}"


def test_the_page_shows_the_program() -> None:
    """The example contains each C++ block of docs/concepts/dispatch.md, apart from its indentation."""
    files = [*EXAMPLE.glob("*.cpp"), *EXAMPLE.glob("kernels/*.cpp")]
    programs = ["\n".join(map(str.strip, file.read_text().splitlines())) for file in files]
    blocks = [block for kind, block in _blocks() if kind == "cpp"]
    assert len(blocks) >= 7
    for block in blocks:
        plain = "\n".join(map(str.strip, block.splitlines()))
        assert any(plain in program for program in programs), f"in no file:\n{block}"


def _blocks() -> list[tuple[str, str]]:
    """Return the fenced blocks of the page: their language and their text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


def _build(folder: Path) -> Path:
    tree = generate(EXAMPLE / "native_functions.yaml", folder / "tree")
    files = [*sources(tree), EXAMPLE / "kernels" / "myops.cpp"]
    library = link_library("operators", folder, files, [tree / "include"])
    programs = [EXAMPLE / "main.cpp", EXAMPLE / "tutorial.cpp"]
    return link_program(folder, programs, [tree / "include"], library)
