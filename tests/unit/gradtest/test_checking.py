"""Formulas are checked against finite differences: a right one passes, each kind of wrong one does not.

The operators are PyTorch's, or registered here with torch.library: only the schemas come from YAML.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opgen.gradtest import Domain, Gradient, between, gradients, one_of
from support.torch_extension import require_torch

pytestmark = pytest.mark.slow

YAML = """\
- namespace: gradtest
- func: {schema}
  dispatch:
    CPU: kernel
"""


@pytest.fixture(scope="module")
def torch() -> Any:
    require_torch()
    return importlib.import_module("torch")


def gradient(folder: Path, schema: str, *rows: str) -> Gradient:
    name = schema.partition("(")[0]
    (folder / "native_functions.yaml").write_text(YAML.format(schema=schema))
    lines = ["- namespace: gradtest", f"- name: {name}", *(f"  {row}" for row in rows)]
    (folder / "derivatives.yaml").write_text("\n".join(lines) + "\n")
    (found,) = gradients(folder / "native_functions.yaml")
    return found


def register(
    torch: Any, schema: str, kernel: Callable[..., Any], backward: Callable[..., Any]
) -> None:
    """Register an operator whose first argument has a gradient: `backward` of the result's gradient and that argument."""
    name = f"gradtest::{schema.partition('(')[0]}"
    torch.library.define(name, schema[schema.index("(") :])
    torch.library.impl(name, "CPU", kernel)

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.count = len(inputs)
        ctx.save_for_backward(inputs[0])

    def of_context(ctx: Any, grad: Any) -> Any:
        return (backward(grad, *ctx.saved_tensors), *[None] * (ctx.count - 1))

    torch.library.register_autograd(name, of_context, setup_context=setup)


def test_a_right_formula(tmp_path: Path, torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """20 calls of each dtype, with second derivatives; the report says so."""
    schema = "cube(Tensor self) -> Tensor"
    register(torch, schema, lambda x: x**3, lambda grad, x: grad * (3 * x**2).conj())
    float64, complex128 = gradient(tmp_path, schema, "self: grad * self").check(torch)
    assert (float64.checked, complex128.checked) == (20, 20)
    assert float64.second_order == 8 and not float64.not_implemented
    assert "gradtest::cube float64: 20 calls drawn, 0 refused" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "backward"),
    [
        ("factor", lambda grad, x: grad * 2 * x**2),
        ("no_conjugate", lambda grad, x: grad * 3 * x**2),
        ("second", lambda grad, x: grad * (3 * x.detach() ** 2).conj()),
    ],
)
def test_wrong_formulas(
    name: str, backward: Callable[..., Any], tmp_path: Path, torch: Any
) -> None:
    """The error names the operator, the argument and the call."""
    schema = f"{name}(Tensor self) -> Tensor"
    register(torch, schema, lambda x: x**3, backward)
    with pytest.raises(AssertionError, match=f"of gradtest::{name} is wrong, of self in a call"):
        gradient(tmp_path, schema, "self: grad * self").check(torch)


def test_formulas_that_fail(tmp_path: Path, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from the word "wrong" for what was never compared, and from blaming a formula for its process."""
    schema = "of_one_size(Tensor self) -> Tensor"
    register(torch, schema, lambda x: x**3, lambda grad, x: (grad * 3 * x**2).sum().reshape(7, 1))
    formula = gradient(tmp_path, schema, "self: grad * self")
    fails = "the gradient of gradtest::of_one_size fails, of self in a call"
    with pytest.raises(AssertionError, match=f"(?s)^{fails}.*size 1"):
        formula.check(torch)
    monkeypatch.setattr(torch.Tensor, "backward", lambda *_: 1 / 0)
    with pytest.raises(AssertionError, match=r"was not tested: no gradient can be .*: division"):
        formula.check(torch)


def test_too_few_calls(tmp_path: Path, torch: Any) -> None:
    """A formula does not pass if its operator refused nearly every call; the reasons are listed."""
    schema = "fussy(Tensor self, int size) -> Tensor"

    def fussy(x: Any, size: int) -> Any:
        if size != 17:
            raise ValueError(f"fussy: the size is {size}, not 17")
        return x * 2

    register(torch, schema, fussy, lambda grad, x: grad * 2)
    with pytest.raises(AssertionError, match="only 0 of 20 calls") as error:
        gradient(tmp_path, schema, "self: grad").check(torch)
    assert "fussy: the size is …, not …" in str(error.value)
    domains = {"gradtest::fussy": Domain(size=one_of(17), dtypes=["float64"], why="it is fussy")}
    (report,) = gradient(tmp_path, schema, "self: grad").check(torch, domains)
    assert report.checked == 20
    assert report.narrowings == ("size: one of 17", "dtypes: float64", "because it is fussy")


def test_results_that_are_not_finite(tmp_path: Path, torch: Any) -> None:
    """Outside of its domain an operator has no gradient: calls with NaN are refused, not wrong."""
    schema = "logarithm(Tensor self) -> Tensor"
    register(torch, schema, lambda x: x.log(), lambda grad, x: grad / x.conj())
    report, _ = gradient(tmp_path, schema, "self: grad").check(torch)
    assert report.refused["the result is not finite"] > 0 and report.checked == 20
    domains = {"gradtest::logarithm": Domain(self=between(0.5, 2), dtypes=["float64"])}
    (report,) = gradient(tmp_path, schema, "self: grad").check(torch, domains)
    assert not report.refused


def test_missing_second_derivatives(tmp_path: Path, torch: Any) -> None:
    """A second derivative that the library says it does not have is reported, but is not a failure."""
    schema = "once(Tensor self) -> Tensor"

    def backward(grad: Any, x: Any) -> Any:
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, grad: Any, x: Any) -> Any:
                return grad * 3 * x**2

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                raise NotImplementedError("the gradient of once_backward is not implemented")

        return Square.apply(grad, x)

    register(torch, schema, lambda x: x**3, backward)
    domains = {"gradtest::once": Domain(batched=False, dtypes=["float64"])}
    (report,) = gradient(tmp_path, schema, "self: grad").check(torch, domains)
    assert report.second_order == 0
    assert "the gradient of once_backward is not implemented" in report.not_implemented
