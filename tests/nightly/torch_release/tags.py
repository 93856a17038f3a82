"""Test how a release of PyTorch handles each tag: `python tags.py LIBRARY TAG,... WAY,...`, run by the Python of that
release.

The library is that of ../torch_tags.py: for each tag it has the same operators, which compute the same results. Calls
of all of them are compiled as one program; if that fails, or gives other values, each half is compiled, down to one
call. Prints, as JSON, which call fails in which way, with the first line of the error.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

Call = Callable[[Any], Any]
# From the name of a call to the call.
Calls = Sequence[tuple[str, Call]]


def calls(tag: str) -> Iterator[tuple[str, Call]]:
    """Return a call with a two-dimensional tensor for each form of operator."""
    ops = torch.ops.tagged
    plus, plus_ = getattr(ops, f"{tag}_plus"), getattr(ops, f"{tag}_plus_")
    scaled, ends = getattr(ops, f"{tag}_scaled"), getattr(ops, f"{tag}_ends")
    yield f"{tag}: plus", lambda x: plus(x + 1, x * 2)
    yield f"{tag}: plus_", lambda x: plus_(x + 1, x * 2)
    yield f"{tag}: plus.out", lambda x: plus(x + 1, x * 2, out=torch.empty_like(x))
    yield f"{tag}: scaled", lambda x: scaled(x + 1, 0.5, 3)
    yield f"{tag}: scaled.out", lambda x: scaled(x + 1, 0.5, 3, out=torch.empty_like(x))
    yield f"{tag}: ends", lambda x: sum(ends(x[:, 0] + 1))
    yield f"{tag}: scaled of other strides", lambda x: scaled(x.t() + 1, 0.5, 3)


def program(some: Calls) -> Call:
    return lambda x: tuple(call(x) for _, call in some)


def static(some: Calls) -> None:
    compiled(some, (3,), dynamic=False)


def dynamic(some: Calls) -> None:
    compiled(some, (3, 5, 8), dynamic=True)


def default(some: Calls) -> None:
    compiled(some, (3, 5, 8), dynamic=None)


def compiled(some: Calls, sizes: tuple[int, ...], dynamic: bool | None) -> None:
    run = program(some)
    fast = torch.compile(run, fullgraph=True, dynamic=dynamic)
    for size in sizes:
        x = torch.rand(size, 4)
        torch.testing.assert_close(fast(x), run(x))


def aoti(some: Calls) -> None:
    """Compile the calls with AOTInductor into a package for dynamic sizes, and call it."""
    run = program(some)

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return run(x)

    sizes = ({0: torch.export.Dim("n", min=2, max=64)},)
    exported = torch.export.export(Module(), (torch.rand(3, 4),), dynamic_shapes=sizes)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "program.pt2")
        torch._inductor.aoti_compile_and_package(exported, package_path=path)
        fast = torch._inductor.aoti_load_package(path)
        for size in (3, 5):
            x = torch.rand(size, 4)
            found = fast(x)
            found = (found,) if isinstance(found, torch.Tensor) else tuple(found)
            torch.testing.assert_close(found, run(x))


WAYS = {way.__name__: way for way in (static, dynamic, default, aoti)}


def failures(way: Callable[[Calls], None], some: Calls) -> dict[str, str]:
    """Return the calls among `some` that fail, and how."""
    torch._dynamo.reset()
    try:
        way(some)
    except Exception as error:
        if len(some) == 1:
            text = f"{type(error).__name__}: {error}".strip().splitlines()
            wrong = [line for line in text if "error:" in line] or text
            return {some[0][0]: wrong[0][:200]}
        half = len(some) // 2
        return failures(way, some[:half]) | failures(way, some[half:])
    return {}


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    tags = [tag for tag in sys.argv[2].split(",") if tag == "none" or hasattr(torch.Tag, tag)]
    some = [call for tag in tags for call in calls(tag)]
    found = {name: failures(WAYS[name], some) for name in sys.argv[3].split(",")}
    print(json.dumps({"torch": torch.__version__, "tags": tags, "failures": found}))


main()
