"""Print what is observable of the operators of amber.cpp: values, errors, tracing, transforms, autograd, registry."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import FakeTensorMode

torch.ops.load_library(sys.argv[1])
ops = torch.ops.amber
X = torch.arange(4.0)


def said(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        known = value.device.type == "cpu" and type(value) is torch.Tensor
        what = value.tolist() if known else list(value.shape)
        return f"{what}:{value.dtype}:{value.device.type}:{value.requires_grad}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(said, value))})"
    return repr(value)


def show(name: str, call: Callable[..., Any], *given: Any) -> None:
    try:
        print(name, said(call(*given)))
    except Exception as error:
        print(name, type(error).__name__, str(error).split("\n")[0][:60])


CALLS: dict[str, Callable[[Any], Any]] = {
    "scale": lambda x: ops.scale(x, 3),
    "by_value": lambda x: ops.by_value(x, True, by=0.25),
    "by_value default": lambda x: ops.by_value(x, False),
    "maybe": lambda x: ops.maybe(x),
    "maybe given": lambda x: ops.maybe(x, x, 2**40 + 1, 0.25),
    "words": lambda x: ops.words(x, "köln"),
    "throws": lambda x: ops.words(x, "throw"),
    "all": lambda x: ops.all([x, x + 1], [2, 3]),
    "last": lambda x: ops.last(x),
    "last given": lambda x: ops.last(x, [1, 7]),
    "two": lambda x: ops.two(x),
    "count": lambda x: ops.count(x),
    "is_flat": lambda x: ops.is_flat(x),
    "half_of": lambda x: ops.half_of(3.0),
    "dtype_code": lambda x: ops.dtype_code(x, torch.bfloat16),
    "hidden": lambda x: ops.hidden(x, [x], [5, 6]),
    "hidden given": lambda x: ops.hidden(x, [], [5], torch.float64),
    "times_int": lambda x: ops.times_int(x, 3),
    "times_float": lambda x: ops.times_float(x, 0.5),
    "turned": lambda x: ops.turned(x.view(2, 2)),
    "a wrong argument": lambda x: ops.scale(x, "3"),
}
for name, call in CALLS.items():
    show(name, call, X)
    show(f"{name} on meta", call, X.to("meta"))
    with FakeTensorMode() as mode:
        show(f"{name} as a fake", call, mode.from_tensor(X))
    show(f"{name} with a gradient", call, X.clone().requires_grad_())

written = torch.ones(3)
ops.fill(written, 2.5)
ops.refill(written[:1])
print("fill", said(written), written._version)
for backend in ("eager", "aot_eager"):
    compiled = torch.compile(lambda x: ops.scale(x, 3) + 1, backend=backend, fullgraph=True)
    show(f"compiled by {backend}", compiled, X)
show("batched", torch.vmap(lambda x: ops.scale(x, 3)), X.view(2, 2))
leaf = X.clone().requires_grad_()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = ops.scale(leaf, 3)
    show("backward", lambda: result.sum().backward())
print(len(caught), said(leaf.grad))
for name in sorted(dir(ops)):
    overload = getattr(getattr(ops, name), "default", None)
    if overload is None:
        continue
    schema = overload._schema
    # opgen also knows what an operator that only writes does without data.
    keys = ("CPU", "Autograd", "AutogradCPU", "CompositeImplicitAutograd", "ADInplaceOrView")
    has = [k for k in keys if torch._C._dispatch_has_kernel_for_dispatch_key(f"amber::{name}", k)]
    print(schema, schema.is_mutable, overload.tags, has)
