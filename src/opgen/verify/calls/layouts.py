"""Layouts of the same elements: other orders of dimensions, gaps, offsets, expanded dimensions, other addresses."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from opgen.verify.calls.specs import Layout, Shape, TensorSpec, contiguous_strides

# Elements before and behind those of a view.
_MARGIN = 3


def span(shape: Shape, strides: Sequence[int]) -> int:
    """Return the number of elements from the first to the last one."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def laid_out(spec: TensorSpec, strides: Shape, *, offset: int = 0, behind: int = 0) -> TensorSpec:
    """Return the tensor with these strides."""
    count = offset + span(spec.shape, strides) + behind
    return replace(spec, layout=Layout(strides, offset, count))


def plain(spec: TensorSpec) -> TensorSpec:
    """Return a dense tensor, at an address that is a multiple of 64 bytes."""
    return laid_out(spec, contiguous_strides(spec.shape))


def transposed(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with its dimensions in the opposite order in memory."""
    return laid_out(spec, tuple(reversed(contiguous_strides(tuple(reversed(spec.shape))))))


def gapped(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with a gap behind every element, and behind every row."""
    strides: list[int] = []
    step = 2
    for size in reversed(spec.shape):
        strides.append(step)
        step = step * max(size, 1) + (2 if len(strides) == 1 else 0)
    return laid_out(spec, tuple(reversed(strides)))


def padded(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with dense rows, and a gap between them: a part of a wider matrix."""
    if len(spec.shape) < 2:
        return gapped(spec)
    *outer, last = spec.shape
    rows = contiguous_strides(tuple(outer))
    return laid_out(spec, (*(step * (max(last, 1) + 2) for step in rows), 1))


def rotated(spec: TensorSpec) -> TensorSpec:
    """Return the tensor with its last dimension outermost in memory."""
    if len(spec.shape) < 3:
        return transposed(spec)
    moved = contiguous_strides((spec.shape[-1], *spec.shape[:-1]))
    return laid_out(spec, (*moved[1:], moved[0]))


def shifted(spec: TensorSpec) -> TensorSpec:
    """Return the tensor, dense, inside of a larger storage."""
    strides = contiguous_strides(spec.shape)
    return laid_out(spec, strides, offset=_MARGIN, behind=_MARGIN)


def misaligned(spec: TensorSpec) -> TensorSpec:
    """Return the tensor, dense, at an address that is a multiple of its element's size only."""
    dense = plain(spec)
    assert dense.layout is not None
    return replace(dense, layout=replace(dense.layout, alignment=spec.itemsize))


def expanded(spec: TensorSpec, dim: int) -> TensorSpec:
    """Return the tensor with stride 0 along a dimension, along which its elements must be equal."""
    sizes = tuple(1 if d == dim else size for d, size in enumerate(spec.shape))
    strides = list(contiguous_strides(sizes))
    strides[dim] = 0
    return laid_out(spec, tuple(strides))


def placed(spec: TensorSpec, place: str) -> TensorSpec:
    """Return the tensor at the head or the tail of a page, so that reading beside it ends the process."""
    layout = spec.layout or plain(spec).layout
    assert layout is not None
    return replace(spec, layout=replace(layout, place=place, alignment=spec.itemsize))
