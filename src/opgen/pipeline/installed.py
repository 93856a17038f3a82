"""Find the library that a target extends: PyTorch, for target torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from opgen.targets import TARGETS

if TYPE_CHECKING:
    from opgen.pipeline.inputs import Inputs


def is_backend_only(inputs: Inputs) -> bool:
    """Return whether the library has only kernels of an external backend, for the operators of another library."""
    others = inputs.extends is not None or TARGETS[inputs.target].installed is not None
    return inputs.backend_yaml is not None and others


def installed_package(target: str) -> str | None:
    """Return the Python package whose operators `target` extends; None if there is none."""
    installed = TARGETS[target].installed
    return None if installed is None else installed.package


def installed_schema(target: str) -> Path | None:
    """Return the schema file of that package; None if the package is not installed for this Python."""
    installed = TARGETS[target].installed
    paths = (Path(f, installed.schema) for f in _folders(target)) if installed is not None else ()
    return next((path for path in paths if path.is_file()), None)


def installed_derivatives(target: str) -> tuple[Path, ...]:
    """Return the file with the formulas of that package; none if the package is not installed for this Python."""
    installed = TARGETS[target].installed
    if installed is None:
        return ()
    paths = (Path(f, installed.derivatives) for f in _folders(target))
    return tuple(path for path in paths if path.is_file())[:1]


def installed_include(target: str) -> Path | None:
    """Return the folder of the headers of that library; None if it is not installed for this Python."""
    installed = TARGETS[target].installed
    paths = (Path(f, installed.include) for f in _folders(target)) if installed is not None else ()
    return next((path for path in paths if path.is_dir()), None)


def _folders(target: str) -> tuple[str, ...]:
    """Return the folders of the package; none if it is not installed."""
    package = installed_package(target)
    # find_spec does not import the package, which would take seconds.
    spec = None if package is None else importlib.util.find_spec(package)
    return () if spec is None else tuple(spec.submodule_search_locations or ())
