"""Make single calls in processes that have called no operator: what earlier calls have left behind is not there."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from opgen.io.lifetime import end_with
from opgen.verify.caller import Caller, Result
from opgen.verify.subjects import Subject

_SECONDS = 10.0


class FirstCalls:
    """A process that is forked before any operator is called, and forks another one for each call that is asked for.

    It ends with the process that made it. Calls are named by the place of their operator in `subjects`.
    """

    def __init__(self, caller: Caller, subjects: Sequence[Subject], close: int) -> None:
        self._places = {id(subject): place for place, subject in enumerate(subjects)}
        asked, self._ask = Pipe(duplex=False)
        self._answer, answered = Pipe(duplex=False)
        parent = os.getpid()
        if os.fork() == 0:
            try:
                end_with(parent)
                os.close(close)
                self._ask.close()
                self._answer.close()
                _serve(caller, subjects, asked, answered)
            finally:
                os._exit(0)
        asked.close()
        answered.close()

    def call(self, subject: Subject, call: Mapping[str, Any]) -> tuple[Result, ...] | None:
        """Return what a call returns and writes; None if it is refused there, ends its process or takes too long."""
        place = self._places.get(id(subject))
        if place is None:
            return None
        self._ask.send((place, dict(call)))
        if not self._answer.poll(_SECONDS):
            # Its answers would come late.
            self._places.clear()
            return None
        found: tuple[Result, ...] | None = self._answer.recv()
        return found


def _serve(
    caller: Caller, subjects: Sequence[Subject], asked: Connection, answered: Connection
) -> None:
    while True:
        try:
            place, call = asked.recv()
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            signal.alarm(int(_SECONDS))
            outcome = caller.run(subjects[place], call)
            answered.send(None if outcome.error is not None else outcome.everything)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            answered.send(None)
