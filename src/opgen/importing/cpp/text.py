"""A C++ source after lexing: comments, literals, directives, the scopes of braces, and the sources that it includes.

The source is not preprocessed: all branches of every `#if` are kept, and the conditions of each place are known. All
offsets are those of the source.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Struct, field

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
    """What begins with the brace at `start`. `kind` is namespace, class, linkage or other."""

    start: int
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
            # The outermost of the branches that begin after `opening`, and that `choice` does not select.
            inside = (b for b in self.branch_chain(bracket.start()) if not b.holds(opening))
            skipped = next((b for b in inside if b.index != choice.get(id(b.group), 0)), None)
            if skipped is not None:
                position = max(skipped.end, bracket.end())
                continue
            position = bracket.end()
            depth += 1 if bracket[0] in "([{" else -1
            if depth == 0:
                return bracket.start()
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
        if not name:
            return []
        # The one at this name relative to the file's folder; without it, all whose paths end with the name.
        relative = posixpath.normpath(posixpath.join(posixpath.dirname(_posix_path(text)), name))
        exact = [other for other in candidates if _posix_path(other) == relative]
        ending = f"/{posixpath.normpath(name)}"
        return exact or [o for o in candidates if f"/{_posix_path(o)}".endswith(ending)]


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


# Lexing

# Tokens inside which braces, quotes and names have no meaning. A token without an end extends to the end of the line or
# file. A quote after a digit separates digits, as in `1'000`.
_PIECE = re.compile(
    r"""
    (?P<comment> //(?:[^\\\n]|\\.)* | /\*.*?(?:\*/|\Z) )
  | (?P<raw> \b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|\Z) )
  | (?P<text> "(?:[^"\\\n]|\\.)*(?:"|(?=\n)|\Z) | (?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z) )
  | (?P<directive> ^[ \t]*\#(?:"(?:[^"\\\n]|\\.)*"|//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z)|\\.|[^\\\n])* )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_CONTINUED = re.compile(r"\\\r?\n")
_HASH = re.compile(r"\s*#[ \t]*(\w*)[ \t]*")
_NOT_BLANK = re.compile(r"[^\n\r\t ]")
_NOT_ASCII = re.compile(r"[^\t\n\r -~]")

_CLOSES = {")": "(", "]": "[", "}": "{"}
# The most unclosed brackets inside a closed one.
_MOST_UNCLOSED = 100
# The most characters before a brace that are examined for the kind of its scope.
_HEAD = 400
_NAMESPACE = re.compile(r"\bnamespace\s*(?:\[\[[^\]]*\]\]\s*)?([\w:\s]*)$")
_CLASS = re.compile(
    r"(?<!enum )\b(?:class|struct|union)\s(?!.*\b(?:class|struct|union)\s)(.*)$", re.DOTALL
)
_NO_NAME = re.compile(r"<[^<>]*>|\balignas\s*\([^()]*\)|\[\[[^\[\]]*\]\]|(?<!:):(?!:).*", re.DOTALL)
_LINKAGE = re.compile(r'\bextern\s*"[^"]*"\s*$')

# The most conditions of earlier branches that the condition of an `#else` lists.
_MOST_CONDITIONS = 20
_OPENERS = frozenset({"if", "ifdef", "ifndef"})
_NEXT = frozenset({"elif", "elifdef", "elifndef", "else"})


def read_cpp(source: Source) -> CppText:
    """Lex `source`. Any text is accepted."""
    code, masked, directives = _pieces(source.text)
    structure = _Structure(masked)
    structure.read(directives)
    return CppText(
        source,
        code,
        masked,
        directives,
        tuple(structure.branches),
        tuple(branch.start for branch in structure.branches),
        structure.branch_table(),
        structure.scope_table(),
        structure.closings,
    )


# Characters


def _pieces(text: str) -> tuple[str, str, tuple[Directive, ...]]:
    code: list[str] = []
    masked: list[str] = []
    directives: list[Directive] = []
    position = 0
    for match in _PIECE.finditer(text):
        between = text[position : match.start()]
        position = match.end()
        piece = match[0]
        code.append(between)
        masked.append(between)
        blank = _NOT_BLANK.sub(" ", piece)
        if match["raw"] is not None or match["text"] is not None:
            code.append(piece)
            masked.append(f'"{blank[1:-1]}"' if len(piece) > 1 else '"')
        else:
            code.append(blank)
            masked.append(blank)
            if match["directive"] is not None:
                written = _COMMENT.sub(lambda m: m[1] or " ", _CONTINUED.sub(" ", piece))
                begin = _HASH.match(written)
                assert begin is not None
                words = written[begin.end() :].strip()
                directives.append(Directive(begin[1], words, match.start(), match.end()))
    code.append(text[position:])
    masked.append(text[position:])
    return _ascii("".join(code)), _ascii("".join(masked)), tuple(directives)


def _ascii(text: str) -> str:
    """Replace characters that are not ASCII by `?`, so that offsets of characters and bytes are equal."""
    return text if text.isascii() and "\0" not in text else _NOT_ASCII.sub("?", text)


# Branches


class _OpenIf(Struct):
    """An `#if` before its `#endif`. `parent` is the branch around it, `has_else` whether an `#else` was read.

    `failed` are the negated conditions of the branches so far. An include guard counts as if it had an `#else`. `before` is
    the innermost bracket before it.
    """

    group: Group
    parent: Branch | None
    has_else: bool
    before: _OpenBracket | None
    failed: list[str] = field(default_factory=list)

    def condition(self, last: str) -> str:
        """Return the condition that the branches so far are not compiled, and that `last`, if not empty, holds."""
        parts = [*self.failed, *([last] if last else [])]
        if len(parts) == 1:
            return parts[0]
        return " && ".join(f"({part})" if _needs_brackets(part) else part for part in parts)

    def add(self, condition: str) -> None:
        """Record the condition of a branch; it is empty for `#else`."""
        if not condition:
            self.has_else = True
        elif len(self.failed) < _MOST_CONDITIONS:
            self.failed += [part for part in (_negated(condition),) if part not in ALWAYS]
        elif len(self.failed) == _MOST_CONDITIONS:
            self.failed.append("...")


def _condition(directive: Directive) -> str:
    text = " ".join(directive.text.split())
    if directive.word in ("ifdef", "elifdef"):
        text = f"defined({text})"
    elif directive.word in ("ifndef", "elifndef"):
        text = f"!defined({text})"
    return text or "0"


def _negated(condition: str) -> str:
    if re.fullmatch(r"!?\s*defined\s*\(\s*\w+\s*\)|!\w+", condition):
        return condition[1:].strip() if condition.startswith("!") else f"!{condition}"
    return f"!{condition}" if re.fullmatch(r"\w+", condition) else f"!({condition})"


def _needs_brackets(condition: str) -> bool:
    # `!(a || b)` has brackets: only operators outside of them count.
    depth, outside = 0, []
    for character in condition:
        depth += {"(": 1, ")": -1}.get(character, 0)
        outside.append(character if depth == 0 else " ")
    return "||" in "".join(outside) or "?" in outside


def _is_guard(directive: Directive, following: tuple[Directive, ...]) -> bool:
    """Return whether this is the `#ifndef` of an include guard: the next directive defines the same name as nothing."""
    return (
        directive.word == "ifndef"
        and bool(following)
        and following[0].word == "define"
        and following[0].text == directive.text
    )


# Brackets and scopes


class _OpenBracket(Struct, frozen=True, eq=False):
    """An open bracket, the one around it, the scope inside it, and the number of `#if`s around it."""

    bracket: str
    offset: int
    around: _OpenBracket | None
    scope: Scope | None
    depth: int


class _Structure(Struct):
    """Matches brackets, and finds the branches of each `#if`, which begin with the brackets that are open before it.

    Errors in directives are ignored: the compiler reports them.
    """

    masked: str
    closings: dict[int, int] = field(default_factory=dict)
    branches: list[Branch] = field(default_factory=list)
    # From each offset on, the innermost scope and branch.
    scopes: list[tuple[int, Scope | None]] = field(default_factory=lambda: [(0, None)])
    innermost: list[tuple[int, Branch | None]] = field(default_factory=lambda: [(0, None)])
    current: _OpenBracket | None = None
    open: list[_OpenIf] = field(default_factory=list)

    def scope_table(self) -> Table[Scope | None]:
        return tuple(at for at, _ in self.scopes), tuple(one for _, one in self.scopes)

    def branch_table(self) -> Table[Branch | None]:
        return tuple(at for at, _ in self.innermost), tuple(one for _, one in self.innermost)

    def read(self, directives: tuple[Directive, ...]) -> None:
        position = 0
        for place, directive in enumerate(directives):
            self._read_between(position, directive.start)
            if directive.word in _OPENERS:
                self._begin(directive, _is_guard(directive, directives[place + 1 : place + 2]))
            elif self.open and directive.word in _NEXT:
                self._next(directive)
            elif self.open and directive.word == "endif":
                self._end_if(directive)
            position = directive.end
        self._read_between(position, len(self.masked))
        for left in self.open:
            left.group.branches[-1].end = len(self.masked)

    def _begin(self, directive: Directive, is_guard: bool) -> None:
        condition = "" if is_guard else _condition(directive)
        open_if = _OpenIf(Group([]), self.innermost[-1][1], is_guard, self.current)
        self.open.append(open_if)
        self._add(open_if, directive, condition)
        open_if.add(condition)

    def _next(self, directive: Directive) -> None:
        open_if = self.open[-1]
        open_if.group.branches[-1].end = directive.start
        condition = "" if directive.word == "else" else _condition(directive)
        self._add(open_if, directive, open_if.condition(condition))
        open_if.add(condition)
        self._enter(directive.end, open_if.before)

    def _end_if(self, directive: Directive) -> None:
        open_if = self.open.pop()
        open_if.group.branches[-1].end = directive.start
        open_if.group.otherwise = "" if open_if.has_else else open_if.condition("")
        self.innermost.append((directive.end, open_if.parent))
        if len(open_if.group.branches) == 1 and self._is_open_without(open_if.before):
            self._enter(directive.end, open_if.before)

    def _add(self, open_if: _OpenIf, directive: Directive, condition: str) -> None:
        start, group = directive.end, open_if.group
        branch = Branch(start, start, condition, open_if.parent, group, len(group.branches))
        group.branches.append(branch)
        self.branches.append(branch)
        self.innermost.append((start, branch))

    def _read_between(self, start: int, end: int) -> None:
        for match in _BRACKET.finditer(self.masked, start, end):
            bracket, offset = match[0], match.start()
            if bracket in _CLOSES:
                self._close(_CLOSES[bracket], offset)
            elif bracket == "{":
                kind, name = _kind_and_name(self.masked, max(start, offset - _HEAD), offset)
                around = None if self.current is None else self.current.scope
                inside = Scope(offset, kind, name, around)
                depth = len(self.open)
                self._enter(offset + 1, _OpenBracket("{", offset, self.current, inside, depth))
            else:
                scope = None if self.current is None else self.current.scope
                self.current = _OpenBracket(bracket, offset, self.current, scope, len(self.open))

    def _close(self, bracket: str, offset: int) -> None:
        """Close the innermost open `bracket`, and drop unclosed brackets inside it.

        A parenthesis or square bracket never closes one outside of the innermost brace.
        """
        candidate = self.current
        for _ in range(_MOST_UNCLOSED):
            if candidate is None or candidate.bracket == bracket:
                break
            is_crossable = bracket == "{" or candidate.bracket != "{"
            candidate = candidate.around if is_crossable else None
        if candidate is None or candidate.bracket != bracket:
            return
        self.closings.setdefault(candidate.offset, offset)
        if bracket == "{":
            self._enter(offset, candidate.around)
        else:
            self.current = candidate.around

    def _is_open_without(self, before: _OpenBracket | None) -> bool:
        """Return whether an `#if` without `#else` closed a bracket that another build leaves open: one of no other `#if`."""
        kept = 0 if self.current is None else self.current.offset + 1
        while before is not None and before.offset >= kept:
            if before.depth <= len(self.open):
                return True
            before = before.around
        return False

    def _enter(self, offset: int, bracket: _OpenBracket | None) -> None:
        self.current = bracket
        self.scopes.append((offset, None if bracket is None else bracket.scope))


def _kind_and_name(masked: str, start: int, brace: int) -> tuple[str, str]:
    """Return the kind and name of the scope that `brace` opens."""
    begin = max(start, *(masked.rfind(end, start, brace) + 1 for end in ";{}"))
    head = masked[begin:brace]
    if not head or head.isspace():
        return "other", ""
    namespace = _NAMESPACE.search(head)
    if namespace is not None:
        return "namespace", "".join(namespace[1].replace("inline ", "").split())
    if _LINKAGE.search(head) is not None:
        return "linkage", ""
    class_head = _CLASS.search(head)
    if class_head is None:
        return "other", ""
    # With a bracket or `=`, it is a function or a value of a class type.
    head = _NO_NAME.sub(" ", class_head[1])
    names = [name for name in re.findall(r"\w+", head) if name != "final"]
    return ("class", names[-1]) if names and "(" not in head and "=" not in head else ("other", "")
