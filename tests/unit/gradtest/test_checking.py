"""Formulas are checked against finite differences: a right one passes, each kind of wrong one does not.

The operators are PyTorch's, or registered here with torch.library: only the schemas come from YAML.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opgen.diagnostics import Diagnostics
from opgen.gradtest import Domain, Gradient, between, gradients, one_of
from opgen.parse.schema.grammar import parse_function_schema
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


# PyTorch refuses a graph that overwrites an input without a gradient, if a formula reads what it was.
OF_PYTORCH = "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.DoubleTensor […]], which is output … of torch::"


def gradient(folder: Path, schema: str, *rows: str) -> Gradient:
    name = schema.partition("(")[0]
    (folder / "native_functions.yaml").write_text(YAML.format(schema=schema))
    lines = ["- namespace: gradtest", f"- name: {name}", *(f"  {row}" for row in rows)]
    (folder / "derivatives.yaml").write_text("\n".join(lines) + "\n")
    (found,) = gradients(folder / "native_functions.yaml")
    return found


def of_schema(namespace: str, text: str, *inputs: str) -> Gradient:
    """Return an operator that has a formula for `inputs`, which no file has."""
    schema = parse_function_schema(text, Diagnostics())
    assert schema is not None
    is_view = any(r.annotation is not None and not r.is_write for r in schema.returns)
    return Gradient(namespace, schema, inputs, (0,), forward=False, views=is_view)


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
    fails = "the gradient of gradtest::of_one_size was not tested, because of an error, of self in a call"
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


def test_what_could_not_be_compared(tmp_path: Path, torch: Any) -> None:
    """An error in a formula is a failure, but does not say that the gradient is wrong."""
    schema = "stops(Tensor self) -> Tensor"

    def backward(grad: Any, x: Any) -> Any:
        raise RuntimeError("the file is not there")

    register(torch, schema, lambda x: x**3, backward)
    message = "gradient of gradtest::stops was not tested, because of an error, of self"
    with pytest.raises(AssertionError, match=message) as error:
        gradient(tmp_path, schema, "self: grad").check(torch)
    assert "the file is not there" in str(error.value)
    assert "is wrong" not in str(error.value)


def test_forms_that_the_target_does_not_have(tmp_path: Path) -> None:
    """Views have no rule of vmap, and target torch-stable uses no forward formula: neither is tried."""
    schema = tmp_path / "native_functions.yaml"
    schema.write_text(
        "- func: gradtest::row(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: row\n"
    )
    formulas = tmp_path / "derivatives.yaml"
    formulas.write_text("- name: gradtest::row\n  self: grad * 1\n  result: auto_linear\n")
    (of_torch,) = gradients(schema, formulas)
    assert of_torch.views and of_torch.forward
    (of_runtime,) = gradients(schema, formulas, target="runtime")
    assert of_runtime.forward
    (of_stable,) = gradients(schema, formulas, target="torch-stable")
    assert not of_stable.forward


def product_in_place(torch: Any, name: str, *, copies: bool) -> None:
    """Register self *= other, with its gradient: `copies` writes a product that is recorded, as functionalization does."""
    torch.library.define(f"gradtest::{name}", "(Tensor(a!) self, Tensor other) -> ()")
    operator = getattr(torch.ops.gradtest, name)

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, self: Any, other: Any) -> Any:
            ctx.save_for_backward(self.clone(), other)
            ctx.mark_dirty(self)
            with torch._C._AutoDispatchBelowAutograd():
                operator(self, other)
            return self

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            self, other = ctx.saved_tensors
            return grad * other, (grad * self).sum_to_size(other.shape)

    def kernel(self: Any, other: Any) -> None:
        self.mul_(other)

    def record(self: Any, other: Any) -> None:
        if copies:
            self.copy_(self.clone() * other)
        else:
            Product.apply(self, other)

    torch.library.impl(f"gradtest::{name}", "CPU", kernel)
    torch.library.impl(f"gradtest::{name}", "Autograd", record)
    torch.library.register_fake(f"gradtest::{name}", lambda self, other: None)


@pytest.mark.parametrize("copies", [False, True])
def test_writes_under_compile(copies: bool, torch: Any) -> None:
    """Protects from gradients that are right in eager mode only, as those of a kernel that writes what the graph takes."""
    name = "copies" if copies else "dirties"
    product_in_place(torch, name, copies=copies)
    schema = f"{name}(Tensor(a!) self, Tensor other) -> ()"
    formula = of_schema("gradtest", schema, "self", "other")
    domain = Domain(batched=False, second_order=False, dtypes=["float64"])
    if copies:
        (report,) = formula.check(torch, {"gradtest::copies": domain})
        assert report.compiled and set(report.not_compiled) <= {OF_PYTORCH}
        return
    message = "gradient under torch.compile of gradtest::dirties is wrong, of self, other in a call"
    with pytest.raises(AssertionError, match=f"(?s){message}.*gradient 0 is .*, and without it "):
        formula.check(torch, {"gradtest::dirties": domain})


def test_formulas_under_compile(tmp_path: Path, torch: Any) -> None:
    """Protects from a formula that reads a value which is another one while PyTorch traces; the call is printed."""
    schema = "traced(Tensor self) -> Tensor"

    def backward(grad: Any, x: Any) -> Any:
        return grad * (3 if type(x) is not torch.Tensor else 2)

    register(torch, schema, lambda x: x * 2, backward)
    torch.library.register_fake("gradtest::traced", torch.empty_like)
    with pytest.raises(
        AssertionError, match=r"(?s)is wrong, of self in a call with\n  self = .*gradient 0 is "
    ):
        gradient(tmp_path, schema, "self: grad").check(torch)


def test_what_cannot_be_compiled(tmp_path: Path, torch: Any) -> None:
    """An operator without a fake kernel is not wrong: the report says why it was not compared, once for each reason."""
    schema = "unseen(Tensor self) -> Tensor"
    register(torch, schema, lambda x: x * 2, lambda grad, x: grad * 2)
    formula = gradient(tmp_path, schema, "self: grad * 2")
    report, _ = formula.check(torch)
    assert report.checked == 20 and report.compiled == 0
    assert "under torch.compile: not tested: " in str(report) and "fake" in str(report)
    domain = Domain(compiled=False, why="it has no fake kernel")
    report, _ = formula.check(torch, {"gradtest::unseen": domain})
    assert report.compiled is None and not report.not_compiled
    assert report.narrowings == ("no torch.compile", "because it has no fake kernel")


@pytest.mark.parametrize(
    ("schema", "inputs"),
    [
        ("mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", ("self", "other")),
        ("_foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ()", ("self", "other")),
        ("_foreach_sin(Tensor[] self) -> Tensor[]", ("self",)),
        ("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", ("self",)),
        ("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", ("self",)),
        ("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ("self", "other")),
    ],
)
def test_right_operators_under_compile(schema: str, inputs: tuple[str, ...], torch: Any) -> None:
    """Protects from false alarms: PyTorch's own operators in place, of lists, that write arguments, and views."""
    formula = of_schema("aten", schema, *inputs)
    domain = Domain(batched=False, second_order=False, dtypes=["float64"])
    (report,) = formula.check(torch, {str(formula): domain})
    assert report.compiled and set(report.not_compiled) <= {OF_PYTORCH}, str(report)
