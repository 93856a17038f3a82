"""Registrations of all sources into entries: an operator once, with the rows of its kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.importing import codes
from opgen.importing.calling import Callables, Called
from opgen.importing.problems import Problems
from opgen.importing.registrations import (
    FALLTHROUGH,
    Definition,
    Implementation,
    Kernel,
    KernelKind,
    Registration,
)

Conditions = tuple[str, ...]
# It names files, too.
_NAMESPACE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONE_TUPLE = re.compile(r"-> \(\((?:[^()]|\([^()]*\))*\)(?: \w+)?\)$")
_SAID = frozenset({KernelKind.function, KernelKind.fallthrough})


@dataclass(slots=True)
class Row:
    """A kernel for a key. `ways` are the conditions of `#if` under which it is registered, one or several.

    `written` is what the row says; empty if nothing can be said, and the row is a comment. `others` are further
    kernels for the same key.
    """

    key: str
    kernel: Kernel
    ways: list[Conditions]
    others: list[tuple[Kernel, Conditions]] = field(default_factory=list)
    written: str = ""
    called: Called | None = None


@dataclass(slots=True)
class Entry:
    """An operator. `ways` are as those of a row; `others` are further definitions with another schema.

    `left_out` is why the entry can only be a comment; empty if it is written.
    """

    namespace: str
    schema: str
    span: Span
    ways: list[Conditions]
    tags: tuple[str, ...]
    is_inferred: bool
    rows: dict[str, Row] = field(default_factory=dict)
    others: list[Definition] = field(default_factory=list)
    left_out: str = ""

    @property
    def name(self) -> str:
        return f"{self.namespace}::{self.schema.partition('(')[0]}"


def merge(registrations: Sequence[Registration], problems: Problems) -> list[Entry]:
    """The entries in the order of their definitions."""
    entries: dict[str, Entry] = {}
    for found in registrations:
        if isinstance(found, Definition):
            _define(entries, found, problems)
    undefined: dict[str, list[Implementation]] = {}
    for found in registrations:
        if isinstance(found, Implementation):
            entry = entries.get(f"{found.namespace}::{found.name}")
            if entry is None:
                undefined.setdefault(found.namespace, []).append(found)
            else:
                _implement(entry, found, problems)
    _report_undefined(entries, undefined, problems)
    for entry in entries.values():
        _leave_out_lone_tuple(entry, problems)
    return list(entries.values())


def write_rows(entries: Sequence[Entry], callables: Callables | None, problems: Problems) -> None:
    """Say what each row says: the function's last name, or with `callables` how it is called as it is."""
    for entry in entries:
        for row in entry.rows.values():
            kernel = row.kernel
            match kernel.kind:
                case KernelKind.fallthrough:
                    row.written = FALLTHROUGH
                case KernelKind.function:
                    _write_function(row, callables, problems)
                case KernelKind.unnamed:
                    message = f"the {row.key} kernel of '{entry.name}' is a lambda"
                    hint = "make it a function with a name"
                    problems.warn(codes.UNNAMED_KERNEL, message, kernel.span, hint=hint)
                case KernelKind.boxed | KernelKind.unknown:
                    message = f"the {row.key} kernel of '{entry.name}' is {kernel.kind.value}"
                    problems.warn(codes.OTHER_KERNEL, message, kernel.span)


def _write_function(row: Row, callables: Callables | None, problems: Problems) -> None:
    name = row.kernel.name
    assert name is not None
    if callables is not None:
        row.called = callables.find(row.kernel)
        row.written = "" if row.called is None else row.called.name
        return
    row.written = name.base
    if name.template:
        message = f"'{name}' is an instance of a template"
        hint = f"the row says '{name.base}'"
        problems.warn(codes.INSTANCE, message, row.kernel.span, hint=hint)


def _define(entries: dict[str, Entry], found: Definition, problems: Problems) -> None:
    full_name = f"{found.namespace}::{found.name}"
    if not _NAMESPACE.fullmatch(found.namespace):
        message = f"'{shorten(found.namespace)}' is not a namespace"
        problems.warn(codes.NOT_UNDERSTOOD, message, found.span)
        return
    entry = entries.get(full_name)
    if entry is None:
        entries[full_name] = Entry(
            found.namespace,
            found.schema,
            found.span,
            [found.conditions],
            found.tags,
            found.is_inferred,
        )
        return
    if entry.schema == found.schema:
        entry.ways.append(found.conditions)
        entry.tags = tuple(dict.fromkeys((*entry.tags, *found.tags)))
        return
    entry.others.append(found)
    message = f"'{full_name}' is defined with another schema, too"
    labels = [(entry.span, "the first is written")]
    problems.warn(codes.DEFINED_TWICE, message, found.span, labels=labels)


def _implement(entry: Entry, found: Implementation, problems: Problems) -> None:
    row = entry.rows.get(found.key)
    if row is None:
        entry.rows[found.key] = Row(found.key, found.kernel, [found.conditions])
    elif _is_same(row.kernel, found.kernel):
        row.ways.append(found.conditions)
    else:
        first, other = row.kernel, (found.kernel, found.conditions)
        if first.kind not in _SAID and found.kernel.kind in _SAID and len(row.ways) == 1:
            # The first that a row can say is written.
            other = (first, row.ways[0])
            row.kernel, row.ways = found.kernel, [found.conditions]
        row.others.append(other)
        message = f"'{entry.name}' has two kernels for {found.key}"
        labels = [(row.kernel.span, "this one is written")]
        problems.warn(codes.TWO_KERNELS, message, other[0].span, labels=labels)


def _leave_out_lone_tuple(entry: Entry, problems: Problems) -> None:
    """An operator of Python may return one tuple; no C++ function does, since `std::tuple` is several results."""
    if _LONE_TUPLE.search(entry.schema) is not None:
        entry.left_out = "no C++ function returns one tuple"
        message = f"'{entry.name}' is left out: {entry.left_out}"
        hint = "return the elements themselves, or keep the operator in Python"
        problems.warn(codes.LEFT_OUT, message, entry.span, hint=hint)


def _is_same(one: Kernel, other: Kernel) -> bool:
    if one.kind is KernelKind.unnamed:
        return one.span == other.span
    return (one.kind, one.name, one.words) == (other.kind, other.name, other.words)


def _report_undefined(
    entries: dict[str, Entry], undefined: dict[str, list[Implementation]], problems: Problems
) -> None:
    """One report for each row; one for all of them where the sources define nothing of the namespace."""
    own = {entry.namespace for entry in entries.values()}
    known = Vocabulary(entries)
    for namespace, rows in undefined.items():
        if namespace in own:
            for row in rows:
                name = f"{namespace}::{row.name}"
                message = f"no source defines '{name}', which has a kernel for {row.key}"
                hint = known.did_you_mean(name)
                problems.warn(codes.NOT_DEFINED, message, row.span, hint=hint)
            continue
        count = f"{len(rows)} kernels" if len(rows) > 1 else "1 kernel"
        message = f"{count} of namespace '{namespace}', of which no source defines an operator"
        hint = "see opgen generate --backend-yaml" if namespace == "aten" else None
        problems.warn(codes.NOT_DEFINED, message, rows[0].span, hint=hint)
