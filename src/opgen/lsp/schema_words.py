"""The beginning of a schema into what may come next: a type, a default, the type of a result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from opgen.lsp.suggestion import Suggestion, What
from opgen.lsp.type_texts import TYPE_TEXTS, known_types
from opgen.model.registry import Registry
from opgen.model.types import BaseTy

_DEFAULT = re.compile(r"^(\S+) \w+=[\w.'\[\]-]*$")
_TYPE = re.compile(r"^\w*$")
_FORMS = ("", "?", "[]")
_RESULTS = ("Tensor", "Tensor(a!)", "Tensor(a)", "Tensor[]", "(Tensor, Tensor)", "()")
_PLAIN_DEFAULTS = {
    "bool": ("False", "True"),
    "int": ("0", "1", "-1"),
    "SymInt": ("0", "1", "-1"),
    "float": ("0.0", "1.0"),
    "Scalar": ("0", "1"),
    "str": ("''",),
    "int[]": ("[]",),
    "SymInt[]": ("[]",),
}
_ANNOTATED = ("Tensor(a!)", "Tensor(a)")


def complete_schema(text: str, registry: Registry | None) -> Iterator[Suggestion]:
    """What may follow `text`, the value of `func` up to the cursor."""
    _, arrow, results = text.rpartition("-> ")
    if arrow:
        if _TYPE.match(results.lstrip("(").rsplit(", ", 1)[-1]):
            yield from (
                Suggestion(name, What.type, sort=f"{rank:03}") for rank, name in enumerate(_RESULTS)
            )
        return
    piece = _last_argument(text)
    if piece is None:
        return
    default = _DEFAULT.match(piece)
    if default is not None:
        yield from _defaults(default.group(1), registry)
    elif _TYPE.match(piece):
        yield from _types()


def _last_argument(text: str) -> str | None:
    """The argument that is being written; None if the text is not among arguments."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        if character in "([":
            depth += 1
            if depth == 1:
                start = index + 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 1:
            start = index + 1
    return text[start:].lstrip() if depth == 1 else None


def _types() -> Iterator[Suggestion]:
    rank = 0
    for base in sorted(known_types(), key=lambda b: b is not BaseTy.Tensor):
        forms = [f"{base.name}{form}" for form in _FORMS]
        forms += _ANNOTATED if base is BaseTy.Tensor else ()
        for name in forms:
            yield Suggestion(name, What.type, TYPE_TEXTS[base], f"{rank:03}")
            rank += 1


def _defaults(type_text: str, registry: Registry | None) -> Iterator[Suggestion]:
    """The usual defaults of a type; those that the file's operators have most often come first."""
    functions = () if registry is None else registry.functions
    counts = Counter(
        argument.default
        for function in functions
        for argument in function.func.arguments.flat_all
        if argument.default is not None and argument.type_text == type_text
    )
    names = [default for default, _ in counts.most_common(8)]
    names += ("None",) if type_text.endswith("?") else _PLAIN_DEFAULTS.get(type_text, ())
    for rank, name in enumerate(dict.fromkeys(names)):
        yield Suggestion(name, What.value, sort=f"{rank:02}")
