"""Fake kernels in Python beside the Meta kernels that opgen generates: which of them have nothing left to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from opgen.importing import codes
from opgen.importing.merge import Entry
from opgen.importing.problems import Problems
from opgen.importing.registrations import FALLTHROUGH, FakeKernel

_META = "Meta"
_ABOVE_BACKENDS = ("ADInplaceOrView", "Autocast", "Autograd", "BackendSelect", "Func", "Python")
_WRITTEN_RETURN = re.compile(r"Tensor\((\w+)!\)(?:\[\])?(?: \w+)?")
_WRITTEN_ARGUMENT = re.compile(r"Tensor\((\w+)!\)(?:\[\])?(?= )")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def report_fakes(
    entries: Mapping[str, Entry], fakes: Iterable[FakeKernel], problems: Problems
) -> None:
    """Say of each fake kernel that it stays in Python, or that the generated Meta kernel does the same."""
    for fake in fakes:
        entry = entries.get(fake.operator)
        if entry is not None and _has_generated_meta(entry):
            message = f"'{fake.operator}' needs no fake kernel: opgen generates its Meta kernel"
            problems.warn(codes.NEEDLESS_FAKE, message, fake.span, hint="remove it")
        else:
            message = f"'{fake.operator}' has a fake kernel in Python, where it stays"
            problems.warn(codes.STAYS_IN_PYTHON, message, fake.span)


def find_traced_by_python(entries: Iterable[Entry], fakes: Iterable[FakeKernel]) -> frozenset[str]:
    """The operators that have kernels for backends alone, and their fake kernel in Python."""
    in_python = {fake.operator for fake in fakes}
    return frozenset(
        entry.name
        for entry in entries
        if entry.name in in_python
        and not entry.left_out
        and not _has_generated_meta(entry)
        and any(
            row.written != FALLTHROUGH and not row.key.startswith(_ABOVE_BACKENDS)
            for row in entry.rows.values()
            if row.written
        )
        and not any(key == _META or key.startswith("Composite") for key in entry.rows)
    )


def _has_generated_meta(entry: Entry) -> bool:
    """Whether nothing has to be computed for Meta: the operator has kernels, and returns what it writes, if anything."""
    keys = {row.key for row in entry.rows.values() if row.written}
    if not keys or entry.left_out or _META in entry.rows:
        return False
    if any(key.startswith("Composite") for key in keys):
        return False
    inside, _, returned = entry.schema.partition("(")[2].rpartition(") -> ")
    arguments = list(_parts(inside))
    written = {found[1] for one in arguments if (found := _WRITTEN_ARGUMENT.match(one)) is not None}
    whole = returned[1:-1] if returned.startswith("(") else returned
    values = (_WRITTEN_RETURN.fullmatch(one) for one in _parts(whole))
    return any(one.startswith("Tensor") for one in arguments) and all(
        value is not None and value[1] in written for value in values
    )


def _parts(text: str) -> Iterator[str]:
    """What stands between the commas outside of brackets."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += _BRACKETS.get(character, 0)
        if character == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip():
        yield text[start:].strip()
