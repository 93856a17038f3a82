"""What a release of PyTorch makes of each tag: `python tags.py LIBRARY`, run by the Python that has it.

The library is that of ../torch_tags.py: for each tag the same operators, which compute the same. Of each is
printed, as JSON, which ways of compiling a call of it fail, with the first line of the error.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

Call = Callable[..., Any]


def forms(tag: str) -> dict[str, Call]:
    """A function of a tensor for each form of operator, by its name."""
    ops = torch.ops.tagged
    plus, plus_ = getattr(ops, f"{tag}_plus"), getattr(ops, f"{tag}_plus_")
    scaled, ends = getattr(ops, f"{tag}_scaled"), getattr(ops, f"{tag}_ends")
    return {
        "plus": lambda x: plus(x + 1, x * 2) * 3,
        "plus_": lambda x: plus_(x + 1, x * 2) * 3,
        "plus.out": lambda x: plus(x + 1, x * 2, out=torch.empty_like(x)) * 3,
        "scaled": lambda x: scaled(x + 1, 0.5, 3) * 3,
        "scaled.out": lambda x: scaled(x + 1, 0.5, 3, out=torch.empty_like(x)) * 3,
        "ends": lambda x: sum(ends(x + 1)) * 3,
        "turned": lambda x: scaled(x.t() + 1, 0.5, 3) * 3,
    }


def shape(form: str, size: int) -> tuple[int, ...]:
    return (size, 4) if form == "turned" else (size,)


def static(form: str, call: Call) -> None:
    compiled_for(form, call, (3,), dynamic=False)


def dynamic(form: str, call: Call) -> None:
    compiled_for(form, call, (3, 5, 8), dynamic=True)


def default(form: str, call: Call) -> None:
    compiled_for(form, call, (3, 5, 8), dynamic=None)


def compiled_for(form: str, call: Call, sizes: tuple[int, ...], dynamic: bool | None) -> None:
    fast = torch.compile(call, fullgraph=True, dynamic=dynamic)
    for size in sizes:
        x = torch.rand(shape(form, size))
        torch.testing.assert_close(fast(x), call(x))


def aoti(form: str, call: Call) -> None:
    """As a package, for sizes that change."""

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return call(x)

    example = torch.rand(shape(form, 3))
    sizes = ({0: torch.export.Dim("n", min=2, max=64)},)
    program = torch.export.export(Module(), (example,), dynamic_shapes=sizes)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "program.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=path)
        run = torch._inductor.aoti_load_package(path)
        for size in (3, 5):
            x = torch.rand(shape(form, size))
            torch.testing.assert_close(run(x), call(x))


def failures(tag: str, ways: tuple[Callable[[str, Call], None], ...]) -> dict[str, str]:
    found = {}
    for form, call in forms(tag).items():
        for way in ways:
            torch._dynamo.reset()
            try:
                way(form, call)
            except Exception as error:
                text = f"{type(error).__name__}: {error}".strip().splitlines()
                found[f"{form}, {way.__name__}"] = text[0][:200]
    return found


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    ways = (static, dynamic, default)
    have = {tag for tag in sys.argv[2].split(",") if tag == "none" or hasattr(torch.Tag, tag)}
    found = {tag: failures(tag, ways) for tag in sorted(have)}
    # A package takes half a minute: only where it is cheap to ask is each form asked for by itself.
    for tag in sorted(have & set(sys.argv[3].split(","))):
        found[tag].update(failures(tag, (aoti,)))
    print(json.dumps({"torch": torch.__version__, "failures": found}))


main()
