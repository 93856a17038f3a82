"""What the operators compute, written with PyTorch's functions, and arguments for each."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

Tensor = torch.Tensor


def rms_norm(input: Tensor, weight: Tensor | None, eps: float = 1e-6) -> Tensor:
    return F.rms_norm(input, input.shape[-1:], weight, eps)


def silu_and_mul(input: Tensor) -> Tensor:
    a, b = input.chunk(2, -1)
    return F.silu(a) * b


def rotary_embedding(
    query: Tensor,
    key: Tensor,
    positions: Tensor,
    cache: Tensor,
    is_neox: bool = True,
    inverse: bool = False,
) -> tuple[Tensor, Tensor]:
    cosine, sine = cache[positions].unsqueeze(1).chunk(2, -1)
    sine = -sine if inverse else sine

    def turned(x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1) if is_neox else (x[..., ::2], x[..., 1::2])
        halves = a * cosine - b * sine, b * cosine + a * sine
        return torch.cat(halves, -1) if is_neox else torch.stack(halves, -1).flatten(-2)

    return turned(query), turned(key)


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int = 2,
    aligned: bool = True,
) -> Tensor:
    height, width = input.shape[2:]
    shift = 0.5 if aligned else 0.0
    corners = rois[:, 1:] * spatial_scale - shift
    size = corners[:, 2:] - corners[:, :2]
    if not aligned:
        size = size.clamp(min=1)

    def points(start: Tensor, length: Tensor, pooled: int) -> Tensor:
        place = (torch.arange(pooled * sampling_ratio, dtype=input.dtype) + 0.5) / sampling_ratio
        return start[:, None] + place * length[:, None] / pooled

    def shares(place: Tensor, pixels: int) -> Tensor:
        inside = (place >= -1) & (place <= pixels)
        place = place.clamp(0, pixels - 1)
        near = 1 - (place[..., None] - torch.arange(pixels, dtype=input.dtype)).abs()
        return near.clamp(min=0) * inside[..., None]

    y = shares(points(corners[:, 1], size[:, 1], pooled_height), height)
    x = shares(points(corners[:, 0], size[:, 0], pooled_width), width)
    samples = torch.einsum("ryh,rxw,rchw->rcyx", y, x, input[rois[:, 0].long()])
    return F.avg_pool2d(samples, sampling_ratio)


def scatter_sum(src: Tensor, index: Tensor, dim: int, dim_size: int) -> Tensor:
    shape = list(src.shape)
    shape[dim] = dim_size
    return src.new_zeros(shape).scatter_add(dim, index, src)


def biquad(input: Tensor, b: Tensor, a: Tensor) -> Tensor:
    steps: list[Tensor] = []
    x = F.pad(input, (2, 0))
    for t in range(input.shape[-1]):
        y = b[0] * x[..., t + 2] + b[1] * x[..., t + 1] + b[2] * x[..., t]
        for k in (1, 2):
            y = y - a[k - 1] * steps[t - k] if t >= k else y
        steps.append(y)
    return torch.stack(steps, -1)


def leaky_sum(input: Tensor, decay: Tensor) -> Tensor:
    steps = [input[..., 0]]
    for t in range(1, input.shape[-1]):
        steps.append(input[..., t] + decay * steps[-1])
    return torch.stack(steps, -1)


def bump(self: Tensor, width: float = 0.5) -> Tensor:
    return torch.exp(-width * self * self)


def sin_cos(self: Tensor) -> tuple[Tensor, Tensor]:
    return self.sin(), self.cos()


def minmax(self: Tensor, dim: int = -1) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    least, most = self.min(dim), self.max(dim)
    return least.values, most.values, least.indices, most.indices


def foreach_squash(self: list[Tensor]) -> list[Tensor]:
    return [t.sigmoid() for t in self]


def weighted_total(parts: list[Tensor], weights: list[float]) -> Tensor:
    total = parts[0].new_zeros(())
    for part, weight in zip(parts, weights):
        total = total + weight * part.sum()
    return total


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


# A call of an operator, the same computation by PyTorch's functions, and arguments for both.
Case = tuple[Callable[..., object], tuple[object, ...]]


def cases() -> dict[str, Case]:
    torch.manual_seed(0)
    rois = torch.tensor([[0, 0.4, 0.7, 3.1, 4.2], [1, 1.3, -0.2, 2.6, 2.9]], dtype=torch.float64)
    heads = random(4, 2, 6), random(4, 3, 6), torch.tensor([2, 0, 1, 4])
    index = torch.tensor([[0, 2, 2], [1, 0, 2]])
    coefficients = torch.tensor([0.4, -0.3, 0.2]).double(), torch.tensor([0.5, -0.25]).double()
    return {
        "rms_norm": (rms_norm, (random(2, 3, 4), random(4), 1e-3)),
        "silu_and_mul": (silu_and_mul, (random(3, 8),)),
        "rotary_embedding": (rotary_embedding, (*heads, random(5, 6))),
        "roi_align": (roi_align, (random(2, 3, 5, 6), rois, 1.0, 2, 3)),
        "scatter_sum": (scatter_sum, (random(2, 3), index, -1, 4)),
        "biquad": (biquad, (random(2, 6), *coefficients)),
        "leaky_sum": (leaky_sum, (random(2, 6), torch.tensor(0.7, dtype=torch.float64))),
        "bump": (bump, (random(3, 2), 0.4)),
        "squash": (torch.sigmoid, (random(3, 2),)),
        "sin_cos": (sin_cos, (random(3, 2),)),
        "minmax": (minmax, (random(2, 3, 4), 1)),
        "main_diagonal": (torch.diagonal, (random(3, 4),)),
        "_foreach_squash": (foreach_squash, ([random(2), random(3, 1)],)),
        "weighted_total": (weighted_total, ([random(2), random(3, 1)], [0.5, 2.0])),
    }
