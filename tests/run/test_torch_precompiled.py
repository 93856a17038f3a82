"""Precompiled headers of libraries for target torch: where they are, and that what is compiled with them runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.build import RUNTIME, environment, locked, run, tool
from support.torch_extension import require_torch

HERE = Path(__file__).parent / "torch_precompiled"
pytestmark = pytest.mark.slow

CALLS = """
import sys, torch
torch.ops.load_library(sys.argv[1])
print(torch.ops.quick.twice(torch.ones(2)).tolist(), torch.ops.quick.times(torch.ones(2)).tolist())
"""


def configure(folder: Path, *definitions: str) -> dict[str, str]:
    """Each source's command."""
    require_torch()
    command = [tool("cmake"), "-S", HERE, "-B", folder, "-G", "Ninja", *definitions]
    command += [f"-Dopgen_torch_DIR={RUNTIME / 'cmake'}", f"-DPython_EXECUTABLE={sys.executable}"]
    command += [f"-DOPGEN_EXECUTABLE={tool('opgen')}", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    command += ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Werror"]
    without_cache = {k: v for k, v in environment().items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"}
    run(command, env=without_cache)
    units = json.loads((folder / "compile_commands.json").read_text())
    return {Path(unit["file"]).name: unit["command"] for unit in units}


def readers(commands: dict[str, str]) -> set[str]:
    """The sources that are compiled with the precompiled headers."""
    return {
        name for name, text in commands.items() if "cmake_pch" in text and "cmake_pch" not in name
    }


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_units_that_share_headers(compiler: str, tmp_path: Path) -> None:
    """Protects builds that compile ATen's headers once; a source with other definitions reads its own."""
    chosen = f"-DCMAKE_CXX_COMPILER={tool(compiler)}"
    commands = configure(tmp_path, chosen, "-DOPGEN_PRECOMPILE_HEADERS=ON")
    assert {"plain.cpp"} <= readers(commands)
    assert "special.cpp" not in readers(commands)
    with locked("torch"):
        run([tool("cmake"), "--build", tmp_path, "-j", "1"], env=environment())
    library = tmp_path / "libquick.so"
    assert run([sys.executable, "-c", CALLS, library]) == "[2.0, 2.0] [3.0, 3.0]\n"
