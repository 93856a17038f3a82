"""Compare two dumps of the same functions; list the differences for people."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

_BLANKS = re.compile(r"\s+")
_NEXT_TO_PUNCTUATION = re.compile(r"\s*([&,<>()=])\s*")


@dataclass(frozen=True)
class Difference:
    """One field of one function on which two dumps disagree."""

    function: str
    field: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        ours, theirs = (json.dumps(v, ensure_ascii=False) for v in (self.ours, self.theirs))
        return f"{self.function}: {self.field}\n    ours:   {ours}\n    theirs: {theirs}"


def normalised(value: Any, spellings: Sequence[tuple[str, str]] = ()) -> Any:
    """Return `value` with white space collapsed, removed next to `& , < > ( ) =`, and `spellings` replaced."""
    if isinstance(value, str):
        text = _NEXT_TO_PUNCTUATION.sub(r"\1", _BLANKS.sub(" ", value)).strip()
        for old, new in spellings:
            text = text.replace(old, new)
        return text
    if isinstance(value, dict):
        return {k: normalised(v, spellings) for k, v in value.items()}
    if isinstance(value, list):
        return [normalised(v, spellings) for v in value]
    return value


def in_one_namespace(row: Row) -> Row:
    """Return `row` with the C++ namespaces of its schema namespace replaced by those of aten.

    opgen puts kernels and classes of `custom::f` into custom::native and custom::meta, torchgen into at::native and
    at::meta. Everything else is compared.
    """
    namespace = row["name"].partition("::")[0]
    if namespace == "aten":
        return row
    pattern = re.compile(rf"\b{re.escape(namespace)}::(?=native\b|meta\b)")
    text = pattern.sub("at::", json.dumps(row, ensure_ascii=False))
    mapped: Row = json.loads(text)
    return mapped


def differences(
    ours: Iterable[Row], theirs: Iterable[Row], spellings: Sequence[tuple[str, str]] = ()
) -> list[Difference]:
    """Return every field that differs; a function that only one side has is a difference, too.

    `spellings` are replaced only in `theirs`. C++ namespaces are compared as described in `in_one_namespace`.
    """
    left = {_key(row): in_one_namespace(row) for row in ours}
    right = {_key(row): in_one_namespace(row) for row in theirs}
    found = [
        Difference(key, "(function)", "missing", "there") for key in right.keys() - left.keys()
    ]
    found += [
        Difference(key, "(function)", "there", "missing") for key in left.keys() - right.keys()
    ]
    for key in left.keys() & right.keys():
        found += _in_row(key, left[key], right[key], spellings)
    return sorted(found, key=lambda d: (d.function, d.field))


def _key(row: Row) -> str:
    return f"{row['name']}: {row['schema']}"


def _in_row(
    key: str, ours: Row, theirs: Row, spellings: Sequence[tuple[str, str]]
) -> Iterable[Difference]:
    for field in sorted(ours.keys() | theirs.keys()):
        left = normalised(ours.get(field, "(no such field)"))
        right = normalised(theirs.get(field, "(no such field)"), spellings)
        if left != right:
            yield Difference(key, field, left, right)


def report(found: Sequence[Difference], limit: int = 10) -> str:
    """Return how many fields differ, by field, and the first of them in full."""
    count = ", ".join(f"{field} {n}" for field, n in Counter(d.field for d in found).most_common())
    shown = "\n".join(map(str, found[:limit]))
    more = f"\n... and {len(found) - limit} more" if len(found) > limit else ""
    return f"{len(found)} differences ({count})\n{shown}{more}"
