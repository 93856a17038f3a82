"""Describe the word under the cursor, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opgen import data
from opgen._compat import assert_never
from opgen.lsp.documents import Analysis
from opgen.lsp.outline import Kind, Word
from opgen.model.dispatch_key import DispatchKey
from opgen.model.types import BaseTy
from opgen.parse.entries.keys import (
    CLASS_KEYS,
    EXISTING_DESCRIPTION,
    FALLTHROUGH_DESCRIPTION,
    HEADER_KEYS,
    KEYS,
    describe_dispatch_key,
)
from opgen.pipeline import queries
from opgen.pipeline.reading import declared_tags

TYPE_DESCRIPTIONS: Mapping[BaseTy, str] = {
    BaseTy.Generator: "A random number generator; nearly always `Generator?`.",
    BaseTy.ScalarType: "The element type of a tensor.",
    BaseTy.Tensor: "A tensor. `Tensor(a!)` is written, `Tensor(a)` may share storage with a return "
    "with the same letter, `Tensor?` may be None, `Tensor[]` is a list. Outside of `aten`, "
    "`Tensor!` is also written.",
    BaseTy.int: "A 64-bit integer. `int[2]` is a list of two, which may be passed as one integer.",
    BaseTy.Dimname: "The name of a dimension.",
    BaseTy.DimVector: "A list of dimensions or sizes; only in `precomputed`.",
    BaseTy.float: "A double.",
    BaseTy.str: "A string.",
    BaseTy.bool: "True or False.",
    BaseTy.Layout: "The layout of a tensor's elements: strided, sparse and so on.",
    BaseTy.Device: "A device: CPU, Meta and so on, with an index.",
    BaseTy.DeviceIndex: "The number of a device among those of its type.",
    BaseTy.Scalar: "A number of any type. Type promotion treats it differently than a tensor.",
    BaseTy.MemoryFormat: "The order in memory: `contiguous_format`, `channels_last`, "
    "`preserve_format`.",
    BaseTy.QScheme: "A quantization scheme.",
    BaseTy.Storage: "The memory of a tensor's elements.",
    BaseTy.Stream: "A queue of work for a device.",
    BaseTy.SymInt: "A size: an integer, or a symbol that stands for one while tracing.",
    BaseTy.SymBool: "True or False, or a symbol that stands for either while tracing.",
    BaseTy.ConstQuantizerPtr: "The quantizer of a tensor.",
    BaseTy.GraphModule: "A graph that a higher-order operator calls.",
    BaseTy.Any: "A value of any type (outside of `aten`).",
    BaseTy.complex: "A complex number of two doubles (outside of `aten`).",
}
DICT_DESCRIPTION = (
    "A dictionary with the types of its keys and values: `Dict(str, Tensor)` (outside of `aten`)."
)
_CUSTOM_CLASS = "__torch__.torch.classes."

_BASE = re.compile(r"\w+")


def known_types() -> tuple[BaseTy, ...]:
    """Return the base types of the newest version of the language."""
    return tuple(BaseTy[row[0]] for row in data.read_rows("types.txt") if len(row) == 1)


def library_types() -> tuple[BaseTy, ...]:
    """Return the base types that operators outside of `aten` may have."""
    return tuple(BaseTy[name] for name in data.read_names("library_types.txt"))


def describe_type(text: str) -> str | None:
    """Describe the type at the start of `text`; None if there is no such type."""
    if text == "Dict":
        return DICT_DESCRIPTION
    if text.startswith(_CUSTOM_CLASS):
        name = text[len(_CUSTOM_CLASS) :]
        return (
            f"The custom class `{name}`. The key `classes` names its C++ class (outside of `aten`)."
        )
    word = _BASE.match(text)
    base = None if word is None else BaseTy.__members__.get(word.group())
    return None if base is None else TYPE_DESCRIPTIONS[base]


def hover_text(word: Word, known: Analysis | None) -> str | None:
    """Return the description of `word`; None if there is none. `known` may be the analysis of an older text."""
    match word.kind:
        case Kind.key:
            key = KEYS.get(word.text)
            return None if key is None else f"**{word.text}**: {key.description}"
        case Kind.operator:
            return _operator(word.operator, known)
        case Kind.kernel:
            operator = _operator(word.operator, known)
            head = f"Kernel `{word.text}` of `{word.operator}`"
            if word.is_existing:
                head = f"Function `::{word.text}` of `{word.operator}`: {EXISTING_DESCRIPTION}"
            return head if operator is None else f"{head}\n\n{operator}"
        case Kind.dispatch_key:
            dispatch_key = DispatchKey.__members__.get(word.text)
            if dispatch_key is None:
                return None
            return f"**{word.text}**: {describe_dispatch_key(dispatch_key)}"
        case Kind.tag:
            return _tag(word.text, known)
        case Kind.fallthrough:
            return f"**{word.text}**: {FALLTHROUGH_DESCRIPTION}"
        case Kind.header_key:
            text = HEADER_KEYS.get(word.text) or CLASS_KEYS.get(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case Kind.formula_key | Kind.formula:
            return None
        case Kind.schema:
            text = describe_type(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case _:
            assert_never(word.kind)


def _operator(name: str, known: Analysis | None) -> str | None:
    function = None if known is None else known.registry.find_function(name)
    if known is None or function is None:
        return None
    return queries.summarize(known.registry, known.inputs, function)


def _tag(name: str, known: Analysis | None) -> str | None:
    if known is None:
        return None
    tags = declared_tags(known.inputs).tags
    return next((f"**{name}**: {' '.join(t.desc.split())}" for t in tags if t.name == name), None)
