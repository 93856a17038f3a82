"""Compare shapes, strides and dtypes of the symbolic metas with those of real calls on the CPU."""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

import torch
from cases import CALLS, given_outputs, outputs
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
)

# layouts.py LIBRARY CALLS [SEED]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 20262


def number(size: Any) -> int:
    """Return a size or stride, replacing a symbol by its value."""
    return size if isinstance(size, int) else int(size.node.hint)


def layout(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.dtype, [*map(number, tensor.shape)], [*map(number, tensor.stride())]


class Symbols:
    """Makes fake tensors whose dimensions are all symbols; `seen` counts the symbols."""

    def __init__(self) -> None:
        self.env = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.env)
        self.count = 0

    def __call__(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self(each) for each in value]
        if not isinstance(value, torch.Tensor):
            return value
        self.count += 1
        context = StatelessSymbolicContext([DimDynamic.DYNAMIC] * value.dim())
        source = ConstantSource(f"t{self.count}")
        return self.mode.from_tensor(value, source=source, symbolic_context=context)


def on_meta(value: Any) -> Any:
    """Return a tensor with the same layout and no memory."""
    if isinstance(value, list):
        return [on_meta(each) for each in value]
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")


def each_way(rng: random.Random) -> tuple[str, list[Any], list[Any], list[Any]]:
    """Make one call; return the layouts of its results on the CPU, on fake tensors, and on Meta tensors."""
    name, arguments, keywords = rng.choice(CALLS)(rng)
    operator = getattr(torch.ops.symb, name)
    results = outputs(operator(*arguments, **keywords))
    given = {}
    if rng.random() < 0.25:
        given = given_outputs(rng, name, results)
    symbols = Symbols()
    fake_arguments, fake_given = symbols(arguments), {k: symbols(v) for k, v in given.items()}
    meta_arguments, meta_given = on_meta(arguments), {k: on_meta(v) for k, v in given.items()}
    with symbols.mode:
        fake = outputs(operator(*fake_arguments, **keywords, **fake_given))
    meta = outputs(operator(*meta_arguments, **keywords, **meta_given))
    if given:
        results = outputs(operator(*arguments, **keywords, **given))
    if len({t.dtype for t in tensors([*arguments, *given.values(), *results])}) > 1:
        # A Meta tensor has no CPU operand to copy: elements are converted when they are loaded,
        # where the CPU makes a dense copy first.
        meta = [(a.dtype, a.shape) for a in meta]
        assert meta == [(a.dtype, a.shape) for a in results], name
        meta = results
    described = f"{name}{' out' if given else ''} {[*map(describe, [*arguments, *given.values()])]}"
    return described, [*map(layout, results)], [*map(layout, fake)], [*map(layout, meta)]


def tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, list):
        return [tensor for each in value for tensor in tensors(each)]
    return [value] if isinstance(value, torch.Tensor) else []


def describe(value: Any) -> Any:
    return layout(value) if isinstance(value, torch.Tensor) else value


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    seen: Counter[str] = Counter()
    wrong = []
    for n in range(int(sys.argv[2])):
        described, real, fake, meta = each_way(rng)
        seen[described.split(" ")[0]] += 1
        if not real == fake == meta:
            wrong.append(
                f"{n} of seed {SEED}: {described}\n  cpu  {real}\n  fake {fake}\n  meta {meta}"
            )
    print(f"{sum(seen.values())} calls of {len(seen)} operators, {len(wrong)} differ")
    assert not wrong, "\n".join(wrong[:20])
    assert len(seen) == 20, seen


main()
