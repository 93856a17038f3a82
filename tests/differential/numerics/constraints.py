"""Rules for valid arguments, which the schema's types and names do not express.

Keys are "operator:argument", with or without the overload ("max.dim:dim", "select:index"), or ":argument" for all
operators; the most specific one counts. A key of several operators and arguments, such as "sum mean:dim", is a row for
each. A new operator needs a line here only if PyTorch rejects what is drawn by type.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from differential.numerics import values as v
from differential.numerics.draw import Constraints, Draw, Refused, Shape
from differential.numerics.values import TensorValue, Value, elements

# Rules that need more than an expression.


def reshaped(draw: Draw) -> Shape:
    """Sizes with as many elements as `self` has, sometimes with a -1."""
    sizes = draw.tensor().sizes
    count = elements(sizes)
    if count == 0:
        return draw.choose(sizes, (0,), (0, 3), (2, 0))
    factors: list[int] = []
    for divisor in (2, 3, 5, 7):
        while count % divisor == 0 and count > 1:
            factors.append(divisor)
            count //= divisor
    new = [count] if count > 1 else []
    draw.random.shuffle(factors)
    for factor in factors:
        if new and draw.chance(0.4):
            new[-1] *= factor
        else:
            new.append(factor)
    if draw.chance(0.3):
        new.insert(draw.below(len(new) + 1), 1)
    if new and draw.chance(0.25):
        new[draw.below(len(new))] = -1
    # Keeping some of the old sizes makes views of strided tensors possible.
    if draw.chance(0.4):
        return (*sizes, 1) if draw.chance(0.5) else (*sizes[:-2], -1) if len(sizes) > 1 else sizes
    return tuple(new)


def expanded(draw: Draw) -> Shape:
    """Sizes that `self` expands to."""
    sizes = [draw.between(1, 4) if s == 1 and draw.chance(0.6) else s for s in draw.tensor().sizes]
    sizes = [-1 if draw.chance(0.1) else s for s in sizes]
    return (*draw.choose((), (), (2,), (1, 3)), *sizes)


def summed(draw: Draw) -> Shape:
    """Sizes that expand to those of `self`."""
    sizes = draw.tensor().sizes
    return tuple(1 if draw.chance(0.4) else s for s in sizes[draw.below(len(sizes) + 1) :])


def some_dims(draw: Draw) -> Shape:
    """Different dimensions; as many as `source` has, if it is drawn."""
    rank = len(draw.tensor().sizes)
    count = len(draw.drawn["source"]) if "source" in draw.drawn else draw.below(rank + 1)
    return tuple(draw.random.sample(range(rank), count))


def along(draw: Draw) -> TensorValue:
    """take_along_dim's indices: as `self`, with another length along `dim`."""
    sizes, dim = list(draw.tensor().sizes), draw["dim"]
    if dim is None:
        return flat_places(draw)
    size = sizes[dim % len(sizes)] if sizes else 1
    if sizes:
        sizes[dim % len(sizes)] = draw.between(0, 4) if size else 0
    return draw.integers(tuple(sizes), size)


def flat_places(draw: Draw) -> TensorValue:
    count = elements(draw.tensor().sizes)
    return draw.integers(draw.shape() if count else (0,), count)


