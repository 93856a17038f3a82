"""Processes that end with their parents, whatever they are doing."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time

_SET_DEATH_SIGNAL = 1
_GRACE = 5.0


def end_with(parent: int, with_signal: int = signal.SIGKILL) -> None:
    """Make the system send this process a signal when its parent ends, also while a kernel runs that never returns.

    The parent is the thread that started this process: it must live as long as the process is used.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_SET_DEATH_SIGNAL, int(with_signal), 0, 0, 0)
    if os.getppid() != parent:
        # It ended before the signal was asked for.
        os.kill(os.getpid(), with_signal)


def kill_group(leader: int) -> None:
    """End a process and what it has started, except what has left its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def has_ended(process: int) -> bool:
    """Whether a child has ended. It is still there, to be waited for."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def reap(process: int) -> int:
    """Wait for a child that is about to end, with what it has started; return its status. It is killed if it stays."""
    until = time.monotonic() + _GRACE
    while not has_ended(process) and time.monotonic() < until:
        time.sleep(0.002)
    # Nobody else gets its number before it is waited for.
    kill_group(process)
    return os.waitpid(process, 0)[1]
