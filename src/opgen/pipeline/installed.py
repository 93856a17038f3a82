"""The library that a target's world has already: where its operators are defined, and whether a run is for it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from opgen.pipeline.inputs import Inputs
from opgen.targets import TARGETS


def is_backend_only(inputs: Inputs) -> bool:
    """Whether the library has kernels of an external backend for the operators of another, and nothing else."""
    others = inputs.extends is not None or TARGETS[inputs.target].installed is not None
    return inputs.backend_yaml is not None and others


def installed_package(target: str) -> str | None:
    """The Python package that defines the operators which `target` has already; None if it has none."""
    installed = TARGETS[target].installed
    return None if installed is None else installed.package


def installed_schema(target: str) -> Path | None:
    """The YAML of those operators; None if the package is not installed for this Python."""
    installed = TARGETS[target].installed
    # Found, not imported: that takes seconds.
    package = None if installed is None else importlib.util.find_spec(installed.package)
    if installed is None or package is None:
        return None
    paths = (Path(f, installed.schema) for f in package.submodule_search_locations or ())
    return next((path for path in paths if path.is_file()), None)
