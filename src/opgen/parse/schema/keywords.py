"""Words that PyTorch's schema parser reserves: they cannot be names in a schema of a library.

Source: `torch._C.parse_schema` of PyTorch 2.13, tried with each keyword of Python and each name of a type.
"""

from __future__ import annotations

KEYWORDS = frozenset(
    (
        *("False", "None", "NoneType", "True", "and", "as", "assert", "break", "class"),
        *("continue", "def"),
        *("del", "elif", "else", "for", "global", "if", "import", "in", "is", "not"),
        *("or", "pass", "raise", "return", "while", "with"),
    )
)
