"""Checks of what PyTorch does with an operator: each takes a case and its operator, and raises on failure.

Nothing here is specific to a library: sweep.py and others.py have cases for several.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch._inductor import aoti_compile_and_package, aoti_load_package
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

Call = tuple[list[Any], dict[str, Any]]
SIZES = (3, 5, 8)
THREADS = 4


@dataclass(frozen=True)
class Case:
    """Calls of one operator: `make(n)` returns the arguments for size `n`.

    `name` is the operator's, with its overload, and what is special about these calls. Without a `reference`, the
    operator's own eager results are right. `unknown` says why sizes of results are not known before the call.
    """

    name: str
    make: Callable[[int], Call]
    reference: Callable[..., Any] | None = None
    unknown: str = ""
    compiles: bool = True  # Dynamo supports it.
    whole: bool = True  # One graph contains it.
    sizes: tuple[int, ...] = SIZES

    def operator(self, namespace: str) -> Any:
        name, _, overload = self.name.split(" ")[0].partition(".")
        return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")

    def call(self, n: int) -> Call:
        """Return the same arguments every time."""
        torch.manual_seed(n)
        return self.make(n)


def given(*arguments: Any, **named: Any) -> Call:
    return list(arguments), named


class Differs(AssertionError):
    """A result is not the right one."""


def same(have: Any, want: Any) -> None:
    some, others = pytree.tree_leaves(have), pytree.tree_leaves(want)
    if len(some) != len(others):
        raise Differs(f"{len(some)} results, not {len(others)}")
    for one, other in zip(some, others):
        if isinstance(other, torch.Tensor):
            try:
                torch.testing.assert_close(one, other, equal_nan=True)
            except AssertionError as error:
                raise Differs(str(error).strip().splitlines()[0]) from None
        elif one != other:
            raise Differs(f"{one}, not {other}")


def right(case: Case, operator: Any, n: int) -> tuple[Any, Call]:
    """Return the results of a call, and the arguments after it."""
    arguments, named = case.call(n)
    return (case.reference or operator)(*arguments, **named), (arguments, named)


def value(case: Case, operator: Any) -> None:
    """Check the results for three sizes, also those for non-contiguous tensors."""
    for n in case.sizes:
        want = right(case, operator, n)
        arguments, named = case.call(n)
        same((operator(*arguments, **named), (arguments, named)), want)


def opcheck(case: Case, operator: Any) -> None:
    """Run PyTorch's own tests of custom operators."""
    arguments, named = case.call(case.sizes[0])
    torch.library.opcheck(operator, tuple(arguments), named)


def fake(case: Case, operator: Any) -> None:
    """Check that a fake tensor has the sizes, strides and dtypes of the real one; sizes that depend on data are new
    symbols."""
    for n in case.sizes:
        arguments, named = case.call(n)
        with FakeTensorMode(shape_env=ShapeEnv()) as mode:
            fakes = pytree.tree_map_only(torch.Tensor, mode.from_tensor, (arguments, named))
            have = operator(*fakes[0], **fakes[1])
        want = operator(*arguments, **named)
        some, others = pytree.tree_leaves(have), pytree.tree_leaves(want)
        if len(some) != len(others):
            raise Differs(f"{len(some)} fake results, not {len(others)}")
        for one, other in zip(some, others):
            if isinstance(other, torch.Tensor):
                same_layout(one, other, bool(case.unknown))


def same_layout(one: Any, other: torch.Tensor, open_sizes: bool) -> None:
    if one.dtype != other.dtype or one.device != other.device:
        raise Differs(f"a fake of {one.dtype} on {one.device}, not {other.dtype} on {other.device}")
    if open_sizes:
        known = [(a, b) for a, b in zip(one.shape, other.shape) if isinstance(a, int)]
        if one.dim() != other.dim() or any(a != b for a, b in known):
            raise Differs(f"a fake of {one.shape}, not {other.shape}")
    elif one.shape != other.shape or one.stride() != other.stride():
        raise Differs(
            f"a fake of {tuple(one.shape)}, strides {one.stride()}, "
            f"not {tuple(other.shape)}, {other.stride()}"
        )


