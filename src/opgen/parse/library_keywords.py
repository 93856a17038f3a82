"""Words that PyTorch's schema parser keeps for itself: nothing in a schema of a library can be called so.

Source: `torch._C.parse_schema` of PyTorch 2.13, asked for every keyword of Python and every name of a type.
"""

from __future__ import annotations

KEYWORDS = frozenset(
    (
        *(
            "False",
            "None",
            "NoneType",
            "True",
            "and",
            "as",
            "assert",
            "break",
            "class",
            "continue",
            "def",
        ),
        *("del", "elif", "else", "for", "global", "if", "import", "in", "is", "not"),
        *("or", "pass", "raise", "return", "while", "with"),
    )
)
