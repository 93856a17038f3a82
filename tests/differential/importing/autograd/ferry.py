"""Print what is observable of the operators of ferry.cpp under autograd, vmap and the tracers of torch.compile."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import FakeTensorMode
from torch.func import grad, jvp, vmap

torch.ops.load_library(sys.argv[1])
ops = torch.ops.ferry
X = torch.arange(1.0, 7.0).view(2, 3)


def said(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        node = type(value.grad_fn).__name__
        what = f"{value.tolist()}:{value.requires_grad}:{value.is_leaf}:{node}"
        return f"{what}:{value._is_view()}:{value._version}:{said(value.grad) if value.is_leaf else ''}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(said, value))})"
    return repr(value)


def show(name: str, call: Callable[[], Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            print(name, said(call()))
        except Exception as error:
            # The place of a registration is that of the block by hand, or of the YAML.
            words = re.sub(r"registered at .*:\d+", "registered", str(error).split("\n")[0])
            print(name, type(error).__name__, words)
    for warning in caught:
        if "ferry::" in str(warning.message):
            print("   ", str(warning.message).split("\n")[0][:120])


def leaf() -> torch.Tensor:
    return X.clone().requires_grad_()


def of_leaf(f: Callable[[torch.Tensor], Any]) -> Callable[[], Any]:
    """Call `f` with a tensor that requires a gradient, and compute it."""

    def call() -> Any:
        x = leaf()
        result = f(x)
        some = [result] if isinstance(result, torch.Tensor) else list(result or [])
        sum((one * 2).sum() for one in some).backward()
        return result, x

    return call


def written(f: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """Call `f` with a tensor that was computed and then saved, and return both."""

    def call(x: torch.Tensor) -> Any:
        y = x * 1
        kept = y * y
        f(y)
        return y, kept

    return call


FUNCTIONAL: dict[str, Callable[[torch.Tensor], Any]] = {
    "cube": ops.cube,
    "cube_and_sum": lambda x: ops.cube_and_sum(x, x + 1),
    "halved": ops.halved,
    "doubled": ops.doubled,
    "raw": ops.raw,
    "first": ops.first,
    "scaled_int": lambda x: ops.scaled_int(x, 3),
    "scaled_float": lambda x: ops.scaled_float(x, 3.0),
    "scaled_bool": lambda x: ops.scaled_bool(x, True),
}
WRITING: dict[str, Callable[[torch.Tensor], Any]] = {
    "cube_": ops.cube_,
    "add_out": lambda y: ops.add_out(X, X, y),
    "fill": lambda y: ops.fill(y, 2.0),
    "add_": lambda y: ops.add_(y, X),
    "raw_": ops.raw_,
}
for name, f in FUNCTIONAL.items():
    show(name, lambda f=f: f(X))
    show(f"{name}, gradient", of_leaf(f))
    show(f"{name}, gradient in no_grad", torch.no_grad()(lambda f=f: f(leaf())))
    show(f"{name}, two gradients", of_leaf(lambda x, f=f: f(f(x)[0])))
    if name != "first":  # PyTorch refuses views
        show(f"{name}, vmap", lambda f=f: vmap(f)(X))
        show(f"{name}, vmap, gradient", of_leaf(vmap(f)))
        show(f"{name}, vmap of vmap", lambda f=f: vmap(vmap(f))(X))
for name in ("cube", "halved", "doubled", "raw"):
    f = FUNCTIONAL[name]
    show(f"{name}, grad", lambda f=f: grad(lambda x: f(x).sum())(X))
    show(f"{name}, vmap of grad", lambda f=f: vmap(grad(lambda x: f(x).sum()))(X))
    show(f"{name}, jvp", lambda f=f: jvp(f, (X,), (X,)))
show("cube_all", lambda: ops.cube_all([X, X]))
show("cube_all, gradient", of_leaf(lambda x: ops.cube_all([x, x])))
show("count", lambda: ops.count(leaf()))
for name, f in WRITING.items():
    show(name, lambda f=f: written(f)(X))
    show(f"{name} a leaf", lambda f=f: f(leaf()))
    show(f"{name} a leaf in no_grad", torch.no_grad()(lambda f=f: f(leaf())))
    show(f"{name}, gradient", of_leaf(lambda x, f=f: written(f)(x)[0]))
    show(f"{name}, gradient of what was saved", of_leaf(lambda x, f=f: written(f)(x)[1]))
    show(f"{name} a view", of_leaf(lambda x, f=f: written(lambda y: f(y[:]))(x)[0]))
filled = torch.empty(2, 3)
show("add_out, read gradient", of_leaf(lambda x: (ops.add_out(x, x, filled), x * filled)[1]))
for name in ("fill", "add_out"):
    compiled = torch.compile(written(WRITING[name]), backend="aot_eager", fullgraph=True)
    show(f"{name}, compiled", lambda compiled=compiled: compiled(X))


@torch.jit.script
def sum_in_torchscript(x: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    torch.ops.ferry.add_into(out, x)
    torch.ops.ferry.pure(x)
    return out


for _ in range(3):  # TorchScript optimises what it has called before
    show("add_into, TorchScript", lambda: sum_in_torchscript(X))
print(sum_in_torchscript.graph_for(X).str().count("ferry::"))
for name in sorted(dir(ops)):
    overload = getattr(getattr(ops, name), "default", None)
    if overload is not None:
        # opgen also decomposes some operators that write into such that can be traced.
        keys = ("CPU", "Autograd", "AutogradCPU", "ADInplaceOrView")
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        print(overload._schema, overload.tags, [key for key in keys if has(f"ferry::{name}", key)])
        print(re.findall("alias analysis kind: .*", torch._C._dispatch_dump(f"ferry::{name}")))


def faked() -> Any:
    with FakeTensorMode() as mode:
        return tuple(ops.raw(mode.from_tensor(X)).shape)


show("raw without a fake", faked)
torch.library.register_fake("ferry::raw", lambda x: x.new_empty(x.shape))
show("raw, a fake of another module", faked)
importlib.import_module("ferry_fakes")
show("raw, a fake of the library's module", faked)
print(
    [torch._C._dispatch_pystub(f"ferry::{name}", "") for name in ("raw", "add_into", "scaled_int")]
)
