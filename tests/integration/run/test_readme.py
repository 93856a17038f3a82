"""The README: the commands that it lists exist, and its examples compile and do what it says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from opgen.cli.main import COMMANDS, main
from opgen.diagnostics import Diagnostics
from opgen.pipeline.generating import checked_context
from opgen.pipeline.inputs import Inputs, with_contents
from opgen.pipeline.omissions import describe_omissions
from support.build import (
    REPOSITORY,
    RUNTIME,
    Compiler,
    compilers,
    environment,
    link_library,
    link_program,
    run_program,
)
from support.pytorch import torch_folder
from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script
from support.trees import generate, sources

RESULTS = "-1 4 -1.5 -0.5 6 20\n"
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
TEN_MINUTES = README.split("## Add an operator in ten minutes")[1].split("\n## ")[0]
FOR_PYTORCH = README.split("## For PyTorch")[1].split("\n## ")[0]

PROGRAM = r"""
#include <leaky/Functions.h>
#include <leaky/MetaFunctions.h>
#include <opgen/tensor_functions.h>

#include <cstdio>

int main() {
  using opgen::Tensor;
  Tensor x = opgen::full<Tensor>({2, 3}, -2.0);
  try {
    Tensor y = leaky::ramp(x, 0.5);
    Tensor strided = leaky::ramp(opgen::expand(opgen::full<Tensor>({2, 1}, 4.0), {2, 3}), 0.5);
    Tensor integers = leaky::ramp(opgen::full<Tensor>({2}, int64_t(-3)), 0.5);
    Tensor out = opgen::empty<Tensor>({0});
    leaky::ramp_out(out, x, 0.25);
    Tensor shape = leaky::meta::ramp(opgen::empty<Tensor>({4, 5}, opgen::TensorOptions().device(opgen::kMeta)), 0.5);
    std::printf("%g %g %g %g %lld %lld\n", y.const_data_ptr<float>()[5],
                opgen::contiguous(strided).const_data_ptr<float>()[0], integers.const_data_ptr<float>()[0],
                out.const_data_ptr<float>()[5], (long long)out.numel(), (long long)shape.numel());
  } catch (const opgen::Error& error) {
    std::printf("%s\n", error.msg());
  }
}
"""

ON_TORCH = """
import sys
import torch

torch.ops.load_library(sys.argv[1])
ramp = torch.ops.leaky.ramp
x = torch.full((2, 3), -2.0)
strided = torch.full((2, 1), 4.0).expand(2, 3)
integers = torch.full((2,), -3)
out = torch.empty(0)
ramp.out(x, 0.25, out=out)
shape = ramp(torch.empty(4, 5, device="meta"), 0.5)
for number in (ramp(x, 0.5)[1, 2], ramp(strided, 0.5)[0, 0], ramp(integers, 0.5)[0], out[1, 2]):
    print(f"{float(number):g}", end=" ")
print(out.numel(), shape.numel())
halves = torch.linspace(-4, 4, 100000, dtype=torch.half)
torch.testing.assert_close(ramp(halves, 0.1), torch.where(halves > 0, halves, halves.float() * 0.1).half())
"""

NORMS = """
import sys
import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.norms


def norm(x, weight, epsilon):
    return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * weight


x, residual, weight = torch.randn(3, 8), torch.randn(3, 8), torch.randn(8)
result = torch.empty(3, 8)
ops.rms_norm(result, x, weight, 1e-5)
torch.testing.assert_close(result, norm(x, weight, 1e-5))
added, total = x.clone(), residual.clone()
ops.fused_add_rms_norm(added, total, weight, 1e-5)
torch.testing.assert_close(total, x + residual)
torch.testing.assert_close(added, norm(x + residual, weight, 1e-5))
torch.library.opcheck(ops.rms_norm.default, (torch.empty(3, 8), x, weight, 1e-5))
torch.library.opcheck(ops.fused_add_rms_norm.default, (x.clone(), residual.clone(), weight, 1e-5))


def step(result, x):
    ops.rms_norm(result, x, weight, 1e-5)
    return result + 1


compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
result.zero_()
torch.testing.assert_close(compiled(result, x), norm(x, weight, 1e-5) + 1)
torch.testing.assert_close(result, norm(x, weight, 1e-5))
print("good")
"""


def block(language: str, text: str, number: int = 0) -> str:
    """Return the fenced block of `text` in `language` with this number, without its indentation."""
    every = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    found = [(indentation, lines) for indentation, of, lines in every if of == language]
    indentation, lines = found[number]
    return "".join(line.removeprefix(indentation) for line in lines.splitlines(keepends=True))


def test_every_command_is_listed() -> None:
    """Protects the table of commands from a command that was added, renamed, removed or listed twice."""
    table = README.split("| command | purpose |")[1].split("\n\n")[0]
    listed = re.findall(r"`opgen (\w+)", table)
    assert sorted(listed) == sorted(COMMANDS)


def test_the_typo_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the message that the README shows, and that `--fix` corrects it."""
    monkeypatch.chdir(tmp_path)
    Path("leaky.yaml").write_text(block("yaml", TEN_MINUTES))
    result = CliRunner().invoke(main, ["lint", "leaky.yaml"])
    assert (result.exit_code, result.stderr) == (1, block("", TEN_MINUTES))
    assert CliRunner().invoke(main, ["lint", "--fix", "leaky.yaml"]).exit_code == 0
    assert "autogen: ramp.out, ramp_" in Path("leaky.yaml").read_text()


