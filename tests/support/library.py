"""The repository's own operators as a shared library and as a package of Python, by `opgen build`: what a user gets.

Built in the cache folder of `support.build` under its lock; after the first time only what changed is compiled.
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
    """A library of operators, the runtime that it is linked with, and the tree it was generated in."""

    path: Path
    runtime: Path
    tree: Path

    @property
    def packages(self) -> Path:
        """The folder from which Python imports the library. Skips where there is none."""
        require_headers()
        return self.tree / "cmake-build" / "python"


@functools.cache
def own_operators() -> OperatorLibrary:
    """native_functions.yaml with kernels/; an assertion shows the compiler's words if that does not build.

    With $OPGEN_SANITIZED what `python tests/hunt build` has left in that folder.
    """
    sanitized = os.environ.get("OPGEN_SANITIZED")
    if sanitized:
        return _library_in(Path(sanitized) / "aten")
    return build_own_operators(cache_folder(), environment())


def build_own_operators(
    folder: Path, variables: Mapping[str, str], *options: str
) -> OperatorLibrary:
    """The same in another folder, with other variables for the compiler and other options of `opgen build`."""
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
    """`import aten`, in this process: the package of `own_operators()`."""
    sys.path.insert(0, str(own_operators().packages))
    return importlib.import_module("aten")
