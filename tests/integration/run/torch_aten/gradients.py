"""Compare gradients of the operators of the slice, by PyTorch's formulas, with those of ATen's own:

    gradients.py LIBRARY DERIVATIVES COUNT [SEED]

Each operator that DERIVATIVES has formulas for is called COUNT times, in both namespaces: gradients, second derivatives,
and tangents must be the same, and one must be an error where the other is. ATen alone refuses complex gradients of
operators on a list of its own, to record results that are integers, and clamp of a tensor that it broadcasts. At the end, the number of operators is printed of
which at least ten calls had a gradient that is not zero.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import inputs
import torch
import torch.autograd.forward_ad as forward_ad
import yaml
from compare import operator
from inputs import RECIPES, Arguments, Recipe

# Calls with one of these have a gradient.
inputs.DTYPES = (torch.float64,) * 5 + (torch.complex128,) * 2 + (torch.float32, torch.int64)
inputs.FLOATS = (torch.float64, torch.float64)

# Errors of ATen's kernels for its own operators.
_OF_ATEN = re.compile(
    "Autograd not support dtype|does not support automatic differentiation for outputs with complex"
)
# The error of ATen's gradient of clamp, which writes in place what it should broadcast.
_OF_CLAMP = "doesn't match the broadcast shape"
_OPERATOR = re.compile(r"([\w.]+)\((.*)\) -> (.*)")


def tensor(rng: random.Random, *shape: int) -> torch.Tensor:
    return inputs.tensor(rng, shape, rng.choice((torch.float64, torch.complex128)))


def of_unstructured(rng: random.Random, name: str) -> Arguments:
    """Return a call of an operator that is not structured."""
    shape = rng.choice(((3, 4), (2, 3, 4), (4, 1)))
    x = tensor(rng, *shape)
    dim = rng.randrange(-len(shape), len(shape))
    size = shape[dim]
    match name.partition(".")[0]:
        case "roll":
            return (x, [rng.randrange(-5, 5)], [dim]), {}
        case "zero_":
            return (x,), {}
        case "diagonal":
            return (x, rng.randrange(-2, 3), *rng.choice(((0, 1), (1, 0), (-1, 0)))), {}
        case "select":
            return (x, dim, rng.randrange(-size, size)), {}
        case "unbind":
            return (x, dim), {}
        case "unsqueeze" | "unsqueeze_":
            return (x, rng.randrange(-len(shape) - 1, len(shape) + 1)), {}
        case "split_with_sizes":
            first = rng.randrange(size + 1)
            return (x, [first, size - first], dim), {}
        case "expand":
            return (tensor(rng, 4, 1), [rng.randrange(1, 3), 4, rng.randrange(1, 4)]), {}
    raise AssertionError(name)


def recipe_of(name: str, out: str | None) -> Recipe:
    if out is not None:
        return RECIPES[out]
    return lambda rng: of_unstructured(rng, name)


def operators(yaml_path: Path, derivatives: Path) -> Iterator[tuple[str, Recipe]]:
    """Yield the operators with formulas, in place or not, and how to call each."""
    entries = yaml.safe_load(yaml_path.read_text())
    named = {e["func"].partition("(")[0].partition("::")[2]: e for e in entries}
    for entry in yaml.safe_load(derivatives.read_text())[1:]:
        match = _OPERATOR.match(entry["name"])
        assert match is not None, entry["name"]
        name = match[1]
        if "out" in name.partition(".")[2] or name not in named:
            continue
        yield name, recipe_of(name, named[name].get("structured_delegate"))


# Operators whose gradients aten_formulas.h computes in another way than ATen, which shows where an argument is not finite.
_COMPUTED_OTHERWISE = ("cumprod", "prod", "renorm")


class Difference(AssertionError):
    """What differs between the two namespaces."""


def differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def leaves(arguments: tuple[Any, ...]) -> list[torch.Tensor]:
    flat = [x for a in arguments for x in (a if isinstance(a, list) else [a])]
    return [x for x in flat if differentiable(x)]


def detached(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
        return [detached(v, change) for v in value]
    return change(value.detach()) if differentiable(value) else value


def results(value: Any) -> list[torch.Tensor]:
    several = value if isinstance(value, (tuple, list)) else (value,)
    return [r for r in several if differentiable(r)]


def is_in_place(name: str) -> bool:
    return name.partition(".")[0].endswith("_")


def call(namespace: str, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if is_in_place(name):
        # A leaf must not be written.
        arguments = (arguments[0] * 1, *arguments[1:])
    return operator(namespace, name)(*arguments, **keywords)


def backward(namespace: str, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return gradients, and gradients of these or an error."""
    own = tuple(detached(a, lambda t: t.clone().requires_grad_()) for a in args)
    outputs = [o for o in results(call(namespace, name, own, keywords)) if o.requires_grad]
    wanted = leaves(own)
    if not outputs:
        return [], []
    torch.manual_seed(1)
    weights = [torch.randn_like(o) for o in outputs]
    weights = [w.requires_grad_() for w in weights]
    first = torch.autograd.grad(outputs, wanted, weights, create_graph=True, allow_unused=True)
    there = [g for g in first if g is not None and g.requires_grad]
    if not there:
        return list(first), []
    scalar = sum((g * g.conj()).real.sum() + g.real.sum() for g in there)
    second = tried(lambda: torch.autograd.grad(scalar, [*wanted, *weights], allow_unused=True))
    return list(first), second


