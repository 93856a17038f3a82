"""Compile a copy of `x` before an operator that reads the copy and writes `x`; print whether the values are right: if
`x.clone()` makes the copy, then if an operator of the library does.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

library = torch.library.Library("defects", "DEF")
library.define("take(Tensor(a!) x, Tensor y) -> ()")


def take(x: torch.Tensor, y: torch.Tensor) -> None:
    x.zero_()
    x.add_(y)


library.impl("take", take, "CPU")
library.impl("take", lambda x, y: None, "Meta")


library.define("copied(Tensor x) -> Tensor")
library.impl("copied", torch.clone, "CompositeExplicitAutograd")


def is_right(copy: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    def program(x: torch.Tensor) -> None:
        torch.ops.defects.take(x, copy(x))

    values = torch.tensor([1.0, 2.0, 3.0])
    torch.compile(program, fullgraph=True)(values)
    return values.tolist() == [1.0, 2.0, 3.0]


print(is_right(torch.clone), is_right(torch.ops.defects.copied))
