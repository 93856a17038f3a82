"""The formulas of target torch-stable in Python, and what registers each form of operators: without PyTorch.

The operators are those of the table of gradients. Formulas are run with numbers in place of tensors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support.build import REPOSITORY
from support.inputs import aten_inputs
from support.trees import make_tree

TABLE = REPOSITORY / "tests" / "integration" / "run" / "gradient_table"
# The function that registers what autograd does for an operator; of views, the key of a kernel without data, too.
REGISTERED = {
    "mul.Tensor": "record",
    "mul_.Tensor": "record",
    "mul.out": "refuse_out",
    "multiply_": "record",
    "multiply_both_": "record",
    "multiply_all": "record",
    "multiply_all_": "record",
    "multiply_some_": "refuse_written",
    "push_": "record",
    "turned": "record_view",
    "halves": "record_view",
    "mul_closed": "record",
    "mul_plain": "refuse",
    "mul_gaps": "refuse",
}


@pytest.fixture(scope="module")
def files() -> Mapping[str, str]:
    names = ("native_functions.yaml", "optionals.yaml")
    formulas = ("derivatives.yaml", "optionals_derivatives.yaml")
    inputs = aten_inputs(
        tuple(TABLE / name for name in names),
        derivatives=tuple(TABLE / name for name in formulas),
        target="torch-stable",
    )
    return make_tree(inputs, python=True).files


def test_each_form_is_registered(files: Mapping[str, str]) -> None:
    """Protects operators from no registration at all: PyTorch would give them gradients of zero."""
    text = files["python/forms/_operators.py"]
    calls = re.split(r"^    (?=\w+\.\w+\($)", text, flags=re.MULTILINE)
    found: dict[str, list[str]] = {}
    for call in calls:
        function = call.partition("(")[0]
        for name in dict.fromkeys(re.findall(r'"forms::([\w.]+)"', call)):
            found.setdefault(name, []).append(function)
    for name, function in REGISTERED.items():
        own = [one for one in found[name] if one.startswith("_gradients.")]
        assert own == [f"_gradients.{function}"], name
        is_replaced = "_functional.replace_view" in found[name]
        assert is_replaced == (function == "record_view"), name


class Call:
    """A backward pass that needs all gradients. It knows them by their places among the node's inputs."""

    def __init__(self, *grads: Any) -> None:
        self.grads = grads
        self.given: dict[int, Any] = {}

    def computes(self, i: int) -> bool:
        return True

    def give(self, i: int, gradient: Any) -> None:
        self.given[i] = gradient

    def give_all(self, inputs: Sequence[int], gradients: Sequence[Any]) -> None:
        self.given |= dict(zip(inputs, gradients, strict=True))


def test_formulas_of_numbers(files: Mapping[str, str]) -> None:
    """Protects the order of what is saved, of the gradients of several results, and of the arguments that they are of."""
    text = files["python/forms/_formulas.py"].replace("from . import _gradients", "")
    text = re.sub(r"^import torch.*", "", text, flags=re.MULTILINE)
    functions = {
        "aten_conj": lambda x: x,
        "forms_multiply_all": lambda xs, y: [x * y for x in xs],
        "forms_weigh": lambda xs, ys: sum(x * y for x, y in zip(xs, ys, strict=True)),
        "forms_joined": lambda x, y: (x, y),
        "forms_mul_joint_backward": lambda g, x, y, mask: (g * y, g * x, mask),
    }
    gradients = SimpleNamespace(
        function=lambda namespace, name: functions.get(f"{namespace}_{name}"),
        not_implemented=lambda name: name,
    )
    module = ModuleType("_formulas")
    module.__dict__["_gradients"] = gradients
    exec(compile(text, "_formulas.py", "exec"), module.__dict__)

    def run(name: str, values: Sequence[Any], *grads: Any) -> Mapping[int, Any]:
        node, call = getattr(module, f"Node_forms_{name}"), Call(*grads)
        assert node.has_gradient(*values)
        node.backward(call, *node.save(*values))
        return {node.inputs[i]: gradient for i, gradient in call.given.items()}

    assert run("mul_Tensor", (2, 5), 3) == {0: 15, 1: 6}
    assert run("multiply_", (2, 5), 3) == {0: 15, 1: 6}
    assert run("multiply_both_", (2, 5), 3, 7) == {0: 3 * 5 + 7 * 2 * 2, 1: 3 * 2}
    assert run("multiply_all", ([2, 4], 5), 3, 7) == {0: [15, 35], 1: 3 * 2 + 7 * 4}
    assert run("push_", (2, 5), 3) == {1: 30}
    assert run("halves", (2,), 3, 7) == {0: (3, 7)}
    assert run("mul_closed", (2, 5), 3) == {0: 15, 1: "mul_closed: other"}
    assert run("mul_when", (2, 5, True), 3) == {0: 15, 1: 6}
    assert not module.__dict__["Node_forms_mul_when"].has_gradient(2, 5, False)
