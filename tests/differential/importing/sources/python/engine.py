"""Operators of an engine, which its helper defines."""

from typing import Optional

import torch
from engine_utils import direct_register_custom_op
from torch.library import Library

other_lib = Library("engine_other", "FRAGMENT")


def attend(
    q: torch.Tensor, k: torch.Tensor, out: torch.Tensor, layer: str, scale: Optional[float] = None
) -> None:
    out.copy_(q + k)


def attend_fake(q, k, out, layer, scale=None) -> None:
    return


def pick(x: torch.Tensor, n: int, weights: list[torch.Tensor]) -> torch.Tensor:
    return x[:n].clone()


def counted(x: torch.Tensor) -> int:
    return x.numel()


def quoted(
    x: "torch.Tensor", where: "Optional[torch.device]" = None, sizes: "Optional[list[int]]" = None
) -> "list[torch.Tensor]":
    return [x]


direct_register_custom_op("quoted", quoted)
direct_register_custom_op(
    op_name="attend",
    op_func=attend,
    mutates_args=["out"],
    fake_impl=attend_fake,
    dispatch_key="CPU",
)
direct_register_custom_op("pick", pick, [], pick, tags=(torch.Tag.needs_fixed_stride_order,))
direct_register_custom_op(op_name="counted", op_func=counted, mutates_args=[], target_lib=other_lib)
try:
    direct_register_custom_op(op_name="guarded", op_func=counted)
except AttributeError as error:
    raise error
