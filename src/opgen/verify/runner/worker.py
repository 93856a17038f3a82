"""A process that has loaded a library: it makes a process for each operator, and watches it.

`python -m opgen.verify.runner.worker PIPE PARENT`: a Connection, and the process at its other end. It receives a Request and
sends what it has loaded; then it receives names of groups, and answers each with the reports of its overloads.

This process imports and forks, but calls no operator and computes no gradient: PyTorch cannot compute gradients in the
child of a process in which its threads have run, and with CUDA, a fake tensor is enough to make the next gradient start
them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import mmap
import os
import pickle
import resource
import select
import signal
import struct
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from opgen.io.lifetime import end_with, has_ended, kill_group, reap
from opgen.verify.caller import Caller
from opgen.verify.calls.learning import Learned
from opgen.verify.domains import DomainsError
from opgen.verify.memory.blocks import RESERVE, Memory
from opgen.verify.memory.guard import Guard
from opgen.verify.properties.process import CRASH, HANG
from opgen.verify.runner.examination import (
    MOST_CRASHES,
    Examination,
    chosen_properties,
    signal_name,
)
from opgen.verify.runner.first_calls import FirstCalls
from opgen.verify.runner.loading import choose, known_names, load
from opgen.verify.runner.messages import (
    FAILED,
    NOT_TESTED,
    Crash,
    Loaded,
    OperatorReport,
    Request,
    Shown,
    Verdict,
)
from opgen.verify.subjects import Subject

# A call that does not return: it computes for so many seconds, or does nothing for so many. Compilers take longer.
_COMPUTES = {"quick": 4.0, "default": 8.0, "thorough": 20.0}
_WAITS = 60.0
_SLOW = {"inductor": 240.0, "export": 120.0, "concurrent": 90.0, "gil": 60.0}
# Where a board has what is behind the note; there are more bytes for the last call than any takes that is drawn.
_TICKS, _PLACE, _CALL, _MOST_OF_CALL = 512, 1024, 4096, 1 << 22
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# More memory than this, beyond what the process has, is refused.
_MEMORY = 6 << 30


class Board:
    """Memory that a process and its parent share: a note of the guard, a count of calls, where the process stands, and the last call."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _CALL + _MOST_OF_CALL)
        self.clear()

    def clear(self) -> None:
        self._shared[:_PLACE] = bytes(_PLACE)
        self._write(_PLACE, ("", "start", 0, ""))
        self._write(_CALL, None)

    def address(self) -> int:
        return ctypes.addressof(ctypes.c_char.from_buffer(self._shared))

    def note(self) -> str:
        return self._shared[:_TICKS].split(b"\0", 1)[0].decode(errors="replace")

    def _write(self, at: int, value: Any) -> None:
        text = pickle.dumps(value)
        self._shared[at : at + len(text)] = text

    def write_place(self, *parts: Any) -> None:
        self._write(_PLACE, parts)

    def place(self) -> tuple[str, str, int, str]:
        """Return the operator, the stage, the number and the property."""
        found: tuple[str, str, int, str] = pickle.loads(memoryview(self._shared)[_PLACE:])
        return found

    def remember(self, call: Mapping[str, Any]) -> None:
        """Write the call that is made now; None if it is too large."""
        text = pickle.dumps(dict(call))
        text = text if len(text) <= _MOST_OF_CALL else pickle.dumps(None)
        self._shared[_CALL : _CALL + len(text)] = text

    def call(self) -> dict[str, Any] | None:
        """Return the last call; None if there is none, or it is too large."""
        found: dict[str, Any] | None = pickle.loads(memoryview(self._shared)[_CALL:])
        return found

    def tick(self) -> None:
        struct.pack_into("<Q", self._shared, _TICKS, self.ticks() + 1)

    def ticks(self) -> int:
        (count,) = struct.unpack_from("<Q", self._shared, _TICKS)
        return int(count)


