"""What units of target torch read of ATen."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.build import RUNTIME, run, tool
from support.pytorch import torch_folder

# 6 MB after the preprocessor and 2 s of each unit, each.
COSTLY = ("ATen/Functions.h", "ATen/native/Resize.h", "torch/extension.h")


@pytest.mark.parametrize(
    "header",
    [
        "register.h",
        "structured.h",
        "boxing.h",
        "functionalize.h",
        "autograd.h",
        "autograd_written.h",
        "autograd_view.h",
        "kernel.h",
    ],
)
def test_no_costly_header(header: str, tmp_path: Path) -> None:
    """Protects compile times: one include of ATen's list of all operators is half of a small library's unit."""
    unit = tmp_path / "unit.cpp"
    unit.write_text(f"#include <opgen/{header}>\n")
    own, torch = RUNTIME / "torch/include", torch_folder() / "include"
    api = torch / "torch/csrc/api/include"
    arguments = ["-std=c++20", f"-I{own}", f"-I{torch}", f"-I{api}", "-M", unit]
    read = run([tool("g++"), *arguments]).split()
    assert f"{own}/opgen/{header}" in read
    assert [path for path in read if path.endswith(COSTLY)] == []
