"""Split schema files into entries, and find the entries that an edit changes and those related to them.

Two entries are related if they share a name that C++ or a check could treat as the same: the name of an operator, with
all names that are derived from it by a prefix or suffix, or the name of a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Source
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.parse.entries.documentation import comment_start
from opgen.parse.yaml.nodes import MappingNode, ScalarNode, SequenceNode, compose
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import read_registry
from opgen.resolve.dispatch_tables import find_registration

# For more entries than these, generating the whole library is not much slower.
_MOST = 100
# Usually the entries of one operator with its variants.
_FEW = 12

_ANCHOR = re.compile(r"&\S")
# Line ends and blanks after a block scalar may be part of it.
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]*(?:[ \t]#.*)?$", re.MULTILINE)
# Line ends of YAML other than \n and \r\n.
_LINE_END = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
# The marks of YAML documents, and directives before them.
_DOCUMENT = re.compile(r"^(?:---|\.\.\.|%)", re.MULTILINE)
_NAME = re.compile(r"(?:\w+::)?(\w+)[.(]")
# A structured operator, or a Meta kernel: with either, some operators get a Meta kernel that their entries do not name.
_FOR_META = re.compile(r"^ +(?:structured: True|[\w, ]*\bMeta\b[\w, ]*: )", re.MULTILINE)
_ALLOW = re.compile(r"opgen:[ \t]*allow")
_WORD = re.compile(r"\w+")
# No name is longer, with all prefixes and suffixes.
_LONGEST = 400
# The suffixes of names that are derived from an operator's name.
_DERIVED = re.compile(
    r"_(?:out|outf|symint|copy|scatter|inverse|functional|ops|native|meta|[a-z]+_dispatch)$"
)


class Entry(Struct, frozen=True):
    """The text of an entry, with the comments after it, and the operator's name without its overload.

    `comment` is the comment directly above the entry, which may be its documentation.
    """

    text: str
    name: str
    comment: str = ""

    def words(self) -> Iterator[str]:
        """Yield every name that it may share with others: its own, and those below the schema's first line."""
        yield self.name
        yield from _WORD.findall(self.text, self.text.index("\n"))


class SchemaText(Struct, frozen=True):
    """The entries of a file, and the text before the first one that holds for all of them.

    That is its header, or comments that allow something in the whole file.
    """

    before: str
    entries: tuple[Entry, ...]


def split_entries(text: str) -> SchemaText | None:
    """Split a schema file into its entries; return None if their texts are not independent of each other.

    With an anchor, one entry could be part of another, and a block scalar may include the lines after it. A comment that
    allows something directly above the first entry would, without it, allow it in others.
    """
    if any(one.search(text) for one in (_ANCHOR, _BLOCK, _LINE_END, _DOCUMENT)):
        return None
    text += "" if text.endswith("\n") else "\n"
    nodes = _items(text)
    starts = [] if nodes is None else [text.rfind("\n", 0, node.start) + 1 for node in nodes]
    comments = [comment_start(text, start) for start in starts]
    # Only at the left margin does an item mean the same below another item.
    if not nodes or not all(text.startswith("- ", start) for start in starts):
        return None
    ends = [*comments[1:], len(text)]
    preamble = text[: starts[0]]
    allowed_in_file, _, allowed = preamble.rpartition("\n\n")
    if _ALLOW.search(allowed):
        return None
    before = f"{allowed_in_file}\n\n" if _ALLOW.search(allowed_in_file) else ""
    if not text.startswith("- func: ", starts[0]):
        # The header of the file.
        before = text[: ends[0]]
        if _ALLOW.search(before) or nodes[0].get("func") is not None:
            return None
        del nodes[0], starts[0], ends[0], comments[0]
    found = []
    for node, comment, start, end in zip(nodes, comments, starts, ends):
        name = _operator_name(node) if text.startswith("- func: ", start) else None
        if name is None:
            return None
        # A blank line is not a change of the entry before it.
        found.append(Entry(text[start:end].rstrip("\n ") + "\n", name, text[comment:start]))
    return SchemaText(before, tuple(found))


