"""Complete a schema: suggest a type, a default, or the type of a return."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from opgen.lsp.completion_items import CompletionKind, Suggestion
from opgen.lsp.type_descriptions import (
    DICT_DESCRIPTION,
    TYPE_DESCRIPTIONS,
    known_types,
    library_types,
)
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
    """Suggest what may follow `text`, the value of `func` up to the cursor.

    `registry` has the file's operators, if it was analyzed. `is_library` is whether the rules of libraries hold.
    """
    _, arrow, results = text.rpartition("-> ")
    if arrow:
        if _TYPE.match(results.lstrip("(").rsplit(", ", 1)[-1]):
            yield from (
                Suggestion(name, CompletionKind.type, sort=f"{rank:03}")
                for rank, name in enumerate(_RESULTS)
            )
        return
    piece = _last_argument(text)
    if piece is None:
        return
    default = _DEFAULT.match(piece)
    if default is not None:
        yield from _defaults(default.group(1), registry)
    elif _TYPE.match(piece):
        yield from _library_types(registry) if is_library else _types(known_types(), _ANNOTATED)


def _last_argument(text: str) -> str | None:
    """Return the unfinished argument at the end of the text; None if the text does not end in the argument list."""
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


def _types(bases: Iterable[BaseTy], annotated: Iterable[str]) -> Iterator[Suggestion]:
    """Suggest base types, Tensor first, with `?` and `[]`; and the `annotated` forms of Tensor."""
    rank = 0
    for base in sorted(bases, key=lambda b: b is not BaseTy.Tensor):
        forms = [f"{base.name}{form}" for form in _FORMS]
        forms += annotated if base is BaseTy.Tensor else ()
        for name in forms:
            yield Suggestion(name, CompletionKind.type, TYPE_DESCRIPTIONS[base], f"{rank:03}")
            rank += 1


def _library_types(registry: Registry | None) -> Iterator[Suggestion]:
    """Suggest the types of PyTorch's runtime parser, and the custom classes of the file's operators."""
    yield from _types(library_types(), _ANNOTATED_IN_LIBRARIES)
    # These come after all base types, of which there are fewer than 900.
    yield Suggestion("Dict(str, Tensor)", CompletionKind.type, DICT_DESCRIPTION, "900")
    functions = () if registry is None else registry.functions
    used = {
        str(a.type)
        for function in functions
        for a in function.func.arguments.flat_all
        if isinstance(a.type, CustomClassType)
    }
    for name in sorted(used):
        yield Suggestion(name, CompletionKind.type, "A custom class.", "901")


def _defaults(type_text: str, registry: Registry | None) -> Iterator[Suggestion]:
    """Suggest the usual defaults of a type, after the most frequent ones of the file's operators."""
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
        yield Suggestion(name, CompletionKind.value, sort=f"{rank:02}")
