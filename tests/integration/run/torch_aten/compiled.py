"""Run operators of the slice in torch.compile, torch.export, functionalize and vmap, and compare them with ATen's:

    compiled.py LIBRARY [BACKEND...]

Each program is run with ATen's operators without changes, then with those of the slice: without changes,
functionalized, and compiled without a graph break. Results, arguments after the call, and shared memory must be the
same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.func import functionalize, vmap

Program = Callable[..., Any]


# ---- views: writes to them, or to their base ----


def diagonal(o, x):
    v = o.diagonal.default(x)
    v.add_(100.0)
    return x * 1, v


def diagonal_after(o, x):
    v = o.diagonal.default(x)
    x.mul_(2.0)
    return v + 1


def select(o, x):
    o.add_.Tensor(o.select.int(x, 1, 1), torch.ones(3))
    return x + 0


def views_of_views(o, x):
    v = o.select.int(o.diagonal.default(x), 0, 2)
    v.zero_()
    return x.clone(), v


def several_views(o, x):
    first, second, third = o.unbind.int(x, 1)
    second.add_(first)
    o.zero_.default(third)
    return x.clone(), first * 2


def parts(o, x):
    a, b = o.split_with_sizes.default(x, [1, 2], 0)
    o.mul_.Tensor(b, a)
    return x.sum(), b.clone()


def reshaped_in_place(o, x):
    y = x + 1
    o.unsqueeze_.default(y, 0)
    y.add_(1.0)
    return y


def unsqueezed(o, x):
    y = x * 2
    o.unsqueeze.default(y, 1).mul_(3.0)
    return y


def expanded(o, x):
    y = x[:1] + 0
    v = o.expand.default(y, [3, 3])
    y.add_(1.0)
    return v.clone()


def a_view_of_an_argument(o, x):
    return o.diagonal.default(x)


def views_of_an_argument(o, x):
    return o.unbind.int(x)


# ---- writes ----


def in_place(o, x):
    y = x.clone()
    o.add_.Tensor(y, x, alpha=2)
    o.sqrt_.default(y.abs_())
    o.zero_.default(y[0])
    return y


def an_argument_in_place(o, x):
    o.mul_.Tensor(x, x)
    return x.sum()


def outs(o, x):
    # The outputs have the right shape, because dynamo does not trace others.
    out, values, indices = torch.empty(3, 3), torch.zeros(3), torch.zeros(3, dtype=torch.long)
    o.mm.out(x, x, out=out)
    o.max.dim_max(x, 1, max=values, max_values=indices)
    o.cat.out([x, out], 1, out=(joined := torch.empty(3, 6)))
    return out, values, indices, joined


def outs_that_are_views(o, x):
    y = torch.zeros(3, 3)
    o.sum.IntList_out(x, [0], out=y[1])
    o.cumsum.out(x[0], 0, out=y[2])
    return y


def factories(o, x):
    out = torch.zeros(2, dtype=torch.int64)
    o.full.out([2], 7.0, out=out)
    return out, o.full.default([2, 2], 1.5, dtype=torch.float64), o.ones_like.default(out)


def written_and_generated(o, x):
    out = torch.empty(3, 3)
    o.zero.out(x.contiguous(), out=out)
    return out, o.zero.default(x), x + 0


def functional(o, x):
    values, indices = o.topk.default(x, 2)
    return (
        o.add.Tensor(x, x, alpha=3), o.div.Tensor(x, x), o.eq.Tensor(x, x.t()), o.clamp.Tensor(x, x.t(), None),
        o.sum.dim_IntList(x, [0], True), o.mean.dim(x, None), o.amax.default(x, [1]), o.argmax.default(x),
        o.any.dim(x, 0), o.cumprod.default(x, 1), o.bmm.default(x[None], x[None]), o.addmm.default(x, x, x),
        o.tril.default(x), o._softmax.default(x, 1, False), o.renorm.default(x, 2, 0, 1.0), values, indices,
        o.gather.default(x, 0, indices), o.cat.default([x, values], 1),
        o.avg_pool2d.default(x[None], [2, 2], [1, 1]), o.upsample_nearest2d.default(x[None, None], [4, 5]),
        o.diagonal_copy.default(x), *o.unbind_copy.int(x),
    )  # fmt: skip


PROGRAMS: tuple[Program, ...] = (
    diagonal,
    diagonal_after,
    select,
    views_of_views,
    several_views,
    parts,
    reshaped_in_place,
    unsqueezed,
    expanded,
    a_view_of_an_argument,
    views_of_an_argument,
    in_place,
    an_argument_in_place,
    outs,
    outs_that_are_views,
    factories,
    written_and_generated,
    functional,
)


def outcome(run: Callable[[torch.Tensor], Any], x: torch.Tensor) -> Any:
    """Return the results, the argument after the call, and which results are in the argument's memory."""
    given = x.clone(memory_format=torch.preserve_format)
    results = run(given)
    several = results if isinstance(results, (tuple, list)) else (results,)
    shared = [r.untyped_storage().data_ptr() == given.untyped_storage().data_ptr() for r in several]
    return [(r.dtype, r.shape, r.stride(), r.detach().clone()) for r in (*several, given)], shared


