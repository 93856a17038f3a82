"""Hunt in single calls: every public operator with random arguments, ours under AddressSanitizer and UBSan, compared
with PyTorch.

In each round, each overload is called until PyTorch has accepted some calls. Counts and findings are kept in a folder
(`Findings`), so that an interrupted hunt continues with the next round.
"""

from __future__ import annotations

import collections
import contextlib
import fnmatch
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from robust.hunt.builds import Build
from robust.hunt.compare import difference
from robust.hunt.findings import Crash, Findings, crash_of
from robust.hunt.oracle import Again, Request
from robust.hunt.plans import Plan, described, program
from robust.hunt.worker import Outcome

# Calls per process. This bounds the memory that the sanitizer keeps for detecting uses after free,
# and the damage of an unreported wrong write.
_CALLS_PER_WORKER = 6000
_BATCH = 48
_SECONDS = 15.0
# Per overload and round.
ACCEPTED, MOST = 40, 200
_MEMORY = re.compile(r"bad_alloc|allocat|not enough memory", re.I)


class Worker:
    """Our package in a process under the sanitizer, which is started again when it ends."""

    def __init__(self, build: Build, *, exact: bool) -> None:
        self._build = build
        self._exact = exact
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as this)
        self._left = 0

    def answers(self, plans: Sequence[Plan]) -> Iterator[Outcome | Crash]:
        """Return one outcome for each plan, in order."""
        done = 0
        while done < len(plans):
            pipe = self._running()
            with contextlib.suppress(BrokenPipeError):
                pipe.send(list(plans[done:]))
            while done < len(plans):
                answer = self._receive()
                done += 1
                yield answer
                if isinstance(answer, Crash):
                    break
        self._left -= len(plans)
        if self._left <= 0:
            self.stop()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._pipe.close()
            self._process = None

    def _running(self) -> Connection:
        if self._process is None:
            build = self._build
            allocator = [build.allocator] if self._exact else []
            self._errors.seek(0)
            self._errors.truncate()
            self._pipe, theirs = Pipe()
            script = (Path(__file__).parent / "worker.py", str(theirs.fileno()))
            self._process = subprocess.Popen(
                build.command(*script, build.packages, build.runtime, *allocator),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                env=build.environment(),
            )
            theirs.close()
            ready = self._receive(180)
            assert ready == "ready", f"the package cannot be loaded\n{ready}"
            self._left = _CALLS_PER_WORKER
        return self._pipe

    def _receive(self, seconds: float = _SECONDS) -> Any:
        process = self._process
        assert process is not None
        if not self._pipe.poll(seconds):
            os.kill(process.pid, signal.SIGABRT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            return self._crash(f"hangs for {seconds:.0f} s")
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            process.wait()
            return self._crash("")

    def _crash(self, kind: str) -> Crash:
        assert self._process is not None
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        code = self._process.poll()
        self.stop()
        return crash_of(said, code, kind)


class Oracle:
    """The process with PyTorch, which draws the plans."""

    def __init__(self) -> None:
        environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD",)}
        tests = Path(__file__).parents[2]
        environment["PYTHONPATH"] = f"{tests.parent / 'src'}:{tests}"
        self._pipe, theirs = Pipe()
        script = str(Path(__file__).parent / "oracle.py")
        self._process = subprocess.Popen(
            [sys.executable, script, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=2,
            env=environment,
        )
        theirs.close()
        self.send, self.receive = self._pipe.send, self._pipe.recv
        word, self.overloads = self.receive()
        assert word == "ready"

    def again(self, plan: Plan) -> tuple[Outcome, Outcome | None]:
        """Return the answers of PyTorch in a process that has made no other call."""
        self.send(Again(plan))
        _, outcome, apart = self.receive()
        return outcome, apart

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class Exceptions:
    """Known differences, each with its reason: lines `kind | overload | words`, under `== reason`."""

    def __init__(self, file: Path) -> None:
        self._rows: list[tuple[str, str, re.Pattern[str], str]] = []
        reason = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                reason = line[3:]
            elif line and not line.startswith("#"):
                kind, overload, words = (part.strip() for part in line.split("|", 2))
                self._rows.append((kind, overload, re.compile(words), reason))

    def reason(self, plan: Plan, kind: str, text: str) -> str | None:
        for wanted, overload, words, reason in self._rows:
            here = fnmatch.fnmatchcase(kind, wanted) and fnmatch.fnmatchcase(
                plan.operator, overload
            )
            if here and (words.search(text) or words.search(described(plan))):
                return reason
        return None


EXCEPTIONS = Path(__file__).parent / "exceptions.txt"


def hunt_calls(
    build: Build,
    findings: Findings,
    *,
    part: tuple[int, int] = (0, 1),
    seconds: float = 1e9,
    rounds: int = 1 << 30,
    only: str = "*",
    accepted: int = ACCEPTED,
) -> None:
    """Run rounds until the time is over, continuing after the last one in `findings`."""
    ends = time.monotonic() + seconds
    exceptions = Exceptions(EXCEPTIONS)
    oracle = Oracle()
    names = [n for n in oracle.overloads if fnmatch.fnmatchcase(n, only)][part[0] :: part[1]]
    # First those that have been called least: operators that were added since the last hunt.
    names.sort(key=lambda name: findings.accepted[name])
    workers = (Worker(build, exact=True), Worker(build, exact=False))
    last = findings.rounds + rounds
    try:
        while findings.rounds < last and time.monotonic() < ends:
            # Every eighth round uses the usual allocator, whose small storages lie inside their
            # records.
            worker = workers[findings.rounds % 8 == 7]
            for at in range(0, len(names), 16):
                request = Request(findings.rounds, tuple(names[at : at + 16]), accepted, MOST)
                _request(oracle, request, worker, findings, exceptions)
                _confirm(findings, build, oracle)
                findings.write()
                if time.monotonic() > ends:
                    break
            else:
                findings.rounds += 1
                findings.write()
    finally:
        oracle.stop()
        for worker in workers:
            worker.stop()


_Asked = list[tuple[Plan, Outcome, "Outcome | None"]]


def _request(
    oracle: Oracle, request: Request, worker: Worker, findings: Findings, exceptions: Exceptions
) -> None:
    oracle.send(request)
    batch: _Asked = []
    plan: Plan | None = None
    while True:
        word, *rest = oracle.receive()
        if word == "plan":
            plan = rest[0]
        elif word == "answer":
            assert plan is not None
            batch.append((plan, rest[0], rest[1]))
        if len(batch) == _BATCH or (word == "end" and batch):
            _compare(batch, worker, findings, exceptions)
            batch = []
        if word == "end":
            return


def _compare(batch: _Asked, worker: Worker, findings: Findings, exceptions: Exceptions) -> None:
    findings.journal([described(plan) for plan, _, _ in batch])
    answers = worker.answers([plan for plan, _, _ in batch])
    for (plan, theirs, apart), ours in zip(batch, answers):
        findings.count(plan.operator, theirs.refused is None)
        if isinstance(ours, Crash):
            long = theirs.refused == "Hangs" or _MEMORY.search(theirs.message)
            if long and ours.kind.startswith("hangs"):
                findings.kinds["(both take long)"] += 1
                continue
            findings.crashed(
                ours, plan.operator, plan.operator, described(plan), program(plan), plan
            )
            continue
        found = difference(plan, ours, theirs, apart)
        if found is None:
            findings.kinds["(equal)" if theirs.refused is None else "(both refuse)"] += 1
            if theirs.refused is None and apart is None:
                findings.keep(plan)
        elif found.kind.startswith("("):
            findings.kinds[found.kind] += 1
            findings.note(found.kind, plan.operator, described(plan))
        elif (reason := exceptions.reason(plan, found.kind, found.text)) is not None:
            findings.excepted[reason] += 1
        else:
            text = f"{described(plan)}\n    {found.text}"
            findings.found(
                f"{found.kind}: {plan.operator}", plan.operator, text, program(plan), "", plan
            )


def _confirm(findings: Findings, build: Build, oracle: Oracle) -> None:
    """Repeat each new finding in processes that have made no other call."""
    for key, plan in findings.unconfirmed():
        worker = Worker(build, exact=True)
        ours = next(worker.answers([plan]))
        worker.stop()
        if isinstance(ours, Crash):
            findings.confirm(key, True)
            continue
        theirs, apart = oracle.again(plan)
        found = difference(plan, ours, theirs, apart)
        findings.confirm(key, found is not None and not found.kind.startswith("("))


def summary(findings: Sequence[Findings], accepted_at_least: int) -> str:
    """Return the counts of all hunts."""
    lines = []
    total = collections.Counter[str]()
    for name, which in (
        ("single calls", [f for f in findings if f.name.startswith("calls-")]),
        *((f.name, [f]) for f in findings if not f.name.startswith("calls-")),
    ):
        calls, accepted, kinds, excepted = (
            sum((getattr(each, what) for each in which), collections.Counter[str]())
            for what in ("calls", "accepted", "kinds", "excepted")
        )
        total["calls"] += sum(calls.values())
        lines.append(f"{name}: {sum(calls.values()):,} calls, {sum(accepted.values()):,} accepted")
        if name == "single calls":
            few = sorted((accepted[op], op) for op in calls if accepted[op] < accepted_at_least)
            lines.append(
                f"  of {len(calls)} overloads, PyTorch has accepted {accepted_at_least:,} calls of each but {len(few)}"
            )
            lines += [f"    {op}: {count}" for count, op in few[:20]]
        lines += [f"{count:12,}  {kind}" for kind, count in kinds.most_common()]
        lines += [f"{count:12,}  as listed: {reason}" for reason, count in excepted.most_common()]
    defects = {key: defect for each in findings for key, defect in each.defects.items()}
    lines.append(f"in all: {total['calls']:,} calls, {len(defects)} findings")
    for key, defect in sorted(defects.items()):
        alone = "" if defect.confirmed else "  (not when made alone)"
        lines += [f"{defect.count:8,}  {key}{alone}", f"          {defect.text}"]
        lines.append(f"          {defect.program}")
    return "\n".join(lines)
