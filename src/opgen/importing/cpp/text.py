"""A C++ source after lexing: comments, literals, directives, the scopes of braces, and the sources that it includes.

The source is not preprocessed: all branches of every `#if` are kept, and the conditions of each place are known. All
offsets are those of the source.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from opgen.diagnostics import Source, Span

_BRACKET = re.compile(r"[()\[\]{}]")
_BRACKET_OR_END = re.compile(r"[()\[\]{};]")
# Conditions that are never and always true in current C++. That of an include guard is empty.
NEVER = frozenset({"0", "false", "!1", "!true", "!defined(__cplusplus)"})
ALWAYS = frozenset({"", "1", "true", "!0", "!false", "defined(__cplusplus)"})
# The most characters of a call or a declaration. Schemas and signatures have a few hundred.
MAX_PIECE = 200_000
# The most scopes or branches of a chain, so that deep nesting does not take quadratic time.
_MAX_DEPTH = 1000
_T = TypeVar("_T")
# Offsets, and the value from each offset on.
Table = tuple[tuple[int, ...], tuple[_T, ...]]


class Directive(Struct, frozen=True):
    """A directive without comments and line ends: `#define A(x) x` has the word `define` and the text `A(x) x`."""

    word: str
    text: str
    start: int
    end: int


class Group(Struct, eq=False):
    """An `#if` with all its branches. `otherwise` is the condition of no branch; empty if there is an `#else`."""

    branches: list[Branch]
    otherwise: str = ""


class Branch(Struct, eq=False):
    """The part from an `#if`, `#elif` or `#else` to its end. `parent` is the branch around its `#if`."""

    start: int
    end: int
    condition: str
    parent: Branch | None
    group: Group
    index: int

    def chain(self) -> tuple[Branch, ...]:
        """Return the branches around this one and itself, from the outermost."""
        return _chain(self)

    def holds(self, place: int) -> bool:
        return self.start <= place < self.end


# Maps the identity of a Group to the index of the chosen branch; the number of branches chooses none. By default, the
# first branch is chosen.
Choice = Mapping[int, int]
FIRST: Choice = {}


class Scope(Struct, eq=False):
    """The part between two braces. `kind` is namespace, class, linkage or other."""

    start: int
    end: int
    kind: str
    name: str
    parent: Scope | None

    def chain(self) -> tuple[Scope, ...]:
        """Return the scopes around this one and itself, from the outermost."""
        return _chain(self)


_Nested = TypeVar("_Nested", Branch, Scope)


def _chain(innermost: _Nested) -> tuple[_Nested, ...]:
    chain: list[_Nested] = [innermost]
    parent = innermost.parent
    while parent is not None and len(chain) < _MAX_DEPTH:
        chain.append(parent)
        parent = parent.parent
    return tuple(reversed(chain))


class CppText(Struct, frozen=True, eq=False):
    """A source after lexing. `code` has spaces for comments and directives; `masked` also for contents of literals.

    Both are ASCII, and have as many characters as the source.
    """

    source: Source
    code: str
    masked: str
    directives: tuple[Directive, ...]
    branches: tuple[Branch, ...]
    branch_starts: tuple[int, ...]
    branch_table: Table[Branch | None]
    scope_table: Table[Scope | None]
    closings: Mapping[int, int]

    def __repr__(self) -> str:
        return f"CppText({self.source!r})"

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def written(self, start: int, end: int) -> str:
        """Return a part of `code` with the letters of the source that are not ASCII."""
        pairs = zip(self.code[start:end], self.source.text[start:end])
        return "".join(letter if sign == "?" else sign for sign, letter in pairs)

    def scope(self, offset: int) -> Scope | None:
        """Return the innermost scope at an offset."""
        return _at(self.scope_table, offset)

    def branch_chain(self, offset: int) -> tuple[Branch, ...]:
        """Return the branches of `#if` around an offset, from the outermost."""
        branch = _at(self.branch_table, offset)
        return () if branch is None else branch.chain()

    def conditions(self, offset: int) -> tuple[str, ...]:
        """Return the conditions of `#if` for an offset, from the outermost, without those that always hold."""
        conditions = (branch.condition for branch in self.branch_chain(offset))
        return tuple(
            dict.fromkeys(condition for condition in conditions if condition not in ALWAYS)
        )

    def is_dead(self, offset: int) -> bool:
        """Return whether an offset is in a branch that is never compiled, such as `#if 0`."""
        return not NEVER.isdisjoint(self.conditions(offset))

    def find_closing(self, opening: int, choice: Choice = FIRST) -> int | None:
        """Return the offset of the bracket that closes the one at `opening`; None if there is none.

        `choice` says which branch of each `#if` between them counts.
        """
        closing = self.closings.get(opening)
        if closing is None or not self.branches_between(opening, closing):
            return closing
        return self._find_closing(opening, choice)

    def _find_closing(self, opening: int, choice: Choice) -> int | None:
        depth, position = 0, opening
        end = min(len(self.masked), opening + MAX_PIECE)
        while (bracket := _BRACKET.search(self.masked, position, end)) is not None:
            skipped = self._skipped_branch(opening, bracket.start(), choice)
            if skipped is not None:
                position = max(skipped.end, bracket.end())
                continue
            position = bracket.end()
            depth += 1 if bracket[0] in "([{" else -1
            if depth == 0:
                return bracket.start()
        return None

    def _skipped_branch(self, start: int, offset: int, choice: Choice) -> Branch | None:
        """Return a branch around `offset`, but not around `start`, that `choice` does not select."""
        for branch in self.branch_chain(offset):
            if not branch.holds(start) and branch.index != choice.get(id(branch.group), 0):
                return branch
        return None

    def find_statement_end(self, start: int) -> int | None:
        """Return the offset of the `;` that ends the statement at `start`; None if a bracket closes before it."""
        position = start
        while (mark := _BRACKET_OR_END.search(self.masked, position)) is not None:
            if mark[0] not in "([{":
                return mark.start() if mark[0] == ";" else None
            closing = self.find_closing(mark.start())
            if closing is None:
                return None
            position = closing + 1
        return None

    def branches_between(self, start: int, end: int) -> tuple[Branch, ...]:
        """Return the branches that begin after `start` and up to `end`, in order."""
        first = bisect_right(self.branch_starts, start)
        return self.branches[first : bisect_right(self.branch_starts, end)]


class Excerpt(Struct, frozen=True):
    """A part of a source that begins at `start`, with spaces for branches of `#if` that are not chosen."""

    text: CppText
    start: int
    code: str
    masked: str
    conditions: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        return self.start + len(self.code)

    def code_between(self, start: int, end: int) -> str:
        return self.code[max(0, start - self.start) : max(0, end - self.start)]


def excerpt(text: CppText, start: int, end: int, choice: Choice = FIRST) -> Excerpt:
    """Return the part from `start` to `end` with the branches of `choice`, and the conditions for it."""
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


_RAW = re.compile(r'(?:u8)?R"(?P<mark>[^()\\\s"]{0,16})\((?P<text>.*)\)(?P=mark)"', re.DOTALL)
_PLAIN = re.compile(r'(?:u8)?"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:(\r?\n)|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
# A closed literal, for use in other regular expressions.
LITERAL = (
    r'(?:(?:u8)?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)"|(?:u8)?"(?:[^"\\\n]|\\.)*")'
)


def find_string(literal: str) -> str | None:
    """Return the value of a string literal; None if it is not closed, or has wide characters."""
    raw = _RAW.fullmatch(literal)
    if raw is not None:
        return raw["text"]
    plain = _PLAIN.fullmatch(literal)
    return None if plain is None else _ESCAPE.sub(_unescape, plain[1])


def _unescape(escape: re.Match[str]) -> str:
    line_end, hexadecimal, short, long, octal, letter = escape.groups()
    if line_end is not None:
        return ""
    if octal is not None:
        return chr(int(octal, 8))
    digits = hexadecimal or short or long
    if digits is None:
        return _LETTERS.get(letter, letter)
    code = int(digits, 16)
    return chr(code) if code < 0x110000 else "\ufffd"


# Headers for a C++ compiler. Others, such as `.cuh`, are for CUDA's compiler.
CPP_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
_INCLUDED = re.compile(r"[<\"]([^<>\"]+)[>\"]")


class Includes:
    """Finds the sources that a source includes: those whose paths end with the name in the `#include`."""

    def __init__(self, texts: Iterable[CppText]) -> None:
        self._by_name: dict[str, list[CppText]] = {}
        self._reached: dict[CppText, frozenset[CppText]] = {}
        for text in texts:
            self._by_name.setdefault(posixpath.basename(_posix_path(text)), []).append(text)

    def reached(self, text: CppText) -> frozenset[CppText]:
        """Return a file and all that it includes, directly or indirectly."""
        if text not in self._reached:
            seen, pending = {text}, [text]
            while pending:
                one = pending.pop()
                included = {other for d in one.directives for other in self.named(one, d)} - seen
                seen |= included
                pending += included
            self._reached[text] = frozenset(seen)
        return self._reached[text]

    def named(self, text: CppText, directive: Directive) -> list[CppText]:
        """Return the sources that a directive of `text` includes."""
        name = _included_name(directive)
        candidates = self._by_name.get(posixpath.basename(name), ())
        return _nearest(candidates, posixpath.dirname(_posix_path(text)), name) if name else []


def _included_name(directive: Directive) -> str:
    """Return the name in an `#include`; "" for others."""
    match = _INCLUDED.match(directive.text) if directive.word == "include" else None
    return "" if match is None else match[1].strip()


def include_name(header: CppText, texts: Iterable[CppText], folder: str) -> str:
    """Return the name by which the first of `texts` includes a header; if none does, its path relative to `folder`."""
    path = _posix_path(header)
    for text in texts:
        for written in filter(None, map(_included_name, text.directives)):
            name = posixpath.normpath(written)
            if not name.startswith("..") and f"/{path}".endswith(f"/{name}"):
                return name
    return posixpath.relpath(path, folder or ".")


def _posix_path(text: CppText) -> str:
    return posixpath.normpath(text.source.path.replace("\\", "/"))


def _nearest(candidates: Sequence[CppText], folder: str, name: str) -> list[CppText]:
    """Return the candidate at `name` relative to `folder`; without one, all whose paths end with `name`."""
    relative = posixpath.normpath(posixpath.join(folder, name))
    exact = [text for text in candidates if _posix_path(text) == relative]
    ending = f"/{posixpath.normpath(name)}"
    return exact or [text for text in candidates if f"/{_posix_path(text)}".endswith(ending)]