def functionalize(case: Case, operator: Any) -> None:
    """Check that torch.func.functionalize gives the same results, and writes the same."""
    for n in case.sizes:
        leaves, spec = pytree.tree_flatten(case.call(n))
        places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]

        def run(*tensors: Any, leaves: Any = leaves, spec: Any = spec, places: Any = places) -> Any:
            filled = list(leaves)
            for place, tensor in zip(places, tensors):
                filled[place] = tensor
            arguments, named = pytree.tree_unflatten(filled, spec)
            result = pytree.tree_leaves(operator(*arguments, **named))
            return [x for x in result if isinstance(x, torch.Tensor)]

        result, after = right(case, operator, n)
        have = torch.func.functionalize(run)(*(leaves[i] for i in places))
        wanted = [x for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
        same((have, leaves), (wanted, pytree.tree_leaves(after)))


def compiled(case: Case, operator: Any, *, mark: bool = False, **options: Any) -> None:
    """Compile one function, and call it with three sizes."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        fast = torch.compile(program(operator), fullgraph=case.whole, **options)
        for n in case.sizes:
            arguments, named = case.call(n)
            if mark:
                for tensor, dim in varying(case, (arguments, named)):
                    torch._dynamo.decorators.mark_unbacked(tensor, dim)
            same((fast(arguments, named), (arguments, named)), right(case, operator, n))


def program(operator: Any) -> Callable[..., Any]:
    def run(arguments: Any, named: Any) -> Any:
        return operator(*arguments, **named)

    return run


def varying(case: Case, call: Call) -> list[tuple[torch.Tensor, int]]:
    """Return the dimensions of a call's tensors that differ between sizes."""
    some, others = (pytree.tree_leaves(case.call(n)) for n in case.sizes[:2])
    found = []
    for tensor, one, other in zip(pytree.tree_leaves(call), some, others):
        if isinstance(tensor, torch.Tensor):
            found += [(tensor, d) for d in range(tensor.dim()) if one.size(d) != other.size(d)]
    return found


def aot_eager(case: Case, operator: Any) -> None:
    compiled(case, operator, backend="aot_eager", dynamic=True)


def inductor_static(case: Case, operator: Any) -> None:
    compiled(case, operator, dynamic=False)


def inductor_dynamic(case: Case, operator: Any) -> None:
    compiled(case, operator, dynamic=True)


def inductor(case: Case, operator: Any) -> None:
    """Compile with default settings: the second size turns sizes into symbols."""
    compiled(case, operator)


def inductor_unbacked(case: Case, operator: Any) -> None:
    compiled(case, operator, mark=True)


class Program(torch.nn.Module):
    """A program that calls several operators, with their tensors as arguments: on copies, and directly."""

    def __init__(self, calls: Sequence[tuple[Any, Call]]) -> None:
        super().__init__()
        self.operators = [operator for operator, _ in calls]
        self.leaves, self.spec = pytree.tree_flatten([call for _, call in calls])
        self.places = [i for i, x in enumerate(self.leaves) if isinstance(x, torch.Tensor)]

    def tensors(self, calls: Any) -> list[torch.Tensor]:
        """Return the tensors of other calls of the same operators."""
        return [x for x in pytree.tree_leaves(calls) if isinstance(x, torch.Tensor)]

    def forward(self, *tensors: Any) -> Any:
        results = []
        filled = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            filled[place] = tensor.clone()
        for operator, (arguments, named) in zip(
            self.operators, pytree.tree_unflatten(filled, self.spec)
        ):
            result = operator(*arguments, **named)
            results.append([x for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)])
            results.append([x for x in pytree.tree_leaves((arguments, named)) if is_tensor(x)])
        return results


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def exported_program(cases: Sequence[Case], operators: Sequence[Any]) -> tuple[Program, Any]:
    """Export the calls of all the cases as one program, whose sizes are symbols where they vary."""
    calls = [case.call(case.sizes[0]) for case in cases]
    module = Program(list(zip(operators, calls)))
    symbols: list[dict[int, Any]] = []
    for case, call in zip(cases, calls):
        dims = varying(case, call)
        for tensor in module.tensors(call):
            symbols.append({d: torch.export.Dim.AUTO for x, d in dims if x is tensor})
    tensors = tuple(module.tensors(calls))
    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        exported = torch.export.export(
            module, tensors, dynamic_shapes=(tuple(symbols),), strict=False
        )
    return module, exported


