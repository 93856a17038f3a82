"""Read a formula, which is an expression of C++, once: into a tree, whose nodes know their place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from msgspec import Struct

Token = re.Match[str]
_TOKEN = re.compile(
    r"""\s+ | /\*.*?\*/ | //[^\n]*
    | (?P<text>"(?:[^"\\\n]|\\.)*") | (?P<character>'(?:[^'\\\n]|\\.)*')
    | (?P<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+\w*)?)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>::|->|&&|\|\||[=!<>]=|<<|>>|\*\*|.)""",
    re.VERBOSE | re.DOTALL,
)
# Operators of C++ by how strongly they bind.
_BINARY = {
    **dict.fromkeys(("||", "or"), 1),
    **dict.fromkeys(("&&", "and"), 2),
    **dict.fromkeys(("|", "bitor"), 3),
    **dict.fromkeys(("^", "xor"), 4),
    **dict.fromkeys(("&", "bitand"), 5),
    **dict.fromkeys(("==", "!=", "not_eq"), 6),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "%"), 10),
}
_UNARY = frozenset(("-", "+", "!", "~", "*", "&", "not", "compl"))
# Operators that are words, and how they are written as signs.
ALTERNATIVES = {
    "and": "&&",
    "bitand": "&",
    "bitor": "|",
    "compl": "~",
    "not": "!",
    "not_eq": "!=",
    "or": "||",
    "xor": "^",
}
_ANY = 0
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# The most words between `<` and `>`, so that the time for a long formula is bounded.
_MOST_OF_TEMPLATE = 100
_OF_TEMPLATES = frozenset(("::", ",", "<", "&", "*", ">", ">>"))
# Python's own limit is 200 open brackets in a source.
MAX_DEPTH = 100
TOO_DEEP = f"the formula is nested more than {MAX_DEPTH} levels deep"


class Node(Struct, frozen=True):
    """An expression: characters `start` to `end`.

    A `name`, `number` or `character` is its `text`, and a `text` has a part for each of its literals. A `call` is one of the
    function `text`, a `construction` one of a type with braces, and their parts are the arguments. An `application` calls its first part. The parts of a `method` are its
    object and the arguments, and those of a `member` and an `index` begin with the object. A `unary`, `binary` or
    `conditional` has the sign as its text. `braces` are a list, `parens` contain one expression, and the parts of a
    `lambda` are the expressions in its body.

    `at` is where `text` begins, `opening` the bracket of arguments. `scope` is what stands before a name, such as `at`, or
    the sign before a member, and `template` what stands between `<` and `>` after it. `height` is the number of
    levels that Python writes in brackets.
    """

    kind: str
    text: str
    start: int
    end: int
    at: int
    parts: tuple[Node, ...] = ()
    scope: str = ""
    template: str | None = None
    opening: int = 0
    height: int = 0

    def is_name(self, name: str) -> bool:
        return self.kind == "name" and self.text == name and not self.scope


class Problem(Exception):
    """The first part of a formula that is no expression: characters `start` to `end`, and what Python's target says of it."""

    def __init__(self, reason: str, start: int, end: int) -> None:
        super().__init__(reason)
        self.start = start
        self.end = end


