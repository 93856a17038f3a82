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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from opgen.diagnostics.suggestions import did_you_mean
from opgen.io.build_cache import cache_folder
from opgen.io.lifetime import kill_group
from opgen.verify.memory import guard
from opgen.verify.runner.messages import OperatorReport, Request

# How long a worker may take to end, in seconds: by itself, and when it is asked to.
_GRACE, _GRACE_OF_KILLED = 10.0, 0.5


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
    workers = [_Worker(request, environment)]
    first = workers[0]
    try:
        first.start()
        names = first.loaded()
        check(first.names)
        for pattern in first.unused:
            hint = did_you_mean(pattern, [name.partition("::")[2] for name in first.names])
            more = f"; {hint}" if hint else ""
            raise VerificationError(f"the library has no operator '{pattern}'{more}")
        if not names:
            raise VerificationError("the library has no operators that can be verified")
        for _ in range(min(jobs, len(names)) - 1):
            workers.append(_Worker(request, environment))
            # Here, and not in the thread that serves it: a worker ends with the thread that started it.
            workers[-1].start()
        failures: list[str] = []
        for found in _served(workers, names):
            if isinstance(found, str):
                failures.append(found)
                continue
            reports.extend(found)
            for report in found:
                progress(report)
        if failures:
            raise VerificationError(failures[0])
    except BaseException:
        for worker in workers:
            worker.kill()
        raise
    for worker in workers:
        worker.stop()
    reports.sort(key=lambda report: report.name)
    return Verification(
        request, reports, time.monotonic() - started, first.has_guard, min(jobs, len(names))
    )


def _served(
    workers: Sequence[_Worker], names: Sequence[str]
) -> Iterator[list[OperatorReport] | str]:
    """Yield what the workers find for the groups of operators, as it comes, and why one of them has failed."""
    work: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in names:
        work.put(name)
    # None is the end of a thread.
    found: queue.SimpleQueue[list[OperatorReport] | str | None] = queue.SimpleQueue()

    def serve(worker: _Worker) -> None:
        try:
            if worker is not workers[0]:
                worker.loaded()
            while True:
                found.put(worker.examine(work.get_nowait()))
        except queue.Empty:
            pass
        except VerificationError as error:
            found.put(str(error))
        except Exception as error:
            # Half a line, or a pipe that is gone: an operator would be missing without a word.
            found.put(f"{type(error).__name__}: {error}")
        finally:
            found.put(None)

    for worker in workers:
        # Nobody waits for them when the user has asked for the end.
        threading.Thread(target=serve, args=(worker,), daemon=True).start()
    running = len(workers)
    while running:
        each = found.get()
        if each is None:
            running -= 1
        else:
            yield each


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

    def start(self) -> None:
        """Begin to load the library. The process ends with the thread that calls this."""
        variables = {**os.environ, **(self._environment or {})}
        if self._request.guard:
            before = variables.get("LD_PRELOAD", "")
            variables["LD_PRELOAD"] = f"{self._request.guard} {before}".strip()
        # One compiler at a time, and no cache of graphs of another build of the library.
        variables.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        variables.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")
        variables.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")
        # Threads that wait for work would compute: other processes need the cores, and the limits count seconds of them.
        variables.setdefault("OMP_WAIT_POLICY", "passive")
        command = [sys.executable, "-m", "opgen.verify.runner.worker"]
        errors = None if os.environ.get("OPGEN_VERIFY_DEBUG") else subprocess.DEVNULL
        self._process = subprocess.Popen(
            [*command, msgspec.json.encode(self._request).decode(), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=variables,
            # Ctrl-C is for this process, which ends the others.
            start_new_session=True,
        )

    def loaded(self) -> list[str]:
        """Wait for the library; return the groups of operators."""
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
        """Let the process end, which has nothing to do."""
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def kill(self) -> None:
        """End the process, and those that it has started, whatever they do."""
        if self._process is None:
            return
        if self._process.poll() is None:
            # It ends its own child, and then itself.
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_OF_KILLED)
        if self._process.poll() is None:
            kill_group(self._process.pid)
        self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]


def counts(reports: Sequence[OperatorReport]) -> dict[str, int]:
    """Return how many verdicts there are of each status."""
    found: dict[str, int] = {}
    for report in reports:
        for verdict in report.verdicts:
            found[verdict.status] = found.get(verdict.status, 0) + 1
    return found
