"""`examples/cpp` prints its expected output; docs/guides/cpp.md shows parts of the program and what they print."""

from __future__ import annotations

import re

import pytest
from test_run import compare

from support.build import REPOSITORY, cache_folder, link_library, link_program, locked, run_program
from support.trees import generate, sources

EXAMPLE = REPOSITORY / "examples" / "cpp"
MYADD = REPOSITORY / "examples" / "myadd"
TRAIN = REPOSITORY / "examples" / "train"
PAGE = (REPOSITORY / "docs" / "guides" / "cpp.md").read_text()
PAGE = PAGE.split("## Tensors in C++\n")[1].split("\n## ")[0]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_its_output() -> None:
    """Protects the functions that the page shows, and the text of printed tensors."""
    with locked("run-cpp-example"):
        folder = cache_folder() / "run" / "cpp_example"
        tree = generate(MYADD / "native_functions.yaml", folder / "tree")
        files = [*sources(tree), MYADD / "kernels" / "myadd.cpp"]
        library = link_library("operators", folder, files, [tree / "include"])
        program = link_program(folder, [EXAMPLE / "main.cpp"], [tree / "include"], library)
        code, printed, complained = run_program(program)
    assert not complained and code == 0, f"exit {code}\n{printed}{complained}"
    compare(EXAMPLE / "expected.txt", printed)


def test_the_page_shows_the_program() -> None:
    """Protects readers: an example contains each C++ and CMake block, apart from its indentation."""
    files = {
        "cpp": [EXAMPLE / "main.cpp", TRAIN / "main.cpp"],
        "cmake": [EXAMPLE / "CMakeLists.txt"],
    }
    shown = [(kind, block) for kind, block in BLOCKS if kind in files]
    assert len(shown) >= 9
    for kind, block in shown:
        programs = ["\n".join(map(str.strip, f.read_text().splitlines())) for f in files[kind]]
        plain = "\n".join(map(str.strip, block.strip().splitlines()))
        assert any(plain in program for program in programs), f"in no example:\n{block}"


def test_the_page_shows_what_is_printed() -> None:
    """Protects the outputs on the page: each is a part of what the program prints."""
    printed = (EXAMPLE / "expected.txt").read_text()
    shown = [block for kind, block in BLOCKS if kind == "text"]
    assert len(shown) >= 4
    for block in shown:
        assert block.rstrip() in printed, block
