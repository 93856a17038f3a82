"""opgen: native_functions.yaml in, a registered and type-checked C++ operator library out.

`load` is looked up when it is first used: `opgen --version` and the import of one module of opgen need
not wait for all of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from opgen.diagnostics import Diagnostic, OpgenError
from opgen.model.registry import Registry

if TYPE_CHECKING:
    from opgen.pipeline import load_or_raise as load

__version__ = "0.1.0"

__all__ = ["Diagnostic", "OpgenError", "Registry", "__version__", "load"]


def __getattr__(name: str) -> Any:
    if name == "load":
        return importlib.import_module("opgen.pipeline").load_or_raise
    raise AttributeError(f"module 'opgen' has no attribute '{name}'")
