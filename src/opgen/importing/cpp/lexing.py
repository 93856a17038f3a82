"""Lex a C++ source as a CppText."""

from __future__ import annotations

import re

from msgspec import Struct, field

from opgen.diagnostics import Source
from opgen.importing.cpp.text import ALWAYS, Branch, CppText, Directive, Group, Scope, Table

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

_BRACKET = re.compile(r"[()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}
# The most unclosed brackets inside a closed one.
_MOST_UNCLOSED = 100
# The most characters before a brace that are examined for the kind of its scope.
_HEAD = 400
_NAMESPACE = re.compile(r"\bnamespace\s*(?:\[\[[^\]]*\]\]\s*)?([\w:\s]*)$")
_CLASS = re.compile(r"\b(?:class|struct|union)\s(?!.*\b(?:class|struct|union)\s)(.*)$", re.DOTALL)
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
                directives.append(_directive(match))
    code.append(text[position:])
    masked.append(text[position:])
    return _ascii("".join(code)), _ascii("".join(masked)), tuple(directives)


def _ascii(text: str) -> str:
    """Replace characters that are not ASCII by `?`, so that offsets of characters and bytes are equal."""
    return text if text.isascii() and "\0" not in text else _NOT_ASCII.sub("?", text)


def _directive(match: re.Match[str]) -> Directive:
    text = _CONTINUED.sub(" ", match[0])
    text = _COMMENT.sub(lambda comment: comment[1] or " ", text)
    begin = _HASH.match(text)
    assert begin is not None
    return Directive(begin[1], text[begin.end() :].strip(), match.start(), match.end())


# Branches


class _OpenIf(Struct):
    """An `#if` before its `#endif`. `parent` is the branch around it, `has_else` whether an `#else` was read.

    `failed` are the negated conditions of the branches so far. An include guard counts as if it had an `#else`. `before` is
    the innermost bracket before it, and `ends` those at the end of each branch so far.
    """

    group: Group
    parent: Branch | None
    has_else: bool
    before: _OpenBracket | None
    failed: list[str] = field(default_factory=list)
    ends: list[_OpenBracket | None] = field(default_factory=list)

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
    # Scopes of earlier branches that end together with a scope of the last branch.
    twins: dict[int, list[Scope]] = field(default_factory=dict)

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
        open_if.ends.append(self.current)
        self._enter(directive.end, open_if.before)

    def _end_if(self, directive: Directive) -> None:
        open_if = self.open.pop()
        open_if.group.branches[-1].end = directive.start
        open_if.group.otherwise = "" if open_if.has_else else open_if.condition("")
        self.innermost.append((directive.end, open_if.parent))
        for end in open_if.ends:
            self._pair(end, self.current)
        if not open_if.ends and self._is_open_without(open_if.before):
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
                self._open_scope(offset, start)
            else:
                scope = None if self.current is None else self.current.scope
                depth = len(self.open)
                self.current = _OpenBracket(bracket, offset, self.current, scope, depth)

    def _open_scope(self, offset: int, start: int) -> None:
        kind, name = _kind_and_name(self.masked, max(start, offset - _HEAD), offset)
        around = None if self.current is None else self.current.scope
        scope = Scope(offset, len(self.masked), kind, name, around)
        opened = _OpenBracket("{", offset, self.current, scope, len(self.open))
        self._enter(offset + 1, opened)

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
            assert candidate.scope is not None
            self._end(candidate.scope, offset)
            self._enter(offset, candidate.around)
        else:
            self.current = candidate.around

    def _end(self, scope: Scope, offset: int) -> None:
        pending = [scope]
        while pending:
            ended = pending.pop()
            ended.end = offset
            pending += self.twins.pop(id(ended), ())

    def _is_open_without(self, before: _OpenBracket | None) -> bool:
        """Return whether an `#if` without `#else` closed a bracket that another build leaves open: one of no other `#if`."""
        kept = 0 if self.current is None else self.current.offset + 1
        while before is not None and before.offset >= kept:
            if before.depth <= len(self.open):
                return True
            before = before.around
        return False

    def _pair(self, earlier: _OpenBracket | None, last: _OpenBracket | None) -> None:
        """Pair the scopes that are open at the ends of two branches: the brace that closes one closes both."""
        a, b = (None if bracket is None else bracket.scope for bracket in (earlier, last))
        for _ in range(_MOST_UNCLOSED):
            if a is None or b is None or a is b:
                return
            self.twins.setdefault(id(b), []).append(a)
            a, b = a.parent, b.parent

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
    return ("other", "") if class_head is None else _class_name(_NO_NAME.sub(" ", class_head[1]))


def _class_name(head: str) -> tuple[str, str]:
    """Return the kind and name of a class. With a bracket or `=`, `head` is a function or a value of a class type."""
    names = [name for name in re.findall(r"\w+", head) if name != "final"]
    return ("class", names[-1]) if names and "(" not in head and "=" not in head else ("other", "")
