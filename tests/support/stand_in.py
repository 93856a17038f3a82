"""Builds in which a small program takes the compiler's place and records what it is asked to compile.

Like a compiler, it writes a depfile with all headers that the source includes; the object is empty. So CMake, Ninja
and Make really decide what is out of date, and a build takes milliseconds.
"""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.build import INCLUDE, RUNTIME, cache_folder, default_compiler, locked, run, tool

_SUPPORT = Path(__file__).parent


@functools.cache
def stand_in_compiler() -> Path:
    """Compile the program once and return its path."""
    source = _SUPPORT / "stand_in_compiler.cpp"
    program = cache_folder() / "stand_in_compiler"
    with locked(program.name):
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            run([default_compiler().path, "-std=c++20", "-O1", source, "-o", program])
    return program


@dataclass(frozen=True)
class Build:
    """A build folder of a user's project, configured for `generator`."""

    source: Path
    folder: Path
    generator: str = "Ninja"

    @property
    def _log(self) -> Path:
        return self.folder / "compiled"

    def configure(self, *definitions: str) -> None:
        launcher = f"{stand_in_compiler()};{self._log}"
        command = [tool("cmake"), "-S", self.source, "-B", self.folder, "-G", self.generator]
        if self.generator == "Ninja":
            command.append(f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}")
        run(
            [
                *command,
                f"-Dopgen_DIR={RUNTIME / 'cmake'}",
                f"-DOPGEN_EXECUTABLE={tool('opgen')}",
                f"-DCMAKE_PROJECT_INCLUDE={_SUPPORT / 'stand_in.cmake'}",
                f"-DRUNTIME_INCLUDE={INCLUDE}",
                f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}",
                *definitions,
            ]
        )

    def build(self) -> tuple[list[str], str]:
        """Build, which must succeed; return the sorted names of the compiled sources, and the output."""
        done = self.try_build()
        assert done.returncode == 0, done.stdout
        return self.compiled(), done.stdout

    def try_build(self) -> subprocess.CompletedProcess[str]:
        self._log.unlink(missing_ok=True)
        return subprocess.run(
            [tool("cmake"), "--build", str(self.folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )

    def compiled(self) -> list[str]:
        """Return the names of the sources that the last build compiled."""
        if not self._log.exists():
            return []
        return sorted(Path(line).name for line in self._log.read_text().splitlines())
