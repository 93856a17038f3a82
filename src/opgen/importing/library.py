"""Read the registrations of compiled libraries: a process of its own loads them with PyTorch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from opgen.diagnostics import Source, Span
from opgen.importing.common.registrations import (
    Definition,
    FunctionName,
    Implementation,
    Kernel,
    KernelKind,
    Problems,
    Registration,
    find_schema,
)
from opgen.io.lifetime import kill_group
from opgen.model.native_function import FALLTHROUGH, AliasAnalysisKind

# The time limit in seconds. PyTorch itself takes a few, libraries for accelerators half a minute.
TIMEOUT = 180
# The most lines of an error, after the first, that are shown.
_MOST_LINES = 12
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)(?::|$)")
# `CPU: registered at /src/ops.cpp:12 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]`. The place may be any text, from
# CppFunction::debug.
_ROW = re.compile(r"(?P<key>\w+)(?:\[alias\])?: (?P<place>.*?) :: .* \[ (?P<forms>[\w ]*)\]")
_ANALYSIS = re.compile(r"^alias analysis kind: (CONSERVATIVE|PURE_FUNCTION)$", re.MULTILINE)
_IN_PYTHON = re.compile(r"\.pyc?:\d+$|<[\w ]+>:\d+$")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def read_libraries(
    libraries: Sequence[str], namespaces: Sequence[str], problems: Problems
) -> list[Registration] | None:
    """Return the operators of the namespaces, sorted by name; without namespaces, those that the libraries define.

    A library is the path of a file, or the name of a Python module. None, and an error, if one cannot be loaded.
    """
    listing = _list_operators(libraries, namespaces, problems)
    if listing is None:
        return None
    return [one for operator in listing["operators"] for one in _registrations(operator, problems)]


def _list_operators(
    libraries: Sequence[str], namespaces: Sequence[str], problems: Problems
) -> dict[str, Any] | None:
    script = Path(__file__).with_name("list_operators.py")
    request = json.dumps({"libraries": list(libraries), "namespaces": list(namespaces)})
    names = ", ".join(f"'{library}'" for library in libraries)
    process = subprocess.Popen(
        [sys.executable, str(script), request],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        message = f"{names} did not finish loading within {TIMEOUT} seconds"
        problems.diagnostics.error("E1163", message, None)
        return None
    finally:
        # Also processes that the library started, which may keep its pipes open.
        kill_group(process.pid)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    output = printed.decode("utf-8", "replace").splitlines()
    if process.returncode == 0 and output:
        listing: dict[str, Any] = json.loads(output[-1])
        return listing
    lines = [line.rstrip() for line in errors.decode("utf-8", "replace").strip().splitlines()]
    # The message of the last exception begins after its traceback.
    traced = [i for i, line in enumerate(lines) if line.startswith("  ")]
    after = traced[-1] + 1 if traced and traced[-1] + 1 < len(lines) else max(0, len(lines) - 1)
    exceptions = [i for i, line in enumerate(lines) if _EXCEPTION.match(line)]
    first = exceptions[-1] if exceptions else after
    reason = lines[first].strip() if lines else f"it ended with code {process.returncode}"
    message = f"{names} cannot be loaded: {reason}"
    problems.diagnostics.error("E1163", message, None, notes=lines[first + 1 :][:_MOST_LINES])
    return None


def _registrations(operator: dict[str, Any], problems: Problems) -> Iterator[Registration]:
    full_name, schema = operator["name"], operator["schema"]
    namespace, _, name = full_name.partition("::")
    span = Span(Source(f"<{full_name}>", ""), 0, 0)
    parsed = None if schema is None else find_schema(schema)
    if parsed is None:
        problems.warn("W1166", f"'{full_name}' has kernels, but no schema", None)
        return
    if not operator["is_same"]:
        message = f"'{full_name}' is printed as '{schema}', which parses as another schema"
        problems.warn("W1178", message, None)
    kind = _ANALYSIS.search(operator["dump"])
    yield Definition(
        namespace,
        str(parsed),
        span,
        (),
        tuple(operator["tags"]),
        alias_analysis=None if kind is None else AliasAnalysisKind[kind[1].lower()],
        fake_module=operator["fake_module"],
    )
    for line in operator["dump"].splitlines():
        row = _ROW.fullmatch(line.strip())
        # Of the kernels that PyTorch lists, those that were overridden are inactive.
        if row is None or "(inactive)" in line:
            continue
        key = row["key"]
        # The names of functions are unknown, so one is built from operator and key.
        function = f"{name.replace('.', '_')}_{_CAMEL.sub('_', key).lower()}"
        kernel = Kernel(KernelKind.function, function, span, FunctionName((), function))
        if "fallthrough" in row["forms"].split():
            kernel = Kernel(KernelKind.fallthrough, FALLTHROUGH, span)
        elif _IN_PYTHON.search(row["place"]):
            message = f"'{full_name}' has a kernel for {key} in Python, which stays there"
            problems.warn("W1164", message, None)
            continue
        yield Implementation(namespace, name, key, kernel, span)
