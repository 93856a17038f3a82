"""Split a schema as written into its name and the rest, in canonical spelling.

That is the spelling of the schema's value, if opgen's grammar has it: the grammar accepts what PyTorch's runtime parser
does. Types that only PyTorch knows stay as they are written, with single spaces: their entries are left out.
"""

from __future__ import annotations

import re
from itertools import accumulate

from msgspec import Struct

from opgen.diagnostics import Diagnostics
from opgen.model.function_schema import FunctionSchema
from opgen.model.profile import Profile
from opgen.parse.schema.grammar import parse_function_schema
from opgen.parse.schema.text import SchemaText as Tokens
from opgen.parse.schema.text import without_comments

# The most characters of a schema. PyTorch's longest has 492.
MAX_SCHEMA = 60_000
_NAME = re.compile(r"\s*((?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*(?:\s*\.\s*\w+)?)\s*")
_ARROW = re.compile(r"\s*->\s*(?=\S)")
# Signs that a schema may have outside of quotes.
_SIGNS = frozenset(("->", "...", *"()[]{},?!*=|.:+-$"))
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
    if len(text) > MAX_SCHEMA:
        return None
    text = without_comments(text).rstrip()
    named = _NAME.match(text)
    if named is None or not text.startswith("(", named.end()):
        return None
    tokens = Tokens(text, Diagnostics())
    arrow = _ARROW.match(text, tokens.closing(named.end()) + 1)
    signs = [t.text for t in tokens.tokens(named.end(), len(text)) if not t.is_word]
    depths = list(accumulate({"(": 1, ")": -1}.get(sign, 0) for sign in signs))
    if arrow is None or min(depths) < 0 or depths[-1] != 0 or not _SIGNS.issuperset(signs):
        return None
    namespace, name = _split(named[1])
    rest = text[named.end() :]
    schema = parse_schema(f"{name}{rest}")
    spelled = " ".join(rest.split()) if schema is None else str(schema).removeprefix(name)
    return SchemaText(namespace, name, spelled)


def parse_schema(text: str) -> FunctionSchema | None:
    """Return the value of a schema without a namespace; None if it is none that a library of opgen can have."""
    return parse_function_schema(text, Diagnostics(), profile=Profile.library)


def find_name(text: str) -> tuple[str, str] | None:
    """Split `ns::name.overload` into namespace (may be empty) and name with overload; None if it is not a name."""
    named = _NAME.fullmatch(text) if len(text) <= MAX_SCHEMA else None
    return None if named is None else _split(named[1])


def _split(name: str) -> tuple[str, str]:
    namespace, _, last = "".join(name.split()).rpartition("::")
    return namespace, last
