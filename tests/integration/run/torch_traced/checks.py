"""Check what PyTorch makes of traced.yaml: gradients, fakes, functionalization and vmap, and the exact errors.

`python checks.py` with the folder of package traced on the path. Every warning is an error.
"""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.func  # Its own warnings must come before the checks.
from torch.autograd import forward_ad, gradcheck
from torch.func import functionalize, jvp, vmap
from torch.library import opcheck

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    # Both use a deprecated part of torch.jit.
    import torch._inductor.compile_fx

    jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))

warnings.simplefilter("error")
import traced  # noqa: E402

ops = torch.ops.traced
CHECKS: list[Callable[[], None]] = []


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS.append(function)
    return function


def refused(kind: type[Exception], words: str, call: Callable[[], Any]) -> None:
    """Check that `call` raises exactly this type of error, with `words` in its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
        except Exception as error:
            text = str(error).replace("\\n", "\n")  # Dynamo quotes the error that it met.
            assert type(error) is kind and words in text, f"{type(error)}: {error}"
            return
    raise AssertionError(f"not refused: {result}")


def same(have: Any, want: Any) -> None:
    torch.testing.assert_close(have, want)


def traced_as(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run `function` in one graph, compare with the eager result, and return the graph's result."""
    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager", **options)
    have = compiled(*arguments)
    same(have, function(*arguments))
    return have


