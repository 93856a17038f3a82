"""A package for PyTorch with the author's own Python code, put together by CMake without a library to compile."""

from __future__ import annotations

import subprocess
from pathlib import Path

from opgen.data import cmake_dir
from support.build import tool
from support.inputs import aten_inputs
from support.trees import make_tree, write_tree

MIX = "- func: mylib::mix(Tensor self, Tensor other, float weight=0.5) -> Tensor\n  doc: Mix.\n"
PROJECT = f"""\
cmake_minimum_required(VERSION 3.24)
project(mylib LANGUAGES NONE)
include("{cmake_dir()}/opgenOperators.cmake")
include("{cmake_dir()}/opgenTorchPackage.cmake")
add_custom_target(mylib ALL)
opgen_make_torch_package(mylib TREE "${{CMAKE_SOURCE_DIR}}/tree" FOLDER "${{CMAKE_SOURCE_DIR}}/own" BUILT_FOR "")
"""


def start_package(folder: Path, target: str = "torch") -> Path:
    """Write a project of CMake with the package `mylib`; return the folder for the author's Python files."""
    (folder / "mylib.yaml").write_text(MIX)
    inputs = aten_inputs((folder / "mylib.yaml",), target=target)
    write_tree(make_tree(inputs, python=True), folder / "tree")
    (folder / "CMakeLists.txt").write_text(PROJECT)
    (folder / "own").mkdir()
    return folder / "own"


def build_package(folder: Path) -> Path:
    """Build the project in `folder`, or what has changed in it; return the folder that has the package."""
    commands = [[tool("cmake"), "--build", "build"]]
    if not (folder / "build").exists():
        commands.insert(0, [tool("cmake"), "-S", ".", "-B", "build", "-G", "Ninja"])
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "python"
