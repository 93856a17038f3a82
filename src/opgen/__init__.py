"""opgen: native_functions.yaml in, a registered and type-checked C++ operator library out.

What the package offers is looked up when it is first used: `opgen --version`, a run that has nothing to
do, and the import of one module of opgen need not wait for all of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opgen.api import generate, lint, load
    from opgen.diagnostics import Diagnostic, OpgenError, Severity
    from opgen.model.registry import Registry

# The only place that says it: pyproject.toml and CMake's package read it here.
__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "OpgenError",
    "Registry",
    "Severity",
    "__version__",
    "generate",
    "lint",
    "load",
]

_LATER = {
    **dict.fromkeys(("generate", "lint", "load"), "opgen.api"),
    **dict.fromkeys(("Diagnostic", "OpgenError", "Severity"), "opgen.diagnostics"),
    "Registry": "opgen.model.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'opgen' has no attribute '{name}'")
    return getattr(importlib.import_module(_LATER[name]), name)
