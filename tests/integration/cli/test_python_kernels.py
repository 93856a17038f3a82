"""Rows `python` of a dispatch table: what `opgen stub`, `explain` and `dump` say, and that no C++ is generated."""

from __future__ import annotations

from pathlib import Path

from cli_support import Opgen

YAML = """\
- namespace: pyk
- func: scaled.by(Tensor x, float by=2.0, *, int[] dims=[]) -> Tensor
  dispatch:
    CPU, CUDA: python
  fake: torch.empty_like(x)
- func: mixed(Tensor x) -> Tensor
  dispatch:
    CPU: mixed_cpu
    CUDA: python
    Meta: mixed_meta
"""
STUB = """\
@torch.library.impl("pyk::scaled.by", "CPU")
@torch.library.impl("pyk::scaled.by", "CUDA")
def scaled(x: Tensor, by: float = 2.0, *, dims: Sequence[int] = ()) -> Tensor:
    raise NotImplementedError("pyk::scaled.by has no kernel yet; opgen stub wrote its empty body")
"""
TORCH = ("--target", "torch")


def test_the_stub_is_python(opgen: Opgen) -> None:
    Path("ops.yaml").write_text(YAML)
    text = opgen("stub", "ops.yaml", *TORCH, "scaled").stdout
    assert STUB in text, text
    compile(text, "ops.py", "exec")
    both = opgen("stub", "ops.yaml", *TORCH).stdout
    assert "OPGEN_KERNEL(mixed_cpu)" in both and "torch.library" not in both


def test_cpp_has_no_kernel(opgen: Opgen) -> None:
    Path("ops.yaml").write_text(YAML)
    assert opgen("generate", "ops.yaml", *TORCH, "--python", "-o", "out").exit_code == 0
    assert not Path("out/src/RegisterCUDA.cpp").exists()
    assert "scaled" not in Path("out/src/RegisterCPU.cpp").read_text()
    assert "scaled" not in Path("out/stubs/CPUStubs.cpp").read_text()


def test_explain_names_the_python_function(opgen: Opgen) -> None:
    Path("ops.yaml").write_text(YAML)
    text = opgen("explain", "scaled", "ops.yaml", *TORCH).stdout
    assert text.count("a Python function\n") == 2
    assert '"source": "python"' in opgen("dump", "ops.yaml", *TORCH).stdout
