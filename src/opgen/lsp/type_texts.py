"""What the base types of the schema language stand for, in a sentence each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opgen import data
from opgen.model.types import BaseTy

TYPE_TEXTS: Mapping[BaseTy, str] = {
    BaseTy.Generator: "A random number generator; nearly always `Generator?`.",
    BaseTy.ScalarType: "The element type of a tensor.",
    BaseTy.Tensor: "A tensor. `Tensor(a!)` is written, `Tensor(a)` may share storage with a result "
    "of the same letter, `Tensor?` may be missing, `Tensor[]` is a list. Outside of `aten` also "
    "`Tensor!`, which is written.",
    BaseTy.int: "A 64-bit integer. `int[2]` is a list of two, which may be given as one integer.",
    BaseTy.Dimname: "The name of a dimension.",
    BaseTy.DimVector: "A list of dimensions or sizes; only in `precomputed`.",
    BaseTy.float: "A double.",
    BaseTy.str: "A text.",
    BaseTy.bool: "True or False.",
    BaseTy.Layout: "How a tensor's elements are laid out: strided, sparse and so on.",
    BaseTy.Device: "A device: CPU, Meta and so on, with an index.",
    BaseTy.DeviceIndex: "The number of a device among those of its kind.",
    BaseTy.Scalar: "A number of any kind; it takes no part in type promotion as a tensor does.",
    BaseTy.MemoryFormat: "The order in memory: `contiguous_format`, `channels_last`, "
    "`preserve_format`.",
    BaseTy.QScheme: "The scheme of a quantization.",
    BaseTy.Storage: "The memory that a tensor's elements are in.",
    BaseTy.Stream: "A queue of a device's work.",
    BaseTy.SymInt: "A size: an integer, or a symbol that stands for one while tracing.",
    BaseTy.SymBool: "True or False, or a symbol that stands for either while tracing.",
    BaseTy.ConstQuantizerPtr: "The quantizer of a tensor.",
    BaseTy.GraphModule: "A graph that a higher-order operator calls.",
    BaseTy.Any: "A value of any type (outside of `aten`).",
    BaseTy.complex: "A complex number of two doubles (outside of `aten`).",
}
DICT_TEXT = (
    "A dictionary, with the types of its keys and values: `Dict(str, Tensor)` (outside of `aten`)."
)
_CUSTOM_CLASS = "__torch__.torch.classes."

_BASE = re.compile(r"\w+")


def known_types() -> tuple[BaseTy, ...]:
    """The types that the newest language has."""
    return tuple(BaseTy[row[0]] for row in data.read_rows("types.txt") if len(row) == 1)


def library_types() -> tuple[BaseTy, ...]:
    """The base types that operators outside of `aten` may have."""
    return tuple(BaseTy[name] for name in data.read_names("library_types.txt"))


def describe_type(text: str) -> str | None:
    """What the type whose text begins so is; None if there is none of that name."""
    if text == "Dict":
        return DICT_TEXT
    if text.startswith(_CUSTOM_CLASS):
        name = text[len(_CUSTOM_CLASS) :]
        return f"The custom class `{name}`, whose C++ class the key `classes` names (outside of `aten`)."
    found = _BASE.match(text)
    base = None if found is None else BaseTy.__members__.get(found.group())
    return None if base is None else TYPE_TEXTS[base]
