"""The guard around the memory that kernels allocate: guard.c, compiled once and loaded into the processes that call them."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

_SOURCE = Path(__file__).with_name("guard.c")
_TEXT = 256


def compiled(folder: Path) -> Path | None:
    """Compile the guard into `folder`, if it is not there already; None if this machine has no C compiler."""
    source = _SOURCE.read_bytes()
    made = folder / f"guard-{hashlib.sha256(source).hexdigest()[:16]}.so"
    if made.exists():
        return made
    names = (os.environ.get("CC"), "cc", "gcc", "clang")
    compiler = next((path for name in names if name and (path := shutil.which(name))), None)
    if compiler is None or not Path("/proc/self").exists():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as part:
        fresh = Path(part) / made.name
        command = [compiler, "-O1", "-g1", "-shared", "-fPIC", str(_SOURCE), "-o", str(fresh)]
        done = subprocess.run([*command, "-ldl", "-lpthread"], capture_output=True, check=False)
        if done.returncode != 0:
            return None
        os.replace(fresh, made)
    return made


class Guard:
    """The guard in this process, which LD_PRELOAD has loaded."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._c = library
        library.opgen_guard_check.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.opgen_guard_live_blocks.restype = ctypes.c_long
        library.opgen_guard_watch.argtypes = [
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
        ]

    @staticmethod
    def find() -> Guard | None:
        """Return the guard, or None if it is not loaded."""
        library = ctypes.CDLL(None)
        return Guard(library) if hasattr(library, "opgen_guard_arm") else None

    def arm(self, on: bool) -> None:
        """Watch memory that is allocated from now on, or not."""
        self._c.opgen_guard_arm(int(on))

    def bytes_(self, fill: int, mark: int) -> None:
        """Set what fresh memory contains, and the bytes around it."""
        self._c.opgen_guard_bytes(fill, mark)

    def live_blocks(self) -> int:
        """Return how many watched blocks have not been released."""
        return int(self._c.opgen_guard_live_blocks())

    def check(self) -> str | None:
        """Return a description of a write beside a block, or None."""
        text = ctypes.create_string_buffer(_TEXT)
        return text.value.decode() if self._c.opgen_guard_check(text, _TEXT) else None

    def watch(self, address: int, size: int, pages: tuple[int, int]) -> None:
        """Leave a note at an address, which another process can read, when this process reads or writes a bad address."""
        self._c.opgen_guard_watch(address, size, *pages)

    def allocator(self) -> tuple[Callable[..., object], Callable[..., object]]:
        """Return the functions that allocate and release watched memory, for the C API of the runtime."""
        return self._c.opgen_guard_allocate, self._c.opgen_guard_release
