"""The module autograd of a package: gradients, and the modes that record operators.

Its text is the same for every library. A library that extends one with a package has that package's module.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opgen.emit.common.base import GeneratedFile
from opgen.emit.common.context import Context
from opgen.emit.python.calls import PythonCalls

AUTOGRAD = "autograd"
# Functions that the package itself has, too. An operator of the same name takes precedence.
MODES = ("enable_grad", "inference_mode", "no_grad", "set_grad_enabled")
_MODULES = (
    "__init__",
    "anomaly_mode",
    "forward_ad",
    "function",
    "functional",
    "grad_mode",
    "gradcheck",
    "graph",
)


class AutogradFile(GeneratedFile, frozen=True):
    """A module of the folder autograd; its text does not depend on the library."""


def has_own_autograd(context: Context, calls: PythonCalls) -> bool:
    """Return whether the package has the module: not if operators have a module of this name."""
    return not context.library.extends_python and not names_autograd(calls)


def names_autograd(calls: PythonCalls) -> bool:
    """Return whether operators are in a module called autograd, or a function has this name."""
    places = ((f.module or f.name).split(".")[0] for f in calls.functions if not f.method)
    return AUTOGRAD in places


def free_modes(taken: Collection[str]) -> tuple[str, ...]:
    """Return the names of modes that no function of the library has."""
    return tuple(name for name in MODES if name not in taken)


def build_autograd(name: str) -> Iterator[GeneratedFile]:
    """Build python/<name>/autograd, and the stub of the extension module that it calls."""
    for module in _MODULES:
        yield AutogradFile(f"python/{name}/{AUTOGRAD}/{module}.py", f"autograd/{module}.py.j2")
    yield AutogradFile(f"python/{name}/_C.pyi", "autograd/_C.pyi.j2")
