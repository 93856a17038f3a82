"""Call operators of a library for torch-stable without its Python package: gradients and tangents are errors, never zero.

Argument: the library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    ops = torch.ops.graded
    x = torch.ones(4, dtype=torch.float64)
    # Each with and without a gradient of the first argument.
    calls: dict[str, Callable[[torch.Tensor], Any]] = {
        "plain": ops.plain,
        "plain_": ops.plain_,
        "plain_into": lambda t: ops.plain_into(t, torch.zeros_like(x)),
        "bump": ops.bump,
        "bump.out": lambda t: ops.bump.out(t, out=torch.empty_like(x)),
        "sin_cos": ops.sin_cos,
        "every_other": ops.every_other,
        "given": lambda t: ops.given([None, t]),
        "gaps": ops.gaps,
        "nested": ops.nested,
        "multiply_all_": lambda t: ops.multiply_all_([x.clone(), t], [x, x]),
    }
    for name, call in calls.items():
        call(x.clone())
        for given in (x.clone().requires_grad_(), x.clone().requires_grad_() * 1):
            with torch.no_grad():
                call(given.detach().clone())
            try:
                call(given)
            except RuntimeError as error:
                assert f"graded::{name}: an argument requires a gradient" in str(error), error
            else:
                raise AssertionError(f"{name}: no error")
    with forward_ad.dual_level():
        for name, call in calls.items():
            call(x.clone())
            try:
                call(forward_ad.make_dual(x.clone(), torch.ones_like(x)))
            except RuntimeError as error:
                assert f"Trying to use forward AD with graded::{name} that" in str(error), error
            else:
                raise AssertionError(f"{name}: no error for a tangent")
    # PyTorch refuses to write a view that nobody recorded, where the write has a gradient.
    base = torch.zeros(4, dtype=torch.float64)
    try:
        ops.every_other(base).add_(torch.ones(2, dtype=torch.float64, requires_grad=True))
    except RuntimeError as error:
        assert "A view was created in no_grad mode" in str(error), error
    else:
        raise AssertionError("a write to a view: no error")
    # Without fakes, nothing is traced: an exception, and the process goes on.
    untraced = {
        "plain": (ops.plain, "graded::plain: "),
        "gaps": (ops.gaps, "import the Python package of the library"),
        "bump": (ops.bump, "the 'graded' Python module"),
        "bump_": (lambda t: ops.bump_(t * 1), "Cannot access data pointer"),
        "every_other": (ops.every_other, "graded::every_other"),
    }
    for name, (call, words) in untraced.items():
        try:
            torch.compile(call, backend="aot_eager", fullgraph=True)(x)
        except Exception as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"{name}: no error when it is compiled")
    written = x.clone().requires_grad_()
    try:
        ops.bump.out(x, out=written)
    except RuntimeError as error:
        assert "graded::bump.out: an argument requires a gradient" in str(error), error
    else:
        raise AssertionError("out= with a tensor that requires a gradient: no error")
    assert written.tolist() == x.tolist()


if __name__ == "__main__":
    main()
    print("ok")
