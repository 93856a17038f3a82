"""Try the gradients of every operator of derivatives.yaml in each way that PyTorch offers: `checks.py LIBRARY [COLUMN...]`.

Prints one line for each failure, and finally how many checks passed.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint

torch.ops.load_library(sys.argv[1])
ops: Any = torch.ops.derived


def numbers(*sizes: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    made = torch.Generator().manual_seed(seed + sum(sizes))
    return (torch.rand(sizes, generator=made, dtype=dtype) + 0.5).requires_grad_()


@dataclass(frozen=True)
class Case:
    """A function of tensors that require gradients, and what it computes in ATen's own operators."""

    name: str
    call: Callable[..., Any]
    same: Callable[..., Any]
    inputs: tuple[Tensor, ...]
    forward: bool = True
    batches: bool = True
    compiles: bool = True

    def again(self) -> tuple[Tensor, ...]:
        return tuple(x.detach().clone().requires_grad_() for x in self.inputs)


def in_place(operator: Any) -> Callable[..., Tensor]:
    """Apply the in-place variant to a copy: leaves cannot be written."""
    return lambda self, *more: operator(self * 1, *more)


def changed(write: Callable[[Tensor], Any]) -> Callable[..., Tensor]:
    """Write a view of a copy, and return the whole copy."""

    def call(self: Tensor, *more: Tensor) -> Tensor:
        whole = self * 1
        write(whole[1:], *more)
        return whole * whole

    return call


def listed(x: Tensor, y: Tensor) -> Tensor:
    xs = [x * 1, y * 1]
    ops._foreach_scale_(xs, 3.0)
    return xs[0].sum() + (xs[1] * xs[1]).sum()


INDEX = torch.tensor([0, 2, 2])
C = torch.complex128
a, b, m = numbers(3), numbers(3, seed=1), numbers(3, 2)
CASES = (
    Case("cube", ops.cube, lambda x: x**3, (m,)),
    Case("cube_", in_place(ops.cube_), lambda x: x**3, (m,)),
    Case(
        "cube_ of a view", changed(ops.cube_), lambda x: torch.cat([x[:1], x[1:] ** 3]) ** 2, (m,)
    ),
    Case("cube complex", ops.cube, lambda x: x**3, (numbers(3, dtype=C),)),
    Case("grow", ops.grow, torch.exp, (m,)),
    Case("grow_", in_place(ops.grow_), torch.exp, (m,)),
    Case(
        "grow_ of a view", changed(ops.grow_), lambda x: torch.cat([x[:1], x[1:].exp()]) ** 2, (m,)
    ),
    Case("mul", ops.mul, torch.mul, (a, b)),
    Case("mul of itself", lambda x: ops.mul(x, x), lambda x: x * x, (a,)),
    Case("mul broadcasts", ops.mul, torch.mul, (numbers(3, 1), numbers(2))),
    Case("mul real complex", ops.mul, torch.mul, (a, numbers(3, dtype=C))),
    Case("mul by a constant", lambda x: ops.mul(x, INDEX), lambda x: x * INDEX, (a,)),
    Case("mul_", in_place(ops.mul_), torch.mul, (a, b)),
    Case("polar", ops.polar, lambda r, t: (r * t.cos(), r * t.sin()), (a, b)),
    Case("polar x", lambda r, t: ops.polar(r, t)[0], lambda r, t: r * t.cos(), (a, b)),
    Case(
        "weigh",
        lambda x, y, w: ops.weigh([x, y], w),
        lambda x, y, w: (x + y) * w,
        (a, b, numbers(3, seed=2)),
    ),
    Case("powers", lambda x: ops.powers(x, 3), lambda x: [x, x**2, x**3], (a,)),
    Case("one of powers", lambda x: ops.powers(x, 3)[1], lambda x: x**2, (a,)),
    Case("affine", ops.affine, lambda x, w, b: x * w + b, (a, b, numbers(3, seed=2))),
    Case("affine without weight", lambda x, b: ops.affine(x, None, b), lambda x, b: x + b, (a, b)),
    Case("affine alone", ops.affine, lambda x: x.clone(), (a,)),
    Case(
        "stretch",
        lambda x: ops.stretch(x, [x.size(0), 4]),
        lambda x: x.expand(-1, 4).clone(),
        (numbers(3, 1),),
    ),
    Case("from_row", lambda x: ops.from_row(x, 1), lambda x: x[1:], (m,), batches=False),
    Case(
        "_foreach_scale",
        lambda x, y: ops._foreach_scale([x, y], 3.0),
        lambda x, y: [x * 3.0, y * 3.0],
        (a, m),
    ),
    Case("_foreach_scale_", listed, lambda x, y: x.sum() * 3 + (y * 3 * y * 3).sum(), (a, m)),
    Case("add_to", lambda x, y: ops.add_to(x, y * 1), torch.add, (a, b), forward=False),
    Case("count", lambda x: ops.count(x, torch.zeros(())), lambda x: x * 2, (a,), batches=False),
    Case("pick", lambda x: ops.pick(x, INDEX), lambda x: x[INDEX], (m,)),
    Case("largest", lambda x: ops.largest(x, 0)[0], lambda x: x.max(0).values, (m,)),
    Case("total", ops.total, torch.sum, (m,)),
    Case("scale_if", lambda x: ops.scale_if(x, 3.0, True), lambda x: x * 3.0, (a,)),
    Case("backward_only", ops.backward_only, lambda x: x * 5, (a,), forward=False),
)