class Formula(Struct, frozen=True, dict=True):
    """A formula, whose parts are read when they are needed."""

    text: str

    @cached_property
    def tokens(self) -> list[Token]:
        """The parts of the text without comments and white space."""
        return [m for m in _TOKEN.finditer(self.text) if m.lastgroup is not None]

    @cached_property
    def _reader(self) -> _Reader:
        return _Reader(self)

    @property
    def problem(self) -> Problem | None:
        return self._reader.problem

    @property
    def tree(self) -> Node | None:
        """The expression; None if the text is no single one."""
        return self._reader.found[0] if self.problem is None else None

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes, in the order of their text."""
        return sorted(self._reader.nodes, key=lambda node: node.at)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of values in the formula."""
        return frozenset(n.text for n in self.nodes if n.kind == "name" and not n.scope)

    @cached_property
    def has_lambda(self) -> bool:
        """Whether parts of the formula have names of their own."""
        return any(node.kind == "lambda" for node in self.nodes)

    def uses(self, name: str) -> bool:
        """Return whether the formula has a value of this name."""
        return name in self.text and name in self.names

    def find_all(self, name: str) -> Iterator[Node]:
        """Yield each use of a value."""
        return (node for node in self.nodes if node.is_name(name))

    def find(self, name: str) -> tuple[int, int] | None:
        """Return the start and end of the first use of a value; None if there is none."""
        return next(((node.at, node.end) for node in self.find_all(name)), None)

    def calls(self, kind: str = "call") -> Iterator[Node]:
        """Yield the calls of functions, or of methods, that are no templates."""
        return (node for node in self.nodes if node.kind == kind and node.template is None)

    def items(self, name: str) -> Iterator[tuple[int, Node]]:
        """Yield each `name[0]` with a plain number, and this number."""
        if name not in self.text:
            return
        for node in self.nodes:
            if node.kind == "index" and node.parts[0].is_name(name):
                number = node.parts[1].text
                if number.isdigit():
                    yield int(number), node

    def text_of(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def replace(self, edits: Iterable[tuple[int, int, str]]) -> Formula:
        """Return the formula with other text for characters `start` to `end`."""
        text: list[str] = []
        done = 0
        for start, end, new in sorted(edits):
            text += (self.text[done:start], new)
            done = end
        return read_formula("".join((*text, self.text[done:]))) if text else self

    def with_name(self, name: str, text: str) -> Formula:
        """Return the formula with `text` in place of a value."""
        if name not in self.text:
            return self
        return self.replace((node.at, node.end, text) for node in self.find_all(name))


@lru_cache(maxsize=8192)
def read_formula(text: str) -> Formula:
    return Formula(text)


def names_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the names of values in pieces of C++."""
    return frozenset().union(*(read_formula(text).names for text in texts))


class _Reader:
    """Reads as many expressions as there are; `problem` is the first part that is not of one alone."""

    def __init__(self, formula: Formula) -> None:
        self.tokens = formula.tokens
        self.words = [m[0] for m in self.tokens]
        self.size = len(formula.text)
        self.at = 0
        self.end = len(self.tokens)
        self.depth = 0
        self.nodes: list[Node] = []
        self.problem: Problem | None = None
        self.found = self._expressions()
        if not self.found and self.problem is None:
            self.problem = self._unexpected()

    def _expressions(self) -> tuple[Node, ...]:
        found: list[Node] = []
        while self.at < self.end:
            start, depth = self.at, self.depth
            if found and self.problem is None:
                self.problem = self._unexpected()
            try:
                found.append(self._expression(_ANY))
            except Problem as problem:
                self.problem = self.problem or problem
                self.at, self.depth = max(self.at, start + 1), depth
        return tuple(found)

    # Tokens.

    def _peek(self) -> str:
        return self.words[self.at] if self.at < self.end else ""

    def _take(self, expected: str) -> Token:
        if self._peek() != expected:
            raise self._unexpected()
        self.at += 1
        return self.tokens[self.at - 1]

    def _unexpected(self) -> Problem:
        if self.at >= self.end:
            return Problem("the formula ends too early", max(0, self.size - 1), self.size)
        token = self.tokens[self.at]
        return Problem(f"'{token[0]}' cannot be written in Python", *token.span())

    def _node(
        self,
        kind: str,
        text: str,
        start: int,
        at: int,
        parts: tuple[Node, ...] = (),
        scope: str = "",
        template: str | None = None,
        opening: int = 0,
        levels: int = 1,
    ) -> Node:
        end = self.tokens[self.at - 1].end()
        height = max([part.height for part in parts], default=0) + levels
        node = Node(kind, text, start, end, at, parts, scope, template, opening, height)
        self.nodes.append(node)
        return node

    # Expressions.

    def _expression(self, strength: int) -> Node:
        left = self._unary()
        while True:
            sign = self._peek()
            found = _BINARY.get(sign)
            if found is None or found <= strength:
                break
            at = self._take(sign).start()
            right = self._expression(found)
            sign = ALTERNATIVES.get(sign, sign)
            left = self._node("binary", sign, left.start, at, (left, right))
        if strength == _ANY and self._peek() == "?":
            at = self._take("?").start()
            yes = self._expression(_ANY)
            self._take(":")
            parts = (left, yes, self._expression(_ANY))
            return self._node("conditional", "?", left.start, at, parts)
        return left

    def _unary(self) -> Node:
        if self.depth == MAX_DEPTH:
            raise Problem(TOO_DEEP, 0, self.size)
        self.depth += 1
        sign = self._peek()
        if sign in _UNARY:
            start = self._take(sign).start()
            parts = (self._unary(),)
            node = self._node("unary", ALTERNATIVES.get(sign, sign), start, start, parts)
        else:
            node = self._postfix()
        self.depth -= 1
        return node

    def _postfix(self) -> Node:
        left = self._primary()
        while (sign := self._peek()) in (".", "->", "[", "("):
            if sign == "(":
                given, at = self._arguments("(")
                left = self._node("application", sign, left.start, at, (left, *given))
                continue
            at = self._take(sign).start()
            if sign == "[":
                index = self._expression(_ANY)
                self._take("]")
                left = self._node("index", sign, left.start, at, (left, index))
                continue
            name = self._name()
            kind = "method" if self._peek() == "(" else "member"
            given, opening = self._arguments("(") if kind == "method" else ((), 0)
            parts = (left, *given)
            left = self._node(kind, name[0], left.start, name.start(), parts, sign, opening=opening)
        return left

    def _name(self) -> Token:
        if self.at >= self.end or self.tokens[self.at].lastgroup != "name":
            raise self._unexpected()
        return self._take(self._peek())

    def _arguments(self, opening: str) -> tuple[tuple[Node, ...], int]:
        """Read expressions in brackets; return them, and the place of the first bracket."""
        at = self._take(opening).start()
        closing = _CLOSING[opening]
        found = []
        while self._peek() != closing:
            found.append(self._expression(_ANY))
            if self._peek() != closing:
                self._take(",")
        self._take(closing)
        return tuple(found), at

    def _primary(self) -> Node:
        if self.at >= self.end:
            raise self._unexpected()
        token = self.tokens[self.at]
        sign, kind, start = token[0], token.lastgroup, token.start()
        if kind in ("number", "character"):
            self.at += 1
            return self._node(kind, sign, start, start, levels=0)
        if kind == "text":
            return self._node("text", "", start, start, tuple(self._literals()), levels=0)
        if sign == "(":
            self.at += 1
            inner = self._expression(_ANY)
            self._take(")")
            return self._node("parens", sign, start, start, (inner,), levels=0)
        if sign == "{":
            parts, _ = self._arguments("{")
            return self._node("braces", sign, start, start, parts)
        if sign == "[":
            return self._lambda(start)
        if sign != "::" and kind != "name":
            raise self._unexpected()
        return self._named(start)

    def _literals(self) -> Iterator[Node]:
        while self.at < self.end and self.tokens[self.at].lastgroup == "text":
            token = self.tokens[self.at]
            self.at += 1
            yield Node("text", token[0], *token.span(), token.start())

    def _named(self, start: int) -> Node:
        """Read a name with its namespaces: a value, or the function of a call."""
        scopes = []
        if self._peek() == "::":
            self.at += 1
            scopes.append("")
        name = self._name()
        template = self._template()
        while self._peek() == "::":
            self.at += 1
            scopes.append(name[0])
            name = self._name()
            template = self._template()
        scope = "::".join(scopes) or ("::" if scopes else "")
        at, sign = name.start(), self._peek()
        if sign in ("(", "{"):
            parts, opening = self._arguments(sign)
            kind = "call" if sign == "(" else "construction"
            return self._node(kind, name[0], start, at, parts, scope, template, opening)
        return self._node("name", name[0], start, at, scope=scope, levels=0)

    def _template(self) -> str | None:
        """Skip the arguments of a template: `<Tensor, Tensor>` before a bracket or a name."""
        if self._peek() != "<":
            return None
        last, most = self.at + 1, min(self.end, self.at + _MOST_OF_TEMPLATE)
        while last < most and (
            self.tokens[last].lastgroup in ("name", "number") or self.words[last] in _OF_TEMPLATES
        ):
            if self.words[last] in (">", ">>") and self.words[last + 1 : last + 2] in (
                ["("],
                ["{"],
                ["::"],
            ):
                text = "".join(self.words[self.at + 1 : last])
                self.at = last + 1
                return text
            last += 1
        return None

    def _lambda(self, start: int) -> Node:
        self._skip()
        if self._peek() == "(":
            self._skip()
        while self._peek() not in ("{", "", ";", ")"):
            self.at += 1
        opening = self.at
        self._skip()
        closing, end, problem = self.at - 1, self.end, self.problem
        self.at, self.end = opening + 1, closing
        parts = self._expressions()
        self.at, self.end, self.problem = closing + 1, end, problem
        return self._node("lambda", "[", start, start, parts)

    def _skip(self) -> None:
        """Skip brackets and what they contain."""
        if self._peek() not in _CLOSING:
            raise self._unexpected()
        depth = 0
        while self.at < self.end:
            word = self.words[self.at]
            depth += (word in _CLOSING) - (word in ")]}")
            self.at += 1
            if depth == 0:
                return
        raise self._unexpected()