def _items(text: str) -> list[MappingNode] | None:
    """Return the items of a file that is a list of mappings without errors in YAML."""
    diagnostics = Diagnostics()
    root = compose(Source("", text), diagnostics)
    if not isinstance(root, SequenceNode) or len(diagnostics):
        return None
    items = [item for item in root.items if isinstance(item, MappingNode)]
    return items if len(items) == len(root.items) else None


def _operator_name(node: MappingNode) -> str | None:
    """Return the name of an entry's operator without its namespace and overload."""
    func = node.get("func")
    found = _NAME.match(func.value) if isinstance(func, ScalarNode) else None
    return None if found is None else found[1]


# One entry before and after the edit.
Row: TypeAlias = tuple[Entry, Entry]
# The index of a file and the index of a row in it.
Place: TypeAlias = tuple[int, int]


class Edit(Struct, frozen=True, dict=True):
    """All entries of a library before and after an edit.

    `rows` has the entries of each file, and `before` the text before the first entry of each file.
    """

    inputs: Inputs
    before: tuple[str, ...]
    rows: tuple[tuple[Row, ...], ...]

    @cached_property
    def _by_family(self) -> Mapping[str, set[Place]]:
        families: dict[str, str] = {}
        found: dict[str, set[Place]] = {}
        for file, rows in enumerate(self.rows):
            for at, row in enumerate(rows):
                for word in {word for entry in row for word in entry.words()}:
                    if word not in families:
                        families[word] = _family(word)
                    found.setdefault(families[word], set()).add((file, at))
        return found

    def edited(self) -> frozenset[Place]:
        """Return the places of the rows that differ."""
        return frozenset(
            (file, at)
            for file, rows in enumerate(self.rows)
            for at, (old, new) in enumerate(rows)
            if old != new
        )

    def with_neighbours(self, places: frozenset[Place]) -> frozenset[Place] | None:
        """Return these rows and all rows related to them, before or after the edit.

        Return None if they are too many, if there is anything to report about them, or if operators are added, removed or
        moved, or get kernels for other keys.
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
        """Return inputs with only these rows: side 0 before the edit, 1 after it.

        Return None if a comment at one of them allows something: in fewer entries, it could apply to others.
        """
        chosen: dict[int, list[str]] = {}
        for file, at in sorted(places):
            entry = self.rows[file][at][side]
            chosen.setdefault(file, []).append(f"{entry.comment}{entry.text}\n")
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
        """Return these rows, and those that may share a name with an operator of one of them, and so on."""
        chosen = places
        while len(chosen) <= _MOST:
            rows = (self.rows[file][at] for file, at in chosen)
            found = chosen | self._places_of(entry.name for row in rows for entry in row)
            if found == chosen:
                break
            chosen = found
        return chosen

    def _rows_for_meta(self) -> frozenset[Place]:
        """Return a few rows that make Meta a key of a library, if it may be a key of the whole library."""
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
        """Return the places of the rows that may share one of these names."""
        found = set[Place]()
        return frozenset(found.union(*(self._by_family.get(_family(n), ()) for n in names)))


def _family(name: str) -> str:
    """Return the common part of all names that are derived from the name of one operator."""
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
    """Yield the names by which operators may be related: their own, and those of their kernels."""
    for f in registry.functions:
        yield f.root_name
        yield from (kernel.name for _, kernel in f.dispatch)
        yield from (loop.name for _, loop in f.ufunc_inner_loop)


def _are_alike(old: Registry, new: Registry) -> bool:
    """Return whether both have the same operators in the same places, and kernels for the same keys."""
    names = [[f.full_name for f in registry.functions] for registry in (old, new)]
    first, now_first = _first_members(old), _first_members(new)
    stay = all(now_first.get(what, name) == name for what, name in first.items())
    return names[0] == names[1] and stay and old.dispatch_keys == new.dispatch_keys


def _may_lack_meta(registry: Registry) -> bool:
    """Return whether an operator would get a Meta kernel if another operator of the library had one."""
    if DispatchKey.Meta in registry.dispatch_keys:
        return False
    rows = (find_registration(registry, f, DispatchKey.Meta) for f in registry.functions)
    return any(row is not None for row in rows)


def _first_members(registry: Registry) -> dict[tuple[object, ...], str]:
    """Return the name of the first operator that has each kernel, and the first member of each group.

    Files list kernels and groups at the place of their first operator. The keys are the operators and dispatch keys of the
    kernels, and the members of the groups.
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