def write_leaky(folder: Path, old: str = "", new: str = "") -> tuple[Path, Path]:
    """Write the README's schema, without its typo, and its kernels, with `new` for `old`; return both files."""
    yaml = folder / "leaky.yaml"
    yaml.write_text(block("yaml", TEN_MINUTES).replace("ramp.uot", "ramp.out"))
    includes = "".join(
        f"#include <{header}>\n"
        for header in ("opgen/kernel.h", "leaky/ops/ramp_meta.h", "leaky/ops/ramp_native.h")
    )
    text = includes + block("cpp", TEN_MINUTES)
    assert old in text
    kernels = folder / "ramp.cpp"
    kernels.write_text(text.replace(old, new) if old else text)
    return yaml, kernels


@pytest.mark.slow
def test_the_ten_minutes(tmp_path: Path) -> None:
    """Protects each step: the library links without kernels, the stub shows what to write, and the kernels work."""
    yaml, kernels = write_leaky(tmp_path)
    tree = generate(yaml, tmp_path / "tree")
    program = tmp_path / "main.cpp"
    program.write_text(PROGRAM)
    printed = []
    for name, files in (("stubs", []), ("written", [kernels])):
        folder = tmp_path / name
        library = link_library("leaky", folder, [*sources(tree), *files], [tree / "include"])
        linked = link_program(folder, [program], [tree / "include"], library)
        printed.append(run_program(linked))
        if name == "stubs":
            inputs = Inputs(yaml=(yaml,))
            context = checked_context(with_contents(inputs), Diagnostics())
            assert context is not None
            lines = describe_omissions(context, inputs, library, ())
            said = "".join(f"{line}\n" for line in lines).replace(str(yaml), "leaky.yaml")
            assert said == block("", TEN_MINUTES, 1)
    assert printed[0] == (0, block("", TEN_MINUTES, 2), "")
    assert printed[1] == (0, RESULTS, "")


@pytest.mark.slow
def test_the_ten_minutes_on_torch(tmp_path: Path) -> None:
    """Protects "the same kernels": the README's source, unchanged, gives the same results on target torch."""
    require_torch()
    library = build_extension(*write_leaky(tmp_path), tmp_path / "tree")
    script = tmp_path / "check.py"
    script.write_text(ON_TORCH)
    assert run_script(script, library) == RESULTS


@pytest.mark.slow
@pytest.mark.parametrize("target", ["runtime", "torch"])
@pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)
def test_a_wrong_parameter_is_an_error_at_the_kernel(
    compiler: Compiler, target: str, tmp_path: Path
) -> None:
    """Protects the promise of step 3 for both compilers and targets, also for the meta function."""
    folders = [RUNTIME / "include"]
    if target == "torch":
        require_torch()
        torch = torch_folder() / "include"
        folders = [RUNTIME / "torch/include", torch, torch / "torch/csrc/api/include"]
    for old in ("double slope", "double) {"):
        new = old.replace("double", "float")
        yaml, kernels = write_leaky(tmp_path, old, new)
        tree = generate(yaml, tmp_path / "tree", target=target)
        included = [f"-I{folder}" for folder in (tree / "include", *folders)]
        command = [compiler.path, "-std=c++20", "-fsyntax-only", "-w", *included, str(kernels)]
        said = subprocess.run(command, capture_output=True, text=True, env=environment()).stderr
        text = kernels.read_text()
        line = text[: text.index(new)].count("\n") + 1
        first = next(each for each in said.splitlines() if "error: " in each)
        assert first.startswith(f"{kernels}:{line}:"), said
        # g++ also shows the declaration.
        assert compiler.name != "g++" or re.search("candidate is: .*double", said), said


@pytest.mark.slow
def test_the_norms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the example for PyTorch: values, opcheck, and torch.compile with fullgraph=True."""
    require_torch()
    keep_no_graphs(monkeypatch)
    yaml, kernels = tmp_path / "norms.yaml", tmp_path / "kernels"
    kernels.mkdir()
    yaml.write_text(block("yaml", FOR_PYTORCH))
    (kernels / "norms.cpp").write_text(block("cpp", FOR_PYTORCH))
    library = build_extension(yaml, kernels, tmp_path / "tree")
    script = tmp_path / "check.py"
    script.write_text(NORMS)
    assert run_script(script, library) == "good\n"
