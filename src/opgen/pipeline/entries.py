"""Schema files as texts of entries: which of them an edit is of, and which others it may reach.

Two entries may have to do with each other if they share a name that C++ or a check could take for the same:
those of the operators, with all that is derived from them by prefix and suffix, and those of the kernels.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from opgen.dataclasses import dataclass, field, replace
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import read_registry
from opgen.resolve.dispatch_tables import find_registration

# With more entries than these, the whole library is not much slower.
_MOST = 100
# Those of one operator with its variants, mostly.
_FEW = 12

# What may stand before the first entry, and what one looks like: nothing but entries and comments is at a margin.
_PREAMBLE = re.compile(r"(?:[ ]*(?:#[^\n]*)?\n)*")
_HEAD = re.compile(r"- (?:namespace|include|classes):[^\n]*\n(?:(?:[ #][^\n]*)?\n)*")
_ENTRY = re.compile(r"- func: (?:\w+::)?(\w+)[.(][^\n]*\n(?:(?:[ #][^\n]*)?\n)*")
_ANCHOR = re.compile(r"&\S")
# The line ends and blanks at the end of a block scalar may be part of it. YAML ends lines by more than line feeds.
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]*(?:[ \t]#.*)?$", re.MULTILINE)
_LINE_END = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
# A structured operator, or a kernel for Meta: with either, some operators get a kernel for Meta that they do not name.
_FOR_META = re.compile(r"^ +(?:structured: True|[\w, ]*\bMeta\b[\w, ]*: )", re.MULTILINE)
_ALLOW = re.compile(r"opgen:[ \t]*allow")
_WORD = re.compile(r"\w+")
# No name of anything is longer, with all that is added to it.
_LONGEST = 400
# What is added to an operator's name for others that belong to it.
_DERIVED = re.compile(
    r"_(?:out|outf|symint|copy|scatter|inverse|functional|ops|native|meta|[a-z]+_dispatch)$"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """The text of an entry, with the comments after it, and the operator's name without its overload."""

    text: str
    name: str

    def words(self) -> Iterator[str]:
        """Every name that it may share with others: its own, and those below the schema."""
        yield self.name
        yield from _WORD.findall(self.text, self.text.index("\n"))


@dataclass(frozen=True, slots=True)
class SchemaText:
    """The entries of a file, and what stands before the first one and holds for all of them.

    That is its head, or the comments that allow something.
    """

    before: str
    entries: tuple[Entry, ...]


def split_entries(text: str) -> SchemaText | None:
    """The entries of a file that is a plain list of them, each begun by `- func:`; None of any other.

    With an anchor, one entry could be part of another, and what stands after a block scalar part of it. A comment that allows something right above the
    first entry would, without it, allow it in others.
    """
    if any(one.search(text) for one in (_ANCHOR, _BLOCK, _LINE_END)):
        return None
    text += "" if text.endswith("\n") else "\n"
    start = _PREAMBLE.match(text)
    assert start is not None
    at, found = start.end(), []
    own = _HEAD.match(text, at)
    if own is not None:
        at = own.end()
        if _ALLOW.search(text, 0, at):
            return None
    while entry := _ENTRY.match(text, at):
        # A blank line is not a change of the entry before it.
        found.append(Entry(entry[0].rstrip("\n ") + "\n", entry[1]))
        at = entry.end()
    head, _, above = start[0].rpartition("\n\n")
    if at < len(text) or _ALLOW.search(above):
        return None
    before = f"{head}\n\n" if _ALLOW.search(head) else ""
    return SchemaText(before if own is None else own[0], tuple(found))


