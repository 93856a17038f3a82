"""Print the results of each function of a library with this folder's operators: one line per result."""

from __future__ import annotations

from typing import Any

CASES = 17
# Rejected on both targets, by exceptions of different classes.
CLASSES_DIFFER = {0: "a negative size: ValueError on the runtime, RuntimeError in PyTorch"}


def show(ops: Any, tensor: Any) -> None:
    """Print all results; `tensor` makes a tensor of floats from nested lists."""
    dense = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for name in ("made", "alike", "moved", "shaped"):
        for number, result in enumerate(getattr(ops, name)(dense)):
            print(name, number, describe(result))
    for number, result in enumerate([*ops.looped(dense), *ops.drawn(dense, 7)]):
        print("looped", number, describe(result))
    for argument in (dense, tensor([[-1, 2], [3, -4]])):
        print("ramp", describe(ops.ramp(argument, 0.5)))
    for number, result in enumerate(ops.on_meta(dense)):
        print("on_meta", number, result.tolist())
    for number in (2, 2.5, True, 1j):
        print("dtypes", number, describe(ops.dtypes(dense, tensor([1, 2]), number)))
    for which in range(CASES):
        print("refused", which, refusal(lambda which=which: ops.refused(dense, which), which))


def describe(tensor: Any) -> str:
    dtype = str(tensor.dtype).rpartition(".")[2]
    return f"{dtype} {tuple(tensor.shape)} {tuple(tensor.stride())} {tensor.tolist()}"


def refusal(call: Any, which: int) -> str:
    try:
        call()
    except Exception as error:
        return "an exception" if which in CLASSES_DIFFER else type(error).__name__
    return "nothing"
