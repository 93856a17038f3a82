"""The repository's own operators as a shared library and as a Python package, built by `opgen build` as a user
would.

Built in the cache folder of `support.build` under its lock; after the first time only changed files are compiled.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from support.build import (
    REPOSITORY,
    cache_folder,
    environment,
    has_headers,
    jobs,
    launcher,
    locked,
    require_headers,
    run,
    tool,
)


@dataclass(frozen=True)
class OperatorLibrary:
    """A library of operators, the runtime that it is linked with, and the folder of its generated tree."""

    path: Path
    runtime: Path
    tree: Path

    @property
    def packages(self) -> Path:
        """The folder from which Python imports the library. Skips the test if there is none."""
        require_headers()
        return self.tree / "cmake-build" / "python"


@functools.cache
def own_operators() -> OperatorLibrary:
    """Build native_functions.yaml with kernels/; a failure shows the compiler's messages.

    With $OPGEN_SANITIZED, return instead the library that `python tests/robust/hunt build` has built in that folder.
    """
    sanitized = os.environ.get("OPGEN_SANITIZED")
    if sanitized:
        return _library_in(Path(sanitized) / "aten")
    return build_own_operators(cache_folder(), environment())


def build_own_operators(
    folder: Path, variables: Mapping[str, str], *options: str
) -> OperatorLibrary:
    """Build the operators in another folder, with other variables for the compiler and other options of `opgen
    build`.
    """
    tree = folder / "aten"
    variables = dict(variables)
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    yaml, kernels = REPOSITORY / "native_functions.yaml", REPOSITORY / "kernels"
    command = [tool("opgen"), "build", yaml, "-o", tree, "--kernels", kernels, *options]
    command += ["--python"] if has_headers() else []
    with locked("aten"):
        run([*command, "-j", str(jobs())], env=variables)
    return _library_in(tree)


def _library_in(tree: Path) -> OperatorLibrary:
    built = tree / "cmake-build"
    return OperatorLibrary(
        built / "libaten.so", built / "opgen-runtime" / "libopgen_runtime.so", tree
    )


@functools.cache
def own_package() -> ModuleType:
    """Import the package `aten` of `own_operators()` in this process."""
    sys.path.insert(0, str(own_operators().packages))
    return importlib.import_module("aten")
