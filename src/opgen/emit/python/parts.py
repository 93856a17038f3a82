"""The parts of a package whose text is the same for every library: its modules autograd and array_api.

A library that extends one with a package has that package's parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opgen.emit.common.base import GeneratedFile, Record, copied_modules
from opgen.emit.common.context import Context
from opgen.emit.python.calls import PythonCalls


class Part(Record, frozen=True):
    """A folder `name` of modules. `exports` are names of it that the package has, too.

    An operator with the name of the part, or of an export, takes precedence.
    """

    name: str
    exports: tuple[str, ...]


PARTS = (
    Part("autograd", ("enable_grad", "inference_mode", "no_grad", "set_grad_enabled")),
    Part("array_api", ("e", "finfo", "iinfo", "inf", "nan", "newaxis", "pi")),
)


def parts_of(calls: PythonCalls) -> tuple[Part, ...]:
    """Return the parts that the package has: those whose names no function or module of operators has."""
    taken = {(f.module or f.name).split(".")[0] for f in calls.functions if not f.method}
    return tuple(part for part in PARTS if part.name not in taken)


def free_exports(part: Part, taken: Collection[str]) -> tuple[str, ...]:
    """Return the exports whose names no function of the library has."""
    return tuple(name for name in part.exports if name not in taken)


def build_parts(context: Context, calls: PythonCalls) -> Iterator[GeneratedFile]:
    """Copy the modules of the parts, and the stub of the extension module that the parts call."""
    parts = () if context.library.extends_python else parts_of(calls)
    folder = f"python/{context.library.name}"
    for part in parts:
        yield from copied_modules(f"python/package/{part.name}", f"{folder}/{part.name}")
    if parts:
        yield GeneratedFile(f"{folder}/_C.pyi", "python/package/_C.pyi")
