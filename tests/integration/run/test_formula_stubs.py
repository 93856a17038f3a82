"""A function that a header declares for formulas is a stub until it is written, on both targets: it links, a gradient
says what to write, and `opgen build` lists it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import one_torch_unit, run, tool
from support.torch_extension import require_torch, strict_environment

pytestmark = pytest.mark.slow

OPERATORS = """\
- namespace: stubbed

- func: twice(Tensor self, float factor=2.0) -> Tensor
  dispatch:
    CPU: twice_cpu
"""
# The formula calls one overload of two, and a function that the header defines.
FORMULAS = """\
- namespace: stubbed
  include: formulas.h

- name: twice
  self: as_it_is(twice_backward(grad, factor))
"""
HEADER = """\
#pragma once
#include <opgen/kernel.h>
TENSOR_HEADER
namespace stubbed {
using opgen::types::Tensor;
Tensor twice_backward(const Tensor& grad, double factor = 2.0);
Tensor twice_backward(const Tensor& grad, double factor, bool unused);
inline Tensor as_it_is(const Tensor& grad) { return grad; }
}
"""
KERNELS = """\
#include <opgen/kernel.h>
#include <stubbed/NativeFunctions.h>
using namespace opgen::types;
OPGEN_KERNEL(twice_cpu)(const Tensor& self, double) { return RESULT; }
"""
DEFINITION = """\
#include "formulas.h"
namespace stubbed {
Tensor twice_backward(const Tensor& grad, double) { return grad; }
}
"""
CALL = {
    "runtime": """
import stubbed
x = stubbed.tensor([1.0, 2.0]).requires_grad_()
stubbed.twice(x).backward(stubbed.tensor([3.0, 4.0]))
print(x.grad.tolist())
""",
    "torch": """
import torch, stubbed
x = torch.tensor([1.0, 2.0]).requires_grad_()
stubbed.twice(x).backward(torch.tensor([3.0, 4.0]))
print(x.grad.tolist())
""",
}
# What the kernel returns, and the header with class Tensor.
RESULT = {"runtime": "self", "torch": "self.alias()"}
TENSOR_HEADER = {"runtime": "#include <stubbed/TensorBody.h>", "torch": ""}
# The folder of the kernels, and what commands need to find headers there: that of `opgen new` needs nothing.
FOLDER = {"runtime": "kernels", "torch": "csrc"}
INCLUDE = {"runtime": "", "torch": "--include csrc "}


@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_a_function_that_is_not_written(target: str, tmp_path: Path) -> None:
    if target == "torch":
        require_torch()
    kernels = tmp_path / FOLDER[target]
    kernels.mkdir()
    (tmp_path / "ops.yaml").write_text(OPERATORS)
    (tmp_path / "derivatives.yaml").write_text(FORMULAS)
    # Beside the kernels, where the compiler finds it, too.
    (kernels / "formulas.h").write_text(HEADER.replace("TENSOR_HEADER", TENSOR_HEADER[target]))
    (kernels / "twice.cpp").write_text(KERNELS.replace("RESULT", RESULT[target]))
    said = build(target, tmp_path)
    assert (
        "\n1 function of formulas is a stub, which a gradient reports as missing:\n"
        "  stubbed::twice_backward derivatives.yaml:5:18\n"
        f"to see what to write: opgen stub ops.yaml twice {options(target)}{INCLUDE[target]}".rstrip()
        + "\n"
    ) in said
    missing = call(target, tmp_path)
    assert (
        "NotImplementedError: the gradient of stubbed::twice needs stubbed::twice_backward"
        in missing
    )
    to_write = "Tensor twice_backward(const Tensor& grad, double factor)"
    assert f"namespace stubbed {{ {to_write} {{ ... }} }}" in missing
    given = (options(target) + INCLUDE[target]).split()
    printed = run([tool("opgen"), "stub", "ops.yaml", *given], cwd=tmp_path)
    assert (
        '#include "formulas.h"\n' in printed and f"namespace stubbed {{\n{to_write} {{" in printed
    )
    (kernels / "backward.cpp").write_text(DEFINITION)
    said = build(target, tmp_path)
    assert "is a stub" not in said, said
    assert call(target, tmp_path) == "[3.0, 4.0]\n"


def options(target: str) -> str:
    return "--target torch " if target == "torch" else ""


def build(target: str, folder: Path) -> str:
    command = [tool("opgen"), "build", "ops.yaml", *options(target).split(), "-o", "tree"]
    more = ["--kernels", FOLDER[target], "--python", "--build-type", "None", "-j", "1"]
    with one_torch_unit():
        return run([*command, *more], env=strict_environment(target), cwd=folder)


def call(target: str, folder: Path) -> str:
    """Return what a call prints, and its error."""
    paths = os.pathsep.join(
        [str(folder / "tree/cmake-build/python"), os.environ.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, "-c", CALL[target]],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return done.stdout + done.stderr
