"""Verify the operators of a library: hand their groups to workers, and collect the reports."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path

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
        jobs = min(jobs, len(first.groups))
        workers += [_Worker(request, environment) for _ in range(jobs - 1)]
        failures: list[str] = []
        for found in _served(workers, first.groups):
            if isinstance(found, str):
                failures.append(found)
                continue
            for report in found:
                reports.append(report)
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
    left = iter(names)
    # Those that have an answer to give: all but the first one say what they have loaded.
    busy = list(workers[1:])

    def give(worker: _Worker) -> None:
        if (group := next(left, None)) is not None:
            worker.send(group)
            busy.append(worker)

    give(workers[0])
    while busy:
        ready = wait([worker.pipe for worker in busy])
        for worker in [worker for worker in busy if worker.pipe in ready]:
            busy.remove(worker)
            try:
                found = worker.receive()
            except VerificationError as error:
                found = str(error)
            if not isinstance(found, str):
                give(worker)
            if not isinstance(found, Loaded):
                yield found


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
        self.pipe, theirs = Pipe()
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
        self.send(request)

    def loaded(self) -> Loaded:
        """Wait for the library."""
        answer = self.receive()
        if isinstance(answer, str):
            raise VerificationError(answer)
        assert isinstance(answer, Loaded)
        return answer

    def send(self, what: Request | str) -> None:
        """Send a request, or the name of a group."""
        # Who receives the answer finds that the process has ended.
        with contextlib.suppress(BrokenPipeError):
            self.pipe.send(what)

    def receive(self) -> Loaded | str | list[OperatorReport]:
        """Return what the process has loaded, why it could not, or what it has found for a group."""
        try:
            answer: Loaded | str | list[OperatorReport] = self.pipe.recv()
            return answer
        except (EOFError, ConnectionError):
            code = self._process.wait()
            raise VerificationError(
                f"the process that has loaded the library ends with code {code}"
            ) from None
        except Exception as error:
            # Half an answer: an operator would be missing without a word.
            raise VerificationError(f"{type(error).__name__}: {error}") from None

    def stop(self) -> None:
        """Let the process end, which has nothing to do."""
        self.pipe.close()
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


def counts(reports: Iterable[OperatorReport]) -> Counter[str]:
    """Return how many verdicts there are of each status."""
    return Counter(verdict.status for report in reports for verdict in report.verdicts)
