"""opgen: native_functions.yaml in, a registered and type-checked C++ operator library out."""

from opgen.diagnostics import Diagnostic, OpgenError
from opgen.model.registry import Registry
from opgen.pipeline import load_or_raise as load

__version__ = "0.1.0"

__all__ = ["Diagnostic", "OpgenError", "Registry", "__version__", "load"]
