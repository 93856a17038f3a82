"""Which fake kernels in Python a generated Meta kernel replaces: those of the operators that get one."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.pipeline import loading
from opgen.pipeline.importing import Imports, import_operators
from opgen.pipeline.inputs import Inputs
from opgen.resolve.dispatch_tables import registrations_by_key

NEEDLESS = [
    "f(Tensor! x) -> ()",
    "f(Tensor x, Tensor(a!) out) -> ()",
    "f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))",
    "f(Tensor(a!) self, int n=3) -> Tensor(a!)",
    "f.out(Tensor x, str mode='a, b -> c', *, Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor(a!)[] xs) -> Tensor(a!)[]",
    "f(Tensor(a!) x) -> Tensor(a!) y",
    "f(Tensor x, int[2] y=[1,2]) -> ()",
]
NEEDED = [
    "f(Tensor x) -> Tensor",
    "f(Tensor! x) -> Tensor",
    "f(Tensor(a!)? x) -> Tensor(a!)",
    "f(Tensor(a!) x) -> (Tensor(a!), Tensor)",
    "f(Tensor(a!) x) -> int",
    "f(Tensor(a) x) -> Tensor(a)",
]
SOURCE = """\
import torch

lib = torch.library.Library("demo", "DEF")
lib.define("{schema}")
lib.impl("{name}", torch.library.fallthrough_kernel, "{key}")
torch.library.register_fake("demo::{name}", lambda *given: None)
"""


LOOP = """\
for name in ("{name}",):
    op = getattr(torch.ops.demo, name)
    torch.library.register_fake(op.default)(lambda *given: None)
"""


def imported(schema: str, key: str, folder: Path, source: str = SOURCE) -> tuple[list[str], str]:
    """Return the reported codes, and the YAML."""
    name = schema.partition("(")[0]
    path = folder / "ops.py"
    path.write_text(source.format(schema=schema, name=name, key=key))
    diagnostics = Diagnostics()
    made = import_operators(Imports((str(path),)), diagnostics)
    assert made is not None
    return [item.code for item in diagnostics], made.texts[""]


@pytest.mark.parametrize("schema", [*NEEDLESS, *NEEDED])
def test_as_the_generator_has_it(schema: str, tmp_path: Path) -> None:
    codes, text = imported(schema, "CPU", tmp_path)
    assert codes == ["W1181" if schema in NEEDLESS else "W1164"]
    (tmp_path / "ops.yaml").write_text(text)
    registry = loading.load(Inputs((tmp_path / "ops.yaml",), target="torch"), Diagnostics())
    assert registry is not None
    assert (DispatchKey.Meta in registrations_by_key(registry)) == (schema in NEEDLESS)


def test_the_operators_of_a_loop_are_known(tmp_path: Path) -> None:
    source = SOURCE.rpartition("torch.library.register_fake")[0] + LOOP
    codes, _ = imported("f(Tensor! x) -> ()", "CPU", tmp_path, source)
    assert codes == ["W1181"]


def test_a_composite_kernel_needs_no_meta(tmp_path: Path) -> None:
    codes, _ = imported("f(Tensor! x) -> ()", "CompositeExplicitAutograd", tmp_path)
    assert codes == ["W1164"]


def test_an_operator_with_only_python_kernels_gets_no_meta(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(
        'import torch\ntorch.library.define("demo::f", "(Tensor! x) -> ()")\n'
        'torch.library.register_fake("demo::f", lambda x: None)\n'
    )
    diagnostics = Diagnostics()
    assert import_operators(Imports((str(tmp_path / "ops.py"),)), diagnostics) is not None
    assert [item.code for item in diagnostics] == ["W1164"]
