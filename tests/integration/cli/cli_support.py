"""Shared by the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

GOOD = """\
- func: add(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
  variants: function, method

- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: add_out_cpu

- func: neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg_cpu
"""

BAD = """\
- func: add(Tensr self) -> Tensor

- func: neg(Tensor self) -> Tensor
  dispatch:
    CPO: neg_cpu
"""

Opgen = Callable[..., Result]

# The commands that read schema files.
_READERS = frozenset(
    {"build", "check", "compat", "dump", "explain", "format", "generate", "lint", "select", "stub"}
)


def in_aten(arguments: tuple[str, ...]) -> list[str]:
    """Return the arguments with `--namespace aten`, so that names without a namespace are in `aten`, as in most tests."""
    wanted = arguments[:1] and arguments[0] in _READERS and "--namespace" not in arguments
    return [*arguments, "--namespace", "aten"] if wanted else list(arguments)


ENTRY = "\n- func: extra(Tensor self) -> Tensor\n  dispatch:\n    SparseCPU: extra_sparse\n"


def snapshot(folder: str) -> dict[str, tuple[str, int]]:
    """Return, for every file of a folder whose name does not begin with a dot, its text and the time when it was
    written.
    """
    top = Path(folder)
    files = [path for path in top.rglob("*") if path.is_file() and path.name[0] != "."]
    return {
        path.relative_to(top).as_posix(): (path.read_text(), path.stat().st_mtime_ns)
        for path in files
    }
