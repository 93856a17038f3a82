"""The operators of the other tests and examples, through inductor and AOTInductor.

`python others.py NAMESPACE LIBRARY|MODULE [--only WORD] [--columns CHECK...]`: NAMESPACE is that of one of the tables
below. Failures are printed; every operator of the namespace must be in a case.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import checks
import torch
from checks import Call, Case, given

Make = Callable[[int], Call]
rand = torch.rand


def positive(*sizes: int) -> torch.Tensor:
    return rand(sizes) + 1


def index(n: int, m: int) -> torch.Tensor:
    return torch.arange(n * m).reshape(n, m) % n


# Functional operators, and others without a group; their out= and in-place variants are found
# automatically.
BOTH: dict[str, Make] = {
    "plus": lambda n: given(rand(n, 4), rand(4)),
    "plus turned": lambda n: given(rand(4, n).t(), torch.arange(4 * n).view(n, 4)),
    "tiled": lambda n: given(rand(n), 3),
    "ends": lambda n: given(rand(n)),
    "tripled": lambda n: given(rand(n)),
    "shifted": lambda n: given(rand(n), rand(1), 2),
    "negate": lambda n: given(rand(n)),
}
SYMB: dict[str, Make] = {
    "plus": lambda n: given(positive(n, 4), positive(4)),
    "quotient": lambda n: given(positive(4, n).t(), positive(n, 4)),
    "below": lambda n: given(rand(4, n).t(), rand(4, n).t()),
    "opposite": lambda n: given(rand(4, n).t()),
    "root": lambda n: given(positive(n, 4).long()),
    "vanishes": lambda n: given(rand(n, 4)),
    "blend": lambda n: given(rand(n, 4), rand(4), rand(4, n).t()),
    "bounded": lambda n: given(positive(n, 4), 1.2, None),
    "divided": lambda n: given(positive(n, 4), positive(4)),
    "filled": lambda n: given(rand(n, 4), [2, 3], 7),
    "in_order": lambda n: given(rand(4, n).t(), rand(n, 4)),
    "summed": lambda n: given(rand(2, n, 4, 5), [1, -1], True),
    "extremes": lambda n: given(rand(2, 3, n, 5), 1),
    "columns": lambda n: given(rand(n, 4)),
    "enlarged": lambda n: given(rand(2, n, 4, 5), [8, 7]),
    "windows": lambda n: given(rand(n + 6), 3, 2),
    "spread": lambda n: given(rand(n, 4)),
    "scaled": lambda n: given(rand(n, 4), rand(4), None),
    "joined": lambda n: given([rand(n, 4), rand(n, 4), rand(4, n).t()], -2),
    "present": lambda n: given(rand(n, 4), [None, rand(4)]),
}
SLICE: dict[str, Make] = {
    "add.Tensor": lambda n: given(rand(n, 4), rand(4), alpha=2),
    "all.dim": lambda n: given(rand(n, 4) > 0.5, 1),
    "any.dim": lambda n: given(rand(n, 4) > 0.5, 0, True),
    "argmax": lambda n: given(rand(n, 4), 1),
    "argmin": lambda n: given(rand(n, 4)),
    "bmm": lambda n: given(rand(2, n, 4), rand(2, 4, 5)),
    "cat": lambda n: given([rand(n, 4), rand(2, 4)]),
    "clamp.Tensor": lambda n: given(rand(n, 4), rand(4), None),
    "cumprod": lambda n: given(rand(n, 4), 1),
    "cumsum": lambda n: given(rand(n, 4), 0),
    "diagonal": lambda n: given(rand(n, 4)),
    "div.Tensor": lambda n: given(rand(n, 4), positive(4)),
    "expand": lambda n: given(rand(n, 1), [-1, 3]),
    "full": lambda n: given([2, 3], 1.5),
    "full.out": lambda n: given([2, 3], 1.5, out=rand(2, 3)),
    "_log_softmax": lambda n: given(rand(n, 4), 1, False),
    "max.dim": lambda n: given(rand(n, 4), 1),
    "amax": lambda n: given(rand(n, 4), [0]),
    "mean.dim": lambda n: given(rand(n, 4), [1], True),
    "min.dim": lambda n: given(rand(n, 4), 0),
    "amin": lambda n: given(rand(n, 4), [1]),
    "mm": lambda n: given(rand(n, 4), rand(4, 5)),
    "mul.Tensor": lambda n: given(rand(n, 4), rand(n, 1)),
    "ones_like": lambda n: given(rand(n, 4)),
    "ones_like.out": lambda n: given(rand(n, 4), out=rand(n, 4)),
    "select.int": lambda n: given(rand(n, 4), 0, 1),
    "sigmoid": lambda n: given(rand(n, 4)),
    "_softmax": lambda n: given(rand(n, 4), 0, False),
    "split_with_sizes": lambda n: given(rand(n, 4), [1, 3], 1),
    "sum.dim_IntList": lambda n: given(rand(n, 4), [0]),
    "sqrt": lambda n: given(rand(n, 4)),
    "prod.dim_int": lambda n: given(rand(n, 4), 1),
    "roll": lambda n: given(rand(n, 4), [1], [0]),
    "unsqueeze": lambda n: given(rand(n, 4), 1),
    "zero": lambda n: given(rand(n, 4)),
    "addmm": lambda n: given(rand(n, 5), rand(n, 4), rand(4, 5)),
    "unbind.int": lambda n: given(rand(4, n)),
    "scatter.src": lambda n: given(rand(n, 4), 0, index(n, 4), rand(n, 4)),
    "tril": lambda n: given(rand(n, 4)),
    "triu": lambda n: given(rand(n, 4), 1),
    "eq.Tensor": lambda n: given(rand(n, 4), rand(4)),
    "gather": lambda n: given(rand(n, 4), 0, index(n, 4)),
    "topk": lambda n: given(rand(n, 4), 2, 1),
    "renorm": lambda n: given(rand(n, 4), 2, 0, 1.0),
    "avg_pool2d": lambda n: given(rand(1, 2, n, 6), [2, 2], [1, 1]),
    "upsample_nearest1d": lambda n: given(rand(2, n, 4), [9]),
    "upsample_nearest2d": lambda n: given(rand(1, n, 4, 5), [8, 7]),
    "diagonal_copy": lambda n: given(rand(n, 4)),
    "expand_copy": lambda n: given(rand(n, 1), [-1, 3]),
    "select_copy.int": lambda n: given(rand(n, 4), 0, 1),
    "split_with_sizes_copy": lambda n: given(rand(n, 4), [1, 3], 1),
    "unsqueeze_copy": lambda n: given(rand(n, 4), 1),
    "unbind_copy.int": lambda n: given(rand(4, n)),
}
FUSE: dict[str, Make] = {
    "muladd": lambda n: given(rand(n, 4), rand(n, 4), 0.5),
    "mul": lambda n: given(rand(n, 4), rand(n, 4)),
    "add_out": lambda n: given(rand(n, 4), rand(n, 4), rand(n, 4)),
}
# From the slice: one operator without a Meta kernel, and views whose kernels read sizes as numbers.
NOT_TRACED = ("roll", "diagonal", "split_with_sizes")
# Failures with PyTorch 2.13, and their reasons. There must be no others, and these must fail.
_NO_OPTIONAL_LIST = (
    "AOTInductor does not support an optional list among results, which the hidden twin has; without "
    "the twin, PyTorch's own replacement fails in inductor if the list is None"
)
_COUNTED = "unbind returns as many tensors as a size of its argument, as PyTorch's own does"
KNOWN = {
    ("forms::row", "inductor_unbacked"): "at::select, called from C++, needs a number as size",
    ("forms::rows", "inductor_unbacked"): _COUNTED,
    ("forms::rows", "aoti"): _COUNTED,
    ("forms::scale_some", "aoti"): _NO_OPTIONAL_LIST,
    ("forms::scale_some none", "aoti"): _NO_OPTIONAL_LIST,
    (
        "slice::unsqueeze_",
        "aoti",
    ): "inductor rejects PyTorch's own operator, which export decomposes",
}
KNOWN |= {
    (f"slice::{name}", "inductor_dynamic"): "its kernel takes sizes as numbers"
    for name in ("expand", "full", "full.out", "expand_copy", "expand_copy.out")
}
KNOWN |= {
    (f"slice::{name}", "inductor_unbacked"): "its meta tests a size, as ATen's in C++ does"
    for name in (
        *("argmax", "argmin", "amax", "amax.out", "amin", "max.dim", "min.dim", "cat", "gather"),
        *("select.int", "avg_pool2d", "upsample_nearest1d", "upsample_nearest2d"),
        *("scatter.src", "scatter_.src"),
    )
}
KNOWN |= {
    (
        f"fuse::{name}",
        "inductor_unbacked",
    ): "the author's fake kernel requires two sizes to be equal"
    for name in ("muladd", "mul")
}
TABLES = {"both": BOTH, "symb": SYMB, "slice": SLICE, "fuse": FUSE}


def arguments_of(schema: Any) -> list[tuple[str, str]]:
    return [(a.name, str(a.type)) for a in schema.arguments if not a.is_out]


def variants(namespace: str, case: Case) -> Iterator[Case]:
    """Return the case, and the same for its operator's out= and in-place variants."""
    yield case
    operator = case.operator(namespace)
    packet = getattr(torch.ops, namespace)
    name, _, note = case.name.partition(" ")
    base = name.partition(".")[0]
    for other in (base, f"{base}_"):
        if not hasattr(packet, other):
            continue
        for overload in getattr(packet, other).overloads():
            found = getattr(getattr(packet, other), overload)
            if found is operator or arguments_of(found._schema) != arguments_of(operator._schema):
                continue
            full = other if overload == "default" else f"{other}.{overload}"
            yield replace(case, name=f"{full} {note}".strip(), make=written(case, operator, found))


