"""Every form of forms.yaml: values and versions compared with Python, then opcheck, torch.compile and torch.export.

`python forms.py LIBRARY [--stable] [NAME...]`; --stable is for target torch-stable, which rejects some of these forms.
"""

from __future__ import annotations

import contextlib
import copy
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._inductor.utils import run_and_get_code

Values = list[Any]


@dataclass(frozen=True)
class Case:
    """A call: `reference` does the same to the same arguments; `written` are the positions of the written arguments."""

    name: str
    make: Callable[[], tuple[Values, dict[str, Any]]]
    reference: Callable[..., Any]
    written: tuple[int | str, ...] = ()
    whole: bool = True  # torch.compile(fullgraph=True) accepts it.
    compiles: bool = True
    checked: bool = True  # opcheck supports it.

    @property
    def operator(self) -> Any:
        name, _, overload = self.name.split(" ")[0].partition(".")
        return getattr(getattr(torch.ops.forms, name), overload or "default")


def rand(*sizes: int) -> torch.Tensor:
    return torch.rand(sizes)


def given(*arguments: Any, **named: Any) -> tuple[Values, dict[str, Any]]:
    return list(arguments), named


def rms_norm(result: Any, x: Any, weight: Any, epsilon: float) -> None:
    result.copy_(x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * weight)


def sums(x: Any, rows: Any, columns: Any, *, all: Any) -> None:
    rows.copy_(x.sum(1))
    columns.copy_(x.sum(0))
    all.copy_(x.sum())


def rotate(query: Any, key: Any, positions: Any) -> None:
    query.mul_(positions)
    if key is not None:
        key.mul_(positions)


def doubled_into(x: Any, out: Any = None) -> None:
    if out is not None:
        out.copy_(x * 2)


def scale_each(xs: Any, factor: Any) -> None:
    for x in xs:
        x.mul_(factor)


def scale_some(x: Any, others: Any, factor: float) -> Any:
    scale_each(others or [], factor)
    return x * factor


def normalize(x: Any) -> Any:
    norm = x.norm()
    x.div_(norm)
    return norm


def moments(x: Any, count: Any) -> Any:
    count.fill_(x.size(0))
    return x.mean(0), x.var(0)


def pieces(x: Any, n: int) -> Any:
    x.add_(1)
    return [x * i for i in range(n)]


def swap(x: Any, y: Any) -> Any:
    old = x.clone()
    x.copy_(y)
    y.copy_(old)
    return y, x


def attend(q: Any, k: Any, out: Any = None, scaled: bool = True) -> Any:
    scores = q @ k.t()
    weights = (scores / 2 if scaled else scores).softmax(-1)
    out = torch.empty_like(k) if out is None else out
    return out.copy_(weights @ k), weights, scores.sum(-1)


def softmax_into(x: Any, out: Any = None) -> Any:
    return x.softmax(-1) if out is None else out.copy_(x.softmax(-1))


def append(cache: Any, x: Any, at: int) -> Any:
    cache[at] = x
    return cache.sum(), cache


def clear_each(xs: Any) -> Any:
    for x in xs:
        x.zero_()
    return xs


def fill_count(x: Any, value: float) -> int:
    x.fill_(value)
    return x.numel()


def words(template: Any, default: Any, int: int, text: str) -> Any:
    template.copy_(default * int)
    return default + len(text)


def total(parts: Any, weighted: Any, powers: Any) -> Any:
    return (
        sum(x.sum() for x in parts.values()) + sum(x.sum() * n for x, n in weighted) + sum(powers)
    )


