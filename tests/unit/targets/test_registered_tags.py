"""Tags from which PyTorch concludes more than their descriptions say: they are in the model, but are not registered
with PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.targets.base import registered_tags, tags_that_pytorch_follows


@pytest.mark.parametrize(
    "arguments",
    ["Tensor self, Tensor other", "Tensor self, int dim, bool keepdim=False", "Tensor[] tensors"],
)
def test_out(arguments: str, tmp_path: Path) -> None:
    """Protects compiled calls: the tag is in the model, and is not registered with PyTorch."""
    yaml = tmp_path / "f.yaml"
    yaml.write_text(
        f"- func: my::f({arguments}) -> Tensor\n  dispatch:\n    CPU: f_cpu\n"
        f"- func: my::f.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out_cpu\n"
        "  tags: pointwise\n"
    )
    (out,) = (f for f in opgen.load([yaml]).functions if f.func.arguments.out)
    assert registered_tags(out) == {"out", "pointwise"}
    assert tags_that_pytorch_follows(out) == {"pointwise"}


@pytest.mark.parametrize(
    ("schema", "registered"),
    [
        ("f_(Tensor(a!) self, Tensor x) -> Tensor(a!)", True),
        ("f_(Tensor(a!)[] self, Scalar x) -> ()", False),
        ("f_(Tensor! logits, Tensor mask) -> ()", False),
        ("f_(Tensor x, Tensor(a!) self) -> ()", False),
        ("f_(Tensor(a!) self, Tensor(b!) count) -> Tensor(a!)", False),
        ("f_(Tensor(a!)? self, Tensor x) -> ()", False),
    ],
)
def test_inplace(schema: str, registered: bool, tmp_path: Path) -> None:
    """Protects functionalization of a call: PyTorch expects the tag only if the first tensor is the only one written,
    and is returned.
    """
    yaml = tmp_path / "f.yaml"
    yaml.write_text(f"- func: my::{schema}\n  dispatch:\n    CPU: f_cpu\n")
    (f,) = (f for f in opgen.load([yaml]).functions if str(f.func.name) == "f_")
    assert tags_that_pytorch_follows(f) == ({"inplace"} if registered else set())
