"""Schema texts, in their canonical spelling, into name and the rest, by their words alone.

What the words mean, nobody is asked: PyTorch takes more than any list of types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.dataclasses import dataclass
from opgen.model.schema_spelling import spell

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
    canonical = spell(text).text
    return SchemaText("::".join(namespace), name, canonical[canonical.index("(") :])


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
