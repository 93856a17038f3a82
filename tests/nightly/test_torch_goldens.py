"""The C++ generated from every golden input for target torch compiles with the installed headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.build import RUNTIME, WARNINGS, default_compiler, environment, run
from support.goldens import GOLDENS
from support.pytorch import torch_folder
from support.retargeted import retargeted
from support.trees import write_tree

pytestmark = pytest.mark.nightly

# Rejected: E0751, E0241, E0754.
REFUSED = {"use_const_ref", "outless", "ufunc"}


def test_all_of_them_in_one_unit(tmp_path: Path) -> None:
    """Protects adapters of signatures that no library of the tests has. All are compiled as one source, since ATen's
    headers take long to compile.
    """
    torch = torch_folder()
    includes, sources = [f"-I{RUNTIME / 'torch' / 'include'}"], []
    refused: set[str] = set()
    for tree in retargeted("torch", tmp_path, refused):
        includes.append(f"-I{tree / 'include'}")
        sources += sorted(tree.glob("src/*.cpp"))
    assert refused <= REFUSED, refused - REFUSED
    unit = tmp_path / "all.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    system = [f"-isystem{torch / 'include'}", f"-isystem{torch / 'include/torch/csrc/api/include'}"]
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", *WARNINGS]
    run([*command, *includes, *system, unit], env=environment())


def test_nodes_that_call_functions_of_an_author(tmp_path: Path) -> None:
    """Protects the names and types by which formulas are compiled with PyTorch's headers."""
    torch = torch_folder()
    (golden,) = (g for g in GOLDENS if g.name == "derivatives_torch")
    tree = write_tree(golden.tree(), tmp_path / "tree")
    system = [f"-isystem{torch / 'include'}", f"-isystem{torch / 'include/torch/csrc/api/include'}"]
    includes = [f"-I{path}" for path in (RUNTIME / "torch" / "include", tree / "include")]
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", "-DMYLIB_WITH_JOIN"]
    source = tree / "src" / "Derivatives.cpp"
    run([*command, *WARNINGS, *includes, f"-I{golden.folder}", *system, source], env=environment())
