"""Estimate how long the first build of a library takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from opgen.diagnostics import counted

# Generated sources of no more bytes are compiled as one unit: OPGEN_UNITY_BYTES (runtime/cmake/opgenConfig.cmake). Those for
# PyTorch always are.
_UNITY_BYTES = 65536
# Processor seconds on a machine of 2023, for the headers of a source and for each kilobyte of it. Kernels are templates
# for many dtypes.
_FOR_HEADERS = {"runtime": 1.0, "torch": 9.0}
_KERNEL_KB, _GENERATED_KB = 0.25, 0.12


def estimate_first_build(
    tree: Path, build: Path, kernels: Sequence[Path], target: str, jobs: int
) -> str:
    """Say how many sources are compiled, and for how long: "3 sources, about 5 s".

    It is empty if `build`, the build folder, has objects of the library: what is compiled then depends on the edit.
    """
    objects = (path for path in build.glob("CMakeFiles/*.dir/**/*.o"))
    if any("opgen-" not in path.parts for path in objects):
        return ""
    generated = [*tree.glob("src/*.cpp"), *tree.glob("stubs/*.cpp")]
    headers = _FOR_HEADERS[target]
    if target == "torch" or sum(map(_bytes, generated)) <= _UNITY_BYTES:
        work = [headers + _GENERATED_KB * sum(map(_bytes, generated)) / 1000]
    else:
        work = _each(generated, headers, _GENERATED_KB)
    work += _each(tree.glob("python/*.cpp"), headers, _GENERATED_KB)
    work += _each(kernels, headers, _KERNEL_KB)
    # The longest source may be alone at the end.
    seconds = max(sum(work) / jobs, *work)
    return f"{counted(len(work), 'source')}, about {max(1, round(seconds))} s"


def _each(paths: Iterable[Path], headers: float, rate: float) -> list[float]:
    return [headers + rate * _bytes(path) / 1000 for path in paths]


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # The compiler reports it.
        return 0
