"""Descriptions of the base types of the schema language, one sentence each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opgen import data
from opgen.model.types import BaseTy

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
