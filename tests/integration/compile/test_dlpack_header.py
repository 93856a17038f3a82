"""The structures of runtime/python/src/dlpack.h have the layout of the official header, if an installed package
contains it."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from support.build import RUNTIME, Compiler, compilers

_OURS = RUNTIME / "python/src"
_SOURCE = Path(__file__).parent / "dlpack_header" / "agrees.cpp"
each_compiler = pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)


def _parse(compiler: str, header: str, *flags: str, ours: Path = _OURS) -> str:
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ours}"]
    command += [f"-DOFFICIAL={header}", *flags, str(_SOURCE)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def _require_debian(compiler: str) -> None:
    command = [compiler, "-x", "c++", "-fsyntax-only", "-include", "dlpack/dlpack.h", "/dev/null"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("no <dlpack/dlpack.h>: install libdlpack-dev, or your system's package of it")


def _torch_include() -> Path:
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        pytest.skip("PyTorch, whose package has DLPack's header, is not installed")
    return Path(found.origin).parent / "include"


@each_compiler
def test_structures_agree_with_the_installed_header(compiler: Compiler) -> None:
    """Protects the ABI between us and NumPy. Debian's header may be older than DLPack 1.0."""
    _require_debian(compiler.path)
    assert _parse(compiler.path, "<dlpack/dlpack.h>") == ""


@each_compiler
def test_structures_agree_with_the_header_of_pytorch(compiler: Compiler) -> None:
    """Protects the versioned structure, too, which came with DLPack 1.0."""
    include = _torch_include()
    flags = (f"-I{include}", "-DNEEDS_VERSIONED")
    assert _parse(compiler.path, "<ATen/dlpack.h>", *flags) == ""


@each_compiler
def test_a_structure_of_another_layout_is_noticed(compiler: Compiler, tmp_path: Path) -> None:
    """Protects the two tests above from asserting nothing."""
    _require_debian(compiler.path)
    text = (_OURS / "dlpack.h").read_text()
    fields = "  std::int32_t ndim;\n  DataType dtype;\n"
    assert fields in text
    swapped = "".join(reversed(fields.splitlines(keepends=True)))
    (tmp_path / "dlpack.h").write_text(text.replace(fields, swapped))
    said = _parse(compiler.path, "<dlpack/dlpack.h>", ours=tmp_path)
    assert "static" in said and "ndim" in said, said
