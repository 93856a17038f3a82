"""Call every operator of spellings.cpp; print its results and its arguments after the call."""

from __future__ import annotations

import sys
from typing import Any

import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.spelt
ONE, TWO = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
GRID = torch.arange(24.0).reshape(2, 3, 4)
READ = ("add_reference", "add_value", "add_mutable")
WRITE = ("nothing", "const", "value", "reference", "returned", "const_returned")
LISTS = ("list", "array", "vector", "vector_reference", "c10", "i_list")
RESULTS = ("halves", "mixed", "count", "first", "is_empty", "shape", "largest", "sizes", "names")
WORDS = ("word", "word_reference", "word_view", "word_c10", "word_maybe", "word_view_maybe")


def show(name: str, *given: Any, **named: Any) -> None:
    """Call with copies, so that writes are seen and do not affect other calls."""
    arguments = [copied(one) for one in given]
    keywords = {key: copied(one) for key, one in named.items()}
    packet, _, overload = name.partition(".")
    result = getattr(getattr(ops, packet), overload or "default")(*arguments, **keywords)
    print(name, said(result), "|", said(arguments), said(list(keywords.values())))


def copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [copied(one) for one in value] if isinstance(value, list) else value


def said(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.tolist()}:{str(value.dtype)[6:]}"
    if isinstance(value, dict):
        return said(list(value.values()))
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(said, value))})"
    return "a generator" if isinstance(value, torch.Generator) else repr(value)


for name in READ:
    show(name, ONE, TWO)
for name in WRITE:
    show(f"scale_{name}", ONE, 3.0)
show("add.out", ONE, TWO, out=torch.empty(0))
show("swap", ONE, TWO)
show("beside", ONE, TWO)
for name in ("or_zero", "or_one", "or_two"):
    show(name, ONE)
show("or_one")
show("or_two", None)
for name in LISTS:
    show(f"sum_{name}", [ONE, TWO])
for name in ("count_given", "count_vector"):
    show(name, [ONE, None, TWO])
show("sum_maybe", ONE)
show("sum_maybe", ONE, [ONE, TWO])
show("scale_each", [ONE, TWO], 2.0)
show("scale_all", [ONE, TWO], 2.0)
show("numbers", ONE, 2, 0.5, True, 3)
show("numbers", ONE, -(2**40), 0.25, False, 1.5)
show("scalar_value", ONE, 2.5)
show("scalar_value", ONE, 2, 3)
show("maybe_numbers", ONE)
show("maybe_numbers", ONE, 3, 1.5, True)
for name in ("int", "sym"):
    show(f"fill_{name}", 3, 0.5)
for name in ("sizes", "vector", "symbols"):
    show(f"fill_{name}", [2, 3], 0.5)
for name in ("take", "take_c10", "take_array", "take_maybe", "take_vector"):
    show(name, GRID, [0, 2])
show("take_maybe", GRID)
show("take_vector", GRID)
for name in ("floats", "floats_array", "floats_maybe"):
    show(name, ONE, [2.0, 0.5])
show("bools", ONE, [True, False])
show("bools_c10", ONE, [True, False])
for name in WORDS:
    show(name, ONE, "word")
show("word_maybe", ONE)
show("word_view_maybe", ONE)
show("words", ONE, ["one", "three"])
show("by_name", ONE, {"one": TWO})
show("described", ONE, torch.float64, None, torch.device("cpu"))
show("described", ONE, torch.float64, torch.int32, "cpu", torch.contiguous_format)
show("drawn", ONE, torch.Generator().manual_seed(3))
for name in RESULTS:
    show(name, GRID)
for name in ("pieces", "pieces_c10", "pieces_beside"):
    show(name, GRID, 2)
show("maybe", ONE, True)
show("maybe", ONE, False)
show("rows", GRID)
show("times_int", ONE, 2.5)
show("times_double", ONE, 2.5)