def written(case: Case, functional: Any, operator: Any) -> Make:
    """Return the same calls, with tensors for the results."""
    names = [a.name for a in operator._schema.arguments if a.is_out]

    def make(n: int) -> Call:
        arguments, named = case.make(n)
        results = torch.utils._pytree.tree_leaves(functional(*arguments, **named))
        # Row-major: dynamo traces no others.
        outs = dict(zip(names, (torch.zeros(r.shape, dtype=r.dtype) for r in results)))
        if not names and results[0].dtype != arguments[0].dtype:
            arguments = [arguments[0].to(results[0].dtype), *arguments[1:]]
        return arguments, {**named, **outs}

    return make


def forms() -> list[Case]:
    """Return the cases of torch_library/forms.py, with sizes changed in the same way.

    An operator that returns a SymInt breaks the graph while its argument's sizes are known.
    """
    sys.path.insert(0, str(Path(__file__).parents[1] / "torch_library"))
    theirs = importlib.import_module("forms")

    def sized(case: Any) -> Make:
        def make(n: int) -> Call:
            theirs.rand = lambda *sizes: rand([size + n - 3 for size in sizes])
            return copy.deepcopy(case.make())

        return make

    return [
        Case(c.name, sized(c), compiles=c.compiles, whole=c.whole and c.name != "doubled_rows")
        for c in theirs.CASES
    ]


