"""The operators of native_functions.yaml: for each, calls of any size, and a reference in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from checks import Case, given

rand, randn, empty = torch.rand, torch.randn, torch.empty


def ints(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def rms(x: Any, weight: Any, epsilon: float) -> Any:
    return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * weight


def rms_norm(result: Any, x: Any, weight: Any, epsilon: float) -> None:
    result.copy_(rms(x, weight, epsilon))


def fused_add_rms_norm(x: Any, residual: Any, weight: Any, epsilon: float) -> None:
    residual.add_(x)
    x.copy_(rms(residual, weight, epsilon))


def silu_and_mul(result: Any, x: Any) -> None:
    gate, up = x.chunk(2, -1)
    result.copy_(torch.nn.functional.silu(gate) * up)


def rotary_embedding(
    positions: Any, query: Any, key: Any, head_size: int, cos_sin: Any, is_neox: bool
) -> None:
    cos, sin = (part.unsqueeze(1) for part in cos_sin[positions].chunk(2, -1))
    for x in (query, key):
        if x is None:
            continue
        heads = x.view(positions.numel(), -1, head_size)
        half = cos.size(-1)
        if is_neox:
            a, b = heads[..., :half], heads[..., half : 2 * half]
        else:
            a, b = heads[..., : 2 * half : 2], heads[..., 1 : 2 * half : 2]
        one, other = a * cos - b * sin, b * cos + a * sin
        a.copy_(one)
        b.copy_(other)


def rotary(n: int, with_key: bool, is_neox: bool) -> Any:
    positions = torch.arange(n).flip(0)
    return given(
        positions, randn(n, 16), randn(n, 8) if with_key else None, 8, rand(16, 8), is_neox
    )


def reshape_and_cache(
    key: Any, value: Any, keys: Any, values: Any, slots: Any, dtype: str, k: Any, v: Any
) -> None:
    size, x = keys.size(3), keys.size(4)
    for token, slot in enumerate(slots.tolist()):
        if slot >= 0:
            keys[slot // size, :, :, slot % size, :] = key[token].unflatten(-1, (-1, x))
            values[slot // size, :, :, slot % size] = value[token]


def cached(n: int) -> Any:
    slots = torch.arange(n) * 2 + 1
    slots[0] = -1
    caches = torch.zeros(5, 2, 2, 4, 4), torch.zeros(5, 2, 8, 4)
    return given(randn(n, 2, 8), randn(n, 2, 8), *caches, slots, "auto", rand(()), rand(()))


def copy_blocks(keys: Any, values: Any, mapping: Any) -> None:
    for source, target in mapping.tolist():
        for cache in (*keys, *values):
            cache[target] = cache[source]


def topk_softmax(
    weights: Any, indices: Any, sources: Any, gates: Any, renormalize: bool, bias: Any
) -> None:
    shares = gates.softmax(-1)
    chosen = (shares if bias is None else shares + bias).topk(weights.size(1)).indices
    picked = shares.gather(1, chosen)
    weights.copy_(picked / picked.sum(-1, keepdim=True) if renormalize else picked)
    indices.copy_(chosen)
    n, k = weights.shape
    sources.copy_(torch.arange(k) * n + torch.arange(n).unsqueeze(1))


def routed(n: int, renormalize: bool, bias: Any) -> Any:
    tables = torch.zeros(n, 2, dtype=torch.int32), torch.zeros(n, 2, dtype=torch.int32)
    return given(rand(n, 2), *tables, randn(n, 8), renormalize, bias)


def moe_align_block_size(
    ids: Any, experts: int, size: int, tokens: Any, blocks: Any, total: Any, expert_map: Any
) -> None:
    tokens.fill_(ids.numel())
    blocks.fill_(-1)
    at = 0
    for expert in range(experts):
        (mine,) = (ids.flatten() == expert).nonzero(as_tuple=True)
        tokens[at : at + len(mine)] = mine
        end = at + -(-len(mine) // size) * size
        blocks[at // size : end // size] = expert if expert_map is None else expert_map[expert]
        at = end
    total.fill_(at)


def aligned(n: int, expert_map: Any) -> Any:
    ids = torch.randint(0, 4, (n, 2), dtype=torch.int32)
    room = n * 2 + 4 * 4
    made = [torch.zeros(k, dtype=torch.int32) for k in (room, room // 2, 1)]
    return given(ids, 4, 4, *made, expert_map)


def merge_attn_states(out: Any, lse: Any, a: Any, la: Any, b: Any, lb: Any) -> None:
    total = torch.logaddexp(la, lb)
    wa, wb = ((part - total).exp().t().unsqueeze(-1) for part in (la, lb))
    out.copy_(a * wa + b * wb)
    if lse is not None:
        lse.copy_(total)


def merged(n: int, lse: bool) -> Any:
    parts = [x for _ in range(2) for x in (randn(n, 2, 4), randn(2, n))]
    return given(rand(n, 2, 4), rand(2, n) if lse else None, *parts)


def dynamic_scaled_int8_quant(result: Any, x: Any, scale: Any, azp: Any) -> None:
    least, most = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    if azp is None:
        scale.copy_(x.abs().amax(-1, keepdim=True) / 127)
        zero = torch.zeros(())
    else:
        scale.copy_((most - least) / 255)
        zero = (-128 - least / scale).round()
        azp.copy_(zero)
    result.copy_(((x / scale).round() + zero).clamp(-128, 127))


def quantized(n: int, azp: bool) -> Any:
    zero = torch.zeros(n, 1, dtype=torch.int32) if azp else None
    return given(torch.zeros(n, 6, dtype=torch.int8), randn(n, 6), rand(n, 1), zero)


def update_cache(value: Any, cache: Any, start: int) -> Any:
    cache[:, start : start + value.size(1)] = value
    return torch.zeros(1)


def add_softmax_(x: Any, other: Any) -> Any:
    return x.copy_((x + other).softmax(-1))


def int8_vectorwise_quant(x: Any, threshold: float = 0.0) -> Any:
    outliers = x.abs() >= threshold if threshold else torch.zeros_like(x, dtype=torch.bool)
    kept = x.masked_fill(outliers, 0)
    stats = kept.abs().amax(-1)
    codes = (kept * (127 / stats).unsqueeze(-1)).round().to(torch.int8)
    return codes, stats, outliers.any(0).nonzero().flatten() if threshold else None


def dequantize_blockwise(codes: Any, absmax: Any, code: Any, size: int, dtype: Any) -> Any:
    scale = absmax.repeat_interleave(size)[: codes.numel()]
    return (code[codes.long()].flatten() * scale).view_as(codes).to(dtype)


def blocks(n: int, dtype: torch.dtype) -> Any:
    codes = torch.randint(0, 256, (n, 4), dtype=torch.uint8)
    return given(codes, rand(n), torch.linspace(-1, 1, 256), 4, dtype)


def fwd_combine(parts: Any, logs: Any, out: Any = None, dtype: Any = None) -> Any:
    total = logs.logsumexp(0)
    sum = (parts * (logs - total).exp().unsqueeze(-1)).sum(0)
    return sum.to(dtype or parts.dtype) if out is None else out.copy_(sum), total


def nms(boxes: Any, scores: Any, threshold: float) -> Any:
    kept: list[int] = []
    for i in scores.argsort(descending=True, stable=True).tolist():
        if all(overlap(boxes[i], boxes[j]) <= threshold for j in kept):
            kept.append(i)
    return torch.tensor(kept)


def overlap(a: Any, b: Any) -> float:
    w, h = (max(0.0, float(min(a[i + 2], b[i + 2]) - max(a[i], b[i]))) for i in (0, 1))
    areas = [float((x[2] - x[0]) * (x[3] - x[1])) for x in (a, b)]
    return w * h / (sum(areas) - w * h)


def boxes(n: int) -> torch.Tensor:
    corner = rand(n, 2) * 4
    return torch.cat((corner, corner + 1 + rand(n, 2) * 3), 1)


def roi_align(x: Any, rois: Any, scale: float, h: int, w: int, ratio: int, aligned: bool) -> Any:
    result = empty(len(rois), x.size(1), h, w)
    for n, (image, *corners) in enumerate(rois.tolist()):
        x0, y0, x1, y1 = (c * scale - 0.5 * aligned for c in corners)
        width, height = x1 - x0, y1 - y0
        if not aligned:
            width, height = max(width, 1.0), max(height, 1.0)
        gh, gw = (ratio, ratio) if ratio > 0 else (math.ceil(height / h), math.ceil(width / w))
        ys = y0 + (torch.arange(h * gh) + 0.5) * height / (h * gh)
        xs = x0 + (torch.arange(w * gw) + 0.5) * width / (w * gw)
        values = between(between(x[int(image)], ys, 1), xs, 2)
        result[n] = values.unflatten(2, (w, gw)).unflatten(1, (h, gh)).mean((2, 4))
    return result


def between(planes: Any, at: Any, dim: int) -> Any:
    """Interpolate linearly in one dimension; the result is 0 at positions more than one element outside of the input."""
    n = planes.size(dim)
    inside = at.clamp(0, n - 1)
    low = inside.floor().long()
    part = (inside - low).view([-1 if i == dim else 1 for i in range(3)])
    some, others = (planes.index_select(dim, i) for i in (low, (low + 1).clamp(max=n - 1)))
    known = ((at >= -1) & (at <= n)).view(part.shape)
    return (some * (1 - part) + others * part) * known


def regions(n: int, scale: float, ratio: int, aligned: bool) -> Any:
    rois = torch.cat((torch.randint(0, 2, (n, 1)).float(), boxes(n) / scale), 1)
    return given(rand(2, 3, 9, 10), rois, scale, 2, 3, ratio, aligned)


def lfilter(x: Any, a: Any, b: Any) -> Any:
    y = torch.zeros_like(x)
    for t in range(x.size(2)):
        ahead = sum(b[:, i] * x[..., t - i] for i in range(b.size(1)) if i <= t)
        back = sum(a[:, i] * y[..., t - i] for i in range(1, a.size(1)) if i <= t)
        y[..., t] = (ahead - back) / a[:, 0]
    return y


def segment_matmul(x: Any, ptr: Any, weights: Any) -> Any:
    ends = ptr.tolist()
    return torch.cat([x[a:b] @ w for a, b, w in zip(ends, ends[1:], weights)])


def scatter_sum(src: Any, index: Any, dim: int, out: Any, size: Any) -> Any:
    shape = list(src.shape)
    shape[dim] = int(index.max()) + 1 if size is None else size
    start = torch.zeros(shape) if out is None else out.clone()
    return start.index_add(dim, index, src)


def jagged_to_padded_dense(values: Any, offsets: Any, lengths: Any, padding: float = 0) -> Any:
    ends = offsets[0].tolist()
    result = torch.full((len(ends) - 1, lengths[0], values.size(1)), padding)
    for row, begin, end in zip(result, ends, ends[1:]):
        n = min(end - begin, lengths[0])
        row[:n] = values[begin : begin + n]
    return result


def jagged(n: int) -> Any:
    return given(randn(3 * n, 4), [torch.cat((torch.arange(n) * 3, ints(3 * n)))], [2], -1.0)


def into(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function with an argument `out`."""

    def written(*arguments: Any, out: Any, **named: Any) -> Any:
        return out.copy_(call(*arguments, **named))

    return written


