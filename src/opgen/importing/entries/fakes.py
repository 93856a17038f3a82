"""Compare fake kernels in Python with the Meta kernels that opgen generates, and report those that are not needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from opgen.importing.common.problems import Problems
from opgen.importing.common.registrations import FakeKernel
from opgen.importing.entries.merge import Entry
from opgen.model.native_function import FALLTHROUGH

_META = "Meta"
_ABOVE_BACKENDS = ("ADInplaceOrView", "Autocast", "Autograd", "BackendSelect", "Func", "Python")
_WRITTEN_RETURN = re.compile(r"Tensor\((\w+)!\)(?:\[\])?(?: \w+)?")
_WRITTEN_ARGUMENT = re.compile(r"Tensor\((\w+)!\)(?:\[\])?(?= )")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def report_fakes(
    entries: Mapping[str, Entry], fakes: Iterable[FakeKernel], problems: Problems
) -> None:
    """Warn about each fake kernel: it stays in Python, or the generated Meta kernel replaces it."""
    for fake in fakes:
        entry = entries.get(fake.operator)
        if entry is not None and _has_generated_meta(entry):
            message = f"'{fake.operator}' needs no fake kernel: opgen generates its Meta kernel"
            problems.warn("W1181", message, fake.span, hint="remove it")
        else:
            message = f"'{fake.operator}' has a fake kernel in Python, which stays there"
            problems.warn("W1164", message, fake.span)


def find_traced_by_python(entries: Iterable[Entry], fakes: Iterable[FakeKernel]) -> frozenset[str]:
    """Return the operators whose kernels are all for backends, and whose fake kernel is in Python."""
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
    """Return whether the generated Meta kernel is enough: the operator returns only arguments that it writes."""
    keys = {row.key for row in entry.rows.values() if row.written}
    if not keys or entry.left_out or _META in entry.rows:
        return False
    if any(key.startswith("Composite") for key in keys):
        return False
    inside, _, returns = entry.schema.partition("(")[2].rpartition(") -> ")
    arguments = list(_parts(inside))
    matches = map(_WRITTEN_ARGUMENT.match, arguments)
    written = {match[1] for match in matches if match is not None}
    listed = returns[1:-1] if returns.startswith("(") else returns
    values = (_WRITTEN_RETURN.fullmatch(part) for part in _parts(listed))
    return any(argument.startswith("Tensor") for argument in arguments) and all(
        value is not None and value[1] in written for value in values
    )


def _parts(text: str) -> Iterator[str]:
    """Yield the parts between commas outside of brackets."""
    depth, start = 0, 0
    for offset, character in enumerate(text):
        depth += _BRACKETS.get(character, 0)
        if character == "," and depth == 0:
            yield text[start:offset].strip()
            start = offset + 1
    if text[start:].strip():
        yield text[start:].strip()