def runs_alike(run: Any, module: Program, cases: Sequence[Case]) -> None:
    for sizes in zip(*(case.sizes for case in cases)):
        tensors = module.tensors([case.call(n) for case, n in zip(cases, sizes)])
        want = Program.forward(_with_sizes(module, cases, sizes), *copy.deepcopy(tensors))
        same(run(*tensors), want)


def _with_sizes(module: Program, cases: Sequence[Case], sizes: Sequence[int]) -> Program:
    """Return the program of calls with these sizes."""
    calls = [case.call(n) for case, n in zip(cases, sizes)]
    return Program(list(zip(module.operators, calls)))


def export(case: Case, operator: Any) -> None:
    """Export with torch.export, and run the program directly and decomposed."""
    module, exported = exported_program([case], [operator])
    for graph in (exported, exported.run_decompositions()):
        runs_alike(graph.module(), module, [case])


def aoti(case: Case, operator: Any) -> None:
    aoti_of([case], [operator])


def aoti_of(cases: Sequence[Case], operators: Sequence[Any], kept: Path | None = None) -> None:
    """Compile to a package with AOTInductor, and load it in Python.

    With a folder `kept`, leave the package there for C++, with the calls and their results.
    """
    module, exported = exported_program(cases, operators)
    with TemporaryDirectory() as scratch:
        folder = kept or Path(scratch)
        package = aoti_compile_and_package(exported, package_path=str(folder / "program.pt2"))
        runs_alike(aoti_load_package(package), module, cases)
        if kept is not None:
            calls = []
            for sizes in zip(*(case.sizes for case in cases)):
                given = module.tensors([case.call(n) for case, n in zip(cases, sizes)])
                results = _with_sizes(module, cases, sizes)(*copy.deepcopy(given))
                calls.append([given, pytree.tree_leaves(results)])
            torch.save(calls, kept / "calls.pt")


def aoti_failing(cases: Sequence[Case], namespace: str) -> list[Case]:
    """Return the cases with which AOTInductor fails, found by bisection: most are compiled together."""
    try:
        aoti_of(cases, [case.operator(namespace) for case in cases])
    except Exception:
        if len(cases) == 1:
            return list(cases)
        half = len(cases) // 2
        found = aoti_failing(cases[:half], namespace) + aoti_failing(cases[half:], namespace)
        return found or list(cases)
    return []


def vmap(case: Case, operator: Any) -> None:
    """Call under vmap, where every tensor has one more dimension in front."""
    pairs = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        pairs.append(case.make(case.sizes[0]))
    some, spec = pytree.tree_flatten(pairs[0])
    others = pytree.tree_leaves(pairs[1])
    places = [i for i, x in enumerate(some) if isinstance(x, torch.Tensor)]
    stacked = [torch.stack((some[i], others[i])) for i in places]

    def run(*tensors: Any) -> Any:
        filled = list(some)
        for place, tensor in zip(places, tensors):
            filled[place] = tensor
        arguments, named = pytree.tree_unflatten(filled, spec)
        result = pytree.tree_leaves(operator(*arguments, **named))
        return [x for x in result if isinstance(x, torch.Tensor)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        have = torch.vmap(run)(*stacked)
    each = []
    for one in pairs:
        result = (case.reference or operator)(*one[0], **one[1])
        each.append([x for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)])
    same(have, [torch.stack(both) for both in zip(*each)])
    written = [pytree.tree_leaves(one) for one in pairs]
    same(stacked, [torch.stack((written[0][i], written[1][i])) for i in places])


def threads(case: Case, operator: Any) -> None:
    """Call from several Python threads at once, each with its own tensors."""
    wanted = [right(case, operator, n) for n in case.sizes]
    calls = [[copy.deepcopy(case.call(n)) for n in case.sizes] for _ in range(THREADS * 5)]

    def one(mine: list[Call]) -> list[Any]:
        return [(operator(*call[0], **call[1]), call) for call in mine]

    with ThreadPoolExecutor(THREADS) as pool:
        for have in pool.map(one, calls):
            same(have, wanted)


QUICK = (value, opcheck, fake, functionalize, aot_eager, export, vmap, threads)
COMPILERS = (inductor_static, inductor_dynamic, inductor, inductor_unbacked, aoti)