def gelu(x: Any, approximate: str = "none") -> Any:
    return torch.nn.functional.gelu(x, approximate=approximate)


def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return torch.native_layer_norm(x, shape, weight, bias, eps)


def layer_norm_out(*arguments: Any, out0: Any, out1: Any, out2: Any) -> Any:
    return tuple(o.copy_(x) for o, x in zip((out0, out1, out2), layer_norm(*arguments)))


def cross_entropy(logits: Any, labels: Any, smoothing: float = 0.0) -> Any:
    losses = torch.nn.functional.cross_entropy(
        logits, labels, reduction="none", label_smoothing=smoothing
    )
    return losses, logits.logsumexp(-1)


def cross_entropy_out(*arguments: Any, losses: Any, lse: Any) -> Any:
    one, other = cross_entropy(*arguments)
    return losses.copy_(one), lse.copy_(other)


def foreach_mul_(xs: Any, scalar: Any) -> None:
    for x in xs:
        x.mul_(scalar)


def classes(n: int) -> torch.Tensor:
    return torch.randint(0, 7, (n,))


DATA = "its results' sizes depend on data"
CASES = [
    Case("rms_norm", lambda n: given(rand(n, 8), randn(n, 8), rand(8), 1e-5), rms_norm),
    Case(
        "fused_add_rms_norm",
        lambda n: given(randn(n, 8), randn(n, 8), rand(8), 1e-5),
        fused_add_rms_norm,
    ),
    Case("silu_and_mul", lambda n: given(rand(n, 4), randn(n, 8)), silu_and_mul),
    Case("rotary_embedding", lambda n: rotary(n, True, True), rotary_embedding),
    Case("rotary_embedding without key", lambda n: rotary(n, False, False), rotary_embedding),
    Case("reshape_and_cache", cached, reshape_and_cache),
    Case(
        "copy_blocks",
        lambda n: given([rand(n, 2), rand(n, 3)], [rand(n, 2)], torch.tensor([[0, 1], [2, 0]])),
        copy_blocks,
    ),
    Case("topk_softmax", lambda n: routed(n, True, None), topk_softmax),
    Case("topk_softmax with bias", lambda n: routed(n, False, rand(8)), topk_softmax),
    Case("moe_align_block_size", lambda n: aligned(n, None), moe_align_block_size),
    Case(
        "moe_align_block_size with map",
        lambda n: aligned(n, torch.tensor([2, -1, 0, 1], dtype=torch.int32)),
        moe_align_block_size,
    ),
    Case("merge_attn_states", lambda n: merged(n, True), merge_attn_states),
    Case("merge_attn_states without lse", lambda n: merged(n, False), merge_attn_states),
    Case("dynamic_scaled_int8_quant", lambda n: quantized(n, False), dynamic_scaled_int8_quant),
    Case(
        "dynamic_scaled_int8_quant with azp",
        lambda n: quantized(n, True),
        dynamic_scaled_int8_quant,
    ),
    Case(
        "permute_cols",
        lambda n: given(randn(n, 6), torch.arange(6, dtype=torch.int32).flip(0)),
        lambda x, order: x[:, order.long()],
    ),
    Case("weak_ref_tensor", lambda n: given(randn(n, 3)), lambda x: x.view(x.shape)),
    Case(
        "update_cache",
        lambda n: given(randn(2, n, 3), torch.zeros(2, 12, 3), 2),
        update_cache,
    ),
    Case("add_softmax_", lambda n: given(randn(2, n, 5), randn(n, 5)), add_softmax_),
    Case("int8_vectorwise_quant", lambda n: given(randn(n, 6)), int8_vectorwise_quant),
    Case(
        "int8_vectorwise_quant with threshold",
        lambda n: given(randn(n, 6), 1.0),
        int8_vectorwise_quant,
        unknown=DATA,
    ),
    Case("dequantize_blockwise", lambda n: blocks(n, torch.float16), dequantize_blockwise),
    Case(
        "fwd_combine",
        lambda n: given(randn(3, n, 2, 4), randn(3, n, 2), rand(n, 2, 4)),
        fwd_combine,
    ),
    Case(
        "fwd_combine without out",
        lambda n: given(randn(3, n, 2, 4), randn(3, n, 2), None, torch.bfloat16),
        fwd_combine,
    ),
    Case("nms", lambda n: given(boxes(4 * n), rand(4 * n), 0.3), nms, unknown=DATA),
    Case("roi_align", lambda n: regions(n, 0.5, 2, True), roi_align),
    Case("roi_align adaptive", lambda n: regions(n, 1.0, -1, False), roi_align),
    Case(
        "_lfilter",
        lambda n: given(randn(2, 3, 4 * n), 1 + rand(3, 3) / 4, randn(3, 3)),
        lfilter,
    ),
    Case(
        "segment_matmul",
        lambda n: given(randn(n + 2, 4), ints(0, 2, n, n + 2), randn(3, 4, 5)),
        segment_matmul,
    ),
    Case(
        "scatter_sum",
        lambda n: given(randn(n, 4), torch.arange(n) % 3, 0, None, 6),
        scatter_sum,
    ),
    Case(
        "scatter_sum without size",
        lambda n: given(randn(n, 4), torch.arange(n) // 2, 0, None, None),
        scatter_sum,
        unknown=DATA,
    ),
    Case("jagged_to_padded_dense", jagged, jagged_to_padded_dense),
    Case("gelu", lambda n: given(randn(n, 4)), gelu),
    Case(
        "gelu_",
        lambda n: given(randn(n, 4), approximate="tanh"),
        lambda x, **k: x.copy_(gelu(x, **k)),
    ),
    Case("gelu.out", lambda n: given(randn(n, 4), out=rand(n, 4)), into(gelu)),
    Case(
        "layer_norm",
        lambda n: given(randn(n, 2, 5), [2, 5], rand(2, 5), rand(2, 5), 1e-5),
        layer_norm,
    ),
    Case(
        "layer_norm without weight", lambda n: given(randn(n, 5), [5], None, None, 1e-5), layer_norm
    ),
    Case(
        "layer_norm.out",
        lambda n: given(
            randn(n, 5), [5], rand(5), None, 1e-5, out0=rand(n, 5), out1=rand(n, 1), out2=rand(n, 1)
        ),
        layer_norm_out,
    ),
    Case("cross_entropy", lambda n: given(randn(n, 7), classes(n)), cross_entropy),
    Case("cross_entropy smooth", lambda n: given(randn(n, 7), classes(n), 0.1), cross_entropy),
    Case(
        "cross_entropy.out",
        lambda n: given(randn(n, 7), classes(n), losses=rand(n), lse=rand(n)),
        cross_entropy_out,
    ),
    Case(
        "foreach_norm",
        lambda n: given([randn(n), randn(n, 2)]),
        lambda xs: [x.norm() for x in xs],
    ),
    Case("foreach_mul_", lambda n: given([randn(n), randn(n, 2)], 3.0), foreach_mul_),
]


def register_fakes(namespace: str) -> None:
    """Register Python fakes for results whose size depends on data."""
    register = torch.library.register_fake

    @register(f"{namespace}::nms")
    def _nms(boxes: Any, scores: Any, threshold: float) -> Any:
        return boxes.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.long)

    @register(f"{namespace}::scatter_sum")
    def _scatter_sum(src: Any, index: Any, dim: int, out: Any, size: Any) -> Any:
        shape = list(src.shape)
        shape[dim] = torch.library.get_ctx().new_dynamic_size() if size is None else size
        return src.new_empty(shape)

    @register(f"{namespace}::int8_vectorwise_quant")
    def _int8_vectorwise_quant(x: Any, threshold: float = 0.0) -> Any:
        columns = None
        if threshold:
            columns = x.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.long)
        return x.new_empty(x.shape, dtype=torch.int8), x.new_empty(x.shape[0]), columns


