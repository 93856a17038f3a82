"""Schema texts into their canonical spelling, by their words alone.

What the words mean, nobody is asked: PyTorch takes more than any list of types. A blank stands between two words, one
after each comma, none in the list of a default. `Tensor!` stays `Tensor!`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.dataclasses import dataclass

# No schema is longer; the longest of PyTorch has 492 characters.
_LONGEST = 60_000
_TOKEN = re.compile(
    r"""\s+ | \#[^\n]*(?:\n|\Z)                              # PyTorch takes a comment up to the line's end
    | (?P<word>
        [A-Za-z_]\w*
      | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?
      | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'
      | \$\d+ | -> | :: | \.\.\. | [()\[\]{},?!*=|.+-]
    )""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_TIGHT_BEFORE = frozenset({",", ")", "]", "?", "!", "[", ".", "::", "|", "=", "+"})
_TIGHT_AFTER = frozenset({"(", "[", ".", "::", "|", "=", "+", "-"})


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema apart: `namespace` is empty if the text has none; `name` has the overload; `rest` is `(...) -> ...`."""

    namespace: str
    name: str
    rest: str

    def __str__(self) -> str:
        return f"{self.name}{self.rest}"


def find_schema(text: str) -> SchemaText | None:
    """The parts of a schema in canonical spelling; None if the text is no schema."""
    words = _words(text)
    if words is None:
        return None
    end = _name_end(words)
    if end is None or end >= len(words) or words[end] != "(":
        return None
    closing = _closing(words, end)
    if closing is None or words[closing + 1 : closing + 2] != ["->"]:
        return None
    if len(words) == closing + 2 or not _are_balanced(words[closing + 2 :]):
        return None
    *namespace, name = "".join(words[:end]).split("::")
    return SchemaText("::".join(namespace), name, _spelled(words[end:]))


def find_name(text: str) -> tuple[str, str] | None:
    """The namespace, empty if there is none, and the name with the overload of `ns::name.overload`."""
    words = _words(text)
    if not words or _name_end(words) != len(words):
        return None
    *namespace, name = "".join(words).split("::")
    return "::".join(namespace), name


def _words(text: str) -> list[str] | None:
    """The words and signs; None if anything else is there."""
    found: list[str] = []
    position = 0
    if len(text) > _LONGEST:
        return None
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        if match["word"] is not None:
            found.append(match["word"])
        position = match.end()
    return found


def _name_end(words: Sequence[str]) -> int | None:
    """Where `ns::name.overload` ends; None if the words do not begin with a name."""
    if not words or _NAME.fullmatch(words[0]) is None:
        return None
    end = 1
    while end + 1 < len(words) and words[end] == "::" and _NAME.fullmatch(words[end + 1]):
        end += 2
    if end + 1 < len(words) and words[end] == "." and re.fullmatch(r"\w+", words[end + 1]):
        end += 2
    return end


def _closing(words: Sequence[str], opening: int) -> int | None:
    depth = 0
    for place in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(words[place], 0)
        if depth == 0:
            return place
    return None


def _are_balanced(words: Sequence[str]) -> bool:
    depth = 0
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth < 0:
            return False
    return depth == 0


def _spelled(words: Sequence[str]) -> str:
    parts: list[str] = []
    # Of each bracket that is open, whether it is that of a default: `[1,2]`.
    lists: list[bool] = []
    before = ""
    for word in words:
        parts += [" ", word] if _is_apart(before, word, any(lists)) else [word]
        if word == "[":
            lists.append(before in ("=", "[") or (before == "," and any(lists)))
        elif word == "]" and lists:
            lists.pop()
        before = word
    return "".join(parts)


def _is_apart(before: str, word: str, in_default: bool) -> bool:
    """Whether a blank stands between two words."""
    if before == "->" or word == "->":
        return before != "("
    if before == ",":
        return not in_default
    if not before or before in _TIGHT_AFTER or word in _TIGHT_BEFORE:
        return False
    if before == "*" or word == "*":
        return before not in ("*", "(") and word not in (")", "!", "|")
    return word != "("
