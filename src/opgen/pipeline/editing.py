"""The edit of a few entries, made alone: what a run would rewrite of a tree, without the rest of the library.

From the last run's schemas and from these, the entries that differ are taken out, with all that may have to do
with them, and each of the two small libraries is generated as any other. What differs between their trees
is what the edit changes in the large one:

* A file that the small library made as the large one did is of these entries alone, and replaced.
* In a file of all operators, the items of these entries are, word for word and each once, and are replaced.

Nothing is guessed. Where the small library did not make what is in the folder, where more than items changes in
a file of all, where there is a word to say to the author, or where operators come, go or change their
order, the answer is None, and the whole library is generated. So is every file that `opgen check` compares.

Two entries may have to do with each other if they share a name that C++ or a check could take for the same:
those of the operators, with all that is derived from them by prefix and suffix, and those of the kernels.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from opgen.dataclasses import dataclass, replace
from opgen.diagnostics import Diagnostics
from opgen.files import state_of
from opgen.manifest import MANIFEST
from opgen.model.registry import Registry
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs, tags_path
from opgen.pipeline.loading import read_registry
from opgen.pipeline.stamp import Request, Stamp
from opgen.render import items_of
from opgen.writer import Tree

# With more entries than these, the whole library is not much slower.
_MOST = 100

# What may stand before the first entry, and what one looks like: nothing but entries and comments is at a margin.
_PREAMBLE = re.compile(r"(?:[ ]*(?:#[^\n]*)?\n)*")
_ENTRY = re.compile(r"- func: (?:\w+::)?(\w+)[.(][^\n]*\n(?:(?:[ #][^\n]*)?\n)*")
_ANCHOR = re.compile(r"&\S")
_ALLOW = re.compile(r"opgen:[ \t]*allow")
_WORD = re.compile(r"\w+")
# What is added to an operator's name for others that belong to it.
_DERIVED = re.compile(
    r"_(?:out|outf|symint|copy|scatter|inverse|functional|ops|native|meta|[a-z]+_dispatch)$"
)


def edited_tree(
    request: Request, stamp: Stamp, directory: Path, *, shards: int, python: bool
) -> Tree | None:
    """The tree of a run in `directory`, which is as `stamp` says, with the texts of what changes alone.

    None if that cannot be told without generating everything.
    """
    inputs = request.inputs
    manifest = _read_manifest(directory, stamp)
    before = _split_all(stamp.schemas)
    after = _split_all(tuple(inputs.overlay[path] for path in inputs.yaml))
    if stamp.report or manifest is None or before is None or after is None:
        return None
    digests = manifest.pop("files")
    del manifest["format"]
    if before == after:
        return Tree({}, manifest, digests)
    edit = _Edit(replace(inputs, name=manifest["name"], tags=tags_path(inputs)), before, after)
    chosen = edit.entries()
    if chosen is None:
        return None
    small = [edit.small(chosen, side) for side in (before, after)]
    old, new = (_small_tree(one, shards=shards, python=python) for one in small)
    if old is None or new is None:
        return None
    files, header = _rewritten(old, new, directory), _new_header(manifest, old, new)
    return None if files is None or header is None else Tree(files, header, digests)


def _read_manifest(directory: Path, stamp: Stamp) -> dict[str, Any] | None:
    """The manifest of a folder; None if it is no longer as it was."""
    try:
        with open(directory / MANIFEST, "rb") as file:
            if state_of(os.fstat(file.fileno())) != stamp.outputs[MANIFEST]:
                return None
            found: dict[str, Any] = json.load(file)
            return found
    except (OSError, ValueError):
        return None


# Entries


@dataclass(frozen=True, slots=True)
class _Entry:
    """The text of an entry, with the comments after it, and the operator's name without its overload."""

    text: str
    name: str

    def words(self) -> Iterator[str]:
        """Every name that it may share with others: its own, and those below the schema."""
        yield self.name
        yield from _WORD.findall(self.text, self.text.index("\n"))


@dataclass(frozen=True, slots=True)
class _File:
    """The entries of a file, and what comments before the first one allow in all of them."""

    allowed: str
    entries: tuple[_Entry, ...]


def _split_all(contents: Iterable[bytes]) -> tuple[_File, ...] | None:
    """The entries of every file; None if there is one that is no plain list of them."""
    files = tuple(map(_split, contents))
    return None if None in files else tuple(file for file in files if file is not None)


