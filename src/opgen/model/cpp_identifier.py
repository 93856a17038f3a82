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

# What names that opgen invents begin with, and the namespaces that are not for operators.
RESERVED_PREFIX = "opgen_"
RESERVED_NAMESPACES = ("opgen", "std")
# A name with the longest ending that opgen gives to a header of it is still a file name (255 bytes).
MAX_NAME = 200

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(text: str) -> bool:
    """Whether `text` has the form of a C++ identifier. Keywords have it too."""
    return _IDENTIFIER.fullmatch(text) is not None


def is_library_name(text: str) -> bool:
    """Whether a library can be called `text`: it names a folder, a CMake target and C++."""
    return (
        is_identifier(text)
        and len(text) <= MAX_NAME
        and text not in CPP_KEYWORDS
        and text not in RESERVED_NAMESPACES
        and not text.startswith(RESERVED_PREFIX)
    )


def cpp_identifier(name: str) -> CppIdentifier:
    """`name` itself, or `name_` if it is a C++ keyword."""
    return CppIdentifier(f"{name}_" if name in CPP_KEYWORDS else name)
