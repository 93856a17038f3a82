"""Convert a schema as written to its canonical spelling, and keep the place of each part.

PyTorch's runtime parser skips white space between tokens, and comments. The canonical spelling has one space after each
comma, between a type and a name, and on each side of an arrow, and none elsewhere. It leaves out what that parser
drops: parentheses around a single return, a `*` that no argument follows, a `?` after another.
Source: `torch._C.parse_schema` of PyTorch 2.13, by trial.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from msgspec import Struct

_TOKEN = re.compile(
    r"""
      (?P<blank>\s+|\\\r?\n)
    | (?P<comment>\#[^\n]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?j?)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign>->|\.\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NO_BLANK_BEFORE = frozenset(",)]?!.:=[|")
_NO_BLANK_AFTER = frozenset("([<.:=|")


class _Token(Struct, frozen=True):
    text: str
    start: int
    end: int
    is_word: bool


class Blank(Struct, frozen=True):
    """White space that differs from the canonical spelling: the characters `start` to `end` of the written schema."""

    start: int
    end: int
    replacement: str


class Spelling(Struct, frozen=True):
    """The canonical `text` of a schema, the white space that differs from it, and the places of comments.

    `places` are, for each token, where it begins in `text`, where it was written, and its length.
    """

    text: str
    blanks: tuple[Blank, ...]
    comments: tuple[tuple[int, int], ...]
    places: tuple[tuple[int, int, int], ...]

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the written schema of the characters `start` to `end` of `text`."""
        begin = self._written(start)
        return begin, max(begin, self._written(end - 1) + 1) if end > start else begin

    def _written(self, at: int) -> int:
        if not self.places:
            return at
        index = max(bisect_right(self.places, (at, 10**9, 0)) - 1, 0)
        begin, written, length = self.places[index]
        # A place between two tokens is right after the first one.
        return written + min(max(at - begin, 0), length)


def spell(written: str) -> Spelling:
    """Return the canonical spelling of `written`, even if that is not a valid schema."""
    tokens, comments = _tokens(written)
    kept = _without_double_optional(_without_bare_stars(_without_return_parentheses(tokens)))
    parts: list[str] = []
    places: list[tuple[int, int, int]] = []
    blanks: list[Blank] = []
    length = 0
    state = _Place()
    before: _Token | None = None
    for token in kept:
        gap = "" if before is None else state.between(before, token)
        _compare(written, before, token, gap, state, blanks)
        parts += (gap, token.text)
        length += len(gap)
        places.append((length, token.start, len(token.text)))
        length += len(token.text)
        state.enter(token)
        before = token
    if len(kept) < len(tokens):
        # Tokens that PyTorch's parser ignores may stay, with canonical white space.
        blanks = _blanks(written, tokens)
    end = tokens[-1].end if tokens else 0
    if tokens and end < len(written) and not written[end:].strip():
        blanks.append(Blank(end, len(written), ""))
    return Spelling("".join(parts), tuple(blanks), tuple(comments), tuple(places))


def _blanks(written: str, tokens: list[_Token]) -> list[Blank]:
    """Return the white space between `tokens` that differs from the canonical spelling."""
    blanks: list[Blank] = []
    state = _Place()
    before: _Token | None = None
    for token in tokens:
        gap = "" if before is None else state.between(before, token)
        _compare(written, before, token, gap, state, blanks)
        state.enter(token)
        before = token
    return blanks


def _compare(
    written: str,
    before: _Token | None,
    token: _Token,
    gap: str,
    state: _Place,
    blanks: list[Blank],
) -> None:
    """Record the white space between two tokens, if it is not `gap` and matters."""
    start = 0 if before is None else before.end
    given = written[start : token.start]
    if given != gap and not given.strip() and not state.is_in_list:
        blanks.append(Blank(start, token.start, gap))


class _Place:
    """The state of the reader: whether it is inside of a default, and of a list in a default."""

    __slots__ = ("_brackets", "_depth", "_in_default")

    def __init__(self) -> None:
        self._depth = 0
        self._brackets = 0
        self._in_default = False

    @property
    def is_in_list(self) -> bool:
        """Return whether the reader is inside of a list that is a default: `[0, 1]` and `[0,1]` are both usual."""
        return self._brackets > 0

    def enter(self, token: _Token) -> None:
        """Advance past `token`."""
        match token.text:
            case "(":
                self._depth += 1
            case ")":
                self._depth -= 1
                self._in_default = False
            case "=":
                self._in_default = True
            case "[" if self._in_default:
                self._brackets += 1
            case "]" if self._in_default:
                self._brackets -= 1
            case "," if self._brackets == 0:
                self._in_default = False

    def between(self, before: _Token, after: _Token) -> str:
        """Return the canonical white space between two tokens."""
        if self._in_default and before.end < after.start and _is_value(before) and _is_value(after):
            # Two values, which PyTorch's parser rejects, must not become one.
            return " "
        if self.is_in_list:
            return ""
        if "->" in (before.text, after.text) or before.text == ",":
            return "" if after.text in (",", ")") and before.text == "," else " "
        if after.text in _NO_BLANK_BEFORE or before.text in _NO_BLANK_AFTER:
            return ""
        if self._in_default:
            return ""
        if after.text == "(":
            return ""
        return " " if after.is_word and before.text not in ("-", "+") else ""


def _is_value(token: _Token) -> bool:
    """Return whether the token is a value, or a part of a number."""
    return token.is_word or token.text == "."


def _tokens(text: str) -> tuple[list[_Token], list[tuple[int, int]]]:
    tokens: list[_Token] = []
    comments: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "comment":
            comments.append(match.span())
        elif kind != "blank":
            is_word = kind in ("word", "number", "text")
            tokens.append(_Token(match.group(), match.start(), match.end(), is_word))
    return tokens, comments


def _without_return_parentheses(tokens: list[_Token]) -> list[_Token]:
    """Remove the parentheses around a single return. A tuple keeps its own: `((Tensor, int))`."""
    arrow = _last_arrow(tokens)
    if arrow is None or len(tokens) < arrow + 4 or tokens[arrow + 1].text != "(":
        return tokens
    returned = tokens[arrow + 1 :]
    if returned[-1].text != ")" or returned[1].text in ("(", ")"):
        return tokens
    depth = 0
    for i, token in enumerate(returned):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if (depth == 0 and i + 1 < len(returned)) or (depth == 1 and token.text in (",", "...")):
            return tokens
    return [*tokens[: arrow + 1], *returned[1:-1]]


def _last_arrow(tokens: list[_Token]) -> int | None:
    """Return the index of the arrow before the returns: the last one outside of parentheses."""
    depth, found = 0, None
    for i, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text == "->":
            found = i
    return found


def _without_bare_stars(tokens: list[_Token]) -> list[_Token]:
    """Remove a second `*` among the arguments, and one that no argument follows."""
    kept: list[_Token] = []
    depth, stars = 0, 0
    skip_comma = False
    for i, token in enumerate(tokens):
        if skip_comma and token.text == ",":
            skip_comma = False
            continue
        skip_comma = False
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        after = tokens[i + 1].text if i + 1 < len(tokens) else ""
        is_star = token.text == "*" and depth == 1 and after in (",", ")")
        if is_star and kept and kept[-1].text in ("(", ","):
            stars += 1
            if after == ")":
                if kept[-1].text == ",":
                    kept.pop()
                continue
            if stars > 1:
                skip_comma = True
                continue
        kept.append(token)
    return kept


def _without_double_optional(tokens: list[_Token]) -> list[_Token]:
    """Remove a `?` after another one. After a list with a size PyTorch's parser accepts only one, so both stay."""
    kept: list[_Token] = []
    for i, token in enumerate(tokens):
        sized = i > 2 and tokens[i - 2].text == "]" and tokens[i - 3].text.isdigit()
        if token.text == "?" and i and tokens[i - 1].text == "?" and not sized:
            continue
        kept.append(token)
    return kept
