"""PyTorch's formulas under a namespace of their own: every node and kernel compiles against the installed headers.

Protects the generated text for each form that 687 real entries have, and the stubs of the functions that they call:
FunctionsManual.h declares these, and libtorch exports few of them.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.emit.common.context import Context
from opgen.pipeline.generating import checked_context, render_tree
from opgen.pipeline.inputs import Inputs, with_contents
from support.build import RUNTIME, Compiler, compilers, environment, jobs, launcher, run
from support.nodes import check_nodes
from support.pytorch import packaged_native_functions, torch_folder
from support.pytorch_copy import DECLARED_IN, HEADER, called_in, declared_in, write_copy
from support.trees import write_tree

pytestmark = pytest.mark.nightly

SHARDS = 32
# Functions that FunctionsManual.h declares as templates, of which libtorch exports no instance.
TEMPLATES = {"mul_tensor_backward", "div_tensor_self_backward"}


class Copy:
    """The private copy, its files in `folder` and its tree in `tree`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packaged = packaged_native_functions().parents[2]
        self.include = torch_folder() / "include"
        self.native, self.derivatives = write_copy(self.packaged, self.include, folder)
        inputs = with_contents(Inputs((self.native,), target="torch", shards=SHARDS))
        diagnostics = Diagnostics()
        context = checked_context(inputs, diagnostics)
        assert context is not None, [str(item.message) for item in diagnostics.errors()]
        self.context: Context = context
        self.tree = write_tree(render_tree(context, inputs), folder / "tree")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """$OPGEN_NIGHTLY_COPY keeps the files and what was compiled of them between runs."""
    kept = os.environ.get("OPGEN_NIGHTLY_COPY")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("copy")
    folder.mkdir(parents=True, exist_ok=True)
    return Copy(folder)


def test_every_entry_has_its_node(copy: Copy) -> None:
    texts = (path.read_text() for path in copy.tree.glob("src/Derivatives_*.cpp"))
    assert check_nodes(copy.derivatives, copy.context.gradients, texts) == 687


def test_the_functions_that_are_stubs(copy: Copy) -> None:
    """Each function that formulas call and libtorch does not export is a stub, and none that it exports."""
    called = called_in(copy.packaged / "autograd/derivatives.yaml") & declared_in(
        copy.include / HEADER
    )
    functions = [f for f in copy.context.formula_files.functions if f.namespace == DECLARED_IN]
    stubs = {f.name for f in functions}
    library = torch_folder() / "lib" / "libtorch_cpu.so"
    names = run(["nm", "-D", "-C", "--defined-only", library])
    exported = set(re.findall(rf"{DECLARED_IN}::(\w+)\(", names))
    assert stubs and not stubs & exported
    # A library that links these brings their definitions.
    assert called - stubs - exported == TEMPLATES
    print(
        f"{len(called)} functions, {len(called & exported)} exported, {len(stubs)} stubs ({len(functions)} with overloads)"
    )


@pytest.mark.parametrize("compiler", compilers()[:1], ids=lambda compiler: compiler.name)
def test_every_shard_compiles(compiler: Compiler, copy: Copy) -> None:
    sources = [
        *sorted(copy.tree.glob("src/Derivatives_*.cpp")),
        *sorted(copy.tree.glob("src/RegisterAutograd_*.cpp")),
        copy.tree / "stubs" / "FormulaStubs.cpp",
    ]
    assert len(sources) > SHARDS
    folder = copy.folder / compiler.name
    folder.mkdir(exist_ok=True)
    command = [*launcher(), compiler.path, "-std=c++20", "-O0", "-fPIC", "-Wall", "-Werror", "-c"]
    command += ["-iquote", str(copy.folder), f"-I{RUNTIME / 'torch' / 'include'}"]
    command += [f"-I{copy.tree / 'include'}"]
    for folder_of_torch in (copy.include, copy.include / "torch/csrc/api/include"):
        command += ["-isystem", str(folder_of_torch)]

    def compile_one(source: Path) -> None:
        run([*command, source, "-o", folder / f"{source.stem}.o"], env=environment())

    with ThreadPoolExecutor(min(jobs(), 2)) as pool:
        list(pool.map(compile_one, sources))
