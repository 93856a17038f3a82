"""Read a C++ source up to its grammar: comments, literals, directives, and the scopes that braces make.

The text is not preprocessed. Every branch of every `#if` is read, and whoever asks learns under which conditions a
place stands. All offsets are those of the source.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import TypeVar

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Source, Span

_BRACKET = re.compile(r"[()\[\]{}]")
_BRACKET_OR_END = re.compile(r"[()\[\]{};]")
# Conditions that C++ of our time never and always fulfils. That of an include guard is empty.
NEVER = frozenset({"0", "false", "!1", "!true", "!defined(__cplusplus)"})
ALWAYS = frozenset({"", "1", "true", "!0", "!false", "defined(__cplusplus)"})
# So many characters are looked through for the end of a bracket in which an `#if` stands.
_LONGEST = 200_000
# Nobody nests deeper; a text that does is not followed all the way for each of its places.
_DEEPEST = 1000
_T = TypeVar("_T")
# Offsets, and what holds from each on.
Table = tuple[tuple[int, ...], tuple[_T, ...]]


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive without comments and line ends: `#define A(x) x` is `define` and `A(x) x`."""

    word: str
    text: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Group:
    """An `#if` with all of its branches; `otherwise` is the condition of none, and empty if there is an `#else`."""

    branches: list[Branch]
    otherwise: str = ""


@dataclass(slots=True, eq=False)
class Branch:
    """What stands between an `#if` or `#else` and what ends it; `parent` is the branch around its `#if`."""

    start: int
    end: int
    condition: str
    parent: Branch | None
    group: Group
    index: int

    def chain(self) -> tuple[Branch, ...]:
        """The branches that it stands in, from the outermost to itself."""
        found, branch = [self], self.parent
        while branch is not None and len(found) < _DEEPEST:
            found.append(branch)
            branch = branch.parent
        return tuple(reversed(found))

    def holds(self, place: int) -> bool:
        return self.start <= place < self.end


# Which branch of an `#if` is read: the index of one, or as many as there are for none. The first, if nothing is said.
Choice = Mapping[int, int]
FIRST: Choice = {}


@dataclass(slots=True, eq=False)
class Scope:
    """From a brace to the one that closes it. `kind` is namespace, class, linkage or other."""

    start: int
    end: int
    kind: str
    name: str
    parent: Scope | None

    def chain(self) -> tuple[Scope, ...]:
        """The scopes that it stands in, from the outermost to itself."""
        found, scope = [self], self.parent
        while scope is not None and len(found) < _DEEPEST:
            found.append(scope)
            scope = scope.parent
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True, eq=False)
class CppText:
    """A source made ready. `code` has no comments and directives, `masked` nor what literals hold.

    Both have one character for each of the source's, all of them ASCII.
    """

    source: Source
    code: str = field(repr=False)
    masked: str = field(repr=False)
    directives: tuple[Directive, ...] = field(repr=False)
    branches: tuple[Branch, ...] = field(repr=False)
    branch_starts: tuple[int, ...] = field(repr=False)
    branch_table: Table[Branch | None] = field(repr=False)
    scope_table: Table[Scope | None] = field(repr=False)
    closings: Mapping[int, int] = field(repr=False)

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def scope(self, offset: int) -> Scope | None:
        """The innermost scope that a place stands in."""
        return _at(self.scope_table, offset)

    def scope_opened_by(self, brace: int) -> Scope | None:
        found = self.scope(brace + 1)
        return found if found is not None and found.start == brace else None

    def branch_chain(self, offset: int) -> tuple[Branch, ...]:
        """The branches of `#if` that a place stands in, from the outermost on."""
        branch = _at(self.branch_table, offset)
        return () if branch is None else branch.chain()

    def conditions(self, offset: int) -> tuple[str, ...]:
        """The conditions of `#if` under which a place stands, from the outermost on."""
        found = (branch.condition for branch in self.branch_chain(offset))
        return tuple(dict.fromkeys(condition for condition in found if condition not in ALWAYS))

    def is_dead(self, offset: int) -> bool:
        """Whether a place stands under `#if 0`."""
        return not NEVER.isdisjoint(self.conditions(offset))

    def find_closing(self, opening: int, choice: Choice = FIRST) -> int | None:
        """The place of the bracket that closes the one at `opening`; None if none does.

        Of an `#if` on the way, the branch of `choice` is read.
        """
        closing = self.closings.get(opening)
        if closing is None or not self.branches_between(opening, closing):
            return closing
        return self._find_closing(opening, choice)

    def _find_closing(self, opening: int, choice: Choice) -> int | None:
        depth, position = 0, opening
        end = min(len(self.masked), opening + _LONGEST)
        while (found := _BRACKET.search(self.masked, position, end)) is not None:
            left = self._branch_left_out(opening, found.start(), choice)
            if left is not None:
                position = max(left.end, found.end())
                continue
            position = found.end()
            depth += 1 if found[0] in "([{" else -1
            if depth == 0:
                return found.start()
        return None

    def _branch_left_out(self, place: int, offset: int, choice: Choice) -> Branch | None:
        """The branch around `offset` that is not read together with what stands at `place`."""
        for branch in self.branch_chain(offset):
            if not branch.holds(place) and branch.index != choice.get(id(branch.group), 0):
                return branch
        return None

    def find_statement_end(self, start: int) -> int | None:
        """The place of the `;` that ends what begins at `start`; None if a bracket closes first."""
        position = start
        while (found := _BRACKET_OR_END.search(self.masked, position)) is not None:
            if found[0] not in "([{":
                return found.start() if found[0] == ";" else None
            closing = self.find_closing(found.start())
            if closing is None:
                return None
            position = closing + 1
        return None

    def branches_between(self, start: int, end: int) -> tuple[Branch, ...]:
        """The branches that begin there, in order."""
        first = bisect_right(self.branch_starts, start)
        return self.branches[first : bisect_right(self.branch_starts, end)]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a source from `start` on, with blanks for branches of `#if` that are not read."""

    text: CppText = field(repr=False)
    start: int
    code: str
    masked: str = field(repr=False)
    conditions: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        return self.start + len(self.code)

    def code_between(self, start: int, end: int) -> str:
        return self.code[max(0, start - self.start) : max(0, end - self.start)]


def excerpt(text: CppText, start: int, end: int, choice: Choice = FIRST) -> Excerpt:
    """The part from `start` to `end`, of each `#if` in it the branch of `choice`; with the conditions of it all."""
    code, masked = text.code[start:end], text.masked[start:end]
    conditions = list(text.conditions(start))
    for branch in text.branches_between(start, end):
        chosen = choice.get(id(branch.group), 0)
        if branch.index == chosen:
            conditions.append(branch.condition)
        elif branch.index == 0 and chosen == len(branch.group.branches):
            conditions.append(branch.group.otherwise)
        if branch.index != chosen:
            first, last = branch.start - start, min(branch.end, end) - start
            code = code[:first] + " " * (last - first) + code[last:]
            masked = masked[:first] + " " * (last - first) + masked[last:]
    kept = dict.fromkeys(condition for condition in conditions if condition not in ALWAYS)
    return Excerpt(text, start, code, masked, tuple(kept))


def _at(table: Table[_T | None], offset: int) -> _T | None:
    index = bisect_right(table[0], offset) - 1
    return None if index < 0 else table[1][index]
