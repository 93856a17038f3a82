"""The examples of docs/reference/torch.md, and the Meta kernel from `opgen stub` compile, and support symbolic sizes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.build import REPOSITORY, environment, tool
from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

pytestmark = pytest.mark.slow

# Two results like its argument, as the stub shows them.
STUBBED = """
- func: custom::apart(Tensor x, SymInt n) -> (Tensor, Tensor)
  dispatch:
    CPU: apart_cpu
    Meta: apart_meta
"""
CPU = "  return {x.clone().fill_(n), x.clone().fill_(-n)};"
CHECK = """
import sys, torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.custom
tests = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
left, right = torch.ones(3), torch.ones(4, 2)
assert ops.pair_up(left, right, 2).shape == (3, 6)
for op, arguments in ((ops.pair_up, (left, right, 2)), (ops.apart, (right, 2))):
    torch.library.opcheck(op.default, arguments, test_utils=tests)

def program(x, y):
    pairs = ops.pair_up(x, y, x.size(0))
    return pairs.sum(0), ops.apart(y, 3)

compiled = torch.compile(program, fullgraph=True, dynamic=True, backend="aot_eager")
counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
counted = torch.compile(program, fullgraph=True, dynamic=True, backend=counter)
for rows in (3, 5, 9):
    x, y = torch.ones(rows), torch.ones(rows + 2, 4)
    for one in (compiled, counted):
        found, wanted = one(x, y), program(x, y)
        assert torch.equal(found[0], wanted[0]) and torch.equal(found[1][1], wanted[1][1])
assert counter.frame_count == 1, "compiled again for other sizes"
print("good")
"""


FIRST = """
import sys, tempfile, torch

torch.ops.load_library(sys.argv[1])
plus, plus_ = torch.ops.custom.plus, torch.ops.custom.plus_

def program(x, y):
    return plus(plus_(x.clone(), y), y) + plus(x, y, out=torch.empty_like(x))

# With default settings the second size makes sizes symbols.
for function in (plus, program):
    torch._dynamo.reset()
    compiled = torch.compile(function)
    for n in (3, 5, 8):
        assert torch.equal(compiled(torch.ones(n), torch.ones(n)), function(torch.ones(n), torch.ones(n)))

class Module(torch.nn.Module):
    def forward(self, x, y):
        return plus(x, y), program(x, y)

sizes = torch.export.Dim.DYNAMIC
exported = torch.export.export(
    Module(), (torch.ones(3), torch.ones(3)), dynamic_shapes=({0: sizes}, {0: sizes})
)
with tempfile.TemporaryDirectory() as folder:
    package = torch._inductor.aoti_compile_and_package(exported, package_path=folder + "/plus.pt2")
    loaded = torch._inductor.aoti_load_package(package)
    for n in (3, 5, 8):
        assert [x.tolist() for x in loaded(torch.ones(n), torch.ones(n))] == [[2.0] * n, [5.0] * n]
print("good")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The operators of the page's first example, of its hand-written Meta kernel, and of a stub."""
    require_torch()
    folder = tmp_path_factory.mktemp("docs")
    page = (REPOSITORY / "docs/reference/torch.md").read_text()
    first = page.split("# Target torch")[1].split("\n## ")[0]
    by_hand = re.split("\n##+ ", page.split("### Write a Meta kernel by hand")[1])[0]
    yaml, kernels = folder / "ops.yaml", folder / "kernels"
    kernels.mkdir()
    schemas = []
    for name, section in (("first", first), ("by_hand", by_hand)):
        (schema,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
        (source,) = re.findall(r"```cpp\n(.*?)```", section, re.DOTALL)
        schemas.append(schema)
        (kernels / f"{name}.cpp").write_text(source)
    yaml.write_text("\n".join([*schemas, STUBBED]))
    (kernels / "stubbed.cpp").write_text(_filled_in(_stub(yaml)))
    return build_extension(yaml, kernels, folder / "tree")


@pytest.fixture(autouse=True)
def _no_cached_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inductor must not use graphs that it cached for another build."""
    keep_no_graphs(monkeypatch)


def test_meta_kernels(library: Path, tmp_path: Path) -> None:
    script = tmp_path / "check.py"
    script.write_text(CHECK)
    assert run_script(script, library) == "good\n"


def test_first_example_through_inductor(library: Path, tmp_path: Path) -> None:
    """Protects the page's first promise: dynamic sizes, and AOTInductor."""
    script = tmp_path / "first.py"
    script.write_text(FIRST)
    assert run_script(script, library) == "good\n"


def _stub(yaml: Path) -> str:
    command = [tool("opgen"), "stub", "--target", "torch", str(yaml), "apart"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout


def _filled_in(stub: str) -> str:
    """Return the stub with the suggested line in the Meta kernel, and full tensors on the CPU."""
    assert "Name it 'apart_meta_symint' in the YAML" in stub
    # Long lines are broken, those of comments too.
    (shown,) = re.findall(r"^//   (return .*?;)$", stub, re.MULTILINE | re.DOTALL)
    shown = re.sub(r"\n//\s*", " ", shown)
    bodies = iter((CPU, f"  static_cast<void>(n);\n  {shown}"))
    return re.sub(
        r"^  OPGEN_CHECK_NOT_IMPLEMENTED.*?;$",
        lambda _: next(bodies),
        stub,
        flags=re.MULTILINE | re.DOTALL,
    )
