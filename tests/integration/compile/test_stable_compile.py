"""g++ and clang++ compile what is generated for target torch-stable, and its common part, without a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.targets.base import PYTORCH_STABLE
from support.build import RUNTIME, WARNINGS, Compiler, compilers, environment, run
from support.pytorch import torch_folder
from support.retargeted import retargeted
from support.torch_headers import RELEASES, headers_of

OWN = RUNTIME / "torch_stable"
# An operator that writes without a functional variant, a structured operator without out=, an inner loop.
REFUSED = {"use_const_ref", "outless", "ufunc"}

pytestmark = pytest.mark.slow
each_compiler = pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)


def flags(compiler: Compiler) -> list[str]:
    found = [compiler.path, "-std=c++20", "-fsyntax-only", "-fvisibility=hidden", *WARNINGS]
    return [*found, f"-I{OWN / 'include'}", f"-I{RUNTIME / 'include'}"]


def one_unit(sources: list[Path], folder: Path) -> Path:
    unit = folder / "all.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    return unit


@each_compiler
def test_every_golden_input(compiler: Compiler, tmp_path: Path) -> None:
    """Protects all forms of operators. No source includes a header of PyTorch."""
    includes, sources = [], []
    refused: set[str] = set()
    for tree in retargeted("torch-stable", tmp_path, refused, torch="2.13"):
        includes.append(f"-I{tree / 'include'}")
        sources += [*sorted(tree.glob("src/*.cpp")), *sorted(tree.glob("stubs/*.cpp"))]
    assert refused <= REFUSED, refused - REFUSED
    assert len(sources) > 100
    run([*flags(compiler), *includes, one_unit(sources, tmp_path)], env=environment())


def common_part(compiler: Compiler, torch: Path, folder: Path) -> None:
    """Compile the sources that every torch-stable library contains, with PyTorch's headers in `torch`."""
    text = (OWN / "CMakeLists.txt").read_text()
    shared = text.split("set(OPGEN_SHARED_SOURCES\n")[1].split(")")[0].split()
    sources = [*sorted(OWN.rglob("src/**/*.cpp")), *(RUNTIME / "src" / f"{s}.cpp" for s in shared)]
    more = [f"-I{OWN / 'src'}", f"-I{RUNTIME / 'src'}", f"-isystem{torch}"]
    for number, some in enumerate((sources[: -len(shared)], sources[-len(shared) :])):
        place = folder / str(number)
        place.mkdir()
        run([*flags(compiler), *more, one_unit(some, place)], env=environment())


@each_compiler
def test_the_common_part(compiler: Compiler, tmp_path: Path) -> None:
    common_part(compiler, torch_folder() / "include", tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "release",
    [r for r in RELEASES if tuple(map(int, r.split(".")[:2])) >= PYTORCH_STABLE.oldest],
)
def test_the_common_part_with_the_headers_of_every_release(release: str, tmp_path: Path) -> None:
    """Protects builds against any release: the library is the same."""
    common_part(compilers()[0], headers_of(release) / "torch" / "include", tmp_path)
