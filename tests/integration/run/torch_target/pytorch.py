"""Check PyTorch's requirements for custom operators: opcheck of every operator, and compilation without a graph break."""

from __future__ import annotations

import sys

import torch
from body import body
from torch.library import opcheck

torch.ops.load_library(sys.argv[1])
ops = torch.ops.both
# PyTorch's messages name the library, and the entry of the YAML that is registered first.
assert f"registered at {sys.argv[1]}, operators.yaml:" in torch._C._dispatch_dump("both::plus")


def cases():
    """Return every operator with arguments; out= ones also with tensors to write."""
    a, b, v = torch.randn(3, 4), torch.randn(4), torch.randn(5)
    yield ops.plus.default, (a, b), {}
    yield ops.plus.default, (torch.randn(4, 3).t(), torch.arange(12).reshape(3, 4)), {}
    yield ops.plus_.default, (a.clone(), b), {}
    yield ops.plus.out, (a, b), {"out": torch.empty(3, 4)}
    yield ops.tiled.default, (v, 3), {}
    yield ops.tiled.out, (v, 3), {"out": torch.empty(3, 5)}
    yield ops.ends.default, (v,), {}
    yield ops.ends.out, (v,), {"first": torch.empty(()), "last": torch.empty(())}
    yield ops.tripled.default, (v,), {}
    yield ops.shifted.default, (v, torch.randn(1), 2), {}
    yield ops.shifted.out, (v,), {"out": torch.empty(5)}
    yield ops.negate.default, (v,), {}
    yield ops.negate.out, (v,), {"out": torch.empty(5)}
    yield ops.negate_.default, (v.clone(),), {}


def everything(a, b, v):
    """Call all of them in one graph."""
    summed = ops.plus_(a.clone(), b)
    ops.plus(a, b, out=(out := torch.empty_like(a)))
    first, last = ops.ends(v)
    turned = ops.negate_(ops.tiled(v, 3))
    return summed + out, first + last, turned, ops.shifted(v, times=2), ops.negate(v)


def generated() -> None:
    """Check the variants from autogen, which torchgen does not bind in Python."""
    a, out = torch.tensor([1.0, 2.0]), torch.zeros(2)
    assert ops.shifted(a, out=out) is out and out.tolist() == [2, 3]
    assert ops.negate(a).tolist() == [-1, -2] and a.tolist() == [1, 2]
    assert ops.negate(a, out=out) is out and out.tolist() == [-1, -2]


def main() -> None:
    body(ops, torch.tensor)
    generated()
    checked = set()
    for operator, arguments, keywords in cases():
        opcheck(operator, arguments, keywords)
        checked.add(operator._schema.name + "." + operator._schema.overload_name)
    mine = {s for s in map(str, torch._C._dispatch_get_all_op_names()) if s.startswith("both::")}
    # The first have deliberate mistakes, and body() checks their errors. The others are hidden: target torch-stable calls
    # them below Autograd.
    others = {s for s in mine if s.startswith(("both::pick", "both::walk", "both::opgen_"))}
    assert checked == {name if "." in name else f"{name}." for name in mine - others}, mine
    given = torch.randn(3, 4), torch.randn(4), torch.randn(5)
    for dynamic in (False, True):
        compiled = torch.compile(everything, backend="aot_eager", fullgraph=True, dynamic=dynamic)
        torch.testing.assert_close(compiled(*given), everything(*given))
    gradient()


def gradient() -> None:
    """Check that a gradient that nobody wrote a formula for is an error."""
    a = torch.randn(3, requires_grad=True)
    result = ops.plus(a, a)
    assert result.requires_grad
    try:
        result.sum().backward()
    except RuntimeError as error:
        assert "derivative for both::plus is not implemented" in str(error), error
    else:
        raise AssertionError("no error")


main()
