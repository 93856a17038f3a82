"""Half of the work in a second process, where there is a second processor.

Python runs one thread at a time, so two processors need two processes. A forked one starts with all values
of its parent and gives back one of its own; it shares nothing that it could spoil, but for files.

It ends with its parent, however that ends: with it would live the locks and the stdout that it got from there.
"""

from __future__ import annotations

import _thread
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")
# As every POSIX system numbers it. To import `signal` takes a millisecond, as long as to import `pickle`.
_SIGKILL = 9


@contextmanager
def beside(
    work: Callable[[], T], *, worth: bool = True
) -> Iterator[Callable[[Callable[[], T]], T]]:
    """Begin `work` in a second process; what is yielded waits for it and returns its value.

    It takes what is done here where there is no second process, or that fails: the same work, or one that makes
    the same of what is known by then. `work` changes nothing but files. Its value is made of what `marshal`
    knows: texts, numbers, tuples, dicts. It ends with the block, done or not. `worth` says whether it is so
    much that a second process pays.
    """
    child = _begin(work) if worth and _may_fork() else None
    if child is None:
        yield lambda here: here()
        return
    try:
        yield child.value
    finally:
        child.end()


def _may_fork() -> bool:
    """Whether this process can be forked and the other run at the same time.

    A fork of a process with several threads may wait for ever for a lock that no thread of it holds;
    libraries of macOS do not stand it at all.
    """
    return (
        sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1 and _number_of_threads() == 1
    )


def _number_of_threads() -> int | None:
    """Those of libraries, too, which Python does not know: NumPy's and PyTorch's. None if they cannot be counted."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return None


def _begin(work: Callable[[], object]) -> _Child | None:
    """None where the system has no room for one process more."""
    try:
        return _Child(work)
    except OSError:
        return None


class _Child:
    """A forked process that sends one value."""

    def __init__(self, work: Callable[[], object]) -> None:
        pipes: list[int] = []
        try:
            for _ in range(2):
                pipes += os.pipe()
            self._process = os.fork()
        except OSError:
            for end in pipes:
                os.close(end)
            raise
        self._source, sink, source_of_life, self._life = pipes
        if not self._process:
            # Nobody else may have the parent's ends, or they outlive it.
            os.close(self._source)
            os.close(self._life)
            _work_and_exit(work, sink, source_of_life)
        os.close(sink)
        os.close(source_of_life)
        self._is_done = False

    def value(self, here: Callable[[], T]) -> T:
        try:
            with os.fdopen(os.dup(self._source), "rb") as pipe:
                sent = pipe.read()
            _, status = os.waitpid(self._process, 0)
        except OSError:
            return here()
        self._is_done = True
        if status:
            return here()
        found: T = marshal.loads(sent)
        return found

    def end(self) -> None:
        os.close(self._source)
        os.close(self._life)
        if not self._is_done:
            with suppress(OSError):
                os.kill(self._process, _SIGKILL)
                os.waitpid(self._process, 0)


def _work_and_exit(work: Callable[[], object], sink: int, source_of_life: int) -> None:
    """The life of the forked process: never back to what its parent does, and never a word."""
    status = 1
    try:
        _thread.start_new_thread(_exit_with_parent, (source_of_life,))
        value: Any = work()
        sent = marshal.dumps(value)
        with os.fdopen(sink, "wb") as pipe:
            pipe.write(sent)
        status = 0
    finally:
        os._exit(status)


def _exit_with_parent(source_of_life: int) -> None:
    """Wait for the end of the pipe, whose other end the parent has and never writes to."""
    with suppress(OSError):
        os.read(source_of_life, 1)
    os._exit(1)
