"""The C++ generated from every golden input for target torch compiles with the installed headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.pipeline.generating import build_tree
from support.build import REPOSITORY, RUNTIME, default_compiler, environment, run
from support.goldens import GOLDENS
from support.inputs import aten_inputs
from support.pytorch import torch_folder
from support.trees import write_tree

pytestmark = pytest.mark.nightly

GOLDEN = REPOSITORY / "tests" / "golden" / "trees"

# Rejected: E0751, E0241, E0754.
REFUSED = {"use_const_ref", "outless", "ufunc"}
# They need options, and other inputs have the same operators.
LEFT_OUT = {
    "external_backend_extends",
    "external_backend_structured",
    "extends",
    "selective",
    "python_module",
}


def test_all_of_them_in_one_unit(tmp_path: Path) -> None:
    """Protects adapters of signatures that no library of the tests has. All are compiled as one source, since ATen's
    headers take long to compile.
    """
    torch = torch_folder()
    includes, sources = [f"-I{RUNTIME / 'torch' / 'include'}"], []
    refused = set()
    for golden in sorted(GOLDEN.glob("*/input.yaml")):
        if golden.parent.name in LEFT_OUT:
            continue
        name = f"g_{golden.parent.name}"
        tree = tmp_path / name
        if not generate(golden, name, tree):
            refused.add(golden.parent.name)
            continue
        includes.append(f"-I{tree / 'include'}")
        sources += sorted(tree.glob("src/*.cpp"))
    assert refused <= REFUSED, refused - REFUSED
    unit = tmp_path / "all.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    system = [f"-isystem{torch / 'include'}", f"-isystem{torch / 'include/torch/csrc/api/include'}"]
    warnings = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", *warnings]
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
    warnings = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
    run([*command, *warnings, *includes, f"-I{golden.folder}", *system, source], env=environment())


def generate(golden: Path, name: str, tree: Path) -> bool:
    """Generate the input's tree in the namespace `name`; return False if the target rejects the input."""
    tree.mkdir()
    text = re.sub(r"(func: )(?![a-z_0-9]+::)", rf"\1{name}::", golden.read_text())
    (tree / "input.yaml").write_text(text)
    tags = golden.parent / "tags.yaml"
    if tags.exists():
        (tree / "tags.yaml").write_text(tags.read_text())
    inputs = aten_inputs((tree / "input.yaml",), target="torch", name=name)
    made = build_tree(inputs, Diagnostics())
    for path, content in () if made is None else made.files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        # All libraries give the macros for kernels the same names, so one source cannot contain those of two.
        (tree / path).write_text(re.sub(r"(?m)^#define OPGEN_\w+ (.*\\\n)*.*$", "", content))
    return made is not None
