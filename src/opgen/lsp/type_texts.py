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
    "of the same letter, `Tensor?` may be missing, `Tensor[]` is a list.",
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
}

_BASE = re.compile(r"\w+")


def known_types() -> tuple[BaseTy, ...]:
    """The types that the newest language has."""
    return tuple(BaseTy[row[0]] for row in data.read_rows("types.txt") if len(row) == 1)


def describe_type(text: str) -> str | None:
    """What the type whose text begins so is; None if there is none of that name."""
    found = _BASE.match(text)
    name = None if found is None else BaseTy.__members__.get(found.group())
    return None if name is None else TYPE_TEXTS[name]
