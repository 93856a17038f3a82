"""What inspect and help() show about the operators of a package for target torch.

Their schemas are registered by Python here, so that nothing is compiled; `import` of a package runs the same module.
"""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

from support.inputs import aten_inputs
from support.trees import make_tree

ENTRIES = {
    "mix(Tensor self, Tensor other, float weight=0.5) -> Tensor": '"Mix \\\\ two: \\"a\\", ü."',
    "mix.out(Tensor self, Tensor other, float weight=0.5, *, Tensor(a!) out) -> Tensor(a!)": None,
    "pick.a(Tensor self, int[2] from, *, ScalarType? dtype=None) -> Tensor[]": '"Pick by numbers."',
    "pick.b(Tensor self, Tensor at, *, str how='x') -> (Tensor, int)": '"Pick by a tensor."',
    "pick.op(Tensor self, *, MemoryFormat f=contiguous_format) -> Tensor": None,
}


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    torch = pytest.importorskip("torch")
    name = "described_ops"
    path = tmp_path_factory.mktemp("signatures") / "ops.yaml"
    path.write_text(
        "".join(
            f"- func: {name}::{schema}\n" + ("" if doc is None else f"  doc: {doc}\n")
            for schema, doc in ENTRIES.items()
        )
    )
    library = torch.library.Library(name, "FRAGMENT")
    for schema in ENTRIES:
        library.define(schema)
    library.impl("mix", lambda a, b, weight=0.5: a + weight * (b - a), "CompositeImplicitAutograd")
    tree = make_tree(aten_inputs((path,), target="torch", name=name), python=True)
    source = tree.files[f"python/{name}/_signatures.py"]
    exec(
        compile(source, "_signatures.py", "exec", dont_inherit=True),
        {"__name__": f"{name}._signatures"},
    )
    yield getattr(torch.ops, name)
    library._destroy()


def test_operators_have_signatures(ops: Any) -> None:
    """Protects types, defaults and parameters that are passed by name only, of operators and of their overloads."""
    mix = inspect.signature(ops.mix)
    assert str(inspect.signature(ops.mix.default)) == (
        "(self: torch.Tensor, other: torch.Tensor, weight: float = 0.5) -> torch.Tensor"
    )
    assert list(mix.parameters) == ["self", "other", "weight", "out"]
    assert mix.parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    assert inspect.signature(ops.mix.out).parameters["out"].default is inspect.Parameter.empty
    mix.bind(1, other=2)
    with pytest.raises(TypeError):
        mix.bind(1, 2, 3, 4)
    names = [list(inspect.signature(f).parameters) for f in (ops.pick, ops.pick.a, ops.pick.b)]
    assert names == [["self", "args", "kwargs"], ["self", "from_", "dtype"], ["self", "at", "how"]]


def test_operators_have_documentation(ops: Any) -> None:
    assert inspect.getdoc(ops.mix.default) == (
        'mix(self: Tensor, other: Tensor, weight: float = 0.5) -> Tensor\n\nMix \\ two: "a", ü.'
    )
    lines = str(inspect.getdoc(ops.pick)).splitlines()
    assert lines[1] == "    Pick by numbers." and lines[3] == "    Pick by a tensor."
    assert "Mix \\ two" in pydoc.plain(pydoc.render_doc(ops.mix))


@pytest.mark.slow
def test_a_described_operator_is_still_traced(ops: Any) -> None:
    """Protects torch.compile: PyTorch's own object remains the operator."""
    torch = pytest.importorskip("torch")

    traced = torch.compile(
        lambda a, b: ops.mix(a, b) + ops.mix.default(a, b, 1.0), fullgraph=True, backend="aot_eager"
    )
    assert traced(torch.zeros(2), torch.ones(2)).tolist() == [1.5, 1.5]
