"""Check the value of the key `fake`: a Python expression over the arguments of an operator."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Collection

# Names that an expression may use besides the arguments and Python's built-ins.
EXTRA_NAMES = ("torch", "new_size")
_MAX_LENGTH = 2000


def find_fake_problem(text: str, arguments: Collection[str]) -> str | None:
    """Return why `text` is not an expression over `arguments`, for a message; None if it is one."""
    if "\n" in text or "\0" in text or len(text) > _MAX_LENGTH:
        return f"write an expression of one line, of at most {_MAX_LENGTH} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The message of a SyntaxError differs between versions of Python.
        return "Python cannot parse it"
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    defined = {*arguments, *EXTRA_NAMES, *bound, *dir(builtins)}
    undefined = next((n.id for n in names if n.id not in defined), None)
    return None if undefined is None else f"'{undefined}' is not an argument"
