"""Which operators PyTorch's inductor may take for the out variant of another: it calls them with tensors first."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.targets.tags import registered_tags, tags_that_inductor_follows


@pytest.mark.parametrize(
    ("arguments", "is_kept"),
    [
        ("Tensor self, Tensor other", True),
        ("Tensor self, int dim, bool keepdim=False", False),
        ("Tensor self, Tensor other, *, Scalar alpha=1", False),
        ("Tensor self, int dim, Tensor index", False),
        ("Tensor[] tensors, int dim", False),
        ("Tensor self, Tensor? weight", False),
    ],
)
def test_out(arguments: str, is_kept: bool, tmp_path: Path) -> None:
    """Protects compiled calls: an out tag that inductor cannot follow is not registered for PyTorch."""
    named = arguments if "*" in arguments else f"{arguments}, *"
    yaml = tmp_path / "f.yaml"
    yaml.write_text(
        f"- func: my::f({arguments}) -> Tensor\n  dispatch:\n    CPU: f_cpu\n"
        f"- func: my::f.out({named}, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out_cpu\n"
        "  tags: pointwise\n"
    )
    (out,) = (f for f in opgen.load([yaml]).functions if f.func.arguments.out)
    assert registered_tags(out) == {"out", "pointwise"}
    assert tags_that_inductor_follows(out) == ({"out", "pointwise"} if is_kept else {"pointwise"})
