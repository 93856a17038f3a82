"""A backend's kernels for every structured operator of PyTorch's own file compile with the installed headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import opgen
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsGroup
from opgen.pipeline.generating import build_tree
from support.build import RUNTIME, default_compiler, environment, run
from support.inputs import aten_inputs
from support.pytorch import packaged_native_functions, torch_folder

pytestmark = pytest.mark.nightly

HEAD = "backend: PrivateUse1\ncpp_namespace: pu1\ndevice_guard: true\n"
SHARDS = 2


@pytest.mark.parametrize("route", ["structured", "structured_own_meta", "structured_installed"])
def test_every_group(route: str, tmp_path: Path) -> None:
    """Protects registrations, wrappers, classes and stubs of each group, for each of the three kinds of structured
    kernels.
    """
    schema = packaged_native_functions()
    groups = [g for g in opgen.load([schema]).groups if g.structured]
    if route == "structured_installed":
        groups = [g for g in groups if serves_several(g)]
    assert len(groups) >= 200
    (tmp_path / "backend.yaml").write_text(f"{HEAD}{route}:\n{as_list([g.out for g in groups])}")
    members = [f for g in groups for f in g.functions() if not f.manual_kernel_registration]
    assert generate(schema, tmp_path) == len(members)
    check(tmp_path)


def test_other_operators(tmp_path: Path) -> None:
    """Protects guards, adapters and variants made by copies: all operators that have a CPU kernel and are not
    structured, half of those with symbolic sizes by kernels for symbolic sizes.
    """
    schema = packaged_native_functions()
    registry = opgen.load([schema])
    found = [f for f in registry.functions if f.find_kernel(DispatchKey.CPU) is not None]
    found = [f for f in found if not f.part_of_structured_group]
    groups = [registry.group_of(f) for f in found]
    found = [f for f, g in zip(found, groups) if g is None or f is g.functional]
    symbolic = [f for f in found if f.func.has_symint()][::2]
    assert len(found) >= 200 and len(symbolic) >= 20
    (tmp_path / "backend.yaml").write_text(
        f"{HEAD}supported:\n{as_list(found)}symint:\n{as_list(symbolic)}"
    )
    assert generate(schema, tmp_path) > len(found)
    check(tmp_path)


def as_list(functions: list[NativeFunction]) -> str:
    return "".join(f"- {f.func.name}\n" for f in functions)


def generate(schema: Path, folder: Path) -> int:
    """Generate the tree of backend.yaml in its folder; return how many operators it registers."""
    inputs = aten_inputs((schema,), target="torch", backend_yaml=folder / "backend.yaml")
    diagnostics = Diagnostics()
    tree = build_tree(replace(inputs, shards=SHARDS), diagnostics)
    assert tree is not None, list(diagnostics)
    for path, text in tree.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return sum(text.count("m.impl(") for text in tree.files.values())


def serves_several(group: NativeFunctionsGroup) -> bool:
    """Return whether the CPU kernel also serves another backend, or is an inner loop."""
    kernels = [(key, kernel) for key, kernel in group.out.dispatch if kernel.structured]
    own = [kernel for key, kernel in kernels if key is DispatchKey.CPU]
    others = [kernel for key, kernel in kernels if key is not DispatchKey.CPU]
    return bool(own) and (own[0] in others or bool(group.out.ufunc_inner_loop))


def check(tree: Path) -> None:
    """Check that each generated source compiles without a warning."""
    torch = torch_folder()
    system = [f"-isystem{torch / 'include'}", f"-isystem{torch / 'include/torch/csrc/api/include'}"]
    own = [f"-I{tree / 'include'}", f"-I{RUNTIME / 'torch' / 'include'}"]
    warnings = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", *warnings]
    units = sorted(tree.glob("s*/*.cpp"))
    assert len(units) >= SHARDS
    for unit in units:
        run([*command, *own, *system, unit], env=environment())
