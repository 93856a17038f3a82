"""Say in opgen's words which kernel does not compile or is not there, before the compiler's messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from opgen.diagnostics import Source
from opgen.pipeline.kernel_definitions import find_definitions
from opgen.pipeline.kernel_sources import shown_path

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