def register_fakes_by_hand(namespace: str) -> None:
    """Register what an expert registers in addition to by_hand.cpp."""

    def nothing(*_: Any, **__: Any) -> None: ...

    def first(x: Any, *_: Any, **__: Any) -> Any:
        return x

    def out(*_: Any, **named: Any) -> Any:
        written = [x for x in named.values() if isinstance(x, torch.Tensor)]
        return written[0] if len(written) == 1 else tuple(written)

    def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        kept = [*x.shape[: x.dim() - len(shape)], *(1 for _ in shape)]
        return torch.empty_like(x), x.new_empty(kept), x.new_empty(kept)

    def cross_entropy(logits: Any, labels: Any, smoothing: float = 0.0) -> Any:
        return logits.new_empty(logits.shape[:1]), logits.new_empty(logits.shape[:1])

    names = [case.name.split(" ")[0] for case in CASES]
    fakes = {
        "gelu": lambda x, approximate="none": torch.empty_like(x),
        "layer_norm": layer_norm,
        "cross_entropy": cross_entropy,
        "add_softmax_": first,
        "gelu_": first,
        **{name: out for name in names if name.endswith(".out")},
    }
    for name in names:
        operator = Case(name, lambda n: given()).operator(namespace)
        if not operator._schema.returns:
            fakes[name] = nothing
    for name, body in fakes.items():
        torch.library.register_fake(f"{namespace}::{name}", body)
