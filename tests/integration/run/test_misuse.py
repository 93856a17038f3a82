"""A kernel with a wrong signature does not compile, and the compiler points into the author's file.

The first line of each source in misuse/bad.txt is the expected message; misuse/good.cpp shows that only the mistake
causes the error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.build import Compiler, compilers
from support.goldens import read
from support.selection import each_once
from support.trees import generate

HERE = Path(__file__).parent / "misuse"
GOOD = HERE / "good.cpp"
# What each of the bad sources begins with.
HEAD = GOOD.read_text().partition("namespace")[0]
BAD = read(HERE / "bad.txt")

each_compiler = pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield generate(HERE / "input.yaml", tmp_path_factory.mktemp("misuse"))


@each_compiler
def test_right_kernels_compile(compiler: Compiler, tree: Path) -> None:
    said = compiler.check([tree / "include"], GOOD)
    assert not said, said


@pytest.mark.parametrize(
    ("name", "compiler"),
    each_once(BAD, compilers()),
    ids=lambda value: getattr(value, "name", value),
)
def test_a_wrong_kernel_does_not(name: str, compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    expected, kernel = BAD[name].removeprefix("// expect: ").split("\n", 1)
    source = tmp_path / f"{name}.cpp"
    source.write_text(HEAD + kernel)
    said = compiler.check([tree / "include"], source)
    assert re.search(r"\berror: ", said), f"it compiles\n{said}"
    assert re.search(expected, said), said
    # A line with its column: not only "included from".
    assert re.search(rf"{re.escape(source.name)}:\d+:\d+", said), said
