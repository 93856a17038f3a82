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
CPP_MACROS: frozenset[str] = frozenset(
    word for row in data.read_rows("cpp_macros.txt") for word in row
)

# What names that opgen invents begin with, and the namespaces that are not for operators.
RESERVED_PREFIX = "opgen_"
RESERVED_NAMESPACES = ("opgen", "std")
# A name with the longest ending that opgen gives to a header of it is still a file name (255 bytes).
MAX_NAME = 200

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Of the names that C++ keeps for itself and its macros (`__LINE__`), operators have these: `__and__`.
_DUNDER = re.compile(r"__[a-z_]+__")


def is_identifier(text: str) -> bool:
    """Whether `text` has the form of a C++ identifier. Keywords have it too."""
    return _IDENTIFIER.fullmatch(text) is not None


def is_macro(name: str) -> bool:
    """Whether the preprocessor may put another text in the place of `name`."""
    return name in CPP_MACROS or (name.startswith("__") and _DUNDER.fullmatch(name) is None)


def is_cpp_name(text: str) -> bool:
    """Whether C++ takes `text`, as it is, for the name of something."""
    return is_identifier(text) and text not in CPP_KEYWORDS and not is_macro(text)


def is_library_name(text: str) -> bool:
    """Whether a library can be called `text`: it names a folder, a CMake target and C++."""
    return (
        is_cpp_name(text)
        and len(text) <= MAX_NAME
        and text not in RESERVED_NAMESPACES
        and not text.startswith(RESERVED_PREFIX)
    )


def cpp_identifier(name: str) -> CppIdentifier:
    """`name` itself, or `name_` if it is a C++ keyword."""
    return CppIdentifier(f"{name}_" if name in CPP_KEYWORDS else name)
