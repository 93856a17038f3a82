"""Check that a library for many releases of PyTorch uses none of its C++ symbols, which change from release to release."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from opgen.diagnostics import Diagnostics, counted
from opgen.diagnostics.codes import Code
from opgen.io.elf import undefined_symbols

E1308 = Code(
    "E1308",
    "a library that uses PyTorch's C++ functions",
    "A library for target torch-stable may use PyTorch's C functions only: those of C++ change from one release to the "
    "next, and a library that uses them is loaded by one release at most. Kernels include opgen's headers, and of "
    "PyTorch's only torch/csrc/stable and torch/headeronly.",
    None,
    target="torch-stable",
)

CODES = (E1308,)

_MOST = 5
# A name in one of PyTorch's namespaces, also as a part of another (a vtable, a template's argument).
_OF_PYTORCH = re.compile(r"^_Z.*?N[rVKRO]*(?:2at|3c10|5torch|6caffe2)(?=\d)")
_PART = re.compile(r"\d+")


def check_symbols(library: Path, diagnostics: Diagnostics) -> None:
    """Report E1308 if the linked library needs C++ symbols of PyTorch.

    Raises ValueError if the library has another format than ELF, and OSError if it cannot be read.
    """
    found = unstable_symbols(undefined_symbols(library))
    if not found:
        return
    shown = ", ".join(map(_readable, found[:_MOST]))
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    symbols = counted(len(found), "symbol")
    message = f"{library} needs {symbols} of PyTorch's C++ library: {shown}{more}"
    hint = "include opgen's headers in place of ATen's, c10's and torch's"
    diagnostics.error(E1308, message, None, hint=hint)


def unstable_symbols(names: Iterable[str]) -> list[str]:
    """Return those of the linker's names that are C++ symbols of PyTorch, sorted."""
    return sorted(name for name in names if _OF_PYTORCH.match(name))


def _readable(name: str) -> str:
    """Return `at::_ops::add_Tensor::call` for a linker's name, as far as it is a nested name."""
    start = name.find("N") + 1
    while start < len(name) and name[start] in "rVKRO":
        start += 1
    parts = []
    while (number := _PART.match(name, start)) is not None:
        end = number.end() + int(number[0])
        parts.append(name[number.end() : end])
        start = end
    return "::".join(parts) or name
