"""Take a second derivative through `mul_plain`, which the formulas of `mul_once` call and which has no formula.

Arguments: the target, and the library. Prints the error.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cells import VALUES, own_operators


def main(target: str, library: str) -> None:
    module, operators = own_operators(target, Path(library))
    a, b = (module.tensor(values, dtype=module.float64).requires_grad_() for values in VALUES)

    def gradient(output: object, input: object, **options: bool) -> object:
        return module.autograd.grad((output,), (input,), (b.detach(),), **options)[0]

    first = gradient(operators.mul_once(a, b), a, create_graph=True)
    assert first.tolist() == operators.times(b, b).tolist(), first
    try:
        print("a gradient:", gradient(first, b))
    except RuntimeError as error:
        print(error)


main(*sys.argv[1:])
