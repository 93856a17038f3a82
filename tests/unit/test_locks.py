"""Which mutexes the runtime holds without `Lock`, and why: the rules are in runtime/include/opgen/device/blocking.h."""

from __future__ import annotations

import re

from support.build import REPOSITORY

_RUNTIME = REPOSITORY / "runtime"
# Waiting for these with the GIL held is safe: while they are held, nothing of Python's runs, and nothing waits for the
# GIL, so the owner always goes on.
_LEAVES = {
    "src/core/parallel.cpp": "a loop's threads hold it to take a part; they have no GIL to wait for",
    "src/device/cpu_cache.cpp": "a few instructions and free(); initialisers of static tensors take it",
    "src/dispatch/dispatch_call.cpp": "computes a table; initialisers of static variables take it",
    "src/dispatch/dispatcher.cpp": "warnings, and owners of kernels that are removed, come after it",
    "src/dispatch/operator_handle.cpp": "reads records",
    "src/dispatch/refused_libraries.cpp": "reads or writes a list",
    "src/iterator/iterator_state.cpp": "fills fields of an iterator, in the threads of a loop",
    "src/schema/alias_plan.cpp": "a look-up in a set; the dispatcher's lock is held",
    "src/schema/reports.cpp": "reads records and lists of tables",
    "src/registration/kernel_stubs.cpp": "changes a list of tables",
    "src/registration/registration_tables.cpp": "reads or writes a list; warnings and removed kernels come after it",
    "python/src/results.cpp": "takes texts from a list, or adds one",
}
_HOLDS = re.compile(r"\bstd::(?:lock_guard|unique_lock|scoped_lock|shared_lock|call_once)\b")


def _sources() -> dict[str, str]:
    roots = [_RUNTIME / name for name in ("src", "include", "python")]
    return {
        path.relative_to(_RUNTIME).as_posix(): path.read_text()
        for root in roots
        for path in [*root.rglob("*.cpp"), *root.rglob("*.h")]
    }


def test_other_locks_release_the_gil_while_they_wait() -> None:
    """Protects the rule: a new lock uses `Lock`, or is added here with the reason why its owner never waits for Python."""
    assert {name for name, text in _sources().items() if _HOLDS.search(text)} == {*_LEAVES}


def test_no_static_variable_is_initialised_by_a_warning() -> None:
    """Protects threads from the lock of a static variable: a warning may run Python code."""
    warning = re.compile(r"\bstatic\b[^;]*\b(?:OPGEN_WARN|detail::warn)\b")
    assert [name for name, text in _sources().items() if warning.search(text)] == []
