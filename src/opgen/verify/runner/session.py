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
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from opgen.diagnostics.suggestions import did_you_mean
from opgen.io.build_cache import cache_folder
from opgen.io.lifetime import kill_group
from opgen.verify.memory import guard
from opgen.verify.runner.messages import Loaded, OperatorReport, Request

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
    try:
        first = workers[0].loaded()
        check(first.names)
        for pattern in first.unused:
            hint = did_you_mean(pattern, [name.partition("::")[2] for name in first.names])
            more = f"; {hint}" if hint else ""
            raise VerificationError(f"the library has no operator '{pattern}'{more}")
        if not first.groups:
            raise VerificationError("the library has no operators that can be verified")
        # Here, and not in the thread that serves it: a worker ends with the thread that started it.
        jobs = min(jobs, len(first.groups))
        workers += [_Worker(request, environment) for _ in range(jobs - 1)]
        failures: list[str] = []
        for found in _served(workers, first.groups):
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
    return Verification(request, reports, time.monotonic() - started, first.has_guard, jobs)


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
            # Half an answer: an operator would be missing without a word.
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
    """A process that serves a request. The process ends with the thread that makes this."""

    def __init__(self, request: Request, environment: dict[str, str] | None) -> None:
        variables = {**os.environ, **(environment or {})}
        if request.guard:
            before = variables.get("LD_PRELOAD", "")
            variables["LD_PRELOAD"] = f"{request.guard} {before}".strip()
        # One compiler at a time, and no cache of graphs of another build of the library.
        variables.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        variables.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")
        variables.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")
        # Threads that wait for work would compute: other processes need the cores, and the limits count seconds of them.
        variables.setdefault("OMP_WAIT_POLICY", "passive")
        self._pipe, theirs = Pipe()
        ends = [str(theirs.fileno()), str(os.getpid())]
        # What libraries print is for nobody.
        printed = 2 if os.environ.get("OPGEN_VERIFY_DEBUG") else subprocess.DEVNULL
        self._process = subprocess.Popen(
            [sys.executable, "-m", "opgen.verify.runner.worker", *ends],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            env=variables,
            # Ctrl-C is for this process, which ends the others.
            start_new_session=True,
        )
        theirs.close()
        self._send(request)

    def loaded(self) -> Loaded:
        """Wait for the library."""
        answer: Loaded | str = self._receive()
        if isinstance(answer, str):
            raise VerificationError(answer)
        return answer

    def examine(self, group: str) -> list[OperatorReport]:
        self._send(group)
        reports: list[OperatorReport] = self._receive()
        return reports

    def _send(self, what: object) -> None:
        # Who receives the answer finds that the process has ended.
        with contextlib.suppress(BrokenPipeError):
            self._pipe.send(what)

    def _receive(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, ConnectionError):
            code = self._process.wait()
            raise VerificationError(
                f"the process that has loaded the library ends with code {code}"
            ) from None

    def stop(self) -> None:
        """Let the process end, which has nothing to do."""
        self._pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self.kill()

    def kill(self) -> None:
        """End the process, and those that it has started, whatever they do."""
        if self._process.poll() is None:
            # It ends its own child, and then itself.
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_OF_KILLED)
        if self._process.poll() is None:
            kill_group(self._process.pid)
        self._process.wait()


def counts(reports: Sequence[OperatorReport]) -> dict[str, int]:
    """Return how many verdicts there are of each status."""
    found: dict[str, int] = {}
    for report in reports:
        for verdict in report.verdicts:
            found[verdict.status] = found.get(verdict.status, 0) + 1
    return found
