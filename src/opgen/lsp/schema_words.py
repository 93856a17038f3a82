"""The beginning of a schema into what may come next: a type, a default, the type of a result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from opgen.lsp.suggestion import Suggestion, What
from opgen.lsp.type_texts import DICT_TEXT, TYPE_TEXTS, known_types, library_types
from opgen.model.registry import Registry
from opgen.model.types import BaseTy, CustomClassType

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
_ANNOTATED_IN_LIBRARIES = (*_ANNOTATED, "Tensor!", "Tensor!?", "Tensor![]", "Tensor?[]")


def complete_schema(
    text: str, registry: Registry | None, *, is_library: bool = False
) -> Iterator[Suggestion]:
    """What may follow `text`, the value of `func` up to the cursor, of an operator of a library or of aten."""
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
        yield from _library_types(registry) if is_library else _types()


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


def _library_types(registry: Registry | None) -> Iterator[Suggestion]:
    """Those of PyTorch's runtime parser, and the custom classes that the file's operators have."""
    rank = 0
    for base in sorted(library_types(), key=lambda b: b is not BaseTy.Tensor):
        forms = [f"{base.name}{form}" for form in _FORMS]
        forms += _ANNOTATED_IN_LIBRARIES if base is BaseTy.Tensor else ()
        for name in forms:
            yield Suggestion(name, What.type, TYPE_TEXTS[base], f"{rank:03}")
            rank += 1
    yield Suggestion("Dict(str, Tensor)", What.type, DICT_TEXT, f"{rank:03}")
    functions = () if registry is None else registry.functions
    used = {
        str(a.type)
        for function in functions
        for a in function.func.arguments.flat_all
        if isinstance(a.type, CustomClassType)
    }
    for name in sorted(used):
        yield Suggestion(name, What.type, "A custom class.", f"{rank + 1:03}")


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
