"""The process that draws plans and returns PyTorch's outcome of each; for a call that writes memory that it also
reads, also the outcome of the same call with a separate buffer for every argument.

    python oracle.py PIPE

A request is a `Request`; the answers are ("plan", plan), before PyTorch is called, ("answer", outcome, outcome with
separate buffers or None), ("done", overload) after each overload, and finally ("end",).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import opgen
from differential.numerics.gradient_exceptions import leaves_out
from differential.numerics.values import DTYPES
from robust.hunt.drawing import Base, Drawer
from robust.hunt.plans import Plan
from robust.hunt.worker import Caller, Outcome, torch_module
from support.build import REPOSITORY

_MUTANTS = 6
# Extreme numbers per int of an operator and round.
_EXTREMES = 4
# Some plans crash PyTorch or take too long, so its calls are made in a fork.
_CALLS_PER_FORK = 300
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Request:
    """Plans for `overloads`, until PyTorch has accepted `accepted` of each, or `most` were drawn."""

    seed: int
    overloads: tuple[str, ...]
    accepted: int
    most: int


@dataclass(frozen=True, slots=True)
class Again:
    """A request to run one plan in a fork that has made no other call; the answer is a single ("answer", …)."""

    plan: Plan


def answer(request: Request, drawer: Drawer, forked: Forked, pipe: Connection) -> None:
    for name in request.overloads:
        random = Random(f"{name}|{request.seed}")
        accepted = drawn = tried = 0
        extremes = True
        weights = {dtype.name: [1, 1] for dtype in DTYPES}
        while accepted < request.accepted and drawn < request.most and tried < 4 * request.most:
            tried += 1
            dtype = random.choices(
                DTYPES, [weights[d.name][0] / weights[d.name][1] for d in DTYPES]
            )[0]
            weights[dtype.name][1] += 1
            try:
                base = drawer.base(name, dtype, random.getrandbits(48))
            except Exception:
                continue  # PyTorch raised it when asked for the shape of an output.
            if base is None:
                continue
            plans = [drawer.plan(base, random, 0)]
            plans += [
                drawer.plan(base, random, random.choice((0, 1, 1, 1, 2, 2, 3, 4)))
                for _ in range(1, _MUTANTS)
            ]
            if extremes and accepted > 0:
                extremes = False
                plans += drawer.extremes(base, random, _EXTREMES)
            if _compares_tangents(name, base):
                plans += [dual for plan in plans[:2] if (dual := plan.with_tangents())]
            for plan in plans:
                drawn += 1
                pipe.send(("plan", plan))
                outcome = forked.outcome(plan)
                apart = None
                if plan.overlaps():
                    apart = forked.outcome(plan.apart())
                pipe.send(("answer", outcome, apart))
                if outcome.refused is None:
                    accepted += 1
                    weights[dtype.name][0] += 1
        pipe.send(("done", name))
    pipe.send(("end",))


def _compares_tangents(name: str, base: Base) -> bool:
    try:
        return not leaves_out(name, "tangent", base.drawn)
    except (AssertionError, KeyError):
        return False  # The exception is for another overload.


class Forked:
    """A caller in a forked process, which is replaced after some calls, and when it ends or hangs."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._child = 0
        self._left = 0

    def outcome(self, plan: Plan) -> Outcome:
        if self._left == 0:
            self._fork()
        self._left -= 1
        self._pipe.send(plan)
        if not self._pipe.poll(_SECONDS):
            self._end()
            return Outcome("Hangs")
        try:
            outcome: Outcome = self._pipe.recv()
        except (EOFError, OSError):
            self._end()
            return Outcome("Crashes")
        return outcome

    def _fork(self) -> None:
        self._end()
        self._pipe, theirs = Pipe()
        self._child = os.fork()
        if self._child == 0:
            self._pipe.close()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            _serve(self._caller, theirs)
        theirs.close()
        self._left = _CALLS_PER_FORK

    def _end(self) -> None:
        self._left = 0
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            self._child = 0
            self._pipe.close()


def _serve(caller: Caller, pipe: Connection) -> None:
    try:
        while True:
            plan = pipe.recv()
            try:
                pipe.send(caller.outcome(plan))
            except MemoryError as error:
                pipe.send(Outcome("MemoryError", str(error)))
    finally:
        os._exit(0)


def main() -> None:
    warnings.simplefilter("ignore")
    pipe = Connection(int(sys.argv[1]))
    torch = torch_module()
    drawer = Drawer(opgen.load([REPOSITORY / "native_functions.yaml"]), torch)
    caller = Caller(torch, is_torch=True)
    forked = Forked(caller)
    pipe.send(("ready", drawer.overloads))
    with contextlib.suppress(EOFError):
        while True:
            request = pipe.recv()
            if isinstance(request, Again):
                outcomes = [
                    Forked(caller).outcome(plan) if plan else None
                    for plan in (request.plan, request.plan.overlaps() and request.plan.apart())
                ]
                pipe.send(("answer", *outcomes))
            else:
                answer(request, drawer, forked, pipe)


if __name__ == "__main__":
    from robust.hunt import oracle  # The same classes as in the requesting process.

    oracle.main()