CASES = [
    Case("rms_norm", lambda: given(rand(3, 8), rand(3, 8), rand(8), 1e-5), rms_norm, (0,)),
    Case(
        "myadd_out",
        lambda: given(rand(4), rand(4), rand(4)),
        lambda a, b, out: out.copy_(a + b) is None or None,
        (2,),
    ),
    Case("sums", lambda: given(rand(3, 5), rand(3), rand(5), all=rand()), sums, (1, 2, "all")),
    Case("rotate", lambda: given(rand(3, 4), rand(3, 4), rand(4)), rotate, (0, 1)),
    Case("rotate one", lambda: given(rand(3, 4), None, rand(4)), rotate, (0,)),
    Case("doubled_into", lambda: given(rand(3), rand(3)), doubled_into, (1,)),
    Case("doubled_into nothing", lambda: given(rand(3)), doubled_into),
    Case("scale_each", lambda: given([rand(3), rand(2, 2)], 3.0), scale_each, (0,)),
    Case("scale_list", lambda: given([rand(3), rand(2, 3)], rand(3)), scale_each, (0,)),
    Case("scale_some", lambda: given(rand(3), [rand(3), rand(2)], 3.0), scale_some, (1,)),
    Case("scale_some none", lambda: given(rand(3), None, 3.0), scale_some),
    Case(
        "scale_beside",
        lambda: given(rand(3), rand(2), 3.0),
        lambda x, y, by: (y.mul_(by), x * by)[1],
        (1,),
    ),
    Case("scale_beside nothing", lambda: given(rand(3), None, 3.0), lambda x, y, by: x * by),
    Case("normalize", lambda: given(rand(3, 4)), normalize, (0,)),
    Case("moments", lambda: given(rand(3, 4), rand()), moments, (1,)),
    Case("pieces", lambda: given(rand(3, 4), 3), pieces, (0,)),
    Case("step_", lambda: given(rand(3, 4), 0.5), lambda x, by: x.add_(by), (0,)),
    Case("relu_into", lambda: given(rand(5) - 0.5, rand(5)), lambda x, y: y.copy_(x.relu()), (1,)),
    Case(
        "lerp.out",
        lambda: given(rand(5), rand(5), 0.3, out=rand(5)),
        lambda a, b, w, out: out.copy_(a + w * (b - a)),
        ("out",),
    ),
    Case("swap", lambda: given(rand(5), rand(5)), swap, (0, 1)),
    Case("attend", lambda: given(rand(3, 4), rand(3, 4), rand(3, 4)), attend, (2,)),
    Case("attend fresh", lambda: given(rand(3, 4), rand(3, 4), None, False), attend),
    Case("softmax_into", lambda: given(rand(3, 4), rand(3, 4)), softmax_into, (1,)),
    Case("softmax_into fresh", lambda: given(rand(3, 4)), softmax_into),
    Case("append", lambda: given(rand(4, 3), rand(3), 2), append, (0,)),
    Case("clear_each", lambda: given([rand(4), rand(3)]), clear_each, (0,)),
    Case("fill_count", lambda: given(rand(4, 3), 2.0), fill_count, (0,), whole=False),
    Case("doubled_rows", lambda: given(rand(4, 3)), lambda x: x.size(0) * 2),
    Case(
        "merge",
        lambda: given(rand(4), rand(4), 3),
        lambda x, y, n: x.add_(y, alpha=n) is None or None,
        (0,),
    ),
    Case("halve", lambda: given(rand(4)), lambda x: x / 2),
    Case(
        "halve.out", lambda: given(rand(4), out=rand(4)), lambda x, out: out.copy_(x / 2), ("out",)
    ),
    Case("twos_like", lambda: given(rand(4)), lambda x: torch.full_like(x, 2)),
    Case(
        "twos_like.out",
        lambda: given(rand(4), out=rand(4)),
        lambda _, out: out.fill_(2),
        ("out",),
    ),
    Case(
        "accumulate_", lambda: given(rand(4), rand(4)), lambda x, y: y.add_(x) is None or None, (1,)
    ),
    Case("plain_", lambda: given(rand(4)), lambda x: x + 1),
    Case("row", lambda: given(rand(4, 3), 1), lambda x, i: x[i]),
    Case("rows", lambda: given(rand(4, 3)), lambda x: list(x.unbind(0))),
    Case("ramp", lambda: given(5, device=torch.device("cpu")), lambda n, device: torch.arange(n)),
    Case("words", lambda: given(rand(4), rand(4), 3, "four"), words, (0,), checked=False),
    Case(
        "total",
        lambda: given({"a": rand(2), "b": rand(3)}, [(rand(2), 3)], [0.5, 2.0]),
        total,
        compiles=False,  # PyTorch does not find tensors in a Dict or a tuple.
        checked=False,
    ),
]


# The forms that target torch-stable rejects.
NOT_STABLE = {"attend", "softmax_into", "append", "words", "total"}
# Those that write only if they get an argument.
WRITERS = {"doubled_into", "scale_some", "scale_beside"}
# It has no rules for vmap: PyTorch's own loop takes only operators that write and view nothing.
NOT_MAPPED = "Batching rule not implemented for forms::"


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    stable = "--stable" in sys.argv
    chosen = [name for name in sys.argv[2:] if name != "--stable"]
    failures = 0
    for case in CASES:
        if (chosen and case.name not in chosen) or (
            stable and case.name.split(" ")[0] in NOT_STABLE
        ):
            continue
        for check in (eager, checked, unmapped if stable else mapped, compiled, exported):
            torch.manual_seed(0)
            torch._dynamo.reset()
            try:
                check(case)
            except Exception:
                failures += 1
                print(f"{case.name}: {check.__name__} fails")
                print(traceback.format_exc()[-2500:])
    assert not failures, failures
    if not stable:
        kept_in_place()
    print("ok")


def eager(case: Case) -> None:
    """Check its results, and that only written arguments have a new version."""
    arguments, named = case.make()
    ours, ours_named = copy.deepcopy(arguments), copy.deepcopy(named)
    before = versions(ours, ours_named)
    have = case.operator(*ours, **ours_named)
    want = case.reference(*arguments, **named)
    same((have, ours, ours_named), (want, arguments, named))
    after = versions(ours, ours_named)
    for place, version in after.items():
        moved = version != before[place]
        assert moved == (place in case.written), (place, before[place], version)
    flat = tensors(ours) + tensors(list(ours_named.values()))
    for one, other in zip(tensors(listed(have)), tensors(listed(want))):
        # A returned argument is the argument itself, not a copy.
        theirs = [x is other for x in tensors(arguments) + tensors(list(named.values()))]
        if any(theirs):
            assert flat[theirs.index(True)].data_ptr() == one.data_ptr()