def padding(draw: Draw) -> Shape:
    """Numbers of elements that are added in front of and behind the last dimensions."""
    sizes = draw.tensor().sizes
    mode = draw.get("mode")
    if mode in (None, "constant"):
        return tuple(draw.between(-1, 2) for _ in range(2 * draw.below(len(sizes) + 1)))
    count = len(sizes) - draw.choose(1, 2)
    if not 1 <= count <= 3:
        raise Refused
    return tuple(
        draw.between(0, max(0, min(2, sizes[-1 - i // 2] - (mode == "reflect"))))
        for i in range(2 * count)
    )


def ordered(draw: Draw, tensor: TensorValue) -> TensorValue:
    """A contiguous tensor with the elements of each line in order."""
    numbers = np.sort(tensor.array(), axis=-1)
    data = v.from_numbers(tensor.dtype, numbers).tobytes()
    return TensorValue(tensor.dtype, tensor.sizes, v.contiguous_strides(tensor.sizes), 0, data)


def sorted_lines(draw: Draw) -> TensorValue:
    return ordered(draw, draw.make(draw.letters(draw.pattern["sorted_sequence"]), None, "finite"))


def sorting_order(draw: Draw) -> TensorValue | None:
    """searchsorted's sorter: the order that the sequence already has, or None."""
    sizes = draw.tensor("sorted_sequence").sizes
    if draw.chance(0.6) or draw.name.endswith("meta"):
        return None
    return draw.holding(np.broadcast_to(np.arange(sizes[-1]), sizes), "int64")


def counted(draw: Draw) -> TensorValue:
    dtype = draw.dtype.name if draw.dtype.kind == "int" else "int64"
    return draw.integers((draw.choose(0, 1, 5, 9),), 6, dtype=dtype)


def classes(draw: Draw) -> TensorValue:
    """The class of each place of self, a tensor with classes in dimension 0 or 1."""
    sizes = draw.tensor().sizes
    if draw.name.startswith("cross_entropy") and draw.chance(0.3):
        return draw.make(sizes, None, "unit")
    if len(sizes) == 1:
        return draw.integers((), sizes[0])
    return draw.integers((sizes[0], *sizes[2:]), sizes[1])


def spatial_dims(draw: Draw) -> int:
    """The number of dimensions that a convolution slides over, from its name or its input."""
    named = re.fullmatch(r"conv(?:_transpose)?(\d)d", draw.operator)
    return int(named[1]) if named else len(draw.tensor("input").sizes) - 2


def is_transposed(draw: Draw) -> bool:
    return draw.operator.startswith("conv_transpose") or bool(draw.get("transposed"))


def kernel(draw: Draw) -> TensorValue:
    """The weight of a convolution: its groups divide the channels of the input."""
    spatial = spatial_dims(draw)
    channels = draw.tensor("input").sizes[-1 - spatial]
    groups = draw["groups"]
    if channels % groups:
        raise Refused
    widths = [draw.between(1, 3) for _ in range(spatial)]
    first, second = groups * draw.between(1, 3), channels // groups
    if is_transposed(draw):
        first, second = channels, draw.between(1, 3)
    return draw.make((first, second, *widths), None, "small")


def made_channels(draw: Draw) -> int:
    first, second = draw.tensor("weight").sizes[:2]
    return second * draw["groups"] if is_transposed(draw) else first


def spatial(least: int, most: int) -> Callable[[Draw], Value]:
    def rule(draw: Draw) -> Value:
        return tuple(draw.between(least, most) for _ in range(spatial_dims(draw)))

    return rule


def output_padding(draw: Draw) -> Shape:
    if not is_transposed(draw):
        return (0,) * spatial_dims(draw)
    return tuple(
        draw.below(max(stride, dilation))
        for stride, dilation in zip(draw["stride"], draw["dilation"])
    )


def convolved(draw: Draw) -> TensorValue:
    """The gradient of what a convolution makes of its input."""
    batch, _, *sizes = draw.tensor("input").sizes
    widths = draw.tensor("weight").sizes[2:]
    made = []
    for d, (size, width) in enumerate(zip(sizes, widths)):
        stride, padding = draw["stride"][d], draw["padding"][d]
        reach = draw["dilation"][d] * (width - 1)
        if is_transposed(draw):
            made.append((size - 1) * stride - 2 * padding + reach + draw["output_padding"][d] + 1)
        else:
            made.append((size + 2 * padding - reach - 1) // stride + 1)
    if min(made) < 1:
        raise Refused
    return draw.make((batch, made_channels(draw), *made), None, "small")


def inside(draw: Draw) -> tuple[Shape, Shape, int | None]:
    """Sizes, strides and offset within the storage of `self`."""
    tensor = draw.tensor()
    room = len(tensor.storage) // tensor.dtype.itemsize
    offset = draw.choose(None, None, 0, 1)
    start = tensor.offset if offset is None else offset
    for _ in range(20):
        rank = draw.between(0, 3)
        sizes = tuple(draw.between(0, 4) for _ in range(rank))
        strides = tuple(draw.between(0 if not draw.inplace else 1, 5) for _ in range(rank))
        last = start + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        if 0 in sizes or last < room:
            return sizes, strides, offset
    raise Refused


def inside_part(part: int) -> Callable[[Draw], Value]:
    def rule(draw: Draw) -> Value:
        if "inside" not in draw.drawn:
            draw.drawn["inside"] = inside(draw)
        return draw.drawn["inside"][part]

    return rule


def alias_part(part: int) -> Callable[[Draw], Value]:
    """_reshape_alias: sizes and strides of the view that reshape would make; here those of self itself."""

    def rule(draw: Draw) -> Value:
        tensor = draw.tensor()
        return (tensor.sizes, tensor.strides)[part]

    return rule


def split_sizes(draw: Draw) -> Shape:
    """Sizes of parts that add up to the size."""
    left, parts = draw.size(), []
    while left > 0:
        part = draw.between(0 if draw.chance(0.1) else 1, left)
        parts.append(part)
        left -= part
    return tuple(parts) or (0,)


def index_like(draw: Draw) -> TensorValue:
    """gather and scatter: an index of any smaller shape; along `dim` any size and, for scatter, no number twice."""
    sizes = draw.tensor().sizes
    if not sizes:
        return draw.integers((), 1)
    dim = draw["dim"] % len(sizes)
    gather = draw.operator == "gather"
    mine = [draw.between(0 if draw.chance(0.1) else 1, size) if size else 0 for size in sizes]
    if gather:
        mine[dim] = draw.between(0, 5)
        return draw.integers(mine, sizes[dim])
    if (
        draw.operator in ("scatter_add", "scatter_reduce", "gather_backward")
        or elements(tuple(mine)) == 0
    ):
        return draw.integers(mine, max(1, sizes[dim]))
    rows = elements(tuple(mine)) // mine[dim]
    unique = [draw.random.sample(range(sizes[dim]), mine[dim]) for _ in range(rows)]
    moved = np.moveaxis(np.reshape(unique, [*mine[:dim], *mine[dim + 1 :], mine[dim]]), -1, dim)
    return draw.holding(moved, "int64")


def covering(draw: Draw) -> TensorValue:
    """scatter's src: at least as large as the index in every dimension."""
    sizes = draw.tensor("index").sizes
    return draw.make([size + draw.choose(0, 0, 1) for size in sizes])


def index_list(draw: Draw) -> tuple[TensorValue | None, ...]:
    """index's indices: some dimensions are indexed by broadcast integers or masks, others by None."""
    sizes = draw.tensor().sizes
    if not sizes:
        return (draw.make((), v.BOOL, dense=True),)
    if draw.chance(0.15):
        rank = draw.between(1, len(sizes))
        return (
            draw.make(
                sizes[:rank],
                (
                    v.BOOL
                    if draw.operator != "index"
                    else draw.choose(v.BOOL, v.BOOL, v.BY_NAME["uint8"])
                ),
                "unit",
            ),
        )
    common = draw.choose((2,), (3,), (2, 2), (1,), (), (0,))
    indices: list[TensorValue | None] = []
    free = len(common)
    writes = draw.operator != "index"
    for size in sizes[: draw.between(1, len(sizes))]:
        if draw.chance(0.3):
            indices.append(None)
        elif writes:
            # Writing twice to one element has no defined result, so there is only one index, with each number once.
            numbers = [draw.random.randrange(-size, size) for _ in range(1)] if size else []
            if free == 1 and not any(indices):
                numbers = draw.random.sample(range(size), min(size, 3))
            indices.append(draw.holding(numbers, "int64"))
        else:
            if size == 0:
                raise Refused
            shape = draw.broadcast(common)
            indices.append(
                draw.integers(
                    shape, size, first=-size, dtype=draw.choose("int64", "int64", "int32")
                )
            )
    if not any(index is not None for index in indices):
        raise Refused
    return tuple(indices)


def index_values(draw: Draw) -> TensorValue:
    """index_put's values: a number, or a tensor that broadcasts to the indexed shape."""
    if draw.chance(0.4):
        return draw.make(draw.choose((), (1,)))
    tensor = np.empty(draw.tensor().sizes)
    indices = tuple(slice(None) if i is None else i.array() for i in draw["indices"])
    if any(i is not None and i.dtype.name == "uint8" for i in draw["indices"]):
        indices = tuple(i if isinstance(i, slice) else i.astype(bool) for i in indices)
    try:
        return draw.make(draw.broadcast(tensor[indices].shape))
    except IndexError as refused:
        raise Refused from refused


def joined(draw: Draw) -> tuple[TensorValue, ...]:
    """cat: equal shapes except along `dim`."""
    sizes = list(draw.common_shape() or (draw.between(0, 3),))
    dim = draw.between(-len(sizes), len(sizes) - 1)
    draw.drawn["dim"] = dim
    tensors = []
    for _ in range(draw.between(1, 4)):
        sizes[dim] = draw.between(0 if draw.chance(0.2) else 1, 4)
        dtype = draw.choose(*v.DTYPES) if draw.mixed and draw.chance(0.5) else draw.dtype
        legacy = draw.chance(0.04)
        tensors.append(draw.make((0,) if legacy else sizes, dtype))
    return tuple(tensors)


def stacked(draw: Draw) -> tuple[TensorValue, ...]:
    sizes = draw.common_shape()
    draw.drawn["dim"] = draw.between(-len(sizes) - 1, len(sizes))
    return tuple(draw.make(sizes) for _ in range(draw.between(1, 4)))


def several(draw: Draw) -> tuple[TensorValue, ...]:
    """_foreach: some tensors of any shapes; `other` has the shapes of `self`."""
    count = draw.between(1, 4)
    dense = draw.inplace
    domain = "finite" if draw.operator == "_foreach_add" else "any"
    return tuple(draw.make(draw.shape(), None, domain, dense=dense) for _ in range(count))


def window(least: int) -> Callable[[Draw], Value]:
    """One or two numbers for a pooling window."""

    def rule(draw: Draw) -> Value:
        return draw.choose(
            (draw.between(least, 3),), (draw.between(least, 3), draw.between(least, 3))
        )

    return rule


def half_window(draw: Draw) -> Value:
    """Padding: at most half of the window."""
    kernel = draw["kernel_size"]
    return tuple(draw.between(0, size // 2) for size in kernel)


def upsampled(draw: Draw) -> Value:
    return (draw.between(1, 9),)


def slice_of(draw: Draw) -> Shape:
    """The shape of self[start:end:step] along dim."""
    sizes = list(draw.tensor().sizes)
    if not sizes:
        raise Refused
    dim = draw["dim"] % len(sizes)
    sizes[dim] = len(range(*slice(draw["start"], draw["end"], draw["step"]).indices(sizes[dim])))
    return tuple(sizes)


def sliced(draw: Draw) -> TensorValue:
    """slice_inverse's self: a slice of src, with memory laid out like that of src."""
    whole, dim = draw.tensor("src"), draw["dim"]
    part = slice(draw["start"], draw["end"], draw["step"])
    first, _, step = part.indices(whole.sizes[dim])
    sizes, strides = list(whole.sizes), list(whole.strides)
    sizes[dim] = len(range(*part.indices(whole.sizes[dim])))
    strides[dim] *= step
    offset = whole.offset + first * whole.strides[dim]
    return TensorValue(whole.dtype, tuple(sizes), tuple(strides), offset, whole.storage)


def arange_step(draw: Draw) -> Value:
    """A step that leads from start to end, with a limited number of values."""
    return draw.choose(1, 2, 0.5 if draw.dtype.kind == "float" else 1) * (
        1 if draw["end"] >= draw["start"] else -1
    )


def fitting(draw: Draw) -> Value:
    """A number that every tested dtype can represent."""
    return draw.choose(0, 1, 1) if draw.dtype.kind in ("bool", "int") else draw.scalar()


def real(draw: Draw) -> Value:
    """A number for sequences: whole for integer dtypes."""
    if draw.dtype.kind == "float" and draw.chance(0.5):
        return draw.between(-12, 12) / 4
    return draw.between(0 if draw.dtype.name in ("uint8", "bool") else -6, 9)


def layer_shape(draw: Draw) -> Shape:
    """The last dimensions of the input."""
    rank = len(draw.pattern["weight"])
    sizes = draw.tensor("input").sizes
    return sizes[len(sizes) - rank :]


def statistics(draw: Draw) -> TensorValue:
    """A contiguous tensor with one positive number per row of the input."""
    rows = draw.make(draw.letters(draw.pattern["mean"]), None, "positive")
    return draw.holding_same(rows)


def slice_index(draw: Draw) -> Value:
    size = draw.size()
    return draw.choose(None, draw.between(-size - 1, size + 1), draw.between(0, size))


def permutation(draw: Draw) -> Shape:
    rank = len(draw.tensor().sizes)
    order = draw.random.sample(range(rank), rank)
    return tuple(d - rank if draw.chance(0.3) else d for d in order)


def strides_for(name: str) -> Callable[[Draw], Value]:
    """Strides for sizes: of some permutation of the dimensions."""

    def rule(draw: Draw) -> Value:
        return draw.make(draw[name], v.BOOL, dense=True).strides

    return rule


def unsqueezed(draw: Draw) -> int:
    rank = len(draw.tensor().sizes)
    return draw.between(-rank - 1, rank)


def in_range(draw: Draw) -> int:
    size = draw.size()
    if not size or not draw.tensor().sizes:
        raise Refused
    return draw.between(-size, size - 1)


def row_sums(draw: Draw) -> Shape:
    """index_add's source: as self, with the index's length along dim."""
    sizes = list(draw.tensor().sizes)
    if sizes:
        sizes[draw["dim"] % len(sizes)] = elements(draw.tensor("index").sizes)
    return tuple(sizes)


def copied_rows(draw: Draw) -> Shape:
    """index_copy's source: as index_add's; one row of a vector or a scalar has any number of dimensions up to one."""
    sizes = row_sums(draw)
    if len(sizes) < 2 and elements(draw.tensor("index").sizes) == 1:
        return draw.choose((), (1,))
    return sizes


def one_dimensional_index(draw: Draw) -> TensorValue:
    size = draw.size()
    if size == 0:
        return draw.holding([], "int64")
    shape = (
        draw.choose((), (1,))
        if not draw.tensor().sizes
        else draw.choose((), (1,), (3,), (5,), (0,))
    )
    return draw.integers(shape, size, dtype=draw.choose("int64", "int64", "int32"))


def flat_index(draw: Draw) -> TensorValue:
    """take's index: into all of self."""
    count = elements(draw.tensor().sizes)
    return draw.integers(draw.shape() if count else (0,), count, first=-count)


def mask_like(draw: Draw) -> TensorValue:
    return draw.make(draw.broadcast(draw.tensor().sizes), v.BOOL)


def rows_of(draw: Draw) -> TensorValue:
    """embedding's indices: rows of the weight."""
    return draw.integers(
        draw.shape(0, 2), draw.tensor("weight").sizes[0], dtype=draw.choose("int64", "int32")
    )


def same_as_first(draw: Draw) -> TensorValue:
    """equal, is_same_size …: in most cases self's own shape, in half of the cases its own elements."""
    first = draw.tensor()
    if draw.chance(0.4):
        return draw.holding_same(first)
    return draw.make(first.sizes if draw.chance(0.7) else draw.shape())


def compatible(draw: Draw) -> TensorValue:
    """view_as and reshape_as: a tensor of a shape that self can take."""
    return draw.make([abs(size) for size in reshaped(draw) if size != -1] or draw.tensor().sizes)


def pooled(draw: Draw) -> TensorValue:
    """The gradient of what pooling makes of self."""
    sizes = list(draw.tensor().sizes)
    kernel, stride = draw["kernel_size"], draw["stride"] or draw["kernel_size"]
    for i in (-2, -1):
        span = (draw.get("dilation") or (1,))[i if len(draw.get("dilation") or (1,)) > 1 else 0]
        size, padding = sizes[i], draw["padding"]
        pad = padding[i if len(padding) > 1 else 0]
        step = stride[i if len(stride) > 1 else 0]
        width = span * (kernel[i if len(kernel) > 1 else 0] - 1) + 1
        rest = size + 2 * pad - width
        count = (rest + (step - 1 if draw["ceil_mode"] else 0)) // step + 1
        if draw["ceil_mode"] and (count - 1) * step >= size + pad:
            count -= 1
        if count < 1:
            raise Refused
        sizes[i] = count
    return draw.make(sizes)


def places_in_planes(draw: Draw) -> TensorValue:
    """max_pool2d_with_indices_backward's indices: into the last two dimensions of self."""
    height, width = draw.tensor().sizes[-2:]
    return draw.integers(draw.tensor("grad_output").sizes, height * width)


def without_dim(draw: Draw, sizes: Sequence[int]) -> Shape:
    """The sizes without dimension `dim`."""
    if not sizes:
        raise Refused
    dim = draw["dim"] % len(sizes)
    return (*sizes[:dim], *sizes[dim + 1 :])


def reduced_index(draw: Draw) -> TensorValue:
    """value_selecting_reduction_backward's indices: one for each place without `dim`."""
    sizes = draw["sizes"]
    if not sizes:
        return draw.integers((), 1)
    size, shape = sizes[draw["dim"] % len(sizes)], without_dim(draw, sizes)
    if not size:
        raise Refused
    if draw["keepdim"]:
        dim = draw["dim"] % len(sizes)
        shape = (*shape[:dim], 1, *shape[dim:])
    return draw.integers(shape, size)


def diagonal_of(draw: Draw) -> Shape:
    """The shape of the diagonal of a tensor of these sizes."""
    sizes, offset = list(draw["input_sizes"]), draw["offset"]
    if not sizes:
        raise Refused
    one, two = (draw[name] % len(sizes) for name in ("dim1", "dim2"))
    if one == two:
        raise Refused
    rows, columns = sizes[one], sizes[two]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    rest = [size for d, size in enumerate(sizes) if d not in (one, two)]
    return (*rest, count)


def selected_sizes(draw: Draw) -> Shape:
    """index_select_backward's grad: self's sizes, with the index's length along dim."""
    sizes = list(draw["self_sizes"])
    if sizes:
        sizes[draw["dim"] % len(sizes)] = elements(draw.tensor("index").sizes)
    return tuple(sizes)


def index_below(name: str) -> Callable[[Draw], Value]:
    """A vector of indices below the size of argument `name` along dim."""

    def rule(draw: Draw) -> TensorValue:
        sizes = draw[name]
        size = sizes[draw["dim"] % len(sizes)] if sizes else 1
        return draw.integers(draw.choose((1,), (3,), (0,)) if size else (0,), size)

    return rule


def masked_grad(draw: Draw) -> TensorValue:
    """masked_select_backward's grad: one number for each element that the mask selects."""
    mask = np.broadcast_to(draw.tensor("mask").array(), draw.tensor("input").sizes)
    return draw.make((int(mask.sum()),))


def looked_up(draw: Draw) -> TensorValue:
    """The gradient of rows that were looked up."""
    return draw.make((*draw.tensor("indices").sizes, draw.between(1, 4)))


def by_scales(tensor: str, count: int) -> Callable[[Draw], Value]:
    """Factors by which `count` dimensions of `tensor` grow, or None if the sizes are given."""

    def rule(draw: Draw) -> Value:
        if draw["output_size"] is not None:
            return None
        least = 1.5 if draw.dtype.name == "uint8" else 0.5
        return tuple(draw.choose(least, 1.5, 2.0, 3.0) for _ in range(count))

    return rule


def scale_of(d: int) -> Callable[[Draw], Value]:
    """The factor by which spatial dimension `d` grows, or None."""

    def rule(draw: Draw) -> Value:
        sizes = draw.get("input_size") or draw.first_sizes()
        return draw.choose(None, None, draw["output_size"][d] / max(1, sizes[2 + d]))

    return rule


def image_sizes(draw: Draw) -> Shape:
    least = 2 if draw.dtype.name == "uint8" else 1
    return (draw.between(1, 6), draw.between(least, 6))


def image(draw: Draw) -> TensorValue:
    """An image to resample. Of bytes, PyTorch's results are right for contiguous images that are wider than 1."""
    sizes = list(draw.letters(draw.pattern["self"]))
    if draw.dtype.name != "uint8":
        # At a place of the input, the weight of the next one is 0 or a rounding error: see test_edges.py.
        return draw.make(sizes, None, "finite")
    sizes[-1] += 1
    return draw.holding_same(draw.make(sizes))


def channel_numbers(draw: Draw) -> TensorValue | None:
    """One number for each channel of the input, or None."""
    if draw.chance(0.4):
        return None
    numbers = draw.make((draw.tensor("input").sizes[1],), None, "finite")
    # Here, PyTorch reads parameters as contiguous, ignoring their strides.
    ignores = "group" in draw.operator or "backward" in draw.operator
    return draw.holding_same(numbers) if ignores else numbers


def running(draw: Draw, name: str) -> TensorValue | None:
    """A running statistic of each channel; PyTorch takes both or none, and needs them unless it trains."""
    trains = draw.get("training")
    for flag in ("use_input_stats", "train"):
        trains = draw.get(flag) if trains is None else trains
    if "has_running" not in draw.drawn:
        draw.drawn["has_running"] = not trains or draw.chance(0.5)
    if not draw["has_running"]:
        return None
    domain = "positive" if name == "running_var" else "finite"
    sizes: Shape = (draw.tensor("input").sizes[1],)
    if draw.operator == "native_batch_norm" and draw.chance(0.05):
        sizes = (1, *sizes)  # Both refuse it.
    numbers = draw.make(sizes, None, domain, dense=True)
    return draw.holding_same(numbers) if "backward" in draw.operator else numbers


def saved(draw: Draw) -> TensorValue | None:
    """A contiguous statistic of each channel, as the forward operator returns it."""
    rows = draw.make((draw.tensor("input").sizes[1],), None, "positive")
    return draw.holding_same(rows)


def groups_of(draw: Draw) -> Value:
    """A number that divides the channels of the input."""
    channels = draw.first_sizes()[1]
    return draw.choose(*(n for n in range(1, channels + 1) if channels % n == 0))


def grouped_statistics(draw: Draw) -> TensorValue:
    rows = draw.make((draw["N"], draw["group"]), None, "positive")
    return draw.holding_same(rows)


def halved(draw: Draw) -> Shape:
    """Sizes of which that along `dim` is even."""
    if "halved" not in draw.drawn:
        sizes = list(draw.shape(1))
        draw.drawn["dim"] = draw.between(-len(sizes), len(sizes) - 1)
        sizes[draw["dim"]] = 2 * draw.between(0 if draw.chance(0.1) else 1, 3)
        draw.drawn["halved"] = tuple(sizes)
    return draw["halved"]


def plain_image(draw: Draw) -> TensorValue:
    """A tensor like the input. PyTorch reads it in another order if sizes of 1 make its own ambiguous."""
    made = draw.make(draw.letters(draw.pattern["input"]))
    return draw.holding_same(made) if len(made.sizes) >= 4 and 1 in made.sizes else made


def dense_image(draw: Draw) -> TensorValue:
    """A contiguous tensor: PyTorch takes no other one here. Its means of infinities are NaN."""
    tensor = draw.make(draw.letters(draw.pattern["input"]), None, "finite")
    return draw.holding_same(tensor)


def signs(draw: Draw, sizes: Shape) -> TensorValue:
    """A tensor of 1 and -1."""
    count = elements(sizes)
    numbers = np.array([draw.choose(-1, 1) for _ in range(count)]).reshape(sizes)
    data = v.from_numbers(draw.dtype, numbers).tobytes()
    return TensorValue(draw.dtype, sizes, v.contiguous_strides(sizes), 0, data)


def pooled_evenly(draw: Draw) -> TensorValue:
    """The gradient of what adaptive pooling makes of self."""
    return draw.make((*draw.tensor().sizes[:-2], draw.between(1, 5), draw.between(1, 5)))


def dim_of(name: str) -> Callable[[Draw], Value]:
    def rule(draw: Draw) -> int:
        rank = max(1, len(draw[name]))
        return draw.between(-rank, rank - 1)

    return rule


def vectors(draw: Draw) -> tuple[TensorValue, ...]:
    """meshgrid, cartesian_prod: some vectors of one dtype."""
    return tuple(draw.make((draw.between(0, 4),)) for _ in range(draw.between(1, 3)))


def of_ranks(most: int) -> Callable[[Draw], Value]:
    """Some tensors of any shapes."""

    def rule(draw: Draw) -> tuple[TensorValue, ...]:
        return tuple(draw.make(draw.shape(0, most)) for _ in range(draw.between(1, 3)))

    return rule


def cut_dim(draw: Draw) -> int:
    """The dimension that hsplit, vsplit or dsplit cuts."""
    rank = len(draw.tensor().sizes)
    return {"hsplit": 0 if rank == 1 else 1, "vsplit": 0, "dsplit": 2}[draw.operator]


def sections(draw: Draw) -> int:
    size = draw.tensor().sizes[cut_dim(draw)]
    return draw.choose(*(n for n in range(1, max(2, size + 1)) if size % n == 0))


def cuts(draw: Draw) -> Shape:
    return tuple(draw.between(-2, 5) for _ in range(draw.below(4)))


def cuts_or_sections(draw: Draw) -> TensorValue:
    if draw.chance(0.5):
        return draw.integers((), 6, first=1)
    return draw.integers((draw.below(4),), 6, first=-2)


def factors_of_dim(draw: Draw) -> Shape:
    """unflatten's sizes: they multiply up to the size of the dimension."""
    size = draw.size()
    if size == 0:
        return draw.choose((0,), (0, 2), (3, 0))
    first = draw.choose(*(n for n in range(1, size + 1) if size % n == 0))
    return draw.choose((first, size // first), (first, -1), (-1, size // first), (size,))


def two_dims(draw: Draw) -> Shape:
    return tuple(draw.random.sample(range(len(draw.tensor().sizes)), 2))


def diagonal_sizes(draw: Draw) -> Shape:
    """The shape of the diagonal of self."""
    draw.drawn["input_sizes"] = draw.tensor().sizes
    try:
        return diagonal_of(draw)
    finally:
        del draw.drawn["input_sizes"]


def counts_along_dim(draw: Draw) -> TensorValue:
    """repeat_interleave's repeats: one for all, or one for each element along `dim`."""
    sizes = draw.tensor().sizes
    dim = draw["dim"]
    size = elements(sizes) if dim is None else draw.size()
    shape = draw.choose((), (1,), (size,), (size,))
    return draw.integers(shape, 4, dtype=draw.choose("int64", "int32"))


# An equation, and the shapes of its operands; digits are sizes.
EQUATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ij,jk->ik", ("ij", "jk")),
    ("ij, jk", ("ij", "jk")),
    ("bij,bjk->bik", ("bij", "bjk")),
    ("i,j->ij", ("i", "j")),
    ("ii", ("ii",)),
    ("ii->i", ("ii",)),
    ("iji->ji", ("iji",)),
    ("ij->", ("ij",)),
    ("ij->ji", ("ij",)),
    ("...ij->...ji", ("*ij",)),
    ("...ij,...jk->...ik", ("*ij", "*jk")),
    ("...ij,jk", ("*ij", "jk")),
    ("i...,i...->...", ("iJ", "iJ")),
    ("ab,bc,cd->ad", ("ab", "bc", "cd")),
    ("ab,b,a->", ("ab", "b", "a")),
    ("ij,ij->ij", ("ij", "ij")),
    ("Ba,aC->CB", ("Ba", "aC")),
    ("ij,kl->", ("ij", "kl")),
    ("ij,i1->j".replace("1", "k"), ("ij", "i1")),
)


def equation(draw: Draw) -> str:
    text, shapes = draw.choose(*EQUATIONS)
    draw.drawn["tensors"] = tuple(
        draw.make(draw.letters(shape), None, "small" if draw.dtype.kind == "float" else "finite")
        for shape in shapes
    )
    return text


def contraction_path(draw: Draw) -> Shape | None:
    count = len(draw["tensors"])
    if count == 1 or draw.chance(0.6):
        return None
    return tuple(place for _ in range(count - 1) for place in draw.choose((0, 1), (1, 0)))


def vectors_of_three(draw: Draw) -> TensorValue:
    """cross: the dimension `dim` has the size 3."""
    sizes = list(draw.shape(1))
    draw.drawn["dim"] = dim = draw.between(-len(sizes), len(sizes) - 1)
    sizes[dim] = 3
    return draw.make(sizes, None, "finite")


def also_of_three(draw: Draw) -> TensorValue:
    sizes = list(draw.broadcast(draw.tensor().sizes))
    sizes = [1] * (len(draw.tensor().sizes) - len(sizes)) + sizes
    sizes[draw["dim"]] = 3
    return draw.make(sizes, None, "finite")


def different_rows(draw: Draw) -> TensorValue:
    """index_copy's index: no number twice."""
    size = draw.size() if draw.tensor().sizes else 1
    count = draw.between(0, size) if draw.tensor().sizes else 1
    return draw.holding(draw.random.sample(range(size), count), "int64")


# The largest n so that 10 ** n is in the range of the dtype.
_LARGEST_EXPONENT = {"int8": 2, "uint8": 2, "int16": 4, "int32": 9, "int64": 18}


def power(draw: Draw) -> Value:
    """An end of logspace: its power is in the range of the dtype."""
    result = draw.get("dtype") or draw.dtype
    if isinstance(result, v.Dtype) and result.kind == "int" and draw.chance(0.5):
        return draw.between(0, _LARGEST_EXPONENT[result.name])
    if draw.dtype.kind == "float" and draw.chance(0.5):
        return draw.between(-6, 6) / 4
    return draw.between(0 if draw.dtype.kind != "float" else -2, 2)


def places_along(draw: Draw) -> TensorValue:
    """trapezoid's x: a vector along `dim`, or as y."""
    sizes = draw.tensor("y").sizes
    if not sizes:
        raise Refused
    dim = draw["dim"] % len(sizes)
    return draw.make(draw.choose((sizes[dim],), sizes), None, "finite")


_CONVOLUTIONS = (
    *(f"conv{n}d" for n in (1, 2, 3)),
    *(f"conv_transpose{n}d" for n in (1, 2, 3)),
    *("convolution", "convolution_backward"),
)
ARGUMENTS: Mapping[str, Callable[[Draw], Value]] = {
    # Dimensions.
    ":dim dim0 dim1 dim2": lambda d: d.dim(),
    ":start_dim": lambda d: d.below(max(1, len(d.tensor().sizes))),
    ":end_dim": lambda d: d.between(d["start_dim"], max(0, len(d.tensor().sizes) - 1)),
    ":dims": lambda d: d.dims(),
    "permute permute_copy:dims": permutation,
    "diagonal:dim1": lambda d: 0,
    "diagonal:dim2": lambda d: d.choose(-1, len(d.tensor().sizes) - 1),
    "diagonal_copy:dim1": lambda d: d.choose(-1, len(d.tensor().sizes) - 1),
    "diagonal_copy:dim2": lambda d: 0,
    "unsqueeze unsqueeze_copy:dim": unsqueezed,
    "stack cat concat concatenate:dim": lambda d: d["tensors"] and d.drawn["dim"],
    ":axis0 axis1": lambda d: d.dim(),
    "movedim.int moveaxis.int:source destination": lambda d: d.dim(),
    "count_nonzero:dim": lambda d: d.choose(None, d.dim()),
    "count_nonzero.dim_IntList logsumexp:dim": lambda d: d.dims(),
    "take_along_dim argmax argmin:dim": lambda d: d.choose(None, d.dim()),
    "sum mean std var var_mean std_mean linalg_vector_norm any.dims all.dims:dim": lambda d: d.choose(
        None, d.dims(), d.dims(1)
    ),
    "amax amin squeeze.dims squeeze_copy.dims:dim": lambda d: d.dims(),
    "unique_consecutive aminmax:dim": lambda d: d.choose(None, d.dim()),
    "nansum nanmean:dim": lambda d: d.choose(None, d.dims(), d.dims(1)),
    "norm:dim": lambda d: d.dims(),
    "norm:p": lambda d: d.choose(0, 1, 2, 3, 0.5, float("inf")),
    "dist:p": lambda d: d.choose(0, 1, 2, 3, float("inf")),
    "norm:dtype": lambda d: d.choose(d.dtype, v.BY_NAME["float64"]),
    "cross linalg_cross:dim": lambda d: d.drawn["dim"],
    "cross linalg_cross:self": vectors_of_three,
    "cross linalg_cross:other": also_of_three,
    "trapezoid trapz cumulative_trapezoid:dim": lambda d: d.dim("y"),
    "trapezoid trapz cumulative_trapezoid:x": places_along,
    ":dx": lambda d: d.choose(1, 0.5, 2.0),
    "diff:n": lambda d: d.between(0, 3),
    ":prepend append": lambda d: None,
    "rot90:dims": two_dims,
    "rot90:k": lambda d: d.between(-5, 5),
    "diag_embed:dim1": lambda d: 0,
    "diag_embed:dim2": lambda d: -1,
    "diagonal_scatter:dim1": lambda d: 0,
    "diagonal_scatter:dim2": lambda d: -1,
    "diagonal_scatter:src": lambda d: d.make(diagonal_sizes(d)),
    "select_scatter:index": in_range,
    "select_scatter:src": lambda d: d.make(without_dim(d, d.tensor().sizes)),
    "unflatten:sizes": factors_of_dim,
    "hsplit.int vsplit.int dsplit.int:sections": sections,
    "hsplit.array vsplit.array dsplit.array:indices": cuts,
    "tensor_split:sections": lambda d: d.between(1, 5),
    "tensor_split:indices": cuts,
    "tensor_split:tensor_indices_or_sections": cuts_or_sections,
    ":indexing": lambda d: d.choose("ij", "xy"),
    "meshgrid cartesian_prod:tensors": vectors,
    "block_diag:tensors": of_ranks(2),
    "atleast_1d atleast_2d atleast_3d:tensors": of_ranks(4),
    "repeat_interleave.Tensor:repeats": lambda d: d.integers(
        (d.between(0, 4),), 4, dtype=d.choose("int64", "int32")
    ),
    "repeat_interleave.self_Tensor:repeats": counts_along_dim,
    "repeat_interleave.self_int:repeats": lambda d: d.between(0, 3),
    "repeat_interleave:dim": lambda d: d.choose(None, d.dim()),
    "repeat_interleave:output_size": lambda d: None,
    "einsum:equation": equation,
    "einsum:tensors": lambda d: d.drawn["tensors"],
    "einsum:path": contraction_path,
    "tensordot:dims_self": lambda d: d.choose((1, 2), (-2, -1)),
    "tensordot:dims_other": lambda d: (1, 0),
    # Shapes.
    ":size": lambda d: d.shape(),
    "view view_copy:size": reshaped,
    ":shape": reshaped,
    "expand broadcast_to:size": expanded,
    "sum_to_size:size": summed,
    "expand_copy:size": expanded,
    "empty_strided:stride": strides_for("size"),
    "as_strided as_strided_copy:size": inside_part(0),
    "as_strided as_strided_copy:stride": inside_part(1),
    "as_strided as_strided_copy:storage_offset": inside_part(2),
    "_reshape_alias _reshape_alias_copy:size": alias_part(0),
    "_reshape_alias _reshape_alias_copy:stride": alias_part(1),
    ":repeats": lambda d: tuple(
        d.between(0 if d.chance(0.1) else 1, 3) for _ in range(len(d.first_sizes()) + d.below(2))
    ),
    "tile:dims": lambda d: tuple(d.between(1, 3) for _ in range(d.below(5))),
    "roll:shifts": lambda d: tuple(
        d.between(-4, 4) for _ in range(d.between(1, max(1, len(d.tensor().sizes))))
    ),
    "roll:dims": lambda d: (
        tuple(d.dim() for _ in d["shifts"]) if len(d["shifts"]) > 1 or d.chance(0.7) else ()
    ),
    "movedim.intlist moveaxis.intlist:source destination": some_dims,
    ":normalized_shape": layer_shape,
    "view_as reshape_as:other": compatible,
    "expand_as:other": lambda d: d.make([abs(s) for s in expanded(d)]),
    # Parts of a dimension.
    "select select_copy:index": in_range,
    ":start end": slice_index,
    ":step": lambda d: d.choose(1, 1, 2, 3),
    "narrow:start": lambda d: d.between(-d.size(), d.size()),
    "narrow.Tensor:start": lambda d: d.integers((), d.size() + 1),
    "narrow:length": lambda d: d.between(0, max(0, d.size() - (d["start"] % max(1, d.size())))),
    "narrow.Tensor:length": lambda d: d.between(0, d.size() - int(d.tensor("start").array())),
    ":chunks": lambda d: d.between(1, 5),
    ":split_size": lambda d: d.between(1, 4),
    "split.sizes:split_size": split_sizes,
    ":split_sizes": split_sizes,
    "slice_scatter:src": lambda d: d.make(slice_of(d)),
    "slice_inverse:self": sliced,
    "slice_inverse:src": lambda d: d.make(d.common_shape(), dense=True),
    "slice_inverse:dim": lambda d: d.below(len(d.common_shape())),
    "slice_inverse:start end": lambda d: d.choose(None, d.between(0, d.common_shape()[d["dim"]])),
    ":k": lambda d: d.between(0 if d.tensor().sizes else 1, d.size()),
    # Sequences and other numbers.
    "arange linspace:start end": real,
    "arange:end": lambda d: abs(real(d)),
    "arange.start:end": lambda d: d["start"] + abs(real(d)),
    "arange.start_step:end start": real,
    "arange:step": arange_step,
    "linspace.Tensor_Tensor:start end": lambda d: d.make((), None, "finite"),
    "linspace.Tensor_Scalar:start": lambda d: d.make((), None, "finite"),
    "linspace.Scalar_Tensor:end": lambda d: d.make((), None, "finite"),
    "logspace:start end": power,
    **{
        f"logspace.{kind}:{end}": lambda d: d.holding(np.array(power(d)), d.dtype.name)
        for kind, ends in (
            ("Tensor_Tensor", ("start", "end")),
            ("Tensor_Scalar", ("start",)),
            ("Scalar_Tensor", ("end",)),
        )
        for end in ends
    },
    "logspace:base": lambda d: d.choose(2.0, 3.0, 4.0, 10.0),
    "isin:assume_unique": lambda d: False,
    "logit:eps": lambda d: d.choose(None, 0.1),
    "addmv addr addbmm:alpha beta": fitting,
    # Factors that the dtype cannot represent are rejected at different places.
    "addmm baddbmm:alpha": fitting,
    "baddbmm addmm:beta": fitting,
    "index_add:alpha": fitting,
    ":steps": lambda d: d.between(0, 9),
    ":offset": lambda d: d.between(-3, 3),
    ":diagonal": lambda d: d.between(-4, 4),
    ":decimals": lambda d: d.between(-2, 3),
    ":correction": lambda d: d.choose(None, 0, 1, 2, 0.5),
    ":ord": lambda d: d.choose(0, 1, 2, 2, 3, 0.5, -1.0, float("inf"), float("-inf")),
    ":low": lambda d: d.between(0, 3),
    ":high": lambda d: d.between(4, 100),
    "randperm:n": lambda d: d.between(0, 30),
    "polygamma:n": lambda d: d.between(0, 3),
    ":negative_slope": lambda d: d.choose(0.01, 0.5, 0, -0.5),
    ":p": lambda d: d.choose(0.0, 1.0, 0.25, 0.5),
    ":eps": lambda d: d.choose(1e-5, 1e-3),
    ":rtol": lambda d: d.choose(1e-5, 0.1, 0.0),
    ":atol": lambda d: d.choose(1e-8, 0.5),
    ":from": lambda d: d.choose(0.0, -1.0),
    ":to": lambda d: d.choose(1.0, 3.0),
    ":std": lambda d: d.choose(0.0, 1.0, 2.5),
    ":storage_offset": lambda d: d.choose(None, 0, 1),
    ":divisor_override": lambda d: d.choose(None, None, 2, 5, -3),
    ":scales": lambda d: d.choose(None, None, d["output_size"][0] / max(1, d.tensor().sizes[-1])),
    ":output_size": upsampled,
    "upsample_nearest1d.vec:output_size": lambda d: d.choose(None, upsampled(d)),
    ":scale_factors": lambda d: (
        (d.choose(0.5, 1.5, 2.0, 3.0),) if d["output_size"] is None else None
    ),
    # Images of other sizes.
    **{
        f"upsample_{name}2d{form}:output_size": rule
        for name in ("nearest", "bilinear")
        for form, rule in (
            ("", image_sizes),
            (".vec", lambda d: d.choose(None, image_sizes(d))),
            ("_backward", image_sizes),
        )
    },
    "upsample_nearest2d.vec upsample_bilinear2d.vec:scale_factors": by_scales("input", 2),
    ":scales_h": scale_of(0),
    ":scales_w": scale_of(1),
    **{
        f"upsample_{name}2d_backward:{argument}": rule
        for name in ("nearest", "bilinear")
        for argument, rule in {
            "input_size": lambda d: tuple(d.between(1, 5) for _ in range(4)),
            "grad_output": lambda d: d.make(
                (*d["input_size"][:2], *d["output_size"]), None, "finite"
            ),
        }.items()
    },
    "adaptive_avg_pool2d _adaptive_avg_pool2d:output_size": lambda d: (
        d.choose(1, d.between(1, 6)),
        d.choose(1, d.between(1, 6)),
    ),
    "upsample_bilinear2d:self input": image,
    "adaptive_avg_pool1d:output_size": lambda d: (d.between(1, 6),),
    "_adaptive_avg_pool2d_backward:grad_output": pooled_evenly,
    **{
        f"{name}_pool1d:{argument}": rule
        for name in ("avg", "max")
        for argument, rule in {
            "kernel_size": lambda d: (d.between(1, 3),),
            "stride": lambda d: () if d.chance(0.4) else (d.between(1, 3),),
            "dilation": lambda d: (d.choose(1, 1, 2),),
        }.items()
    },
    ":upscale_factor downscale_factor": lambda d: d.choose(1, 2, 2, 3),
    "pixel_shuffle:self": lambda d: d.make(
        (
            *d.choose((), (2,), (1, 2)),
            d.between(1, 2) * d["upscale_factor"] ** 2,
            d.between(1, 3),
            d.between(1, 3),
        )
    ),
    "pixel_unshuffle:self": lambda d: d.make(
        (
            *d.choose((), (2,), (1, 2)),
            d.between(1, 3),
            d.between(1, 2) * d["downscale_factor"],
            d.between(1, 2) * d["downscale_factor"],
        )
    ),
    "channel_shuffle:groups": groups_of,
    # Choices.
    ":approximate": lambda d: d.choose("none", "tanh"),
    ":reduction": lambda d: d.below(3),
    ":num_classes": lambda d: d.choose(-1, 5, 7),
    ":nan posinf neginf": lambda d: d.choose(None, None, 0.0, 1.5, -2.0),
    ":scale input_scale": lambda d: d.choose(1, 1, 0.5, 2),
    "elu:alpha": lambda d: d.choose(1, 0.5, 2),
    "softplus:beta": lambda d: d.choose(1, 0.5, 2),
    "softplus:threshold": lambda d: d.choose(20, 1, 5),
    ":lambd": lambda d: d.choose(0.5, 0.5, 1, 0),
    "celu:alpha": lambda d: d.choose(1.0, 0.5, 2),
    "threshold:threshold value": lambda d: (
        d.scalar() if d.dtype.kind == "float" else d.between(0, 3)
    ),
    "glu:self": lambda d: d.make(halved(d)),
    "prelu:weight": lambda d: d.make(
        d.choose((), (1,), (d.tensor().sizes[1] if len(d.tensor().sizes) > 1 else 1,))
    ),
    "hardtanh:min_val": lambda d: d.choose(-1, 0, -2),
    "hardtanh:max_val": lambda d: d.choose(1, 2, 5),
    ":rounding_mode": lambda d: d.choose(None, "trunc", "floor"),
    ":half_to_float sparse": lambda d: False,
    ":sparse_grad": lambda d: d.chance(0.5),
    ":scale_grad_by_freq": lambda d: False,
    ":pin_memory": lambda d: d.choose(None, False),
    # If this is false, the order of results is not specified.
    ":sorted stable": lambda d: True,
    ":unsafe implicit": lambda d: False,
    ":output_mask": lambda d: tuple(
        d.chance(0.7) and each for each in (True, d["weight"] is not None, d["bias"] is not None)
    ),
    "native_batch_norm_backward:output_mask": lambda d: tuple(d.chance(0.8) for _ in range(3)),
    "native_group_norm_backward:output_mask": lambda d: tuple(
        d.chance(0.7) and each for each in (True, d["weight"] is not None, d["weight"] is not None)
    ),
    "cumsum_:dtype": lambda d: d.choose(None, d.dtype),
    "linalg_vector_norm:dtype": lambda d: d.choose(None, None, d.dtype, v.BY_NAME["float64"]),
    # Factories make the dtype that is being tested; a given tensor has that dtype, too.
    **{
        f"{name}:dtype": lambda d: d.dtype
        for name in (
            *(
                "empty",
                "empty_strided",
                "zeros",
                "ones",
                "full",
                "scalar_tensor",
                "arange",
                "linspace",
                "eye",
            ),
            *("rand_like", "randn_like"),
            *("tril_indices", "rand", "randn", "randint", "randperm"),
        )
    },
    "promote_types:type1": lambda d: d.dtype,
    # Pooling.
    ":kernel_size": window(1),
    ":stride": lambda d: () if d.chance(0.4) else window(1)(d),
    ":padding": half_window,
    ":dilation": lambda d: d.choose((1,), (1, 1), (2,), (1, 2)),
    # Padding, searching, counting.
    ":pad": padding,
    "pad:mode": lambda d: d.choose("constant", "constant", "reflect", "replicate", "circular"),
    "pad:value": lambda d: d.choose(None, 0.0, 2.0) if d["mode"] == "constant" else None,
    ":sorted_sequence": sorted_lines,
    ":boundaries": lambda d: ordered(d, d.make((d.between(0, 6),), None, "finite")),
    ":side": lambda d: d.choose(None, "right", "right" if d["right"] else "left"),
    "searchsorted:sorter": sorting_order,
    "bincount:self": counted,
    "bincount:weights": lambda d: d.choose(None, d.make(d.tensor().sizes, None, "finite")),
    ":minlength": lambda d: d.between(0, 9),
    "kthvalue:k": lambda d: d.between(1, max(1, d.size())),
    ":num_samples": lambda d: d.between(1, d.tensor().sizes[-1]),
    ":reduce": lambda d: d.choose("add", "multiply"),
    # Normalisation, losses, convolution.
    "nll_loss nll_loss_nd cross_entropy_loss:target": classes,
    **{
        f"{name}:{argument}": rule
        for name in (
            *("native_batch_norm", "batch_norm", "instance_norm", "native_batch_norm_backward"),
            *("native_group_norm", "native_group_norm_backward", "group_norm"),
        )
        for argument, rule in {
            "weight": channel_numbers,
            "bias": channel_numbers,
            "running_mean": lambda d: running(d, "running_mean"),
            "running_var": lambda d: running(d, "running_var"),
            "save_mean": saved,
            "save_invstd": saved,
            # Without eps, PyTorch's sums of half types are not accurate enough.
            "eps": lambda d: d.choose(1e-3, 0.1, 1e-3 if d.dtype.itemsize == 2 else 0.0),
            "momentum": lambda d: d.choose(0.1, 0.5, 0.0, 1.0),
            "cudnn_enabled": lambda d: False,
        }.items()
    },
    "native_batch_norm_backward:input grad_out": plain_image,
    "group_norm:num_groups": groups_of,
    **{
        f"native_group_norm{form}:{argument}": rule
        for form in ("", "_backward")
        for argument, rule in {
            "input": dense_image,
            "grad_out": lambda d: d.holding_same(d.make(d.tensor("input").sizes, None, "finite")),
            "N": lambda d: d.tensor("input").sizes[0],
            "C": lambda d: d.tensor("input").sizes[1],
            "HxW": lambda d: elements(d.tensor("input").sizes[2:]),
            "group": lambda d: d.choose(*(n for n in range(1, d["C"] + 1) if d["C"] % n == 0)),
            "mean": grouped_statistics,
            "rstd": grouped_statistics,
        }.items()
    },
    "rms_norm:weight": lambda d: d.choose(
        None, d.make(d.letters(d.pattern["weight"]), None, "finite")
    ),
    "rms_norm:eps": lambda d: d.choose(None, 1e-5, 1e-2),
    "binary_cross_entropy:weight": lambda d: d.choose(
        None, d.make(d.tensor().sizes, None, "finite")
    ),
    "binary_cross_entropy_with_logits:weight pos_weight": lambda d: d.choose(
        None, d.make(d.tensor().sizes, None, "unit")
    ),
    "soft_margin_loss margin_ranking_loss hinge_embedding_loss:target": lambda d: signs(
        d, d.first_sizes()
    ),
    "cosine_embedding_loss:target": lambda d: signs(d, d.tensor("input1").sizes[:-1]),
    "cosine_embedding_loss:margin": lambda d: d.choose(0.0, 0.5, -0.5),
    **{f"{name}:margin": lambda d: d.choose(1.0, 0.5) for name in ("triplet_margin_loss",)},
    "smooth_l1_loss:beta": lambda d: d.choose(1.0, 0.5, 2.0),
    "huber_loss:delta": lambda d: d.choose(1.0, 0.5, 2.0),
    "pairwise_distance triplet_margin_loss:p": lambda d: d.choose(1.0, 2.0, 2.0, 3.0),
    "cosine_similarity:eps": lambda d: d.choose(1e-8, 1e-2),
    "poisson_nll_loss:eps": lambda d: 1e-8,
    ":ignore_index": lambda d: d.choose(-100, -100, 1),
    "cross_entropy_loss:ignore_index": lambda d: -100,
    ":label_smoothing": lambda d: d.choose(0.0, 0.1, 0.5),
    ":dropout_p": lambda d: 0.0,
    ":is_causal": lambda d: d["attn_mask"] is None and d.chance(0.5),
    "scaled_dot_product_attention:scale": lambda d: d.choose(None, 0.5),
    ":enable_gqa": lambda d: False,
    **{
        f"{name}:{argument}": rule
        for name in _CONVOLUTIONS
        for argument, rule in {
            "weight": kernel,
            "bias": lambda d: d.choose(None, d.make((made_channels(d),), None, "small")),
            "stride": spatial(1, 2),
            "padding": spatial(0, 2),
            "dilation": spatial(1, 2),
            "output_padding": output_padding,
            "groups": lambda d: d.choose(1, 1, 1, 2, 3),
        }.items()
    },
    "convolution_backward:grad_output": convolved,
    "convolution_backward:bias_sizes": lambda d: (made_channels(d),),
    # PyTorch sometimes computes the gradient of the weight although the mask leaves it out.
    "convolution_backward:output_mask": lambda d: (d.chance(0.7), True, d.chance(0.7)),
    "conv1d.padding conv2d.padding conv3d.padding:padding": lambda d: (
        "same" if set(d["stride"]) == {1} and d.chance(0.7) else "valid"
    ),
    # Lists of tensors.
    "cat concat concatenate:tensors": joined,
    "stack hstack vstack dstack row_stack column_stack:tensors": stacked,
    "_foreach_add _foreach_mul _foreach_sqrt:self": several,
    "_foreach_add _foreach_mul:other": lambda d: tuple(d.make(t.sizes) for t in d["self"]),
    "_foreach_add:other": lambda d: tuple(d.make(t.sizes, None, "finite") for t in d["self"]),
    ":scalars": lambda d: tuple(d.scalar() for _ in d["self"]),
    # Indices.
    "gather scatter scatter_add:index": index_like,
    "scatter scatter_add:src": covering,
    "index_select index_add:index": one_dimensional_index,
    "index_add:source": lambda d: d.make(row_sums(d)),
    "index_fill:index": lambda d: d.integers((d.below(4),) if d.size() else (0,), max(1, d.size())),
    "index_fill.int_Scalar:value": fitting,
    "index_fill.int_Tensor:value": lambda d: d.make((), None, "finite"),
    "index_copy:index": different_rows,
    "index_copy:source": lambda d: d.make(copied_rows(d)),
    "scatter_reduce:index": index_like,
    "scatter_reduce:src": covering,
    "scatter_reduce:reduce": lambda d: d.choose("sum", "prod", "mean", "amax", "amin"),
    "masked_scatter:mask": mask_like,
    "masked_scatter:source": lambda d: d.make((elements(d.tensor().sizes) + d.below(3),)),
    "index index_put _index_put_impl:indices": index_list,
    "index_put _index_put_impl:values": index_values,
    "take:index": flat_index,
    "take_along_dim:indices": along,
    "one_hot:self": lambda d: d.integers(d.shape(), 5),
    "masked_fill:mask": mask_like,
    "masked_fill.Tensor fill.Tensor:value": lambda d: d.make(()),
    "embedding:indices": rows_of,
    "embedding:padding_idx": lambda d: d.choose(-1, 0),
    # PyTorch reads the statistics made by its forward operator as contiguous, ignoring their
    # strides.
    "native_layer_norm_backward:mean rstd": statistics,
    # Gradients.
    "avg_pool2d_backward max_pool2d_with_indices_backward:grad_output": pooled,
    "max_pool2d_with_indices_backward:indices": places_in_planes,
    "upsample_nearest1d_backward:input_size": lambda d: tuple(d.between(1, 5) for _ in range(3)),
    "upsample_nearest1d_backward:grad_output": lambda d: d.make(
        (*d["input_size"][:2], *d["output_size"])
    ),
    "upsample_nearest1d_backward:scales": lambda d: d.choose(
        None, d["output_size"][0] / d["input_size"][2]
    ),
    **{
        f"{name}:{sizes}": lambda d: d.shape(1)
        for name, sizes in (
            ("select_backward", "input_sizes"),
            ("index_select_backward", "self_sizes"),
        )
    },
    "value_selecting_reduction_backward:sizes": lambda d: d.shape(),
    "diagonal_backward:input_sizes": lambda d: d.shape(2),
    "select_backward:dim": dim_of("input_sizes"),
    "select_backward:index": lambda d: d.below(max(1, d["input_sizes"][d["dim"]])),
    "select_backward:grad_output": lambda d: d.make(without_dim(d, d["input_sizes"])),
    "diagonal_backward:dim1 dim2": dim_of("input_sizes"),
    "diagonal_backward:grad_output": lambda d: d.make(diagonal_of(d)),
    "value_selecting_reduction_backward:dim": dim_of("sizes"),
    "value_selecting_reduction_backward:indices": reduced_index,
    "value_selecting_reduction_backward:grad": lambda d: d.make(d.tensor("indices").sizes),
    "index_select_backward:dim": dim_of("self_sizes"),
    "index_select_backward:index": index_below("self_sizes"),
    "index_select_backward:grad": lambda d: d.make(selected_sizes(d)),
    "gather_backward:dim": lambda d: d.dim("self"),
    "gather_backward:index": index_like,
    "gather_backward:grad": lambda d: d.make(d.tensor("index").sizes),
    "gather_backward:sparse_grad": lambda d: False,
    "masked_select_backward:mask": lambda d: d.make(d.tensor("input").sizes, v.BOOL),
    "masked_select_backward:grad": masked_grad,
    **{
        f"{name}:{argument}": rule
        for name in ("embedding_backward", "embedding_dense_backward")
        for argument, rule in {
            "num_weights": lambda d: d.between(1, 6),
            "indices": lambda d: d.integers(d.shape(0, 2), d["num_weights"]),
            "padding_idx": lambda d: d.choose(-1, 0),
            "scale_grad_by_freq": lambda d: d.chance(0.4),
            "grad": looked_up,
            "grad_output": looked_up,
        }.items()
    },
    "_softmax_backward_data:output": lambda d: d.make(d.tensor("grad_output").sizes),
    "_softmax_backward_data:input_dtype": lambda d: d.dtype,
    # Predicates.
    "equal is_same_size:other": same_as_first,
    "item is_nonzero _local_scalar_dense:self": lambda d: d.make(d.choose((), (1,), (1, 1))),
}

# One line of alternatives per operator: see Draw.letters. Operators without a line are pointwise.
SHAPES: Mapping[str, Sequence[Mapping[str, str]]] = {
    "mm": ({"self": "ij", "mat2": "jk"},),
    "bmm": ({"self": "bij", "mat2": "bjk"},),
    "addmm": ({"self": "~ik", "mat1": "ij", "mat2": "jk"},),
    "baddbmm": ({"self": "~bik", "batch1": "bij", "batch2": "bjk"},),
    "inner": (
        {"self": "i", "other": "i"},
        {"self": "*j", "other": "kj"},
        {"self": "ij", "other": "j"},
        {"self": "", "other": "ij"},
    ),
    "diag": ({"self": "i"}, {"self": "ij"}),
    "trace": ({"self": "ij"},),
    "mv": ({"self": "ij", "vec": "j"},),
    "dot": ({"self": "i", "tensor": "i"},),
    "outer ger": ({"self": "i", "vec2": "j"},),
    "vdot": ({"self": "i", "other": "i"},),
    "addmv": ({"self": "~I", "mat": "IJ", "vec": "J"},),
    "addr": ({"self": "~ij", "vec1": "i", "vec2": "j"},),
    "addbmm": ({"self": "~ik", "batch1": "bij", "batch2": "bjk"},),
    "tensordot": ({"self": "ijk", "other": "kjl"},),
    "matmul": (
        {"self": "i", "other": "i"},
        {"self": "ij", "other": "j"},
        {"self": "j", "other": "jk"},
        {"self": "ij", "other": "jk"},
        {"self": "*ij", "other": "jk"},
        {"self": "*ij", "other": "j"},
        {"self": "ij", "other": "*jk"},
        {"self": "*ij", "other": "*jk"},
        {"self": "1ij", "other": "bjk"},
    ),
    "linear": (
        {"input": "*ij", "weight": "kj", "bias": "k"},
        {"input": "j", "weight": "kj", "bias": "k"},
        {"input": "*j", "weight": "j", "bias": ""},
    ),
    "native_layer_norm layer_norm": (
        {"input": "*J", "weight": "J", "bias": "J"},
        {"input": "*IJ", "weight": "IJ", "bias": "IJ"},
    ),
    "native_layer_norm_backward": (
        {"grad_out": "*J", "input": "*J", "mean": "*1", "rstd": "*1", "weight": "J", "bias": "J"},
        {
            "grad_out": "*IJ",
            "input": "*IJ",
            "mean": "*11",
            "rstd": "*11",
            "weight": "IJ",
            "bias": "IJ",
        },
    ),
    "nll_loss": ({"self": "NC", "weight": "C"}, {"self": "C", "weight": "C"}),
    "nll_loss_nd cross_entropy_loss": (
        {"self": "NC", "weight": "C"},
        {"self": "C", "weight": "C"},
        {"self": "NCH", "weight": "C"},
        {"self": "NCHW", "weight": "C"},
    ),
    "scaled_dot_product_attention": (
        {"query": "BIJ", "key": "BKJ", "value": "BKL", "attn_mask": "IK"},
        {"query": "BCIJ", "key": "BCKJ", "value": "BCKL", "attn_mask": "~BCIK"},
    ),
    "conv1d": ({"input": "NCW"}, {"input": "CW"}),
    "conv2d": ({"input": "NCHW"}, {"input": "CHW"}),
    "conv3d": ({"input": "NCHWD"}, {"input": "CHWD"}),
    "conv_transpose1d": ({"input": "NCW"}, {"input": "CW"}),
    "conv_transpose2d": ({"input": "NCHW"}, {"input": "CHW"}),
    "conv_transpose3d": ({"input": "NCHWD"}, {"input": "CHWD"}),
    "convolution convolution_backward": ({"input": "NCW"}, {"input": "NCHW"}, {"input": "NCHWD"}),
    "searchsorted.Tensor": (
        {"sorted_sequence": "I", "self": "*J"},
        {"sorted_sequence": "*I", "self": "*J"},
    ),
    "searchsorted.Scalar": ({"sorted_sequence": "I"},),
    "multinomial": ({"self": "I"}, {"self": "NI"}),
    "avg_pool2d max_pool2d_with_indices max_pool2d avg_pool2d_backward": (
        {"self": "NCHW"},
        {"self": "CHW"},
        {"self": "nCHW"},
    ),
    "max_pool2d_with_indices_backward": ({"self": "NCHW"}, {"self": "CHW"}, {"self": "nCHW"}),
    "upsample_nearest1d": ({"self": "NCW", "input": "NCW"}, {"self": "nCW", "input": "nCW"}),
    "upsample_nearest2d upsample_bilinear2d": (
        {"self": "NCHW", "input": "NCHW"},
        {"self": "nCHW", "input": "nCHW"},
    ),
    "adaptive_avg_pool2d _adaptive_avg_pool2d _adaptive_avg_pool2d_backward": (
        {"self": "NCHW"},
        {"self": "CHW"},
    ),
    "avg_pool1d max_pool1d adaptive_avg_pool1d": ({"self": "NCW"}, {"self": "CW"}),
    "channel_shuffle": ({"self": "NCHW"}, {"self": "NCW"}),
    "native_batch_norm batch_norm native_batch_norm_backward": (
        {"input": "NC", "grad_out": "NC"},
        {"input": "NCW", "grad_out": "NCW"},
        {"input": "NCHW", "grad_out": "NCHW"},
    ),
    "instance_norm group_norm native_group_norm native_group_norm_backward": (
        {"input": "NCW"},
        {"input": "NCHW"},
    ),
    "rms_norm": ({"input": "*J", "weight": "J"}, {"input": "*IJ", "weight": "IJ"}),
    "binary_cross_entropy binary_cross_entropy_with_logits kl_div": (
        {"self": "*IJ", "target": "*IJ"},
    ),
    "poisson_nll_loss": ({"input": "*IJ", "target": "*IJ"},),
    "soft_margin_loss hinge_embedding_loss": ({"self": "*IJ"},),
    "margin_ranking_loss": ({"input1": "*IJ", "input2": "*IJ"},),
    "cosine_embedding_loss": ({"input1": "J", "input2": "J"}, {"input1": "NJ", "input2": "NJ"}),
    "cosine_similarity": ({"x1": "*IJ", "x2": "~*IJ"},),
    "pairwise_distance": ({"x1": "NJ", "x2": "NJ"}, {"x1": "J", "x2": "J"}),
    "triplet_margin_loss": ({"anchor": "NJ", "positive": "NJ", "negative": "NJ"},),
    "embedding": ({"weight": "Ij"},),
    "bernoulli.Tensor": ({"self": "*ij", "p": "~*ij"},),
    "lerp": ({"self": "*ij", "end": "~*ij", "weight": "~*ij"},),
}

# Smallest and largest number of dimensions of shapes that are drawn freely.
RANKS: Mapping[str, tuple[int, int]] = {
    "t t_copy": (0, 2),
    "fliplr": (2, 4),
    "flipud": (1, 4),
    "triu tril diagonal diagonal_copy": (2, 4),
    "select select_copy slice slice_copy unbind unbind_copy split split_copy": (1, 4),
    "split_with_sizes split_with_sizes_copy chunk narrow": (1, 4),
    "slice_scatter slice_inverse select_backward index_select_backward": (1, 4),
    "rot90 diagonal_scatter": (2, 4),
    "dsplit": (3, 4),
    "vsplit": (2, 4),
    "diff hsplit tensor_split select_scatter diag_embed": (1, 4),
    "trapezoid trapz cumulative_trapezoid unique_dim": (1, 4),
    "diagonal_backward": (2, 4),
}

# Dtypes that are not the tested one; "operator" alone keeps all tensors at one dtype.
TENSOR_DTYPES: Mapping[str, str] = {
    ":mask condition": "bool",
    "bernoulli:p": "float32",
    **dict.fromkeys(
        (
            *("mm", "bmm", "addmm", "mv", "dot", "outer", "matmul", "linear", "set", "lerp"),
            *("ger", "inner", "baddbmm", "heaviside", "hypot", "logaddexp", "mse_loss"),
            *("bitwise_left_shift.Scalar_Tensor", "bitwise_right_shift.Scalar_Tensor"),
            *("native_layer_norm", "native_layer_norm_backward", "layer_norm"),
            *("_softmax_backward_data", "avg_pool2d_backward", "gather_backward"),
            *("nll_loss", "nll_loss_nd", "cross_entropy_loss", "scaled_dot_product_attention"),
            *_CONVOLUTIONS,
            *("prelu", "_prelu_kernel", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
            *("kl_div", "poisson_nll_loss", "soft_margin_loss", "hinge_embedding_loss"),
            *("margin_ranking_loss", "cosine_embedding_loss", "triplet_margin_loss"),
            *("native_batch_norm", "batch_norm", "instance_norm", "native_batch_norm_backward"),
            *("native_group_norm", "group_norm", "native_group_norm_backward", "rms_norm"),
            *("_adaptive_avg_pool2d_backward", "pairwise_distance", "cosine_similarity"),
            *("smooth_l1_loss", "huber_loss"),
            *("max_pool2d_with_indices_backward", "masked_select_backward"),
            *("vdot", "addmv", "addbmm", "tensordot", "cross", "linalg_cross", "dist"),
            *("index_copy", "scatter_reduce", "masked_scatter", "nextafter", "logaddexp2"),
        ),
        "same",
    ),
}

_NORM = (*("native_layer_norm", "native_layer_norm_backward", "layer_norm"),)
_REDUCTIONS = (
    *("cumsum", "sum", "mean", "var", "std", "var_mean", "std_mean", "linalg_vector_norm"),
    *("logsumexp", "log_softmax", "trace", "sum_to_size"),
)

# Which elements; see draw._numbers. Without a line: any, sometimes with infinities and NaN.
DOMAINS: Mapping[str, str] = {
    "polygamma digamma lgamma:self": "positive",
    "bernoulli:self p": "unit",
    # The order of equal elements is undefined, unless the sort is stable.
    "sort argsort topk kthvalue:self": "distinct",
    "nll_loss nll_loss_nd cross_entropy_loss l1_loss:self target weight": "finite",
    "scaled_dot_product_attention:query key value attn_mask": "finite",
    **{f"{name}:input": "small" for name in _CONVOLUTIONS},
    "upsample_bilinear2d_backward:grad_output": "finite",
    "binary_cross_entropy:self target": "unit",
    "kl_div poisson_nll_loss:target": "unit",
    "median nanmedian:self": "distinct",
    "vdot tensordot:self other": "finite",
    "addr addmv:vec1 vec2 mat vec": "finite",
    "addbmm:batch1 batch2": "small",
    "nansum nanmean norm dist:self": "finite",
    "trapezoid trapz cumulative_trapezoid:y": "finite",
    # PyTorch's Bessel functions of infinity are NaN.
    "i0 special_i1:self": "finite",
    # PyTorch sorts rows with NaN in no particular order.
    "unique_dim:self": "finite",
    "scatter_reduce:self src": "small",
    "dist:other": "finite",
    "cumprod:self": "small",
    "multinomial:self": "positive",
    "sort.stable argsort.stable:self": "any",
    # Sums of infinities depend on the order of the additions, and some operators subtract infinities.
    **{f"{name}:self": "finite" for name in _REDUCTIONS},
    "native_layer_norm native_layer_norm_backward layer_norm:input weight bias grad_out": "finite",
    "addmm:mat1 mat2": "finite",
    "baddbmm:batch1 batch2": "finite",
    # Quotients of complex numbers by 0 differ in which part is NaN.
    "addcdiv:tensor1": "finite",
    "addcdiv:tensor2": "positive",
    "inner:self other": "finite",
    "mse_loss:self target": "finite",
    # Products that are exact in any order, and within the range of half.
    "prod:self": "small",
    # PyTorch's vectorised bfloat16 gives NaN for infinity.
    "gelu:self": "finite",
}

# Operators whose first tensor is never expanded.
DENSE: frozenset[str] = frozenset({"set"})


def _rows(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for each operator and argument of keys such as "sum mean:dim dtype"."""
    found = {}
    for key, rule in table.items():
        operators, colon, arguments = key.partition(":")
        for operator, argument in itertools.product(operators.split(" "), arguments.split(" ")):
            found[f"{operator}{colon}{argument}"] = rule
    return found


CONSTRAINTS = Constraints(
    *map(_rows, (ARGUMENTS, SHAPES, RANKS, TENSOR_DTYPES, DOMAINS)), dense=DENSE
)
