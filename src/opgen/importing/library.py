"""Ask PyTorch what a loaded library registers, in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from opgen.dataclasses import dataclass
from opgen.diagnostics import Source, Span
from opgen.importing import codes
from opgen.importing.problems import Problems
from opgen.importing.registrations import (
    FALLTHROUGH,
    Definition,
    FunctionName,
    Implementation,
    Kernel,
    KernelKind,
    Registration,
)
from opgen.importing.schema_text import find_schema

# Seconds. PyTorch itself takes a few, libraries for accelerators half a minute.
MOST_TIME = 600
_SHOWN_LINES = 12
# `CPU: registered at /src/ops.cpp:12 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]`. The place may be words of its
# own: CppFunction::debug.
_ROW = re.compile(r"(?P<key>\w+)(?:\[alias\])?: (?P<place>.*?) :: .* \[ (?P<forms>[\w ]*)\]")
_IN_PYTHON = re.compile(r"\.pyc?:\d+$|<[\w ]+>:\d+$")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class _Row:
    key: str
    place: str
    is_fallthrough: bool


def ask_library(
    libraries: Sequence[str], namespaces: Sequence[str], problems: Problems
) -> list[Registration] | None:
    """The operators of the namespaces, sorted by name; without namespaces, those that the libraries bring.

    A library is the path of a file, or the name of a Python module. None, and a report, if it cannot be asked.
    """
    said = _ask(libraries, namespaces, problems)
    if said is None:
        return None
    found: list[Registration] = []
    for operator in said["operators"]:
        found += _registrations(operator, problems)
    return found


def _ask(
    libraries: Sequence[str], namespaces: Sequence[str], problems: Problems
) -> dict[str, Any] | None:
    script = Path(__file__).with_name("asking.py")
    asked = json.dumps({"libraries": list(libraries), "namespaces": list(namespaces)})
    named = ", ".join(f"'{library}'" for library in libraries)
    try:
        done = subprocess.run(
            [sys.executable, str(script), asked],
            capture_output=True,
            check=False,
            timeout=MOST_TIME,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        message = f"{named} did not answer within {MOST_TIME} seconds"
        problems.error(codes.LIBRARY_FAILED, message, None)
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode == 0 and lines:
        said: dict[str, Any] = json.loads(lines[-1])
        return said
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    last = words[-1].strip() if words else f"it ended with code {done.returncode}"
    problems.error(codes.LIBRARY_FAILED, f"{named} cannot be loaded: {last}", None)
    return None


def _registrations(operator: dict[str, Any], problems: Problems) -> Iterator[Registration]:
    full_name, schema = operator["name"], operator["schema"]
    namespace, _, name = full_name.partition("::")
    span = Span(Source(f"<{full_name}>", ""), 0, 0)
    parsed = None if schema is None else find_schema(schema)
    if parsed is None:
        problems.warn(codes.NOT_DEFINED, f"'{full_name}' has kernels and no schema", None)
        return
    if not operator["is_same"]:
        message = f"'{full_name}' is printed as '{schema}', which is another schema when it is read"
        problems.warn(codes.NOT_PRINTED, message, None)
    yield Definition(namespace, str(parsed), span, (), tuple(operator["tags"]))
    for row in _rows(operator["dump"]):
        if not row.is_fallthrough and _IN_PYTHON.search(row.place):
            message = f"'{full_name}' has a kernel for {row.key} in Python, where it stays"
            problems.warn(codes.STAYS_IN_PYTHON, message, None)
            continue
        kernel = _kernel(name, row, span)
        yield Implementation(namespace, name, row.key, kernel, span)


def _rows(dump: str) -> Iterator[_Row]:
    """The kernels that PyTorch lists for an operator, without those that others have taken the place of."""
    for line in dump.splitlines():
        found = _ROW.fullmatch(line.strip())
        if found is not None and "(inactive)" not in line:
            yield _Row(found["key"], found["place"], "fallthrough" in found["forms"].split())


def _kernel(name: str, row: _Row, span: Span) -> Kernel:
    """A library does not tell the names of its functions: one is made of the operator's and the key."""
    if row.is_fallthrough:
        return Kernel(KernelKind.fallthrough, FALLTHROUGH, span)
    key = _CAMEL.sub("_", row.key).lower()
    function = f"{name.replace('.', '_')}_{key}"
    return Kernel(KernelKind.function, function, span, FunctionName((), function))
