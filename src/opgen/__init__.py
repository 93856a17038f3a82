"""opgen: native_functions.yaml in, a registered and type-checked C++ operator library out.

`opgen.api` has the public names, and is imported when one of them is first used: it imports all stages, which takes
longer than a run that has nothing to do.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opgen.api import *  # noqa: F403

# The only place with the version: pyproject.toml and CMake's package read it here.
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # `from opgen import data` asks for the attribute before it imports the package, also while opgen.api is imported.
    is_package = os.path.isdir(os.path.join(os.path.dirname(__file__), name))
    if name == "__all__" or not (name.startswith("_") or is_package):
        api = importlib.import_module("opgen.api")
        if name == "__all__":
            return [*api.__all__, "__version__"]
        if name in api.__all__:
            return getattr(api, name)
    raise AttributeError(f"module 'opgen' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
