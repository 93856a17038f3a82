#!/usr/bin/env python
"""Call all entries of a JSON file in package `aten`; print, as JSON, the exception of each call.

A row is [submodule or "Tensor" or "", name, types by position, types by name].
"""

import importlib
import json
import sys

import aten

SIMPLE = {
    "Tensor": aten.tensor([[0.0, 0.0], [0.0, 0.0]]),
    "Scalar": 1.5,
    "int": 1,
    "SymInt": 1,
    "DeviceIndex": 0,
    "float": 0.5,
    "bool": False,
    "str": "none",
    "ScalarType": aten.float32,
    "Layout": aten.strided,
    "Device": "cpu",
    "MemoryFormat": aten.contiguous_format,
    "Generator": aten.Generator(),
}


def example(type):
    """Return a value for a type as written in a schema; never None, even if the type is optional."""
    bare = type.rstrip("?")
    if bare.endswith("]"):
        element, _, size = bare[:-1].rpartition("[")
        return [example(element)] * int(size or 2)
    if bare.startswith("("):
        return tuple(example(one) for one in bare.strip("()").split(","))
    return SIMPLE[bare]


def answer(place, name, positional, named):
    owner = aten
    if place:
        owner = aten.Tensor if place == "Tensor" else importlib.import_module(f"aten.{place}")
    given = [example(type) for type in positional]
    keywords = {key: example(type) for key, type in named.items()}
    try:
        result = getattr(owner, name)(*given, **keywords)
    except Exception as error:
        return type(error).__name__, str(error)
    return "returned", repr(type(result))


json.dump([answer(*row) for row in json.load(sys.stdin)], sys.stdout)
