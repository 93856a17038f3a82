"""Which headers of ATen the sources for target torch include."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.build import RUNTIME, run, tool
from support.pytorch import torch_folder

# Each is 6 MB after the preprocessor and takes 2 s per source.
COSTLY = ("ATen/Functions.h", "ATen/native/Resize.h", "torch/extension.h")


@pytest.mark.parametrize(
    "header",
    [
        "register.h",
        "structured.h",
        "boxing.h",
        "transforms/functionalize.h",
        "autograd.h",
        "autograd/autograd_written.h",
        "autograd/autograd_view.h",
        "kernel.h",
    ],
)
def test_no_costly_header(header: str, tmp_path: Path) -> None:
    """Protects compile times: including ATen's list of all operators takes half the time of a small library."""
    unit = tmp_path / "unit.cpp"
    unit.write_text(f"#include <opgen/{header}>\n")
    own, torch = RUNTIME / "torch/include", torch_folder() / "include"
    api = torch / "torch/csrc/api/include"
    arguments = ["-std=c++20", f"-I{own}", f"-I{torch}", f"-I{api}", "-M", unit]
    read = run([tool("g++"), *arguments]).split()
    assert f"{own}/opgen/{header}" in read
    assert [path for path in read if path.endswith(COSTLY)] == []
