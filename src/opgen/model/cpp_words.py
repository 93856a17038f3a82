"""The words of C++ that the model knows: names that are valid there, and the schema types of C++ types.

Source of the types: PyTorch's ATen/core/op_registration/infer_schema.h and ATen/core/jit_type.h.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NewType

from opgen import data

# A name that is safe to use in generated C++.
CppIdentifier = NewType("CppIdentifier", str)

# Keywords of C++20 with the alternative tokens (`and`, `bitor`, ...), which are not identifiers either.
CPP_KEYWORDS: frozenset[str] = frozenset(
    word for row in data.read_rows("cpp_keywords.txt") for word in row
)
CPP_MACROS: frozenset[str] = frozenset(
    word for row in data.read_rows("cpp_macros.txt") for word in row
)
# Functions of the C library, which are outside of any namespace, so that a namespace cannot have their names.
C_FUNCTIONS: frozenset[str] = frozenset(
    word for row in data.read_rows("c_functions.txt") for word in row
)

# The prefix of names that opgen makes up, and the namespaces that operators cannot have.
RESERVED_PREFIX = "opgen_"
RESERVED_NAMESPACES = ("opgen", "std")
# With the longest suffix of a header, a name of this length is still a valid file name (255 bytes).
MAX_NAME = 200

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# C++ reserves names with two underscores for itself and its macros (`__LINE__`). Operators may have these: `__and__`.
_DUNDER = re.compile(r"__[a-z_]+__")


def is_identifier(text: str) -> bool:
    """Return whether `text` has the form of a C++ identifier. Keywords have it too."""
    return _IDENTIFIER.fullmatch(text) is not None


def is_module_name(text: str) -> bool:
    """Return whether Python can import a module with this name, and a file can have it."""
    return len(text) <= MAX_NAME and all(
        is_identifier(part) and not keyword.iskeyword(part) for part in text.split(".")
    )


def is_macro(name: str) -> bool:
    """Return whether `name` may be a macro, which the preprocessor would replace."""
    return name in CPP_MACROS or (name.startswith("__") and _DUNDER.fullmatch(name) is None)


def is_cpp_name(text: str) -> bool:
    """Return whether `text` is a valid C++ name as it is."""
    return is_identifier(text) and text not in CPP_KEYWORDS and not is_macro(text)


def is_library_name(text: str) -> bool:
    """Return whether `text` can be the name of a library: of a folder, a CMake target and a C++ namespace."""
    return (
        is_cpp_name(text)
        and len(text) <= MAX_NAME
        and text not in RESERVED_NAMESPACES
        and not text.startswith(RESERVED_PREFIX)
    )


def cpp_identifier(name: str) -> CppIdentifier:
    """Return `name`, or `name_` if it is a C++ keyword."""
    return CppIdentifier(f"{name}_" if name in CPP_KEYWORDS else name)


# Schema types by C++ names, without `at::`, `c10::` and `torch::`, but with `std::`. SymFloat and SymBool are left out:
# PyTorch infers them, but its schema parser does not accept them.
SCHEMA_TYPES: Mapping[str, str] = MappingProxyType(
    {row[0]: row[1] for row in data.read_rows("schema_types.txt")}
)
LISTS = frozenset({"std::vector", "std::array", "ArrayRef", "List", "IListRef"})
OPTIONALS = frozenset({"std::optional", "optional", "OptionalArrayRef"})
# PyTorch's namespaces, which all have the names of `SCHEMA_TYPES`.
_ROOTS = frozenset({"at", "c10", "torch"})


def unqualified(name: str) -> str:
    """Return `Tensor` for `at::Tensor`, `c10::Tensor` and `Tensor`; other names without a leading `::`."""
    root, _, last = name.removeprefix("::").rpartition("::")
    return last if root in _ROOTS else name.removeprefix("::")