def forward(namespace: str, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the tangents of the outputs."""
    torch.manual_seed(2)
    with forward_ad.dual_level():
        duals = tuple(
            detached(a, lambda t: forward_ad.make_dual(t.clone(), torch.randn_like(t)))
            for a in args
        )
        outputs = results(call(namespace, name, duals, keywords))
        return [forward_ad.unpack_dual(o).tangent for o in outputs]


def tried(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (RuntimeError, ValueError, NotImplementedError, IndexError, TypeError) as error:
        return error


def tolerance(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> float:
    """Return the relative error that the order of additions causes in a call with these dtypes."""
    dtypes = {t.dtype for t in leaves(arguments)} | {keywords.get("dtype")}
    return 1e-9 if dtypes.isdisjoint((torch.float32, torch.complex64)) else 1e-4


def same(ours: Any, theirs: Any, close: float) -> bool:
    """Return whether tensors are equal, up to the order of additions; a missing one is zeros."""
    if ours is None or theirs is None:
        other = theirs if ours is None else ours
        return other is None or not bool(torch.count_nonzero(other))
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    # Large terms may cancel out.
    sizes = theirs.detach().abs()
    largest = float(sizes[sizes.isfinite()].max()) if sizes.isfinite().any() else 0.0
    absolute = close * max(1.0, largest)
    return torch.allclose(ours, theirs, rtol=close, atol=absolute, equal_nan=True)


def compare_lists(what: str, shown: str, ours: Any, theirs: Any, close: float) -> None:
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if type(ours) is not type(theirs):
            raise Difference(f"{what} of {shown}\n{ours!r}\n{theirs!r}")
        return
    if len(ours) != len(theirs) or not all(same(a, b, close) for a, b in zip(ours, theirs)):
        raise Difference(f"{what} of {shown}\nours   {ours}\nATen's {theirs}")


def check(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """Compare one call; say whether it was rejected, or has a gradient that is not zero."""
    shown = f"{name} {arguments} {keywords}"
    if isinstance(tried(call, "aten", name, arguments, keywords), Exception):
        return "rejected"
    if not leaves(arguments):
        return "not differentiable"
    is_finite = all(bool(t.isfinite().all()) for t in leaves(arguments))
    if name.partition(".")[0] in _COMPUTED_OTHERWISE and not is_finite:
        return "not finite"
    close = tolerance(arguments, keywords)
    both = [tried(backward, n, name, arguments, keywords) for n in ("slice", "aten")]
    if isinstance(both[1], RuntimeError):
        said = str(both[1])
        if _OF_ATEN.search(said) or (name.startswith("clamp") and _OF_CLAMP in said):
            return "an error of ATen alone"
    if any(isinstance(b, Exception) for b in both):
        compare_lists("the backward pass", shown, *both, close)
        return "an error for both"
    (ours, ours2), (theirs, theirs2) = both
    compare_lists("gradients", shown, ours, theirs, close)
    compare_lists("second derivatives", shown, ours2, theirs2, close)
    tangents = [tried(forward, n, name, arguments, keywords) for n in ("slice", "aten")]
    compare_lists("tangents", shown, *tangents, close)
    is_zero = all(g is None or not bool(torch.count_nonzero(g)) for g in theirs)
    return "zero" if is_zero else "checked"


def main(library: str, derivatives: Path, count: int, seed: int) -> None:
    torch.ops.load_library(library)
    failures: list[str] = []
    totals: Counter[str] = Counter()
    names: list[str] = []
    for name, recipe in operators(derivatives.with_name("operators.yaml"), derivatives):
        counts: Counter[str] = Counter()
        for number in range(count):
            rng = random.Random(f"{seed} {name} {number}")
            torch.manual_seed(rng.randrange(2**31))
            arguments, keywords = recipe(rng)
            try:
                counts[check(name, arguments, keywords)] += 1
            except Difference as difference:
                counts["different"] += 1
                failures.append(str(difference))
        totals.update(counts)
        print(name, dict(counts))
        if counts["checked"] >= 10:
            names.append(name)
    print(f"{len(names)} operators with gradients: {dict(totals)}")
    if failures:
        print(*failures[:5], sep="\n\n")
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int((sys.argv[4:] or ["1"])[0]))
