"""opgen: native_functions.yaml in, a registered and type-checked C++ operator library out.

What the package offers is looked up when it is first used: `opgen --version`, a run that has nothing to
do, and the import of one module of opgen need not wait for all of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opgen.diagnostics import Diagnostic, OpgenError
    from opgen.model.registry import Registry
    from opgen.pipeline import load_or_raise as load

__version__ = "0.1.0"

__all__ = ["Diagnostic", "OpgenError", "Registry", "__version__", "load"]

_LATER = {
    "Diagnostic": ("opgen.diagnostics", "Diagnostic"),
    "OpgenError": ("opgen.diagnostics", "OpgenError"),
    "Registry": ("opgen.model.registry", "Registry"),
    "load": ("opgen.pipeline", "load_or_raise"),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'opgen' has no attribute '{name}'")
    module, attribute = _LATER[name]
    return getattr(importlib.import_module(module), attribute)
