"""Every structured operator of PyTorch's own file, for a backend of one's own, is C++ that the installed headers take."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import NativeFunctionsGroup
from opgen.pipeline import Inputs, build_tree
from support.build import RUNTIME, default_compiler, environment, run
from support.pytorch import packaged_native_functions, torch_folder

pytestmark = pytest.mark.nightly

HEAD = "backend: PrivateUse1\ncpp_namespace: pu1\ndevice_guard: true\n"
SHARDS = 2


@pytest.mark.parametrize("route", ["structured", "structured_own_meta", "structured_installed"])
def test_every_group(route: str, tmp_path: Path) -> None:
    """Protects registrations, wrappers, classes and stubs of each group, by each of the three routes."""
    schema = packaged_native_functions()
    groups = [g for g in opgen.load([schema]).groups if g.structured]
    if route == "structured_installed":
        groups = [g for g in groups if serves_several(g)]
    assert len(groups) >= 200
    names = [str(g.out.func.name) for g in groups]
    (tmp_path / "backend.yaml").write_text(
        f"{HEAD}{route}:\n" + "".join(f"- {name}\n" for name in names)
    )
    inputs = Inputs((schema,), target="torch", backend_yaml=tmp_path / "backend.yaml")
    diagnostics = Diagnostics()
    tree = build_tree(inputs, diagnostics, shards=SHARDS)
    assert tree is not None, list(diagnostics)
    members = [f for g in groups for f in g.functions() if not f.manual_kernel_registration]
    registered = sum(text.count("m.impl(") for text in tree.files.values())
    assert registered == len(members)
    for path, text in tree.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    units = [p for p in tree.files if p.endswith(".cpp")]
    assert len([u for u in units if u.startswith("src/")]) == SHARDS
    for unit in units:
        check(tmp_path, unit)


def serves_several(group: NativeFunctionsGroup) -> bool:
    """Whether the CPU's kernel is that of another backend, too, or a loop's."""
    kernels = [(key, kernel) for key, kernel in group.out.dispatch if kernel.structured]
    own = [kernel for key, kernel in kernels if key is DispatchKey.CPU]
    others = [kernel for key, kernel in kernels if key is not DispatchKey.CPU]
    return bool(own) and (own[0] in others or bool(group.out.ufunc_inner_loop))


def check(tree: Path, unit: str) -> None:
    torch = torch_folder()
    system = [f"-isystem{torch / 'include'}", f"-isystem{torch / 'include/torch/csrc/api/include'}"]
    own = [f"-I{tree / 'include'}", f"-I{RUNTIME / 'torch' / 'include'}"]
    warnings = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", *warnings]
    run([*command, *own, *system, tree / unit], env=environment())
