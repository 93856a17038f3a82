"""Say whether a build can begin, how long it takes, and which kernel does not compile or is not there."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from opgen.diagnostics import Diagnostics, Source, counted
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.kernel_sources import find_definitions, shown_path
from opgen.targets import TARGETS
from opgen.targets.base import report_required_package


def check_required_package(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report if nothing can be compiled for the target with this Python.

    If the environment has Package_DIR (Torch_DIR), CMake uses the package in that folder, and checks it itself.
    """
    required = TARGETS[inputs.target].required_package
    if required is not None and not os.environ.get(f"{required.package.capitalize()}_DIR"):
        report_required_package(required, sys.executable, diagnostics)


# Generated sources of no more bytes are compiled as one unit: OPGEN_UNITY_BYTES (runtime/cmake/opgenConfig.cmake). Those for
# PyTorch always are.
_UNITY_BYTES = 65536
# Processor seconds on a machine of 2023, for the headers of a source and for each kilobyte of it. Kernels are templates
# for many dtypes.
_FOR_HEADERS = {"runtime": 1.0, "torch": 9.0, "torch-stable": 1.0}
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
    if target != "runtime" or sum(map(_bytes, generated)) <= _UNITY_BYTES:
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


# `FAILED: [code=1] kernels.o`, and the command in the next line.
_FAILED = re.compile(r"^FAILED: .*\n.*\n", re.MULTILINE)
_STOPPED = re.compile(r"^ninja: build stopped: .*\n", re.MULTILINE)
_ERROR = re.compile(r"^(?P<path>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: ", re.MULTILINE)
# What GNU's linkers and LLVM's print of a function that no object defines, and of where it is used.
_UNDEFINED = re.compile(
    r"(?:undefined reference to [`'\"]|undefined symbol: )(?P<text>(?P<name>[\w:]+)[^\n]*?\))['\"]?$",
    re.MULTILINE,
)
_OF_LINKER = re.compile(
    r"^.*(?:in function [`']|undefined (?:reference|symbol)|>>> |"
    r"ld returned 1 exit status|linker command failed).*\n",
    re.MULTILINE,
)


def explain_failure(
    output: str,
    sources: Sequence[Path],
    entries: Mapping[str, str],
    existing: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return what Ninja printed, without commands, after a line for each kernel of `sources` that has an error.

    `entries` are the operators by the macros of their kernels, as `OPGEN_KERNEL(k)`, `existing` the places of rows by the
    names of their functions, as `a.yaml:3:10` by `::ns::f`.
    """
    messages = _STOPPED.sub("", _FAILED.sub("", output))
    undefined = {u["text"]: existing.get(f"::{u['name']}") for u in _UNDEFINED.finditer(messages)}
    if undefined and all(undefined.values()):
        messages = _OF_LINKER.sub("", messages)
    own = {str(source): source for source in sources}
    found = dict.fromkeys(
        (source, _kernel_at(source, int(error["line"])))
        for error in _ERROR.finditer(messages)
        if (source := own.get(error["path"])) is not None
    )
    lines = [
        f"error: {place}: no source defines '{text}'\n"
        "  = help: pass the file that does to --kernels; its types must be those of the header\n"
        for text, place in undefined.items()
        if place
    ]
    for source, kernel in found:
        of = f" of {entries[kernel]}" if kernel in entries else ""
        what = f"{kernel}{of}" if kernel else "it"
        lines.append(f"error: {shown_path(source)}: {what} does not compile\n")
    return "".join(lines or ["error: the library does not compile\n"]) + messages


def _kernel_at(source: Path, line: int) -> str:
    """Return the macro that begins the definition with this line, as `OPGEN_KERNEL(k)`; empty if none does."""
    try:
        text = source.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = text.splitlines(keepends=True)
    start, end = (sum(map(len, lines[:n])) for n in (line - 1, line))
    before = [d for d in find_definitions(Source(str(source), text)) if d.span.start < end]
    if not before or "\n}" in text[before[-1].span.start : start]:
        return ""  # The line is in a function after the kernel.
    return before[-1].text
