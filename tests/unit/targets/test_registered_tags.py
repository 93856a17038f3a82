"""Tags of out variants: inductor would call the operator in place of the functional one, and does so wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.targets.tags import registered_tags, tags_that_pytorch_follows


@pytest.mark.parametrize(
    "arguments",
    ["Tensor self, Tensor other", "Tensor self, int dim, bool keepdim=False", "Tensor[] tensors"],
)
def test_out(arguments: str, tmp_path: Path) -> None:
    """Protects compiled calls: the tag is in the model, and is not registered for PyTorch."""
    yaml = tmp_path / "f.yaml"
    yaml.write_text(
        f"- func: my::f({arguments}) -> Tensor\n  dispatch:\n    CPU: f_cpu\n"
        f"- func: my::f.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out_cpu\n"
        "  tags: pointwise\n"
    )
    (out,) = (f for f in opgen.load([yaml]).functions if f.func.arguments.out)
    assert registered_tags(out) == {"out", "pointwise"}
    assert tags_that_pytorch_follows(out) == {"pointwise"}
