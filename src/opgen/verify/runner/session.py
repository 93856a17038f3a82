"""Verify the operators of a library: hand their groups to workers, and collect the reports."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from opgen.diagnostics.suggestions import did_you_mean
from opgen.io.build_cache import cache_folder
from opgen.verify.memory import guard
from opgen.verify.runner.messages import OperatorReport, Request


class VerificationError(Exception):
    """The library cannot be verified: it cannot be loaded, or has no operators."""


class Verification(Struct):
    """All reports, in the order of names, and what was used. `seconds` is the time from start to end."""

    request: Request
    operators: list[OperatorReport]
    seconds: float
    has_guard: bool
    jobs: int


def verify_request(
    request: Request,
    jobs: int,
    progress: Callable[[OperatorReport], None] = lambda report: None,
    environment: dict[str, str] | None = None,
    check: Callable[[Mapping[str, Sequence[str]]], None] = lambda names: None,
) -> Verification:
    """Verify everything that a request names, with `jobs` workers. `progress` receives each report.

    `check` receives the arguments of all loaded operators by their names, before anything is verified.

    Raises VerificationError, also if a worker ends: then some operators were not verified.
    """
    started = time.monotonic()
    library = _guard()
    request = msgspec.structs.replace(request, guard=str(library or ""))
    reports: list[OperatorReport] = []
    first = _Worker(request, environment)
    try:
        names = first.start()
        check(first.names)
        for pattern in first.unused:
            hint = did_you_mean(pattern, [name.partition("::")[2] for name in first.names])
            more = f"; {hint}" if hint else ""
            raise VerificationError(f"the library has no operator '{pattern}'{more}")
        if not names:
            raise VerificationError("the library has no operators that can be verified")
        work: queue.SimpleQueue[str] = queue.SimpleQueue()
        for name in names:
            work.put(name)
        lock = threading.Lock()
        failures: list[str] = []

        def serve(worker: _Worker, is_started: bool) -> None:
            try:
                if not is_started:
                    worker.start()
                while True:
                    try:
                        name = work.get_nowait()
                    except queue.Empty:
                        return
                    found = worker.examine(name)
                    with lock:
                        reports.extend(found)
                        for report in found:
                            progress(report)
            except VerificationError as error:
                failures.append(str(error))

        others = [_Worker(request, environment) for _ in range(min(jobs, len(names)) - 1)]
        threads = [
            threading.Thread(target=serve, args=(worker, worker is first))
            for worker in (first, *others)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for worker in others:
            worker.stop()
        if failures:
            raise VerificationError(failures[0])
    finally:
        first.stop()
    reports.sort(key=lambda report: report.name)
    return Verification(
        request, reports, time.monotonic() - started, first.has_guard, min(jobs, len(names))
    )


def _guard() -> Path | None:
    """Return the library that watches memory, or None."""
    if os.environ.get("OPGEN_VERIFY_GUARD", "1") == "0":
        return None
    folder = cache_folder()
    if folder is None:
        folder = Path(tempfile.gettempdir()) / f"opgen-verify-{os.getuid()}"
    with contextlib.suppress(OSError):
        return guard.compiled(folder / "verify")
    return None


class _Worker:
    """A process that serves a request."""

    def __init__(self, request: Request, environment: dict[str, str] | None) -> None:
        self._request = request
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self.has_guard = False
        self.names: Mapping[str, Sequence[str]] = {}
        self.unused: Sequence[str] = ()

    def start(self) -> list[str]:
        """Load the library; return the groups of operators."""
        variables = {**os.environ, **(self._environment or {})}
        if self._request.guard:
            before = variables.get("LD_PRELOAD", "")
            variables["LD_PRELOAD"] = f"{self._request.guard} {before}".strip()
        # One compiler at a time, and no cache of graphs of another build of the library.
        variables.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        variables.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")
        variables.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")
        command = [sys.executable, "-m", "opgen.verify.runner.worker"]
        errors = None if os.environ.get("OPGEN_VERIFY_DEBUG") else subprocess.DEVNULL
        self._process = subprocess.Popen(
            [*command, msgspec.json.encode(self._request).decode()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=variables,
        )
        answer = self._read()
        if "failed" in answer:
            raise VerificationError(str(answer["failed"]))
        self.has_guard = bool(answer["guard"])
        self.names, self.unused = answer["names"], answer["unused"]
        groups: list[str] = answer["groups"]
        return groups

    def examine(self, group: str) -> list[OperatorReport]:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(f"{group}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise VerificationError(f"the process that verifies {group} has ended") from None
        return msgspec.convert(self._read()["reports"], list[OperatorReport])

    def _read(self) -> Any:
        assert self._process is not None and self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise VerificationError(
                f"the process that has loaded the library ends with code {code}"
            )
        return msgspec.json.decode(line)

    def stop(self) -> None:
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
            return
        self._process.kill()
        self._process.wait()


def counts(reports: Sequence[OperatorReport]) -> dict[str, int]:
    """Return how many verdicts there are of each status."""
    found: dict[str, int] = {}
    for report in reports:
        for verdict in report.verdicts:
            found[verdict.status] = found.get(verdict.status, 0) + 1
    return found
