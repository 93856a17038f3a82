"""Which overload PyTorch calls in eager mode, for each pair of types and each value."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from opgen.resolve.overload_order import in_order_of_registration, taken_calls, values_of
from support.inputs import registry_of
from support.pytorch import torch_folder

pytestmark = pytest.mark.slow

TYPES = [
    "Tensor",
    "Tensor?",
    "Tensor[]",
    "Tensor?[]",
    "bool",
    "int",
    "SymInt",
    "float",
    "Scalar",
    "complex",
    "int?",
    "float?",
    "bool?",
    "int[]",
    "SymInt[]",
    "int[2]",
    "float[]",
    "float[2]",
    "SymInt[2]",
    "bool[]",
    "bool[2]",
    "Scalar[]",
    "Scalar[2]",
    "str",
    "str[]",
    "ScalarType",
    "Device",
    "Layout",
    "MemoryFormat",
]


def value(text: str, torch: Any) -> Any:
    special = {
        "a tensor": torch.tensor([1, 2]),
        "a tensor with one element": torch.tensor(1.5),
        "[tensor, ...]": [torch.tensor(1), torch.tensor(2)],
        "a device": torch.device("cpu"),
    }
    return special[text] if text in special else eval(text, {"torch": torch})


def test_each_pair_of_types() -> None:
    """Protects the table of conversions: whatever the order, PyTorch calls the overload that `taken_calls` says."""
    torch_folder()
    import torch  # noqa: PLC0415

    library = torch.library.Library("overload_order", "DEF")
    rows = " -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: k\n"
    wrong, calls = [], 0
    for number, (one, other) in enumerate(combinations(TYPES, 2)):
        pair = registry_of(
            f"- func: custom::f.a({one} x){rows}- func: custom::f.b({other} x){rows}"
        )
        sorted_pair = in_order_of_registration(pair.functions)
        for way, functions in enumerate((sorted_pair, sorted_pair[::-1])):
            name = f"f_{number}_{way}"
            for f in functions:
                overload = f.func.name.overload_name
                schema = str(f.func).partition("(")[2]
                library.define(f"{name}.{overload}({schema.replace('-> Tensor', '-> int')}")
                answer = overload == "a"
                library.impl(
                    f"{name}.{overload}", lambda x, a=answer: int(a), "CompositeExplicitAutograd"
                )
            first, second = functions
            types = [values_of(f.func.arguments.flat_positional[0].type) for f in functions]
            taken = {v for call in taken_calls(first.func, second.func) for v in call.converted}
            assert len(taken) <= 1
            calls += len(taken)
            for text in sorted(types[1].own - types[0].own):
                is_first = bool(getattr(torch.ops.overload_order, name)(value(text, torch))) == (
                    first.func.name.overload_name == "a"
                )
                # `taken_calls` names one value of those that the first overload takes.
                if is_first != (text in types[0].converted) or (is_first and not taken):
                    wrong.append((str(first.func), str(second.func), text, is_first))
    assert not wrong, "\n".join(map(str, wrong))
    assert calls > 100