def _split(content: bytes) -> _File | None:
    """The entries of a file that is a list of them, each begun by `- func:`; None of any other.

    With an anchor, one entry could be part of another. A comment that allows something right above the
    first entry would, without it, allow it in others.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if _ANCHOR.search(text):
        return None
    text += "" if text.endswith("\n") else "\n"
    start = _PREAMBLE.match(text)
    assert start is not None
    at, found = start.end(), []
    while entry := _ENTRY.match(text, at):
        found.append(_Entry(entry[0], entry[1]))
        at = entry.end()
    head, _, above = start[0].rpartition("\n\n")
    if at < len(text) or _ALLOW.search(above):
        return None
    return _File(f"{head}\n\n" if _ALLOW.search(head) else "", tuple(found))


def _family(name: str) -> str:
    """What all names have in common that are made of the name of one operator."""
    name = name.lower()
    if name.startswith("__i") and name.endswith("__"):
        name = name[3:]
    name = name.strip("_")
    while found := _DERIVED.search(name):
        name = name[: found.start()].strip("_")
    return name


# The position of a file and, in it, of an entry.
_Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Edit:
    """The same files before and after."""

    inputs: Inputs
    before: tuple[_File, ...]
    after: tuple[_File, ...]

    def entries(self) -> frozenset[_Place] | None:
        """The places of those that differ, and of all that may have to do with them.

        None if they are too many, or operators come, go or are reported.
        """
        for before, after in zip(self.before, self.after):
            if before.allowed != after.allowed or len(before.entries) != len(after.entries):
                return None
        edited = [
            (file, place, {old.name, new.name})
            for file, (before, after) in enumerate(zip(self.before, self.after))
            for place, (old, new) in enumerate(zip(before.entries, after.entries))
            if old != new
        ]
        chosen = frozenset((file, place) for file, place, _ in edited)
        chosen |= self._places_of({name for *_, both in edited for name in both})
        while len(chosen) <= _MOST:
            old, new = (self._registry(chosen, side) for side in (self.before, self.after))
            if old is None or new is None or not _are_alike(old, new):
                return None
            found = chosen | self._places_of({*_names(old), *_names(new)})
            if found == chosen:
                return chosen
            chosen = found
        return None

    def small(self, chosen: Collection[_Place], side: Sequence[_File]) -> Inputs | None:
        """The inputs that have those of these entries alone; None if a comment at one allows something."""
        contents = {}
        for path, content, places in zip(self.inputs.yaml, side, _by_file(chosen, len(side))):
            text = "".join(content.entries[place].text for place in places)
            if _ALLOW.search(text):
                return None
            if text:
                contents[path] = (content.allowed + text).encode()
        overlay = {**self.inputs.overlay, **contents}
        return replace(self.inputs, yaml=tuple(contents), overlay=overlay)

    def _registry(self, chosen: Collection[_Place], side: Sequence[_File]) -> Registry | None:
        diagnostics = Diagnostics()
        inputs = self.small(chosen, side)
        registry = None if inputs is None else read_registry(inputs, diagnostics)
        return None if len(diagnostics) else registry

    def _places_of(self, names: Iterable[str]) -> frozenset[_Place]:
        """The places of the entries that may share one of these names, as they were."""
        wanted = set(map(_family, names))
        families: dict[str, bool] = {}

        def is_wanted(word: str) -> bool:
            found = families.get(word)
            if found is None:
                found = families[word] = _family(word) in wanted
            return found

        return frozenset(
            (file, place)
            for file, content in enumerate(self.before)
            for place, entry in enumerate(content.entries)
            if any(map(is_wanted, entry.words()))
        )


def _by_file(places: Iterable[_Place], files: int) -> tuple[list[int], ...]:
    """For each file the places in it, in order."""
    found: tuple[list[int], ...] = tuple([] for _ in range(files))
    for file, place in sorted(places):
        found[file].append(place)
    return found


def _names(registry: Registry) -> Iterator[str]:
    """The names by which an operator may have to do with another: its own, and those of its kernels."""
    for f in registry.functions:
        yield f.root_name
        yield from (kernel.name for _, kernel in f.dispatch)
        yield from (loop.name for _, loop in f.ufunc_inner_loop)


def _are_alike(old: Registry, new: Registry) -> bool:
    """Whether they have the same operators in the same order, and kernels for the same keys."""
    names = [[f.full_name for f in registry.functions] for registry in (old, new)]
    return names[0] == names[1] and old.dispatch_keys == new.dispatch_keys


# Trees


def _small_tree(inputs: Inputs | None, *, shards: int, python: bool) -> Tree | None:
    """A tree of few operators, its texts with marks; None if anything is to be said of them."""
    diagnostics = Diagnostics()
    if inputs is None:
        return None
    tree = build_tree(inputs, diagnostics, shards=shards, python=python, marked=True)
    return None if len(diagnostics) else tree


def _new_header(header: Mapping[str, Any], old: Tree, new: Tree) -> dict[str, Any] | None:
    """The header of the large tree's manifest, with the operators as they are now."""
    others = [{k: v for k, v in t.header.items() if k != "operators"} for t in (old, new)]
    if others[0] != others[1]:
        return None
    return {**header, "operators": {**header["operators"], **new.header["operators"]}}


def _rewritten(old: Tree, new: Tree, directory: Path) -> dict[str, str] | None:
    """The new texts of the files in `directory` that differ between the small trees."""
    if old.files.keys() != new.files.keys():
        return None
    found = {}
    for path, text in new.files.items():
        if text != old.files[path]:
            whole = _new_text((directory / path).read_bytes().decode(), old.files[path], text)
            if whole is None:
                return None
            found[path] = whole
    return found


def _new_text(whole: str, old: str, new: str) -> str | None:
    """The text of a file that was `whole`, where the one of a small tree was `old` and is `new` now."""
    before, after = items_of(old), items_of(new)
    if before is None or after is None:
        return None
    if not before.items and not after.items:
        return new if whole == old else None
    if before.around != after.around:
        return None
    places = []
    for was, now in zip(before.items, after.items):
        if was != now:
            at = whole.find(was)
            if not was or at < 0 or whole.find(was, at + 1) >= 0:
                return None
            places.append((at, at + len(was), now))
    return _with_replaced(whole, sorted(places))


def _with_replaced(text: str, places: Iterable[tuple[int, int, str]]) -> str | None:
    """`text` with other text in these places, which are in order; None if two overlap."""
    parts, done = [], 0
    for start, end, now in places:
        if start < done:
            return None
        parts += [text[done:start], now]
        done = end
    return "".join([*parts, text[done:]])
