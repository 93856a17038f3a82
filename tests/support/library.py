"""The repository's own operators as a shared library, by `opgen build`, so that tests load what a user gets.

Built in the cache folder of `support.build` under its lock; after the first time only what changed is compiled.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from support.build import REPOSITORY, cache_folder, environment, jobs, launcher, locked, run, tool


@dataclass(frozen=True)
class OperatorLibrary:
    """A library of operators, the runtime that it is linked with, and the tree it was generated in."""

    path: Path
    runtime: Path
    tree: Path


@functools.cache
def own_operators() -> OperatorLibrary:
    """native_functions.yaml with kernels/; an assertion shows the compiler's words if that does not build."""
    tree = cache_folder() / "aten"
    variables = dict(environment())
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    yaml, kernels = REPOSITORY / "native_functions.yaml", REPOSITORY / "kernels"
    with locked("aten"):
        run(
            [tool("opgen"), "build", yaml, "-o", tree, "--kernels", kernels, "-j", str(jobs())],
            env=variables,
        )
    built = tree / "cmake-build"
    return OperatorLibrary(
        built / "libaten.so", built / "opgen-runtime" / "libopgen_runtime.so", tree
    )
