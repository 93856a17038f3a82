"""Operators of the namespace seeded_kinds, registered in Python, of kinds that authors outside of this project got wrong.

A comment names the property that an operator violates. The same operator whose name ends in _ok violates none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

library = torch.library.Library("seeded_kinds", "DEF")


def define(schema: str, kernel: Callable[..., Any], fake: Callable[..., Any] | None = None) -> None:
    name = library.define(schema)
    library.impl(name, kernel, "CPU")
    torch.library.register_fake(f"seeded_kinds::{name}", fake or kernel, lib=library)


def pair(
    schema: str,
    broken: Callable[..., Any],
    good: Callable[..., Any],
    fake: Callable[..., Any] | None = None,
) -> None:
    name, bracket, rest = schema.partition("(")
    base, dot, overload = name.partition(".")
    ending = "_ok_" if base.endswith("_") else "_ok"
    define(schema, broken, fake)
    define(f"{base.removesuffix('_')}{ending}{dot}{overload}{bracket}{rest}", good, fake)


# A kernel that takes the time of a comparison of all pairs of elements, with all properties.
def ranks(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1).abs()
    return (flat[:, None] < flat[None, :]).sum(1)


define("ranks_ok(Tensor x) -> Tensor", ranks)


# vmap: a batching rule that fails in words like those of PyTorch.
def rule(info: Any, in_dims: Any, x: torch.Tensor) -> Any:
    raise RuntimeError("vmap: batches of this operator are not supported")


@torch.library.custom_op("seeded_kinds::copied", mutates_args=())
def copied(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("seeded_kinds::copied_ok", mutates_args=())
def copied_ok(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


copied.register_fake(torch.empty_like)
copied_ok.register_fake(torch.empty_like)
copied.register_vmap(rule)
copied_ok.register_vmap(lambda info, in_dims, x: (x.clone(), in_dims[0]))
