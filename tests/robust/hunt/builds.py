"""Builds of our operators and their Python package with a sanitizer, and processes that load them.

Sanitizers are loaded before Python, which is not compiled with them; in PyTorch and NumPy they see only calls of the C
library. The build lies in `sanitized-<name>` of the tests' cache folder, or in $OPGEN_SANITIZED.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from support.build import (
    INCLUDE,
    REPOSITORY,
    cache_folder,
    default_compiler,
    environment,
    locked,
    run,
)
from support.library import OperatorLibrary, build_own_operators, own_operators

_HERE = Path(__file__).parent
_COMMON = "-O2 -g1 -fno-omit-frame-pointer"
_FLAGS = {
    "address": f"{_COMMON} -fsanitize=address,undefined -fno-sanitize-recover=undefined",
    "thread": f"{_COMMON} -fsanitize=thread",
    "none": "-O1 -g1",
}
SANITIZERS = tuple(_FLAGS)
_LINKED = {"address": "-fsanitize=address,undefined", "thread": "-fsanitize=thread"}
_PRELOADED = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",), "none": ()}
_OPTIONS = {
    # The runtime must reject a tensor of impossible size, not the sanitizer.
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048"
    ":quarantine_size_mb=64:handle_abort=1:detect_stack_use_after_return=0:verify_asan_link_order=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # ThreadSanitizer does not see how PyTorch and NumPy synchronise their own threads.
    "TSAN_OPTIONS": f"halt_on_error=0:exitcode=66:report_signal_unsafe=0:suppressions={_HERE / 'tsan.supp'}",
}


class Child(NamedTuple):
    """How a process ended, and its output on stderr and stdout."""

    code: int | None
    said: str
    printed: str


@dataclass(frozen=True)
class Build:
    """A build of the Python package with a sanitizer. `folder` is for what is compiled beside it."""

    sanitizer: str
    folder: Path
    library: OperatorLibrary

    @property
    def packages(self) -> Path:
        return self.library.packages

    @property
    def runtime(self) -> Path:
        return self.library.runtime

    def environment(self, *before: Path) -> dict[str, str]:
        """Return the environment of a process that imports the package. `before`: libraries to load before the
        sanitizer's."""
        path = default_compiler().path
        names = [
            run([path, f"-print-file-name={name}"]).strip() for name in _PRELOADED[self.sanitizer]
        ]
        preload = " ".join([*map(str, before), *names])
        return {
            **os.environ,
            **_OPTIONS,
            **({"LD_PRELOAD": preload} if preload else {}),
            # Every object gets a block of its own, so that uses after its release are detected.
            "PYTHONMALLOC": "malloc",
            "PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY / 'tests'}",
            "OMP_NUM_THREADS": "1",
        }

    def command(self, *arguments: str | Path) -> list[str]:
        """Return the command that runs Python with these arguments. ThreadSanitizer needs address randomisation
        switched off."""
        fixed = ["setarch", os.uname().machine, "-R"] if self.sanitizer == "thread" else []
        return [*fixed, sys.executable, *map(str, arguments)]

    def child(self, command: Sequence[str], *before: Path, timeout_s: float) -> Child:
        """Run a process in this build's environment; its exit code is None if it exceeded its time. `before`: as above."""
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                env=self.environment(*before),
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return Child(None, str(late.stderr or ""), "")
        return Child(done.returncode, done.stderr, done.stdout)

    @functools.cached_property
    def allocator(self) -> Path:
        """A library that gives every storage a block of exactly its size, and can let an allocation fail."""
        return self._library("allocator.cpp", *self._linked)

    @functools.cached_property
    def registers(self) -> Path:
        """A library that defines an operator while it is loaded, and in a function."""
        return self._library("registers.cpp", *self._linked)

    @property
    def _linked(self) -> tuple[str, ...]:
        core = self.runtime.with_name(self.runtime.name.replace("runtime", "core"))
        return str(self.runtime), str(core), f"-Wl,-rpath,{self.runtime.parent}"

    @functools.cached_property
    def faults(self) -> Path:
        """A library to load before all others. It lets chosen calls of the C library fail (see faults.cpp)."""
        return self._library("faults.cpp", "-ldl", plain=True)

    def _library(self, source: str, *linked: str, plain: bool = False) -> Path:
        made = self.folder / f"{Path(source).stem}.so"
        newest = (_HERE / source).stat().st_mtime
        with locked("hunt-libraries"):
            if not made.exists() or made.stat().st_mtime < newest:
                flags = ["-O1", "-g1"] if plain else _FLAGS[self.sanitizer].split()
                command = [default_compiler().path, "-std=c++20", "-fPIC", "-shared", *flags]
                run([*command, f"-I{INCLUDE}", str(_HERE / source), "-o", made, *linked])
        return made


@functools.cache
def built(sanitizer: str) -> Build:
    """Build, or bring up to date; the first time takes some minutes. With "none", use the build of the other tests."""
    if sanitizer == "none":
        return Build(sanitizer, cache_folder(), own_operators())
    given = os.environ.get("OPGEN_SANITIZED") if sanitizer == "address" else None
    folder = Path(given) if given else cache_folder() / f"sanitized-{sanitizer}"
    folder.mkdir(parents=True, exist_ok=True)
    flags = {"CXXFLAGS": _FLAGS[sanitizer], "LDFLAGS": _LINKED[sanitizer]}
    # CMake has no flags for this build type. Those of a release build would follow ours, and compiling would take
    # three times as long.
    library = build_own_operators(folder, {**environment(), **flags}, "--build-type", "Sanitized")
    return Build(sanitizer, folder, library)
