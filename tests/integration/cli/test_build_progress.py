"""What `opgen build` says while it works, and the order in which it compiles.

A small program takes the compiler's place (support/stand_in.py), so the first build of a user takes seconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import Mock

import pytest

from opgen.cli import build
from support.build import tool
from support.stand_in import stand_in_compiler

YAML = """\
- func: leaky::ramp(Tensor self, float slope) -> Tensor
  structured_delegate: ramp.out

- func: leaky::ramp.out(Tensor self, float slope, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: ramp_out_cpu

- func: leaky::count(Tensor self) -> int
  dispatch:
    CPU: count_cpu
"""
KERNEL = """\
#include <opgen/kernel.h>
#include <leaky/NativeFunctions.h>

OPGEN_KERNEL(count_cpu)(const Tensor& self) {{ return {count}; }}
"""


@dataclass(frozen=True)
class Author:
    """An author's folder, with an empty cache of compiled parts."""

    folder: Path

    def build(self, *options: str, really: bool = False) -> subprocess.CompletedProcess[str]:
        """Run `opgen build`, with the stand-in in the compiler's place unless `really`."""
        self.log.unlink(missing_ok=True)
        launcher = f"{stand_in_compiler()};{self.log}"
        variables = {**os.environ, "OPGEN_CACHE_DIR": str(self.folder / "cache")}
        if not really:
            variables |= {"CMAKE_CXX_COMPILER_LAUNCHER": launcher}
            variables |= {"CMAKE_CXX_LINKER_LAUNCHER": launcher}
        return subprocess.run(
            [tool("opgen"), "build", "leaky.yaml", "-o", "out", "--kernels", "kernels", *options],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def log(self) -> Path:
        return self.folder / "compiled"

    def compiled(self) -> list[Path]:
        """Return the sources that the last build compiled, in order, without those by which CMake tries the compiler."""
        lines = self.log.read_text().splitlines()
        return [
            Path(line) for line in lines if "CMakeScratch" not in line and "/Modules/" not in line
        ]


@pytest.fixture
def author(tmp_path: Path) -> Author:
    (tmp_path / "leaky.yaml").write_text(YAML)
    (tmp_path / "kernels").mkdir()
    for name in ("count", "other"):
        (tmp_path / f"kernels/{name}.cpp").write_text("")
    (tmp_path / "kernels/count.cpp").write_text(KERNEL.format(count="self.numel()"))
    return Author(tmp_path)


@pytest.mark.slow
def test_each_long_step_is_announced(author: Author) -> None:
    """Protects the first build from silence: what is done, and where the result is, also in a log."""
    done = author.build()
    assert done.returncode == 0, done.stderr
    *steps, last = done.stderr.splitlines()
    assert steps[0] == "looking for the compiler ..."
    assert re.fullmatch(r"the runtime is compiled .*\.\.\.", steps[1]), steps
    assert steps[2:] == ["compiling 2 kernel sources ..."]
    assert last == "compiling the library ..."
    library = done.stdout.splitlines()[0]
    assert re.fullmatch(r"out/cmake-build/libleaky\.so  \(\d+\.\d s\)", library), library
    again = author.build()
    assert again.stderr == "compiling the library ...\n" and author.log.exists() is False


@pytest.mark.slow
def test_the_authors_sources_are_compiled_first(author: Author) -> None:
    """Protects the author from waiting for the runtime, and then for the message about a mistake of their own."""
    assert author.build("-j", "1").returncode == 0
    kernels = [path.parent == author.folder / "kernels" for path in author.compiled()]
    assert kernels[:2] == [True, True] and not any(kernels[2:]) and len(kernels) > 2


@pytest.mark.slow
def test_a_mistake_in_a_kernel_is_reported_before_anything_else_is_compiled(author: Author) -> None:
    """With a real compiler: the runtime has not been compiled when the message is there."""
    (author.folder / "kernels/count.cpp").write_text(KERNEL.format(count="self.nummel()"))
    done = author.build(really=True)
    assert done.returncode == 1 and "nummel" in done.stderr and "count.cpp:4:" in done.stderr
    said = "error: kernels/count.cpp: OPGEN_KERNEL(count_cpu) of leaky::count does not compile\n"
    assert said in done.stderr and "FAILED" not in done.stderr and " -c " not in done.stderr
    objects = [path.name for path in (author.folder / "out").rglob("*.o")]
    assert set(objects) <= {"other.cpp.o"}


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_how_much_is_compiled(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
) -> None:
    """Ninja's status becomes one line, which is erased at the end; a log has only what a failing compiler said."""
    cmake = tmp_path / "cmake"
    cmake.write_text("#!/bin/sh\necho '[1/2] a.o'; echo 'no such type'; echo '[2/2] b.o'; exit 1\n")
    cmake.chmod(0o755)
    monkeypatch.setattr(build, "_tool", lambda _: str(cmake))
    monkeypatch.setattr(build, "missing_functions", lambda _: ())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    with pytest.raises(SystemExit):
        build._compile(tmp_path, None, (), Mock(), verbose=True)
    erased = "\r\x1b[K"
    shown = f"{erased}1/2{erased}2/2{erased}" if is_terminal else ""
    assert capsys.readouterr().err == f"{shown}no such type\n"
