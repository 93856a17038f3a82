"""Operators that are defined by functions: their annotations say the schemas."""

from __future__ import annotations

import collections.abc
import typing
from collections.abc import Sequence
from typing import List, Optional, Tuple, Union

import torch
from torch import Tensor, dtype
from torch.library import custom_op, triton_op
from torch.types import Number

WRITTEN = ["out"]
Shape = Sequence[int]
HALF = 0.5


@custom_op("sketch::line", mutates_args=())
def line(x: Tensor, y: torch.Tensor, width: int = 3, dash: float = 1e-5) -> Tensor:
    return x + y


@line.register_fake
def _(x, y, width=3, dash=1e-5):
    return torch.empty_like(x)


@line.register_kernel("cuda")
def _(x, y, width=3, dash=1e-5):
    return x


@torch.library.custom_op("sketch::erase", mutates_args={"canvas"})
def erase(canvas: Tensor, mask: Optional[Tensor] = None, hard: bool = False) -> None:
    canvas.zero_()


@torch.library.custom_op(
    "sketch::erase_all", mutates_args=["canvases", "extra"], device_types="cpu"
)
def erase_all(
    canvases: List[Tensor], extra: Tensor | None, at: typing.Optional[List[int]] = None
) -> None:
    pass


@custom_op("sketch::layers", mutates_args=())
def layers(
    pages: Sequence[Tensor],
    masks: list[Optional[Tensor]],
    shape: Shape,
    scale: Number,
    flags: collections.abc.Sequence[bool],
    kind: str = "a, b",
    sizes: Optional[Sequence[float]] = None,
) -> Tuple[Tensor, List[Tensor], int, float, bool]:
    return pages[0], list(pages), 1, 1.0, True


@custom_op("sketch::typed", mutates_args=())
def typed(
    x: torch.Tensor,
    kind: dtype,
    where: Optional[torch.device] = None,
    other: torch.dtype = torch.float,
    gain: float | None = -1.5,
    by: Union[int, float, bool] = 2,
    start: int = -1,
    half: float = HALF,
) -> list[torch.Tensor]:
    return [x]


@custom_op(
    "sketch::stated", mutates_args=(), schema="(Tensor x, int[2] size=[1,1]) -> (Tensor, Tensor)"
)
def stated(x, size=(1, 1)):
    return x, x


@custom_op("sketch::keyword", mutates_args=(), tags=(torch.Tag.needs_exact_strides,))
def keyword(x: Tensor, *, n: int, name: str = "none") -> Number:
    return n


@custom_op("sketch::unknown", mutates_args="unknown")
def unknown(x: Tensor, y: list[Tensor], z: Optional[Tensor], n: int) -> None:
    pass


@custom_op("sketch::writes", mutates_args=WRITTEN)
def writes(x: Tensor, out: Tensor) -> Tuple[Tensor]:
    return (x.clone(),)


@triton_op("sketch::grid", mutates_args={})
def grid(x: Tensor, block: int = 128) -> Tensor:
    return x.clone()


def _plain(x: Tensor) -> Tensor:
    return x.clone()


plain = custom_op("sketch::plain", _plain, mutates_args=())
wrapped = custom_op("sketch::wrapped", mutates_args=())(_plain)
plain.register_autograd(lambda context, grad: grad)
torch.library.register_fake("sketch::wrapped", _plain)


def make(name: str):
    """Operators whose names only a caller knows."""

    @custom_op(name, mutates_args=())
    def made(x: Tensor) -> Tensor:
        return x.clone()

    return made


made = make("sketch::made_later")
