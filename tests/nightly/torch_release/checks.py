"""Check generated operators with a release of PyTorch: `python checks.py BOTH FORMS`, run by the Python of that
release.

BOTH is the library of tests/integration/run/torch_target, FORMS that of tests/integration/run/torch_library. Prints,
as JSON, which checks of each kind passed and failed.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.library import opcheck

TESTS = Path(__file__).parents[2] / "integration" / "run"
sys.path[:0] = [str(TESTS / "torch_library"), str(TESTS / "torch_target")]
import forms  # noqa: E402
from body import body  # noqa: E402

Check = Callable[[], None]


def calls() -> Iterator[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """Return calls of every operator of `both`: structured and not, functional, in-place, out= and generated variants,
    a composite.
    """
    ops = torch.ops.both
    a, b, v = torch.randn(3, 4), torch.randn(4), torch.randn(5)
    yield "plus", ops.plus.default, (a, b), {}
    yield "plus of two dtypes", ops.plus.default, (torch.randn(4, 3).t(), torch.arange(4)), {}
    yield "plus_", ops.plus_.default, (a.clone(), b), {}
    yield "plus.out", ops.plus.out, (a, b), {"out": torch.empty(3, 4)}
    yield "tiled", ops.tiled.default, (v, 3), {}
    yield "tiled.out", ops.tiled.out, (v, 3), {"out": torch.empty(3, 5)}
    yield "ends", ops.ends.default, (v,), {}
    yield "ends.out", ops.ends.out, (v,), {"first": torch.empty(()), "last": torch.empty(())}
    yield "tripled", ops.tripled.default, (v,), {}
    yield "shifted", ops.shifted.default, (v, torch.randn(1), 2), {}
    yield "shifted.out", ops.shifted.out, (v,), {"out": torch.empty(5)}
    yield "negate", ops.negate.default, (v,), {}
    yield "negate.out", ops.negate.out, (v,), {"out": torch.empty(5)}
    yield "negate_", ops.negate_.default, (v.clone(),), {}


def everything(a: Any, b: Any, v: Any) -> Any:
    """Call all of them in one program, between operators of PyTorch."""
    ops = torch.ops.both
    summed = ops.plus_(a + 1, b) * 2
    ops.plus(a, b, out=(out := torch.empty_like(a)))
    first, last = ops.ends(v)
    turned = ops.negate_(ops.tiled(v, 3))
    return (
        summed + out,
        first + last,
        turned,
        ops.shifted(v, times=2),
        ops.negate(v),
        ops.tripled(v),
    )


def given(size: int) -> tuple[torch.Tensor, ...]:
    return torch.randn(size, 4), torch.randn(4), torch.randn(size + 2)


def compiled(dynamic: bool | None, sizes: tuple[int, ...]) -> Check:
    def check() -> None:
        fast = torch.compile(everything, fullgraph=True, dynamic=dynamic)
        for size in sizes:
            arguments = given(size)
            torch.testing.assert_close(fast(*arguments), everything(*arguments))

    return check


def packaged() -> None:
    """Make a package with AOTInductor for dynamic sizes; load and call it."""

    class Module(torch.nn.Module):
        def forward(self, a: Any, b: Any, v: Any) -> Any:
            return everything(a, b, v)

    n, m = (torch.export.Dim(name, min=2, max=64) for name in "nm")
    program = torch.export.export(Module(), given(3), dynamic_shapes=({0: n}, None, {0: m}))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "program.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=path)
        run = torch._inductor.aoti_load_package(path)
        for size in (3, 6):
            arguments = given(size)
            have, want = run(*arguments), everything(*arguments)
            torch.testing.assert_close(tuple(have), want)


def checks() -> Iterator[tuple[str, str, Check]]:
    """Return the kind, the name and the function of each check."""
    yield "values", "both", lambda: body(torch.ops.both, torch.tensor)
    for name, operator, arguments, named in calls():
        yield "opcheck", f"both {name}", lambda o=operator, a=arguments, n=named: opcheck(o, a, n)
    for case in forms.CASES:
        yield "values", case.name, lambda case=case: forms.eager(case)
        if case.checked:
            yield "opcheck", case.name, lambda case=case: forms.checked(case)
        if case.compiles:
            yield "inductor", case.name, lambda case=case: forms.compiled(case)
        if case.compiles and case.whole:
            yield "export", case.name, lambda case=case: forms.exported(case)
    yield "inductor", "both, static", compiled(False, (3,))
    yield "inductor", "both, dynamic", compiled(True, (3, 5, 8))
    yield "inductor", "both, three sizes", compiled(None, (3, 5, 8))
    yield "AOTInductor", "both", packaged


def main() -> None:
    for library in sys.argv[1:]:
        torch.ops.load_library(library)
    passed: dict[str, list[str]] = {}
    failed: dict[str, list[str]] = {}
    for kind, name, check in checks():
        torch.manual_seed(0)
        torch._dynamo.reset()
        try:
            check()
        except Exception:
            failed.setdefault(kind, []).append(f"{name}\n{traceback.format_exc()[-1500:]}")
        else:
            passed.setdefault(kind, []).append(name)
        print(f"{kind}: {name}", file=sys.stderr, flush=True)
    print(json.dumps({"torch": torch.__version__, "passed": passed, "failed": failed}))


main()
