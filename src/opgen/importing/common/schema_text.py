"""Convert a schema as written to its canonical spelling, and split that into its name and the rest.

Only tokens and brackets are checked, not the meaning of names: PyTorch accepts more types than any list has.

PyTorch's runtime parser skips white space between tokens, and comments. The canonical spelling has one space after each
comma, between a type and a name, and on each side of an arrow, and none elsewhere. It leaves out what that parser
drops: parentheses around a single return, a `*` that no argument follows, a `?` after another.
Source: `torch._C.parse_schema` of PyTorch 2.13, by trial.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

# The most characters of a schema. PyTorch's longest has 492.
MAX_SCHEMA = 60_000
_TOKEN = re.compile(
    r"""\s+ | \#[^\n]*(?:\n|\Z)                              # a comment, as PyTorch accepts it
    | (?P<word>
        [A-Za-z_]\w*
      | (?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?j?
      | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'
      | \$\d+
    )
    | (?P<sign>-> | :: | \.\.\. | [()\[\]{},?!*=|.+-])""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ANNOTATION = re.compile(r"\bTensor(?:\(|!)")
_NO_BLANK_BEFORE = frozenset((*",)]?!.=[|", "::"))
_NO_BLANK_AFTER = frozenset((*"([.=|", "::"))
_DEPTHS = {"(": 1, ")": -1}


class _Token(Struct, frozen=True):
    text: str
    start: int
    end: int
    is_word: bool


class SchemaText(Struct, frozen=True):
    """The parts of a schema. `namespace` may be empty; `name` includes the overload; `rest` is `(...) -> ...`."""

    namespace: str
    name: str
    rest: str

    def __str__(self) -> str:
        return f"{self.name}{self.rest}"

    @property
    def has_annotations(self) -> bool:
        """Whether an alias is annotated, as in `Tensor(a!)`: PyTorch then accepts no kind of alias analysis."""
        return _ANNOTATION.search(self.rest) is not None


def find_schema(text: str) -> SchemaText | None:
    """Return the parts of a schema in canonical spelling; None if `text` is not a schema."""
    tokens = _tokenize(text)
    end = None if tokens is None else _name_end(tokens)
    if tokens is None or end is None or end >= len(tokens) or tokens[end].text != "(":
        return None
    closing = _closing(tokens, end)
    if closing is None or len(tokens) < closing + 3 or tokens[closing + 1].text != "->":
        return None
    # The returns, in brackets that nothing in them closes.
    returns = [tokens[end], *tokens[closing + 2 :], tokens[closing]]
    if _closing(returns, 0) != len(returns) - 1:
        return None
    namespace, name = _name(tokens[:end])
    return SchemaText(namespace, name, _canonical(tokens[end:], closing + 1 - end))


def find_name(text: str) -> tuple[str, str] | None:
    """Split `ns::name.overload` into namespace (may be empty) and name with overload; None if it is not a name."""
    tokens = _tokenize(text)
    return None if not tokens or _name_end(tokens) != len(tokens) else _name(tokens)


def _name(tokens: Sequence[_Token]) -> tuple[str, str]:
    namespace, _, name = "".join(token.text for token in tokens).rpartition("::")
    return namespace, name


def _tokenize(text: str) -> list[_Token] | None:
    """Return the tokens without comments; None if there is a character that no token has."""
    tokens: list[_Token] = []
    position = 0
    if len(text) > MAX_SCHEMA:
        return None
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        if match.lastgroup is not None:
            tokens.append(_Token(match[0], position, match.end(), match.lastgroup == "word"))
        position = match.end()
    return tokens


def _name_end(tokens: Sequence[_Token]) -> int | None:
    """Return the index after `ns::name.overload`; None if the tokens do not begin with a name."""
    texts = [token.text for token in tokens]
    if not texts or _NAME.fullmatch(texts[0]) is None:
        return None
    end = 1
    while end + 1 < len(texts) and texts[end] == "::" and _NAME.fullmatch(texts[end + 1]):
        end += 2
    if end + 1 < len(texts) and texts[end] == "." and re.fullmatch(r"\w+", texts[end + 1]):
        end += 2
    return end


def _closing(tokens: Sequence[_Token], opening: int) -> int | None:
    depth = 0
    for index in range(opening, len(tokens)):
        depth += _DEPTHS.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return None


def _canonical(tokens: list[_Token], arrow: int) -> str:
    """Return the canonical spelling of `(...) -> ...`, whose arrow has the index `arrow`."""
    tokens = _without_bare_stars(_without_return_parentheses(tokens, arrow))
    parts: list[str] = []
    state = _Place()
    before: _Token | None = None
    for token in _without_double_optional(tokens):
        parts += ("" if before is None else state.between(before, token), token.text)
        state.enter(token)
        before = token
    return "".join(parts)


class _Place:
    """The state of the reader: whether it is inside of a default, and of a list in a default."""

    __slots__ = ("_brackets", "_in_default")

    def __init__(self) -> None:
        self._brackets = 0
        self._in_default = False

    def enter(self, token: _Token) -> None:
        """Advance past `token`."""
        match token.text:
            case ")":
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
        if self._brackets > 0:
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


def _without_return_parentheses(tokens: list[_Token], arrow: int) -> list[_Token]:
    """Remove the parentheses around a single return. A tuple keeps its own: `((Tensor, int))`."""
    if len(tokens) < arrow + 4 or tokens[arrow + 1].text != "(":
        return tokens
    returned = tokens[arrow + 1 :]
    if returned[-1].text != ")" or returned[1].text in ("(", ")"):
        return tokens
    depth = 0
    for i, token in enumerate(returned):
        depth += _DEPTHS.get(token.text, 0)
        if (depth == 0 and i + 1 < len(returned)) or (depth == 1 and token.text in (",", "...")):
            return tokens
    return [*tokens[: arrow + 1], *returned[1:-1]]


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
        depth += _DEPTHS.get(token.text, 0)
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