def written(operator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of an argument in which `operator` writes to a copy of it."""

    def function(x: Any) -> Any:
        copy = torch.utils._pytree.tree_map(torch.clone, x)
        operator(copy)
        return copy

    return function


@check
def an_overload_with_tensors_is_tried_first() -> None:
    """Check a tensor with one element, which PyTorch also takes for a number, in eager mode and in compiled code."""
    one, other = torch.tensor(1.5), torch.tensor(2.5)
    same(ops.pick(one, other), one + 2)
    same(traced_as(ops.pick, one, other), one + 2)
    same(ops.pick(one, 2.5), one + 1)
    same(traced_as(lambda x: ops.pick(x, 2.5), one), one + 1)


@check
def a_formula_of_python() -> None:
    """Check a formula of register_autograd in traced/ops.py, which caused no warning. It has no forward gradients:
    these raise instead of being zero.
    """
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: ops.scale(x, 2.0), (x,))
    (gradient,) = torch.autograd.grad(traced_as(lambda x: ops.scale(x, 2.0).sum(), x), x)
    same(gradient, torch.full_like(x, 2.0))
    opcheck(ops.scale.default, (x, 2.0))
    plain = torch.rand(3)
    words = "Trying to use forward AD with traced::scale that does not support it"
    refused(
        NotImplementedError, words, lambda: jvp(lambda x: ops.scale(x, 2.0), (plain,), (plain,))
    )
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(plain, plain)
        refused(NotImplementedError, words, lambda: ops.scale(dual, 2.0))


@check
def no_formula() -> None:
    """Check that a gradient is an error that names the operator; without a gradient, nothing is recorded."""
    x = torch.rand(3, requires_grad=True)
    words = "derivative for traced::both is not implemented"
    for result in ops.both(torch.rand(3), x), ops.both(x):
        assert all(one.requires_grad for one in result)
        refused(RuntimeError, words, lambda result=result: result[1].sum().backward())
    refused(
        NotImplementedError,
        "Trying to use forward AD with traced::both",
        lambda: jvp(lambda x: ops.both(x)[0], (x,), (x,)),
    )
    assert not any(one.requires_grad for one in ops.both(x.detach()))
    with torch.no_grad():
        assert not any(one.requires_grad for one in ops.both(x))
    with torch.inference_mode():
        assert ops.both(torch.rand(3))[0].is_inference()
    before = torch._C._get_autograd_fallback_mode()
    torch._C._set_autograd_fallback_mode("nothing")
    assert not any(one.requires_grad for one in ops.both(x))
    torch._C._set_autograd_fallback_mode(before)
    integers = torch.ones(3, dtype=torch.int64)
    assert [one.requires_grad for one in ops.both(x, integers)] == [True, False]


@check
def sizes_that_depend_on_data() -> None:
    """Check sizes that are declared by one line of YAML, with a number or a symbol as bound, or by the author's
    Python."""
    boxes, scores = torch.rand(5, 4), torch.tensor([0.1, 0.9, 0.8, 0.2, 0.7])

    def chosen(boxes: Any, scores: Any) -> Any:
        return boxes[ops.nms(boxes, scores, 0.5)] * 2

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        for dynamic in (False, True):
            assert traced_as(chosen, boxes, scores, dynamic=dynamic).shape == (3, 4)
        x, index = torch.ones(3, 2), torch.tensor([0, 4, 4])
        for arguments in ((x, index), (x, index, 7)):
            traced_as(lambda *given: ops.scatter_rows(*given) * 2, *arguments, dynamic=True)
        traced_as(lambda x: traced.kept(x) * 2, torch.randn(3, 3))
        opcheck(ops.nms.default, (boxes, scores, 0.5))
        opcheck(ops.scatter_rows.default, (x, index))
        opcheck(ops.keep.default, (torch.randn(5),))

    class Module(torch.nn.Module):
        def forward(self, boxes: Any, scores: Any) -> Any:
            return chosen(boxes, scores)

    rows = torch.export.Dim("rows")
    for shapes in (None, ({0: rows}, {0: rows})):
        program = torch.export.export(Module(), (boxes, scores), dynamic_shapes=shapes)
        given = (boxes, scores) if shapes is None else (torch.rand(9, 4), torch.rand(9))
        same(program.module()(*given), chosen(*given))
    # Tensors on the Meta device have no values that determine a size later.
    refused(RuntimeError, "with meta Tensors", lambda: ops.nms(boxes.to("meta"), scores, 0.5))


@check
def what_is_missing() -> None:
    """Check that the error of torch.compile says what to write, and that a fake may come from any module."""
    x = torch.rand(3)
    words = "traced.untold.default"
    refused(torch._dynamo.exc.Unsupported, words, lambda: traced_as(ops.untold, x))
    refused(NotImplementedError, "no fake impl", lambda: ops.untold(x.to("meta")))
    words = "traced::unwritten has no Meta kernel yet; write\n  OPGEN_KERNEL(unwritten_meta)"
    refused(torch._dynamo.exc.TorchRuntimeError, words, lambda: traced_as(ops.unwritten, x))
    refused(NotImplementedError, words, lambda: ops.unwritten(x.to("meta")))
    # A fake may be registered by any module, as this one.
    torch.library.register_fake("traced::untold", lambda x: torch.empty_like(x))
    same(traced_as(ops.untold, x), ops.untold(x))


@check
def effects_in_order() -> None:
    """Check that graphs keep every call of an operator with effects, in the order of the program, and that tracing makes
    none, also with a gradient.
    """

    def program(x: Any) -> Any:
        ops.barrier(1)
        ops.log(x, "a")
        y = x * 2
        ops.send(y.detach())
        ops.barrier(2)
        ops.log(y, "b")
        return y.sum() + ops.send(y.detach(), 2.5).sum()

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return program(x)

    want = " barrier 1 log a send barrier 2 log b send"
    x = torch.rand(3)
    for backend in ("aot_eager", "inductor"):
        torch._dynamo.reset()
        compiled = torch.compile(program, fullgraph=True, backend=backend, dynamic=True)
        for rows in (3, 5):
            for given in (torch.ones(rows), torch.ones(rows, requires_grad=True)):
                result = compiled(given)
                assert ops.called() == want, backend
                same(result, torch.tensor(rows * 7.0))
            result.backward()
            assert ops.called() == ""
            same(given.grad, torch.full((rows,), 2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch copies its own modules in a deprecated way.
        exported = torch.export.export(Module(), (x,))
        programs = (exported, exported.run_decompositions())
    for one in programs:
        assert ops.called() == "", "tracing"
        same(one.module()(x), x.sum() * 7)
        assert ops.called() == want
    for name, arguments in (("log", (x, "a")), ("barrier", (1,)), ("send", (x, 2))):
        opcheck(getattr(ops, name).default, arguments)
    ops.called()


@check
def alias_analysis() -> None:
    """Check that TorchScript keeps a call whose schema does not say what it writes, in the order of the program."""
    dump = torch._C._dispatch_dump("traced::add_silently")
    assert "alias analysis kind: CONSERVATIVE" in dump, dump
    assert "alias analysis kind: FROM_SCHEMA" in torch._C._dispatch_dump("traced::add_into")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated.
        text = "def f(x, y):\n  torch.ops.traced.add_silently(x, y)\n  z = y * 2\n"
        text += "  torch.ops.traced.add_silently(x, y)\n  return z + y\n"
        script = torch.jit.CompilationUnit(text).f
        for _ in range(3):  # It is optimised from the second call on.
            same(script(torch.ones(2), torch.zeros(2)), torch.full((2,), 4.0))


@check
def kernels_in_python() -> None:
    """Check rows `python`: defaults, names, writes and graphs; the error of a missing function is checked by the test."""
    x = torch.rand(3)
    for call in (
        ops.shifted,
        lambda x: ops.shifted(x, 3.0),
        lambda x: ops.shifted(by=1.0, x=x, twice=True),
        written(lambda x: ops.shift_(x, 2.0)),
    ):
        traced_as(call, x, dynamic=True)
    same(ops.shifted(x), x + 2)
    same(ops.shifted(x, twice=True), x + 4)
    same(written(lambda x: ops.shift_(x, 2.0))(x), x + 2)
    with torch.autocast("cpu"):
        assert ops.shifted(x).dtype == torch.bfloat16
    opcheck(ops.shifted.default, (x, 3.0))
    opcheck(ops.shift_.by, (x, 3.0))
    words = "derivative for traced::shifted is not implemented"
    refused(RuntimeError, words, lambda: ops.shifted(x.requires_grad_()).sum().backward())


@check
def autocast() -> None:
    """Check that a kernel for autocast converts the arguments, in graphs too, with the gradient of the conversion."""
    x, y = torch.rand(3, requires_grad=True), torch.rand(3, dtype=torch.bfloat16)
    refused(TypeError, "expected one dtype", lambda: ops.blended(x, y))
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype), torch.no_grad():
            want = x.to(dtype) * 0.5 + y.to(dtype) * 0.5
            same(ops.blended(x, y), want)
            same(traced_as(ops.blended, x, y), want)
    assert ops.blended(x.detach(), x.detach()).dtype == torch.float32
    double = torch.rand(3, dtype=torch.float64)
    with torch.autocast("cpu"):
        assert ops.blended(double, double).dtype == torch.float64, "PyTorch converts no double"


@check
def reductions() -> None:
    """Check every set of dimensions, strides, an empty input, several threads and dynamic sizes beside PyTorch's own."""
    x = torch.rand(4, 5, 6)
    dims: tuple[Any, ...] = (None, [], 0, -1, [0, 2], [2, 1], [0, 1, 2])
    for given in (x, x.transpose(0, 2), x[::2, :, 1:], x.double(), torch.rand(()), x[:, :0]):
        for dim in dims if given.dim() else (None, 0):
            for keepdim in (False, True):
                found, mean = ops.brightness(given, dim, keepdim), given.mean(dim, keepdim)
                torch.testing.assert_close(found, mean, equal_nan=True)
                same(ops.total(given, dim, keepdim), given.sum(dim, keepdim))
    large = torch.rand(3, 100_003)
    for dim in (None, 0, 1):
        found = ops.brightness(large, dim)
        same(found, large.mean(dim))
        threads = torch.get_num_threads()
        torch.set_num_threads(3)
        assert torch.equal(found, ops.brightness(large, dim)), "other bits in several threads"
        torch.set_num_threads(threads)
    integers = torch.full((3, 4), 2**62)
    assert torch.equal(ops.total(integers, 1), torch.zeros(3, dtype=torch.int64)), "wraps around"
    same(ops.total(x.half(), 1), x.half().sum(1))
    same(
        ops.total(torch.full((70_000,), 1.0, dtype=torch.bfloat16)),
        torch.tensor(70_144.0).bfloat16(),
    )
    out = torch.empty(0)
    same(ops.brightness(x, [1], out=out), x.mean(1))
    for rows in (3, 7):
        traced_as(lambda x: ops.brightness(x, [0], True) * 2, torch.rand(rows, 4), dynamic=True)
    refused(IndexError, "out of range", lambda: ops.brightness(x, 3))
    refused(RuntimeError, "appears twice", lambda: ops.brightness(x, [0, 0]))
    opcheck(ops.brightness.default, (x, [1]))


@check
def composites() -> None:
    """Check that composites decompose for functionalization and vmap, also if they write or make views."""
    x = torch.rand(2, 3)
    cases = {
        "double_": written(ops.double_),
        "double_each": written(lambda x: ops.double_each([x, x.clone()])),
        "flat": written(lambda x: ops.flat(x).mul_(2)),
        "tripled": ops.tripled,
        "halved_": written(ops.halved_),
        "row": written(lambda x: ops.row(x, 1).mul_(2)),
    }
    for function in cases.values():
        same(functionalize(function)(x), function(x))
        traced_as(function, x)
        want = torch.stack([function(one) for one in (x, x + 1)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # halved_ uses PyTorch's fallback, which is slow.
            same(vmap(function)(torch.stack([x, x + 1])), want)
    for name, arguments in (("double_", ()), ("flat", ()), ("tripled", ()), ("row", (1,))):
        opcheck(getattr(ops, name).default, (x.clone(), *arguments))


@check
def vmap_in_a_loop() -> None:
    """Check operators that write, and lists: vmap makes one call per element of a batch, which writes to the right
    place."""
    x, y = torch.rand(2, 3), torch.rand(2, 3)

    def add_into(x: Any, y: Any) -> Any:
        copy = y.clone()
        ops.add_into(x, copy)
        return copy

    same(vmap(add_into)(x, y), x + y)
    same(vmap(add_into, in_dims=(None, 0))(x[0], y), x[0] + y)
    same(vmap(add_into, in_dims=(1, 1), out_dims=1)(x, y), x + y)
    same(vmap(vmap(add_into))(x, y), x + y)
    same(vmap(lambda x, y: ops.swap(x.clone(), y.clone()))(x, y), (x, y))
    lists = vmap(lambda x, y: ops.sums([x, y]))
    same(lists(x, torch.ones(2, 5)), [x.sum(1), torch.full((2,), 5.0)])
    two = vmap(vmap(lambda x, y: ops.sums([x, y]), in_dims=(None, 0)), in_dims=(0, None))
    same(two(x, y), [x.sum(1)[:, None].expand(2, 2), y.sum(1).expand(2, 2)])
    same(vmap(lambda x: x * ops.count(x))(x), x * 3)

    shared = torch.ones(1, 3).expand(2, 3)
    words = "writes its argument 'out', which is shared by the whole batch"
    refused(RuntimeError, words, lambda: vmap(ops.add_into, in_dims=(0, None))(x, y[0]))
    words = "writes its argument 'out', whose elements share memory"
    refused(RuntimeError, words, lambda: vmap(ops.add_into)(x, shared))
    words = "traced::sums cannot be called for an empty batch"
    refused(RuntimeError, words, lambda: lists(torch.ones(0, 3), torch.ones(0, 5)))
    words = "Batching rule not implemented for traced::negate.out"
    out_too = vmap(lambda x: ops.negate(x, out=torch.empty_like(x)))
    refused(RuntimeError, words, lambda: out_too(x))
    words = "A kernel for CompositeImplicitAutograd, which calls other operators, needs no rule"
    refused(RuntimeError, words, lambda: vmap(ops.second)(x))

    def rule(info: Any, in_dims: Any, xs: Any) -> Any:
        return [x.movedim(d, 0).flatten(1).sum(1) for x, d in zip(xs, in_dims[0])], [0] * len(xs)

    torch.library.register_vmap("traced::sums", rule)
    same(lists(x, torch.ones(2, 5)), [x.sum(1), torch.full((2,), 5.0)])


def main() -> None:
    logging.disable(logging.CRITICAL)  # PyTorch also logs errors of Meta kernels.
    failures = 0
    for function in CHECKS:
        torch.manual_seed(0)
        try:
            function()
        except Exception:
            failures += 1
            print(f"{function.__name__} fails")
            print(traceback.format_exc()[-2500:])
    assert not failures, failures
    print("ok")


if __name__ == "__main__":
    main()
