"""Names of the schema language into names that C++ accepts: the only C++ that the model knows."""

from __future__ import annotations

import re
from typing import NewType

from opgen import data

# A name that is safe to use in generated C++.
CppIdentifier = NewType("CppIdentifier", str)

# Keywords of C++20 with the alternative tokens (`and`, `bitor`, ...), which are no identifiers either.
CPP_KEYWORDS: frozenset[str] = frozenset(
    word for row in data.read_rows("cpp_keywords.txt") for word in row
)

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(text: str) -> bool:
    """Whether `text` has the form of a C++ identifier. Keywords have it too."""
    return _IDENTIFIER.fullmatch(text) is not None


def cpp_identifier(name: str) -> CppIdentifier:
    """`name` itself, or `name_` if it is a C++ keyword."""
    return CppIdentifier(f"{name}_" if name in CPP_KEYWORDS else name)
