"""Metas of every kind, each written once, for known sizes and for symbolic ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.build import default_compiler, run, tool
from support.pytorch import torch_folder
from support.torch_extension import build_extension

HERE = Path(__file__).parent / "symbolic"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The operators of HERE as a torch extension, with every warning an error."""
    torch_folder()
    tree = tmp_path_factory.mktemp("symbolic") / "tree"
    return build_extension(HERE / "operators.yaml", HERE, tree)


def in_python(script: str, *arguments: str | Path) -> str:
    command = [sys.executable, HERE / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr[-5000:]}"
    return done.stdout


@pytest.mark.slow
def test_tracing_by_pytorch(library: Path) -> None:
    """Protects torch.compile and torch.export. All operators and variants pass opcheck's four tests; one graph serves
    changing sizes, also sizes that are unknown until run time; fake and Meta tensors have the shapes and strides of
    real calls on the CPU.
    """
    in_python("tracing.py", library)
    assert "400 calls of 20 operators, 0 differ" in in_python("layouts.py", library, "400")


@pytest.mark.nightly
def test_layouts_of_ten_thousand_calls(library: Path) -> None:
    """Protects the same, for rare combinations of operands."""
    assert "10000 calls of 20 operators, 0 differ" in in_python("layouts.py", library, "10000")


@pytest.mark.slow
def test_the_runtime_accepts_the_same_metas(tmp_path: Path) -> None:
    """Protects the language of metas: those for symbolic sizes also work with opgen's own runtime."""
    run([tool("opgen"), "generate", HERE / "operators.yaml", "-o", tmp_path])
    said = default_compiler().check([tmp_path / "include"], HERE / "metas.cpp")
    assert not said, said


@pytest.mark.nightly
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_size_in_an_int64_is_a_compile_error(tmp_path: Path, compiler: str) -> None:
    """Protects authors from metas that forget that a size may be a symbol: an error at their line names both types,
    and says for which sizes the body is compiled.
    """
    tree, source = tmp_path / "tree", tmp_path / "bad.cpp"
    run([tool("opgen"), "generate", HERE / "operators.yaml", "--target", "torch", "-o", tree])
    source.write_text(
        "#include <opgen/kernel.h>\n"
        "#include <symb/ops/columns_meta.h>\n"
        "OPGEN_META_FUNC(columns)(const Tensor& self) {\n"
        "  int64_t rows = self.size(0);\n"
        "  set_output_contiguous(0, {rows}, self.options());\n"
        "}\n"
    )
    torch, runtime = torch_folder(), Path(__file__).parents[3] / "runtime" / "torch" / "include"
    command = [
        tool(compiler),
        "-std=c++20",
        "-fsyntax-only",
        f"-I{tree / 'include'}",
        f"-I{runtime}",
    ]
    api = torch / "include" / "torch" / "csrc" / "api" / "include"
    command += [f"-isystem{torch / 'include'}", f"-isystem{api}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "bad.cpp:4:" in done.stderr and "error" in done.stderr, done.stderr
    for word in ("SymInt", "int64_t", "SymbolicSizes"):
        assert word in done.stderr, done.stderr