class Worker:
    """Holds the loaded library, and examines groups of operators in processes of their own."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.guard = Guard.find()
        self.backend, everything = load(request, self.guard)
        self.names = known_names(everything)
        self.subjects, self.unused = choose(everything, request.only)
        self.memory = Memory()
        self.board = Board()
        self.properties = chosen_properties(self.backend.kind, request.mode, request.properties)
        self.is_ready = False
        # The process that examines operators, which leads a group of processes; 0 if there is none.
        self.child = 0
        # Of the group that is examined: reports by the names of operators, and how processes have ended.
        self.reports: dict[str, OperatorReport] = {}
        self.crashes: list[Crash] = []
        self.groups: dict[str, list[Subject]] = {}
        for subject in self.subjects:
            self.groups.setdefault(subject.group, []).append(subject)
        for members in self.groups.values():
            # Functional variants first: the others draw their calls.
            members.sort(key=lambda s: (not s.is_functional, s.is_out, s.name))

    def _prepare(self) -> None:
        """Do once what each process would do: import what checks import on first use, which is most of PyTorch."""
        self.is_ready = True
        properties = self.properties if self.backend.kind == "torch" else []
        for name in dict.fromkeys(name for p in properties for name in p.imports):
            # A release that does not have it imports something else, later.
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        gc.collect()
        # A collection in a child would copy every page of these objects.
        gc.freeze()

    def end(self) -> None:
        """End the process that examines operators, with all that it has started."""
        if self.child:
            kill_group(self.child)

    def examine(self, group: str) -> list[OperatorReport]:
        """Verify all overloads of a group."""
        if not self.is_ready:
            self._prepare()
        members = self.groups[group]
        self.crashes = []
        self.reports = {
            s.name: OperatorReport(s.name, s.group, file=s.facts.file, line=s.facts.line)
            for s in members
        }
        while left := [s for s in members if not self.reports[s.name].seconds]:
            ended = self._process(left)
            if ended is None:
                break
            self.crashes.append(ended)
            if len(self.crashes) > (MOST_CRASHES + 1) * len(members) or not ended.operator:
                break
        for report in self.reports.values():
            if not report.seconds:
                self._complete(report)
        return list(self.reports.values())

    def _complete(self, report: OperatorReport) -> None:
        """Say why the verdicts of an operator are not there: no process has come to its end."""
        kind = self.crashes[-1].kind if self.crashes else "an error"
        message = f"the process that verifies the operator ends with {kind}"
        if any(crash.operator for crash in self.crashes):
            if not any(v.status == FAILED for v in report.verdicts):
                shown = (Shown(message, "", ""),)
                report.verdicts.append(Verdict(CRASH, FAILED, 1, findings=shown))
            return
        # It had not come to any operator: that is no fault of one.
        told = {v.property for v in report.verdicts}
        report.verdicts += [
            Verdict(p.name, NOT_TESTED, reason=f"{message}, before it calls one")
            for p in self.properties
            if p.name not in told
        ]

    def _process(self, members: Sequence[Subject]) -> Crash | None:
        """Run one process for the operators; return how it ended, or None if it has done everything."""
        self.board.clear()
        read, write = os.pipe()
        sys.stdout.flush()
        server = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            end_with(server)
            os.close(read)
            self._child(write, members)
        with contextlib.suppress(OSError):
            # Both do it, so that the group is there for both.
            os.setpgid(self.child, self.child)
        os.close(write)
        try:
            return self._watch(self.child, read)
        finally:
            self.child = 0
            os.close(read)

    def _child(self, write: int, members: Sequence[Subject]) -> None:
        code = 1
        try:
            _limit()
            out = os.fdopen(write, "wb", buffering=0)

            def send(report: OperatorReport | None) -> None:
                out.write(msgspec.json.encode(report) + b"\n")

            board, request = self.board, self.request
            if self.guard is not None:
                self.guard.watch(board.address(), _TICKS - 1, self.memory.pages)
            caller = Caller(self.backend, self.memory, self.guard, board.tick, board.remember)
            caller.first = FirstCalls(caller, members, write).call
            known: dict[int, Learned] = {}
            shared = (caller, request, self.properties, board.write_place, send, known)
            for subject in members:
                crashes = [crash for crash in self.crashes if crash.operator == subject.name]
                report = self.reports[subject.name]
                Examination(*shared, subject, report, crashes).run()
            # It has come to its end.
            send(None)
            code = 0
        except BaseException:
            if os.environ.get("OPGEN_VERIFY_DEBUG"):
                traceback.print_exc()
        finally:
            os._exit(code)

    def _watch(self, child: int, read: int) -> Crash | None:
        buffer = b""
        ticks, since, computed = -1, time.monotonic(), 0.0
        done = False
        kind = ""
        while True:
            ready, _, _ = select.select([read], [], [], 0.25)
            if ready:
                part = os.read(read, 1 << 16)
                if not part:
                    break
                buffer += part
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    report = msgspec.json.decode(line, type=OperatorReport | None)
                    done = done or report is None
                    if report is not None:
                        self.reports[report.name] = report
                continue
            if has_ended(child) and not select.select([read], [], [], 0)[0]:
                # What it has started may hold the other end of the pipe.
                break
            now = self.board.ticks()
            if now != ticks:
                ticks, since, computed = now, time.monotonic(), _computed(child)
                continue
            limit = _SLOW.get(self.board.place()[3], 0.0)
            computes = max(_COMPUTES[self.request.mode], limit)
            if _computed(child) - computed > computes or time.monotonic() - since > max(
                _WAITS, limit
            ):
                kind = HANG
                kill_group(child)
                break
        status = reap(child)
        if done and not kind:
            return None
        place = self.board.place()
        kind = kind or signal_name(status)
        return Crash(*place, kind, self.board.note(), self.board.call())


def _computed(process: int) -> float:
    """Return how many seconds a process has computed."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * mmap.PAGESIZE
        # The guard reserves eight gigabytes of addresses.
        limit = size + _MEMORY + (9 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit + RESERVE))
    if not os.environ.get("OPGEN_VERIFY_DEBUG"):
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)


def main() -> None:
    """Serve one request."""
    pipe, parent = Connection(int(sys.argv[1])), int(sys.argv[2])
    end_with(parent)
    try:
        worker = Worker(pipe.recv())
    except Exception as error:
        lines = str(error).strip().splitlines()
        text = lines[0] if lines else ""
        if not isinstance(error, DomainsError):
            text = f"the library cannot be loaded: {type(error).__name__}: {text}"
        pipe.send(text)
        return

    def end(*_: object) -> None:
        worker.end()
        os.kill(os.getpid(), signal.SIGKILL)

    # From here on, this process waits for others, and has something to do before it ends.
    signal.signal(signal.SIGTERM, end)
    end_with(parent, signal.SIGTERM)
    pipe.send(Loaded(list(worker.groups), worker.names, worker.unused, worker.guard is not None))
    with contextlib.suppress(EOFError):
        while True:
            pipe.send(worker.examine(pipe.recv()))


if __name__ == "__main__":
    main()