def number_of(results: Any) -> Tensor:
    """Return one number whose gradient depends on every result."""
    each = [results] if isinstance(results, Tensor) else results
    total = sum(((i + 1) * (r * r.conj()).real).sum() for i, r in enumerate(each))
    assert isinstance(total, Tensor)
    return total


def gradients(call: Callable[..., Any], inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(number_of(call(*inputs)), inputs)


def close(one: Any, other: Any) -> None:
    torch.testing.assert_close(one, other)


def check_values(case: Case) -> None:
    result, expected = case.call(*case.inputs), case.same(*case.inputs)
    close(
        list(result) if isinstance(result, tuple) else result,
        list(expected) if isinstance(expected, tuple) else expected,
    )
    close(gradients(case.call, case.inputs), gradients(case.same, case.inputs))


def check_gradcheck(case: Case) -> None:
    gradcheck(
        case.call,
        case.inputs,
        check_forward_ad=case.forward,
        check_batched_grad=case.batches,
        check_batched_forward_grad=case.forward and case.batches,
    )


def check_gradgradcheck(case: Case) -> None:
    gradgradcheck(case.call, case.inputs, check_fwd_over_rev=case.forward)


def real(case: Case) -> bool:
    return not any(x.is_complex() for x in case.inputs)


def check_func(case: Case) -> None:
    plain = tuple(x.detach() for x in case.inputs)
    every = tuple(range(len(plain)))

    def ours(*xs: Tensor) -> Tensor:
        return number_of(case.call(*xs))

    def theirs(*xs: Tensor) -> Tensor:
        return number_of(case.same(*xs))

    close(torch.func.grad(ours, every)(*plain), torch.func.grad(theirs, every)(*plain))
    close(
        torch.func.vjp(ours, *plain)[1](torch.ones((), dtype=torch.float64)),
        torch.func.vjp(theirs, *plain)[1](torch.ones((), dtype=torch.float64)),
    )
    if not case.forward:
        return
    tangents = tuple(torch.ones_like(x) for x in plain)
    close(torch.func.jvp(ours, plain, tangents)[1], torch.func.jvp(theirs, plain, tangents)[1])
    close(
        torch.func.jvp(torch.func.grad(ours), plain, tangents),
        torch.func.jvp(torch.func.grad(theirs), plain, tangents),
    )
    if real(case):
        close(torch.func.hessian(ours)(*plain), torch.func.hessian(theirs)(*plain))


def check_vmap(case: Case) -> None:
    if not case.batches:
        return
    plain = tuple(torch.stack([x.detach(), x.detach() * 2]) for x in case.inputs)

    def ours(*xs: Tensor) -> Tensor:
        return number_of(case.call(*xs))

    def theirs(*xs: Tensor) -> Tensor:
        return number_of(case.same(*xs))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(
            torch.vmap(torch.func.grad(ours))(*plain), torch.vmap(torch.func.grad(theirs))(*plain)
        )


def compiled(case: Case, backend: str) -> None:
    torch._dynamo.reset()
    inputs = case.again()
    call = torch.compile(case.call, fullgraph=True, dynamic=True, backend=backend)
    close(gradients(call, inputs), gradients(case.same, case.inputs))


def check_aot(case: Case) -> None:
    if case.compiles and real(case):
        compiled(case, "aot_eager")


def check_compiled_autograd(case: Case) -> None:
    if not case.compiles or not real(case):
        return
    torch._dynamo.reset()
    inputs = case.again()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager", dynamic=True)):
        number_of(case.call(*inputs)).backward()
    close(tuple(x.grad for x in inputs), gradients(case.same, case.inputs))


def check_saved(case: Case) -> None:
    """Check graphs that are kept, used twice, released, recomputed, or moved by hooks."""
    inputs = case.again()
    total = number_of(case.call(*inputs))
    first = torch.autograd.grad(total, inputs, retain_graph=True)
    close(torch.autograd.grad(total, inputs), first)
    kept = case.again()
    number_of(checkpoint(case.call, *kept, use_reentrant=False)).backward()
    close(tuple(x.grad for x in kept), first)
    with torch.autograd.graph.save_on_cpu():
        close(gradients(case.call, case.again()), first)
    with torch.autograd.set_detect_anomaly(True):
        close(gradients(case.call, case.again()), first)


def check_no_grad(case: Case) -> None:
    with torch.no_grad():
        results = case.call(*(x.detach() for x in case.inputs))
        assert not any(
            r.requires_grad for r in ([results] if isinstance(results, Tensor) else results)
        )
    with torch.inference_mode():
        case.call(*(x.detach().clone() for x in case.inputs))


COLUMNS: dict[str, Callable[[Case], None]] = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}


def failures(columns: list[str]) -> Iterator[str]:
    for case in CASES:
        for column in columns:
            try:
                COLUMNS[column](case)
            except Exception as error:
                if "-v" in sys.argv:
                    traceback.print_exc()
                text = " ".join(f"{type(error).__name__}: {error}".split())
                yield f"{case.name}, {column}: {text[:300]}"


def main() -> int:
    columns = [name for name in sys.argv[2:] if name in COLUMNS] or list(COLUMNS)
    found = list(failures(columns))
    print("\n".join(found))
    print(f"{len(CASES) * len(columns) - len(found)} of {len(CASES) * len(columns)} checks passed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
