"""Split a schema, in its canonical spelling, into its name and the rest.

Only tokens and brackets are checked, not the meaning of names: PyTorch accepts more types than any list has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from opgen.importing.common.canonical_schema import canonical

# The most characters of a schema. PyTorch's longest has 492.
MAX_SCHEMA = 60_000
_TOKEN = re.compile(
    r"""\s+ | \#[^\n]*(?:\n|\Z)                              # a comment, as PyTorch accepts it
    | (?P<word>
        [A-Za-z_]\w*
      | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?
      | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'
      | \$\d+ | -> | :: | \.\.\. | [()\[\]{},?!*=|.+-]
    )""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ANNOTATION = re.compile(r"\bTensor(?:\(|!)")


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
    if tokens is None:
        return None
    end = _name_end(tokens)
    if end is None or end >= len(tokens) or tokens[end] != "(":
        return None
    closing = _closing(tokens, end)
    if closing is None or tokens[closing + 1 : closing + 2] != ["->"]:
        return None
    if len(tokens) == closing + 2 or not _are_balanced(tokens[closing + 2 :]):
        return None
    *namespace, name = "".join(tokens[:end]).split("::")
    spelled = canonical(text)
    return SchemaText("::".join(namespace), name, spelled[spelled.index("(") :])


def find_name(text: str) -> tuple[str, str] | None:
    """Split `ns::name.overload` into namespace (may be empty) and name with overload; None if it is not a name."""
    tokens = _tokenize(text)
    if not tokens or _name_end(tokens) != len(tokens):
        return None
    *namespace, name = "".join(tokens).split("::")
    return "::".join(namespace), name


def _tokenize(text: str) -> list[str] | None:
    """Return the tokens without comments; None if there is a character that no token has."""
    tokens: list[str] = []
    position = 0
    if len(text) > MAX_SCHEMA:
        return None
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        if match["word"] is not None:
            tokens.append(match["word"])
        position = match.end()
    return tokens


def _name_end(tokens: Sequence[str]) -> int | None:
    """Return the index after `ns::name.overload`; None if the tokens do not begin with a name."""
    if not tokens or _NAME.fullmatch(tokens[0]) is None:
        return None
    end = 1
    while end + 1 < len(tokens) and tokens[end] == "::" and _NAME.fullmatch(tokens[end + 1]):
        end += 2
    if end + 1 < len(tokens) and tokens[end] == "." and re.fullmatch(r"\w+", tokens[end + 1]):
        end += 2
    return end


def _closing(tokens: Sequence[str], opening: int) -> int | None:
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        if depth == 0:
            return index
    return None


def _are_balanced(tokens: Sequence[str]) -> bool:
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0:
            return False
    return depth == 0