def cases_of(namespace: str) -> list[Case]:
    if namespace == "forms":
        return forms()
    table = TABLES[namespace]
    plain = [Case(n, make, compiles=not n.startswith(NOT_TRACED)) for n, make in table.items()]
    return [v for case in plain for v in variants(namespace, case)]


def missing(namespace: str, chosen: list[Case]) -> set[str]:
    """Return the operators of the namespace that no case calls; hidden ones are used by others."""
    called = {case.operator(namespace).name() for case in chosen}
    every = {
        str(name)
        for name in torch._C._dispatch_get_all_op_names()
        if str(name).startswith(f"{namespace}::") and "::opgen_" not in str(name)
    }
    return every - called


def failure_of(check: Any, case: Case, namespace: str) -> str | None:
    try:
        check(case, case.operator(namespace))
    except Exception:
        return traceback.format_exc()[-2500:]
    return None


def known_reason(check: Any, case: Case, namespace: str) -> str | None:
    return KNOWN.get((f"{namespace}::{case.name}", check.__name__))


def unexpected(
    check: Any, chosen: list[Case], namespace: str, failed_together: bool = False
) -> int:
    """Return how many cases fail unexpectedly, or do not fail as expected; print each.

    Those that `failed_together` should fail alone, too. The slice's operators are PyTorch's own, generated again: they
    may fail where those fail.
    """
    count = 0
    for case in chosen:
        name = f"{namespace}::{case.name}: {check.__name__}"
        reason = known_reason(check, case, namespace)
        failure = failure_of(check, case, namespace)
        if failure is None:
            if reason is not None or failed_together:
                print(f"\n{name} does not fail (alone)")
                count += 1
            continue
        if reason is None and namespace == "slice" and failure_of(check, case, "aten"):
            reason = "PyTorch's own operator fails, too"
        print(f"\n{name}", reason or failure)
        count += reason is None
    return count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("namespace")
    parser.add_argument("library")
    parser.add_argument("--only", default="", help="run only cases whose names contain this")
    parser.add_argument("--columns", nargs="*", help="run only these checks")
    options = parser.parse_args()
    namespace, library = options.namespace, options.library
    warnings.simplefilter("ignore")
    if Path(library).is_file():
        torch.ops.load_library(library)
    else:
        importlib.import_module(library)
    chosen = cases_of(namespace)
    assert not missing(namespace, chosen), missing(namespace, chosen)
    chosen = [c for c in chosen if c.compiles and options.only in c.name]
    failures = 0
    columns = [*checks.QUICK, *checks.COMPILERS] if options.columns else checks.COMPILERS
    for check in (c for c in columns if c.__name__ in (options.columns or [c.__name__])):
        begun = time.monotonic()
        if check is checks.aoti:
            # All cases except the known failures are compiled together.
            whole = [c for c in chosen if c.whole]
            known = [c for c in whole if known_reason(check, c, namespace)]
            found = checks.aoti_failing([c for c in whole if c not in known], namespace)
            failures += unexpected(check, found, namespace, failed_together=True)
            failures += unexpected(check, known, namespace)
        else:
            failures += unexpected(check, chosen, namespace)
        print(f"{check.__name__}: {time.monotonic() - begun:.0f} s", flush=True)
    assert not failures, failures
    print(f"ok: {len(chosen)} cases")


if __name__ == "__main__":
    main()
