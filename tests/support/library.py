"""The repository's own operators as a shared library and as a Python package: a slice of them, or all.

The default tests use a slice, which is compiled in a minute without optimisation, however large the whole is. Tests that
need all operators, or optimised ones, are marked `WHOLE`, and are slow; in a run with one of them, every test uses the
whole library, because a process can load one of the two. Both are in the cache folder of `support.build`; after the first
time only changed files are compiled.

The whole is compiled at -O1, in half of the time of -O3: the loops over vectors are the same, and only what the compiler
makes of plain loops differs. At night ($OPGEN_TEST_OPTIMIZED=1) it is compiled as a user's build compiles it.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import opgen
from support.build import (
    DEBUG,
    REPOSITORY,
    cache_folder,
    cmake_build,
    environment,
    has_headers,
    jobs,
    launcher,
    locked,
    project_definitions,
    require_headers,
    run,
    runtime_library,
    tool,
)

OWN_YAML = REPOSITORY / "native_functions.yaml"
# The marks of a test that needs all operators, or optimised ones.
WHOLE = (pytest.mark.slow, pytest.mark.whole_library)
# The marks of a case for one of all operators: a quarter of them runs for each commit (support/sampling.py).
SAMPLED = (*WHOLE, pytest.mark.sampled(4))

_OWN = Path(__file__).parent / "own_operators"
# Whether this process uses the slice. Programs and benchmarks use the whole.
_uses_slice = False


@dataclass(frozen=True)
class OperatorLibrary:
    """A library of operators, the runtime that it is linked with, and the folder of its generated tree.

    `modules` is the folder from which Python imports the library.
    """

    path: Path
    runtime: Path
    tree: Path
    modules: Path

    @property
    def packages(self) -> Path:
        """The folder from which Python imports the library. Skips the test if there is none."""
        require_headers()
        return self.modules


def use_slice() -> None:
    """Let `own_operators()` be the slice in this process. Called before the first test of a run without `WHOLE` ones."""
    global _uses_slice
    _uses_slice = True


@functools.cache
def own_registry() -> opgen.Registry:
    """The registry of native_functions.yaml, read once per process."""
    return opgen.load([OWN_YAML])


@functools.cache
def slice_names() -> frozenset[str]:
    """The names of the slice's operators, without "aten::"."""
    lines = (_OWN / "slice.txt").read_text().splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())


@functools.cache
def own_operators() -> OperatorLibrary:
    """Build the operators of this run with kernels/; a failure shows the compiler's messages.

    With $OPGEN_SANITIZED, return instead the library that `python tests/robust/hunt build` has built in that folder.
    """
    sanitized = os.environ.get("OPGEN_SANITIZED")
    if sanitized:
        return _library_in(Path(sanitized) / "aten")
    if _uses_slice:
        return _build_part("own-slice", sorted(slice_names()), DEBUG)
    if os.environ.get("OPGEN_TEST_OPTIMIZED"):
        return build_own_operators(cache_folder(), environment())
    quick = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
    return _build_part("own-whole", (), quick)


def _build_part(name: str, operators: Sequence[str], options: Sequence[str]) -> OperatorLibrary:
    """Build these operators, or all if there are none, with the runtime that all tests use."""
    folder = cache_folder() / name
    with locked(folder.name):
        folder.mkdir(exist_ok=True)
        definitions = [f"-DOWN={REPOSITORY}", f"-DWITH_PYTHON={has_headers():d}"]
        definitions += [f"-DPython_EXECUTABLE={sys.executable}"]
        if operators:
            selected = folder / "selected.yaml"
            text = run([tool("opgen"), "select", OWN_YAML, *operators])
            if not selected.exists() or selected.read_text() != text:
                selected.write_text(text)
            definitions.append(f"-DSELECT={selected}")
        build = folder / "build"
        cmake_build(_OWN, build, *options, *definitions, *project_definitions())
        tree, runtime = build / "opgen-aten", runtime_library()
        built = tree / "cmake-build"
        # Libraries that extend this one look for the parts of opgen where `opgen build` compiles them.
        for part in ("opgen-runtime", "opgen-python"):
            if not (built / part).is_symlink():
                (built / part).symlink_to(runtime.parents[1] / part)
    return OperatorLibrary(built / "libaten.so", runtime, tree, build / "python")


def build_own_operators(
    folder: Path, variables: Mapping[str, str], *options: str
) -> OperatorLibrary:
    """Build all operators as a user would, in another folder, with other variables for the compiler and other options
    of `opgen build`.
    """
    tree = folder / "aten"
    variables = dict(variables)
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    kernels = REPOSITORY / "kernels"
    command = [tool("opgen"), "build", OWN_YAML, "-o", tree, "--kernels", kernels, *options]
    command += ["--python"] if has_headers() else []
    with locked("aten"):
        run([*command, "-j", str(jobs())], env=variables)
    return _library_in(tree)


def _library_in(tree: Path) -> OperatorLibrary:
    built = tree / "cmake-build"
    runtime = built / "opgen-runtime" / "libopgen_runtime.so"
    return OperatorLibrary(built / "libaten.so", runtime, tree, built / "python")


@functools.cache
def own_package() -> ModuleType:
    """Import the package `aten` of `own_operators()` in this process."""
    sys.path.insert(0, str(own_operators().packages))
    return importlib.import_module("aten")
