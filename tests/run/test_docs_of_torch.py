"""The Meta kernel of docs/torch.md, and the one that `opgen stub` begins, compile and carry symbolic sizes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.build import REPOSITORY, environment, tool
from support.torch_extension import build_extension, require_torch, run_script

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


def test_meta_kernels(tmp_path: Path) -> None:
    require_torch()
    page = (REPOSITORY / "docs/torch.md").read_text()
    section = page.split("### A Meta kernel by hand")[1].split("\n## ")[0]
    (schema,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    (kernels,) = re.findall(r"```cpp\n(.*?)```", section, re.DOTALL)
    yaml, folder = tmp_path / "ops.yaml", tmp_path / "kernels"
    yaml.write_text(schema + STUBBED)
    folder.mkdir()
    (folder / "documented.cpp").write_text(kernels)
    (folder / "stubbed.cpp").write_text(_filled_in(_stub(yaml)))
    library = build_extension(yaml, folder, tmp_path / "tree")
    script = tmp_path / "check.py"
    script.write_text(CHECK)
    assert run_script(script, library) == "good\n"


def _stub(yaml: Path) -> str:
    command = [tool("opgen"), "stub", "--target", "torch", "--yaml", str(yaml), "apart"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout


def _filled_in(stub: str) -> str:
    """The stub with the line that it shows in the Meta kernel's place, and full tensors on the CPU."""
    assert "Call it 'apart_meta_symint' in the YAML" in stub
    (shown,) = re.findall(r"^//   (return .*;)$", stub, re.MULTILINE)
    bodies = iter((CPU, f"  static_cast<void>(n);\n  {shown}"))
    return re.sub(
        r"^  OPGEN_CHECK_NOT_IMPLEMENTED.*$", lambda _: next(bodies), stub, flags=re.MULTILINE
    )
