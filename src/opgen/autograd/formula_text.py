"""Find and replace names in formulas, which are C++ text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

# `grads[0]`
_GRADIENT_INDEX = re.compile(r"(?<!\w)grads\[(\d+)\]")


_WORD = re.compile(r"\w+")
# Operators of C++ that are words.
ALTERNATIVE_TOKENS = frozenset(("and", "or", "not", "xor", "bitand", "bitor", "compl", "not_eq"))


@lru_cache(maxsize=4096)
def _words(formula: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(formula))


def words_of(formulas: Iterable[str]) -> AbstractSet[str]:
    """Return the words of all of the formulas: what `uses` looks for in one."""
    return {word for formula in formulas for word in _words(formula)}


def uses_any(formula: str, names: AbstractSet[str]) -> bool:
    """Return whether a formula contains one of the names as a word of its own."""
    return not names.isdisjoint(_words(formula))


def uses(formula: str, name: str) -> bool:
    """Return whether a formula contains a name as a word of its own."""
    return name in formula and name in _words(formula)


def count(formula: str, name: str) -> int:
    """Return how often a formula contains a name."""
    return _words(formula).count(name)


def find(formula: str, name: str) -> tuple[int, int] | None:
    """Return the start and end of the first use of a name; None if there is none."""
    return next((m.span() for m in _WORD.finditer(formula) if m[0] == name), None)


def with_name(formula: str, name: str, text: str) -> str:
    """Return a formula with `text` in place of a name."""
    if not uses(formula, name):
        return formula
    return _WORD.sub(lambda match: text if match[0] == name else match[0], formula)


def has_lambda(tokens: Iterable[str]) -> bool:
    """Return whether the tokens of a formula have a lambda: `[...]` before its parameters or its body."""
    return any(one == "]" and two in ("(", "{") for one, two in pairwise(tokens))


def gradient_indices(formula: str) -> tuple[int, ...]:
    """Return the numbers i of all `grads[i]`, in their order."""
    return tuple(int(i) for i in _GRADIENT_INDEX.findall(formula)) if "grads" in formula else ()


class Parts(Struct, frozen=True):
    """Texts between commas, up to the bracket that closes them, and the text after it."""

    texts: tuple[str, ...]
    after: str


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()\[\]{},]""", re.DOTALL
)


def parts(text: str) -> Parts | None:
    """Split a list of arguments, whose opening bracket stands before `text`.

    None if no bracket closes it, or if a comma may be one between arguments of a template.
    """
    depth, start, found = 0, 0, []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            if depth == 0:
                if start or text[: match.start()].strip():
                    found.append(text[start : match.start()].strip())
                may_be_template = any("<" in part for part in found) and len(found) > 1
                return None if may_be_template else Parts(tuple(found), text[match.end() :])
            depth -= 1
        elif token == "," and depth == 0:
            found.append(text[start : match.start()].strip())
            start = match.end()
    return None
