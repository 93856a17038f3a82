"""Make single calls in processes that have called no operator: what earlier calls have left behind is not there."""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from opgen.io.lifetime import end_with
from opgen.verify.caller import Caller, Result
from opgen.verify.subjects import Subject

_SECONDS = 10.0
_HEAD = struct.Struct("<I")


class FirstCalls:
    """A process that is forked before any operator is called, and forks another one for each call that is asked for.

    It ends with the process that made it. Calls are named by the place of their operator in `subjects`.
    """

    def __init__(self, caller: Caller, subjects: Sequence[Subject], close: int) -> None:
        self._places = {id(subject): place for place, subject in enumerate(subjects)}
        self._is_broken = False
        asked, self._ask = os.pipe()
        self._answer, answered = os.pipe()
        parent = os.getpid()
        if os.fork() == 0:
            try:
                end_with(parent)
                for file in (close, self._ask, self._answer):
                    os.close(file)
                _serve(caller, subjects, asked, answered)
            finally:
                os._exit(0)
        os.close(asked)
        os.close(answered)

    def call(self, subject: Subject, call: Mapping[str, Any]) -> tuple[Result, ...] | None:
        """Return what a call returns and writes; None if it is refused there, ends its process or takes too long."""
        place = self._places.get(id(subject))
        if self._is_broken or place is None:
            return None
        text = pickle.dumps((place, dict(call)))
        os.write(self._ask, _HEAD.pack(len(text)) + text)
        if not select.select([self._answer], [], [], _SECONDS)[0]:
            self._is_broken = True
            return None
        found: tuple[Result, ...] | None = pickle.loads(_read(self._answer))
        return found


def _serve(caller: Caller, subjects: Sequence[Subject], asked: int, answered: int) -> None:
    while text := _read(asked):
        child = os.fork()
        if child == 0:
            signal.alarm(int(_SECONDS))
            place, call = pickle.loads(text)
            outcome = caller.run(subjects[place], call)
            found = None if outcome.error is not None else outcome.everything
            _write(answered, pickle.dumps(found))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            _write(answered, pickle.dumps(None))


def _read(file: int) -> bytes:
    """Return one message; nothing at the end."""
    head = os.read(file, _HEAD.size)
    if len(head) < _HEAD.size:
        return b""
    (left,) = _HEAD.unpack(head)
    parts = []
    while left:
        part = os.read(file, left)
        if not part:
            return b""
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _write(file: int, text: bytes) -> None:
    text = _HEAD.pack(len(text)) + text
    while text:
        text = text[os.write(file, text) :]
