"""Read the characters of a C++ source into a CppText."""

from __future__ import annotations

import re

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Source
from opgen.importing.cpp_text import (
    ALWAYS,
    Branch,
    CppText,
    Directive,
    Group,
    Scope,
    Table,
)

# What may hold a brace, a quote or a name that is none. What does not end, ends with the line or the file. A quote
# after a digit is one of `1'000`.
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

_BRACKET = re.compile(r"[()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}
# So many brackets may be left open in one that is closed.
_MOST_UNCLOSED = 100
# So many characters before a brace say what it opens.
_HEAD = 400
_NAMESPACE = re.compile(r"\bnamespace\s*(?:\[\[[^\]]*\]\]\s*)?([\w:\s]*)$")
_CLASS = re.compile(r"\b(?:class|struct|union)\s(?!.*\b(?:class|struct|union)\s)(.*)$", re.DOTALL)
_NO_NAME = re.compile(r"<[^<>]*>|\balignas\s*\([^()]*\)|\[\[[^\[\]]*\]\]|(?<!:):(?!:).*", re.DOTALL)
_LINKAGE = re.compile(r'\bextern\s*"[^"]*"\s*$')

# The condition of a branch says no more of those before it.
_MOST_CONDITIONS = 20
_OPENERS = frozenset({"if", "ifdef", "ifndef"})
_NEXT = frozenset({"elif", "elifdef", "elifndef", "else"})


def read_cpp(source: Source) -> CppText:
    """The text of `source`, with its directives, branches and scopes. It takes any text."""
    code, masked, directives = _pieces(source.text)
    branches, branch_table = _Branches().read(directives, len(code))
    brackets = _Brackets(masked)
    scope_table = brackets.read(directives)
    starts = tuple(branch.start for branch in branches)
    return CppText(
        source,
        code,
        masked,
        directives,
        branches,
        starts,
        branch_table,
        scope_table,
        brackets.closings,
    )


# Characters


def _pieces(text: str) -> tuple[str, str, tuple[Directive, ...]]:
    code: list[str] = []
    masked: list[str] = []
    directives: list[Directive] = []
    position = 0
    for found in _PIECE.finditer(text):
        between = text[position : found.start()]
        position = found.end()
        piece = found[0]
        code.append(between)
        masked.append(between)
        blank = _NOT_BLANK.sub(" ", piece)
        if found["raw"] is not None or found["text"] is not None:
            code.append(piece)
            masked.append(f'"{blank[1:-1]}"' if len(piece) > 1 else '"')
        else:
            code.append(blank)
            masked.append(blank)
            if found["directive"] is not None:
                directives.append(_directive(found))
    code.append(text[position:])
    masked.append(text[position:])
    return _ascii("".join(code)), _ascii("".join(masked)), tuple(directives)


def _ascii(text: str) -> str:
    """As many characters, so that an offset of one is an offset of bytes, too."""
    return text if text.isascii() and "\0" not in text else _NOT_ASCII.sub("?", text)


def _directive(found: re.Match[str]) -> Directive:
    text = _CONTINUED.sub(" ", found[0])
    text = _COMMENT.sub(lambda comment: comment[1] or " ", text)
    begin = _HASH.match(text)
    assert begin is not None
    return Directive(begin[1], text[begin.end() :].strip(), found.start(), found.end())


# Branches


@dataclass(slots=True)
class _OpenIf:
    """An `#if` that is not at its end: the branch that it stands in, and whether it has an `#else`.

    `failed` are its conditions so far, negated. An include guard counts as if it had an `#else`.
    """

    group: Group
    parent: Branch | None
    failed: list[str]
    is_whole: bool

    def condition(self, last: str) -> str:
        """What holds where the conditions of the branches so far do not, and `last` does."""
        parts = [*self.failed, *([last] if last else [])]
        if len(parts) == 1:
            return parts[0]
        return " && ".join(f"({part})" if _needs_brackets(part) else part for part in parts)

    def add(self, condition: str) -> None:
        """A branch with this condition, and none if it is empty, has ended or begins."""
        if not condition:
            self.is_whole = True
        elif len(self.failed) < _MOST_CONDITIONS:
            self.failed += [part for part in (_negated(condition),) if part not in ALWAYS]
        elif len(self.failed) == _MOST_CONDITIONS:
            self.failed.append("...")


@dataclass(slots=True)
class _Branches:
    """Reads the directives in order. What is wrong with them, the compiler says: here it is passed over."""

    branches: list[Branch] = field(default_factory=list)
    offsets: list[int] = field(default_factory=lambda: [0])
    innermost: list[Branch | None] = field(default_factory=lambda: [None])
    open: list[_OpenIf] = field(default_factory=list)

    def read(
        self, directives: tuple[Directive, ...], size: int
    ) -> tuple[tuple[Branch, ...], Table[Branch | None]]:
        for place, directive in enumerate(directives):
            if directive.word in _OPENERS:
                self._begin(directive, _is_guard(directive, directives[place + 1 : place + 2]))
            elif self.open and directive.word in _NEXT:
                self._next(directive)
            elif self.open and directive.word == "endif":
                self._end(directive)
        for left in self.open:
            left.group.branches[-1].end = size
        return tuple(self.branches), (tuple(self.offsets), tuple(self.innermost))

    def _begin(self, directive: Directive, is_guard: bool) -> None:
        condition = "" if is_guard else _condition(directive)
        now = _OpenIf(Group([]), self.innermost[-1], [], is_guard)
        now.add(condition)
        self.open.append(now)
        self._add(now, directive, condition)

    def _next(self, directive: Directive) -> None:
        now = self.open[-1]
        now.group.branches[-1].end = directive.start
        condition = "" if directive.word == "else" else _condition(directive)
        self._add(now, directive, now.condition(condition))
        now.add(condition)

    def _end(self, directive: Directive) -> None:
        now = self.open.pop()
        now.group.branches[-1].end = directive.start
        now.group.otherwise = "" if now.is_whole else now.condition("")
        self._note(directive.end, now.parent)

    def _add(self, now: _OpenIf, directive: Directive, condition: str) -> None:
        here, group = directive.end, now.group
        branch = Branch(here, here, condition, now.parent, group, len(group.branches))
        group.branches.append(branch)
        self.branches.append(branch)
        self._note(here, branch)

    def _note(self, offset: int, branch: Branch | None) -> None:
        self.offsets.append(offset)
        self.innermost.append(branch)


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
    # `!(a || b)` has its own; they are looked for outside of others.
    depth, outside = 0, []
    for character in condition:
        depth += {"(": 1, ")": -1}.get(character, 0)
        outside.append(character if depth == 0 else " ")
    return "||" in "".join(outside) or "?" in outside


def _is_guard(directive: Directive, following: tuple[Directive, ...]) -> bool:
    """Whether it is the `#ifndef` of an include guard: the next line defines the name, as nothing."""
    return (
        directive.word == "ifndef"
        and bool(following)
        and following[0].word == "define"
        and following[0].text == directive.text
    )


# Brackets and scopes


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    """A bracket that is open, the one around it, and the scope that one is in inside of it."""

    bracket: str
    offset: int
    around: _Open | None
    scope: Scope | None


@dataclass(slots=True)
class _Brackets:
    """Follows the brackets. Each branch of an `#if` begins with those that were open before it."""

    masked: str
    closings: dict[int, int] = field(default_factory=dict)
    offsets: list[int] = field(default_factory=lambda: [0])
    innermost: list[Scope | None] = field(default_factory=lambda: [None])
    now: _Open | None = None
    # For each `#if`: what was open before it, and at the ends of its branches so far.
    open: list[tuple[_Open | None, list[_Open | None]]] = field(default_factory=list)
    # Scopes of another branch that end together with one of the last branch.
    twins: dict[int, list[Scope]] = field(default_factory=dict)

    def read(self, directives: tuple[Directive, ...]) -> Table[Scope | None]:
        position = 0
        for directive in directives:
            self._read_between(position, directive.start)
            self._directive(directive)
            position = directive.end
        self._read_between(position, len(self.masked))
        return tuple(self.offsets), tuple(self.innermost)

    def _read_between(self, start: int, end: int) -> None:
        for found in _BRACKET.finditer(self.masked, start, end):
            bracket, offset = found[0], found.start()
            if bracket in _CLOSES:
                self._close(_CLOSES[bracket], offset)
            elif bracket == "{":
                self._open_scope(offset, start)
            else:
                scope = None if self.now is None else self.now.scope
                self.now = _Open(bracket, offset, self.now, scope)

    def _open_scope(self, offset: int, start: int) -> None:
        kind, name = _what_is_opened(self.masked, max(start, offset - _HEAD), offset)
        around = None if self.now is None else self.now.scope
        scope = Scope(offset, len(self.masked), kind, name, around)
        self._enter(offset + 1, _Open("{", offset, self.now, scope))

    def _close(self, bracket: str, offset: int) -> None:
        """Close the innermost `bracket`. Brackets in it were not closed; one outside of a brace is not meant."""
        one = self.now
        for _ in range(_MOST_UNCLOSED):
            if one is None or one.bracket == bracket:
                break
            one = one.around if bracket == "{" or one.bracket != "{" else None
        if one is None or one.bracket != bracket:
            return
        self.closings.setdefault(one.offset, offset)
        if bracket == "{":
            assert one.scope is not None
            self._end(one.scope, offset)
            self._enter(offset, one.around)
        else:
            self.now = one.around

    def _end(self, scope: Scope, offset: int) -> None:
        left = [scope]
        while left:
            ended = left.pop()
            ended.end = offset
            left += self.twins.pop(id(ended), ())

    def _directive(self, directive: Directive) -> None:
        if directive.word in _OPENERS:
            self.open.append((self.now, []))
        elif self.open and directive.word in _NEXT:
            before, ends = self.open[-1]
            ends.append(self.now)
            self._enter(directive.end, before)
        elif self.open and directive.word == "endif":
            _, ends = self.open.pop()
            for end in ends:
                self._pair(end, self.now)

    def _pair(self, one: _Open | None, other: _Open | None) -> None:
        """Where two branches each opened a scope, what closes the last one's closes both."""
        a, b = (None if frame is None else frame.scope for frame in (one, other))
        for _ in range(_MOST_UNCLOSED):
            if a is None or b is None or a is b:
                return
            self.twins.setdefault(id(b), []).append(a)
            a, b = a.parent, b.parent

    def _enter(self, offset: int, now: _Open | None) -> None:
        self.now = now
        self.offsets.append(offset)
        self.innermost.append(None if now is None else now.scope)


def _what_is_opened(masked: str, start: int, brace: int) -> tuple[str, str]:
    begin = max(start, *(masked.rfind(end, start, brace) + 1 for end in ";{}"))
    head = masked[begin:brace]
    if not head or head.isspace():
        return "other", ""
    found = _NAMESPACE.search(head)
    if found is not None:
        return "namespace", "".join(found[1].replace("inline ", "").split())
    if _LINKAGE.search(head) is not None:
        return "linkage", ""
    found = _CLASS.search(head)
    return ("other", "") if found is None else _class_named_in(_NO_NAME.sub(" ", found[1]))


def _class_named_in(head: str) -> tuple[str, str]:
    """The class whose name ends `head`. Where there is a bracket, a function returns one, or a value is one."""
    names = [name for name in re.findall(r"\w+", head) if name != "final"]
    return ("class", names[-1]) if names and "(" not in head and "=" not in head else ("other", "")