# One entry as it was and as it is.
Row: TypeAlias = tuple[Entry, Entry]
# The position of a file and, in it, of a row.
Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Edit:
    """All entries of a library before and after an edit.

    `rows` are those of each file, and `before` is what stands before all of them.
    """

    inputs: Inputs
    before: tuple[str, ...]
    rows: tuple[tuple[Row, ...], ...]
    _by_family: Mapping[str, set[Place]] = field(init=False)

    def __post_init__(self) -> None:
        families: dict[str, str] = {}
        found: dict[str, set[Place]] = {}
        for file, rows in enumerate(self.rows):
            for at, row in enumerate(rows):
                for word in {word for entry in row for word in entry.words()}:
                    if word not in families:
                        families[word] = _family(word)
                    found.setdefault(families[word], set()).add((file, at))
        object.__setattr__(self, "_by_family", found)

    def edited(self) -> frozenset[Place]:
        """The places of the rows that differ."""
        return frozenset(
            (file, at)
            for file, rows in enumerate(self.rows)
            for at, (old, new) in enumerate(rows)
            if old != new
        )

    def with_neighbours(self, places: frozenset[Place]) -> frozenset[Place] | None:
        """These rows and all that may have to do with them, before or after the edit.

        None if they are too many, if anything is to be said of them, or if operators come, go, move or get kernels for
        other keys.
        """
        chosen = self._closed(places)
        for_meta = False
        while len(chosen) <= _MOST:
            old, new = (self._registry(chosen, side) for side in (0, 1))
            if old is None or new is None or not _are_alike(old, new):
                return None
            if any(map(_may_lack_meta, (old, new))):
                found = frozenset() if for_meta else self._rows_for_meta()
                if not found:
                    return None
                for_meta = True
                chosen = self._closed(chosen | found)
                continue
            found = self._closed(chosen | self._places_of((*_names(old), *_names(new))))
            if found == chosen:
                return chosen
            chosen = found
        return None

    def inputs_of(self, places: Collection[Place], side: int) -> Inputs | None:
        """The inputs that have these rows alone: side 0 before the edit, 1 after it.

        None if a comment at one of them allows something: its reach would be another.
        """
        chosen: dict[int, list[str]] = {}
        for file, at in sorted(places):
            chosen.setdefault(file, []).append(self.rows[file][at][side].text)
        contents = {}
        for file, texts in chosen.items():
            if any(map(_ALLOW.search, texts)):
                return None
            contents[self.inputs.yaml[file]] = "".join((self.before[file], *texts)).encode()
        overlay = {**self.inputs.overlay, **contents}
        return replace(self.inputs, yaml=tuple(contents), overlay=overlay)

    def _registry(self, places: Collection[Place], side: int) -> Registry | None:
        diagnostics = Diagnostics()
        inputs = self.inputs_of(places, side)
        registry = None if inputs is None else read_registry(inputs, diagnostics)
        return None if len(diagnostics) else registry

    def _closed(self, places: frozenset[Place]) -> frozenset[Place]:
        """These rows, and those that may share a name with the operator of one of them."""
        chosen = places
        while len(chosen) <= _MOST:
            rows = (self.rows[file][at] for file, at in chosen)
            found = chosen | self._places_of(entry.name for row in rows for entry in row)
            if found == chosen:
                break
            chosen = found
        return chosen

    def _rows_for_meta(self) -> frozenset[Place]:
        """A few rows with which Meta is a key of the library, if it may be one of the whole library."""
        found = (
            (file, at)
            for file, rows in enumerate(self.rows)
            for at, (old, new) in enumerate(rows)
            if old == new and _FOR_META.search(old.text)
        )
        for place in islice(found, _MOST):
            closed = self._closed(frozenset({place}))
            if len(closed) <= _FEW:
                return closed
        return frozenset()

    def _places_of(self, names: Iterable[str]) -> frozenset[Place]:
        """The places of the rows that may share one of these names."""
        found = set[Place]()
        return frozenset(found.union(*(self._by_family.get(_family(n), ()) for n in names)))


def _family(name: str) -> str:
    """What all names have in common that are made of the name of one operator."""
    name = name.lower()
    if len(name) > _LONGEST:
        return name
    if name.startswith("__i") and name.endswith("__"):
        name = name[3:]
    name = name.strip("_")
    while found := _DERIVED.search(name):
        name = name[: found.start()].strip("_")
    return name


def _names(registry: Registry) -> Iterator[str]:
    """The names by which an operator may have to do with another: its own, and those of its kernels."""
    for f in registry.functions:
        yield f.root_name
        yield from (kernel.name for _, kernel in f.dispatch)
        yield from (loop.name for _, loop in f.ufunc_inner_loop)


def _are_alike(old: Registry, new: Registry) -> bool:
    """Whether they have the same operators, each at the same place, and kernels for the same keys."""
    names = [[f.full_name for f in registry.functions] for registry in (old, new)]
    first, now_first = _first_members(old), _first_members(new)
    stay = all(now_first.get(what, name) == name for what, name in first.items())
    return names[0] == names[1] and stay and old.dispatch_keys == new.dispatch_keys


def _may_lack_meta(registry: Registry) -> bool:
    """Whether an operator would get a kernel for Meta if another operator of the library had one."""
    if DispatchKey.Meta in registry.dispatch_keys:
        return False
    rows = (find_registration(registry, f, DispatchKey.Meta) for f in registry.functions)
    return any(row is not None for row in rows)


def _first_members(registry: Registry) -> dict[tuple[object, ...], str]:
    """What stands at the place of the first operator that it is of, with the name of that one.

    These are kernels, under the operators and keys that they are for, and groups, under their members.
    """
    kernels: dict[tuple[str | None, str], str] = {}
    found: dict[tuple[object, ...], str] = {}
    for f in registry.functions:
        for key, kernel in f.dispatch:
            first = kernels.setdefault((kernel.namespace, kernel.name), f.full_name)
            found[f.full_name, key] = first
    place = {f.full_name: at for at, f in enumerate(registry.functions)}
    for groups in (registry.groups, registry.outless_groups, registry.view_groups):
        for group in groups:
            members = [f.full_name for f in group.functions()]
            first = min(members, key=place.__getitem__)
            found |= {(type(group), name): first for name in members}
    return found
