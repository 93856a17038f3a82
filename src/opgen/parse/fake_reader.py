"""The text of the key `fake`, a Python expression, into what is wrong with it."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Collection

# What an expression may name besides the arguments.
GIVEN_NAMES = ("torch", "new_size")
_LONGEST = 2000


def find_fake_problem(text: str, arguments: Collection[str]) -> str | None:
    """Why `text` is no expression over `arguments`; None if it is one."""
    # Imported here: few files have a fake.
    import ast  # noqa: PLC0415

    if "\n" in text or "\0" in text or len(text) > _LONGEST:
        return f"an expression of one line, of at most {_LONGEST} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # In words of ours: those of a SyntaxError change with each Python.
        return "Python cannot parse it"
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    known = {*arguments, *GIVEN_NAMES, *bound, *dir(builtins)}
    unknown = next((n.id for n in names if n.id not in known), None)
    return None if unknown is None else f"'{unknown}' is no argument"