def compare(what: str, ours: Any, theirs: Any, copies: bool = False) -> None:
    """Check that both are the same, except for strides and sharing where `copies` replace views."""
    assert (
        copies or ours[1] == theirs[1]
    ), f"{what}: in the argument's memory: {ours[1]}, {theirs[1]}"
    for (dtype, shape, stride, values), other in zip(ours[0], theirs[0], strict=True):
        assert (dtype, shape) == other[:2], f"{what}: {dtype, shape} {other[:2]}"
        assert copies or stride == other[2], f"{what}: strides {stride} {other[2]}"
        torch.testing.assert_close(values, other[3], equal_nan=True, msg=what)


def programs(backends: list[str], chosen: tuple[Program, ...] = PROGRAMS) -> None:
    torch.manual_seed(0)
    plain = torch.rand(3, 3) + 0.5
    for program in chosen:

        def ours(x: torch.Tensor, p: Program = program) -> Any:
            return p(torch.ops.slice, x)

        def theirs(x: torch.Tensor, p: Program = program) -> Any:
            return p(torch.ops.aten, x)

        for x in (plain, plain.t()):
            name, wanted = program.__name__, outcome(theirs, x)
            compare(name, outcome(ours, x), wanted)
            for remove in ("mutations", "mutations_and_views"):
                one, other = (outcome(functionalize(f, remove=remove), x) for f in (ours, theirs))
                compare(f"{name} without {remove}", one, other, copies=remove != "mutations")
            for backend in backends:
                torch.compiler.reset()
                compiled = torch.compile(ours, backend=backend, fullgraph=True, dynamic=False)
                compare(f"{name} by {backend}", outcome(compiled, x), wanted)


class Everything(torch.nn.Module):
    def forward(self, x):
        found = []
        for program in (
            functional,
            in_place,
            outs,
            factories,
            written_and_generated,
            diagonal,
            parts,
        ):
            result = program(torch.ops.slice, x.clone())
            found += result if isinstance(result, tuple) else [result]
        return tuple(found)


def exported() -> None:
    """Run torch.export, with and without tracing Python's bytecode, and run the exported program."""
    x = torch.rand(3, 3) + 0.5
    wanted = Everything()(x)
    for strict in (True, False):
        program = torch.export.export(Everything(), (x,), strict=strict)
        torch.testing.assert_close(program.module()(x), wanted, equal_nan=True)
        # As in ATen, operators that write are not decomposed.
        core = program.run_decompositions()
        torch.testing.assert_close(core.module()(x), wanted, equal_nan=True)
        names = {str(n.target) for n in core.graph.nodes if n.op == "call_function"}
        assert not [n for n in names if n.startswith("slice.") and "_." in n], names


def mapped() -> None:
    """Check vmap: it makes one call for each element, decomposes composite views, or raises an error that names the
    operator."""
    o, x = torch.ops.slice, torch.rand(4, 3, 3) + 0.5
    for call in (
        lambda t: o.add.Tensor(t, t),
        lambda t: o.add_.Tensor(t.clone(), t),
        lambda t: o.max.dim(t, 0),
        lambda t: o.sum.dim_IntList(t, [1]),
        lambda t: o.addmm.default(t, t, t),
        lambda t: o.zero.default(t),
        lambda t: o.roll.default(t, [1]),
        lambda t: o.ones_like.default(t),
        lambda t: o.cat.default([t, t]),
        lambda t: o.diagonal.default(t),
        lambda t: tuple(o.unbind.int(t)),
    ):
        one_by_one = [call(t) for t in x]
        several = isinstance(one_by_one[0], tuple)
        wanted = tuple(map(torch.stack, zip(*one_by_one))) if several else torch.stack(one_by_one)
        torch.testing.assert_close(vmap(call)(x), wanted)
    for call in (
        lambda t: o.add.out(t, t, out=t.clone()),
        lambda t: o.max.dim_max(t, 0, max=t[0].clone(), max_values=t[0].long()),
        lambda t: o.unsqueeze_.default(t.clone(), 0),
    ):
        try:
            vmap(call)(x)
        except RuntimeError as error:
            assert "Batching rule not implemented for slice::" in str(error), error
        else:
            raise AssertionError("vmap of an operator without a rule for it")


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch._C._AutoDispatchBelowAutograd():
            result = torch.ops.slice.sigmoid(x)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result * (1 - result)


def formula() -> None:
    """Check that a formula registered by hand has precedence over the generated entry."""
    x = torch.rand(3, requires_grad=True)
    try:
        torch.ops.slice.sigmoid(x).sum().backward()
    except RuntimeError as error:
        assert "derivative for slice::sigmoid is not implemented" in str(error), error
    else:
        raise AssertionError("a gradient that nobody wrote a formula for")
    library = torch.library.Library("slice", "IMPL")
    library.impl("sigmoid", Sigmoid.apply, "AutogradCPU")
    torch.ops.slice.sigmoid(x).sum().backward()
    s = torch.sigmoid(x.detach())
    torch.testing.assert_close(x.grad, s * (1 - s))


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    # Results of inductor from another build do not know the tags of this one.
    torch._inductor.config.force_disable_caches = True
    programs(sys.argv[2:])
    exported()
    mapped()
    formula()
    print(f"{len(PROGRAMS)} programs")


if __name__ == "__main__":
    main()
