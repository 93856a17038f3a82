"""A backend of PyTorch's own operators, built against the installed torch: every way to write a kernel, on a device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import opgen
from support.build import environment, run, tool
from support.pytorch import packaged_native_functions
from support.torch_extension import build_extension

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "torch_backend"


def test_a_device(tmp_path: Path) -> None:
    """Protects the three kinds of structured kernels, out kernels that serve all variants, guards and the fallback;
    and only the returned tensors are created.
    """
    packaged_native_functions()
    library = build(tmp_path / "tree")
    assert script("checks.py", str(library)).endswith("good\n")


def test_coverage_of_a_model(tmp_path: Path) -> None:
    """The documented script lists the operators of a model, and `opgen coverage` reads the list."""
    packaged_native_functions()
    operators = tmp_path / "model.txt"
    operators.write_text(script("model_operators.py"))
    command = [tool("opgen"), "coverage", HERE / "backend.yaml", "--against", operators]
    found = json.loads(run([*command, "--format", "json", "--deny-warnings"], env=environment()))
    kinds = {row["name"]: (row["coverage"], row["calls"]) for row in found["operators"]}
    assert kinds["aten::add.Tensor"] == ("structured", 2)
    assert kinds["aten::mul.Tensor"] == ("structured", 1)
    assert kinds["aten::relu"] == ("fallback", 1)


def test_operators_that_pytorch_composes(tmp_path: Path) -> None:
    """Protects the report's "made of other operators": PyTorch's dispatcher agrees for each operator.

    If an operator only calls an out variant without a kernel, the report says `missing`.
    """
    schema = packaged_native_functions()
    backend = tmp_path / "backend.yaml"
    backend.write_text(
        "backend: PrivateUse1\ncpp_namespace: pu1\nuse_out_as_primary: true\n"
        "supported: [empty_strided]\n"
    )
    command = [tool("opgen"), "coverage", backend, "--against", "all", "--format", "json"]
    found = json.loads(run(command, env=environment()))["operators"]
    reported = {row["name"]: row["coverage"] for row in found}
    del reported["aten::empty_strided"]
    program = (
        "import json, sys, torch\n"
        "has = torch._C._dispatch_has_computed_kernel_for_dispatch_key\n"
        "print(json.dumps({n: has(n, 'PrivateUse1') for n in json.load(sys.stdin)}))"
    )
    command = [sys.executable, "-c", program]
    asked = json.dumps(list(reported))
    answer = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    by_out = {
        f.full_name
        for group in opgen.load([schema]).groups
        if group.structured
        for f in group.functions()
        if f is not group.out
    }
    served = {name for name, has in json.loads(answer.stdout).items() if has}
    composite = {name for name, kind in reported.items() if kind == "composite"}
    assert len(reported) > 3000 and len(composite) > 1000
    assert served == composite | by_out
    assert {reported[name] for name in by_out - composite} == {"missing"}


def build(tree: Path) -> Path:
    """Build the library without optimisation and with every warning an error."""
    return build_extension([], HERE, tree, "--backend-yaml", HERE / "backend.yaml")


def script(name: str, *arguments: str) -> str:
    command = [sys.executable, HERE / name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name}\n{done.stdout}{done.stderr[-5000:]}"
    return done.stdout