def checked(case: Case) -> None:
    if case.checked:
        arguments, named = case.make()
        torch.library.opcheck(case.operator, tuple(arguments), named)


def mapped(case: Case) -> None:
    """Check that vmap of two calls gives the results of both, and rejects out= operators with a clear error."""
    is_tensor = [isinstance(x, torch.Tensor) for x in torch.utils._pytree.tree_leaves(case.make())]
    if not any(is_tensor) or not case.compiles:
        return
    two = [torch.utils._pytree.tree_flatten(case.make()) for _ in range(2)]
    (leaves, spec), (others, _) = two

    def call(*given: torch.Tensor) -> Values:
        moved = iter([x.clone() for x in given])
        all = [next(moved) if own else x for x, own in zip(leaves, is_tensor)]
        arguments, named = torch.utils._pytree.tree_unflatten(all, spec)
        result = case.operator(*arguments, **named)
        return tensors([result, all])

    pairs = [pair for pair, own in zip(zip(leaves, others), is_tensor) if own]
    if case.name.endswith(".out"):
        with contextlib.suppress(RuntimeError):
            torch.func.vmap(call)(*map(torch.stack, pairs))
            raise AssertionError("vmap accepted an out= argument")
        return
    want = [call(*one) for one in zip(*pairs)]
    same(torch.func.vmap(call)(*map(torch.stack, pairs)), list(map(torch.stack, zip(*want))))


def unmapped(case: Case) -> None:
    """Check that vmap gives the right results or PyTorch's error."""
    try:
        mapped(case)
    except RuntimeError as error:
        assert NOT_MAPPED in str(error), error
        assert case.written or case.name.split(" ")[0] in WRITERS or "row" in case.name, case.name


def compiled(case: Case) -> None:
    """Compile with inductor and symbolic sizes, twice: between other operators, and alone."""
    if not case.compiles:
        return

    def run(arguments: Values, named: dict[str, Any]) -> Any:
        shifted = torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda x: x + 1, (arguments, named)
        )
        result = case.operator(*shifted[0], **shifted[1])
        after = torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x * 2, (result, shifted))
        return after, case.operator(*arguments, **named)

    fast = torch.compile(run, fullgraph=case.whole, dynamic=True, backend="inductor")
    arguments, named = case.make()
    want = copy.deepcopy((arguments, named))
    result = run(*want)
    have = copy.deepcopy((arguments, named))
    same((fast(*have), have), (result, want))


def exported(case: Case) -> None:
    if not (case.whole and case.compiles):
        return
    arguments, named = case.make()
    leaves, spec = torch.utils._pytree.tree_flatten((arguments, named))
    tensors = [x for x in leaves if isinstance(x, torch.Tensor)]

    class Module(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            moved = iter([x + 1 for x in given])
            all = [next(moved) if isinstance(x, torch.Tensor) else x for x in leaves]
            some, named = torch.utils._pytree.tree_unflatten(all, spec)
            result = case.operator(*some, **named)
            return result, [x for x in all if isinstance(x, torch.Tensor)], given[0] if given else 1

    program = torch.export.export(Module(), tuple(tensors), strict=False)
    for graph in (program, program.run_decompositions()):
        have = graph.module()(*copy.deepcopy(tensors))
        want = Module()(*copy.deepcopy(tensors))
        same(have, want)


def kept_in_place() -> None:
    """Check that a compiled program writes to the same memory as the operator, without copies."""

    def run(x: Any, y: Any) -> Any:
        torch.ops.forms.step_(x, 0.5)
        into = torch.ops.forms.relu_into(y, torch.empty_like(y))
        out, _, _ = torch.ops.forms.attend(into, y, torch.empty_like(y))
        return out

    torch._dynamo.reset()
    _, (code,) = run_and_get_code(torch.compile(run), rand(3, 4), rand(3, 4))
    for name in ("step_", "relu_into", "attend"):
        assert f"torch.ops.forms.opgen_writer_{name}.default(" in code, code
    assert "aten.clone" not in code and "copy_" not in code and "cpp_fused" not in code, code


def versions(arguments: Values, named: dict[str, Any]) -> dict[int | str, list[int]]:
    return {
        place: [x._version for x in tensors([value])]
        for place, value in [*enumerate(arguments), *named.items()]
    }


def listed(value: Any) -> Values:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def tensors(values: Values) -> list[torch.Tensor]:
    return [x for x in torch.utils._pytree.tree_leaves(values) if isinstance(x, torch.Tensor)]


def same(have: Any, want: Any) -> None:
    some, others = torch.utils._pytree.tree_leaves(have), torch.utils._pytree.tree_leaves(want)
    assert len(some) == len(others), (have, want)
    for one, other in zip(some, others):
        if isinstance(other, torch.Tensor):
            torch.testing.assert_close(one, other)
        else:
            assert one == other, (have, want)


if __name__ == "__main__":
    main()
