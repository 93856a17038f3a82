"""A kernel with a wrong signature does not compile, and the compiler points into the author's file.

The first line of every misuse/bad/*.cpp is the expected message; misuse/good/*.cpp shows that only the mistake causes
the error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.build import Compiler, compilers
from support.selection import each_once
from support.trees import generate

HERE = Path(__file__).parent / "misuse"
GOOD = sorted(HERE.glob("good/*.cpp"))
BAD = sorted(HERE.glob("bad/*.cpp"))

each_compiler = pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield generate(HERE / "input.yaml", tmp_path_factory.mktemp("misuse"))


@each_compiler
@pytest.mark.parametrize("source", GOOD, ids=lambda path: path.stem)
def test_a_right_kernel_compiles(source: Path, compiler: Compiler, tree: Path) -> None:
    said = compiler.check([tree / "include"], source)
    assert not said, said


@pytest.mark.parametrize(
    ("source", "compiler"),
    each_once(BAD, compilers()),
    ids=lambda value: getattr(value, "stem", None) or value.name,
)
def test_a_wrong_kernel_does_not(source: Path, compiler: Compiler, tree: Path) -> None:
    expected = source.read_text().splitlines()[0].removeprefix("// expect: ")
    said = compiler.check([tree / "include"], source)
    assert re.search(r"\berror: ", said), f"it compiles\n{said}"
    assert re.search(expected, said), said
    # A line with its column: not only "included from".
    assert re.search(rf"{re.escape(source.name)}:\d+:\d+", said), said
