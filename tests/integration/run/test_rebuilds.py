"""How many sources are compiled after an edit of a large schema file: for our own library, and for PyTorch's whole
file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import opgen
from opgen.emit.common.base import shard_of
from support.build import REPOSITORY, RUNTIME
from support.pytorch import packaged_native_functions
from support.rebuilds import GROUP, METHOD, Edit, Project, make_project, numbers
from support.stand_in import Build
from support.torch_extension import require_torch

IGNORED = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")

CPU = "  dispatch:\n    CPU: "

# Sources that depend on a structured group without methods: its operators, schemas and calls, its
# kernel, its meta, its CompositeExplicitAutogradNonFunctional rows, its rows for Python; of each
# kind, the one shard with its name.
OF_A_GROUP = {
    "CPUStubs": 1,
    "MetaStubs": 1,
    "Operators": 1,
    "RegisterCPU": 1,
    "RegisterCompositeExplicitAutogradNonFunctional": 1,
    "RegisterMeta": 1,
    "RegisterSchema": 1,
    "module": 1,
}


def project(folder: Path, yaml: Path, *, shards: int, ignored: tuple[str, ...] = ()) -> Project:
    registry = opgen.load(opgen.Inputs(yaml, ignore_keys=ignored))
    roots = sorted({f.root_name for f in registry.functions})
    options = f"--ignore-keys {','.join(ignored)}" if ignored else ""
    return make_project(folder, yaml, roots, shards=shards, options=options)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Our own operators in four shards, with a kernel source for each root name."""
    yield project(tmp_path_factory.mktemp("own"), REPOSITORY / "native_functions.yaml", shards=4)


@pytest.mark.slow
def test_few_units_of_our_own_library_follow_an_edit(own: Project) -> None:
    """Protects per-operator headers and stable shards, also in the Python module. The program includes every operator,
    as tests do.
    """
    comment = own.after(Edit("a comment", "", "# The end.\n"))
    assert comment.total == 0
    row = "    CPU, Meta: empty_strided\n"
    renamed = own.after(Edit("a kernel's name", row, row.replace("empty_strided", "empty_by")))
    assert renamed.written == ("empty_strided.kernel.cpp",)
    assert set(numbers(renamed.generated).values()) == {1} and len(renamed.generated) <= 6, renamed
    added = own.after(Edit("another group of functions", "", GROUP))
    assert numbers(added.generated) == OF_A_GROUP
    assert added.written == ("main.cpp",)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_each_shard_of_a_small_library_is_a_unit(target: str, tmp_path: Path) -> None:
    """Protects SHARDS where sources are compiled together: everything about an operator is in one source."""
    if target == "torch":
        require_torch()
    source = tmp_path / "project"
    source.mkdir()
    yaml = source / "ops.yaml"
    names = ["one", "two", "three", "four", "eight"]
    yaml.write_text("".join(f"- func: ops::{n}(Tensor self) -> Tensor\n{CPU}{n}\n" for n in names))
    (source / "CMakeLists.txt").write_text(f"""\
cmake_minimum_required(VERSION 3.24)
project(ops LANGUAGES CXX)
find_package({"opgen_torch" if target == "torch" else "opgen"} REQUIRED CONFIG)
opgen_add_operators(ops OPGEN_TARGET {target} YAML ops.yaml SHARDS 3)
""")
    build = Build(source, tmp_path / "built")
    build.configure(
        f"-Dopgen_torch_DIR={RUNTIME / 'cmake'}", f"-DPython_EXECUTABLE={sys.executable}"
    )
    shards = {name: f"unity_generated_{shard_of(name, 3)}_cxx.cxx" for name in names}
    assert build.build()[0] == sorted(set(shards.values())) and len(set(shards.values())) == 3
    yaml.write_text(yaml.read_text().replace("four(Tensor self)", "four(Tensor self, int n)"))
    assert build.build()[0] == [shards["four"]]


@pytest.mark.nightly
def test_few_units_of_a_library_of_pytorchs_size_follow_an_edit(tmp_path: Path) -> None:
    """Protects the table of benchmarks/RESULTS.md: the numbers for 556 entries also hold for 2,584."""
    whole = project(tmp_path, packaged_native_functions(), shards=8, ignored=IGNORED)
    results = (REPOSITORY / "benchmarks/RESULTS.md").read_text()
    units = sum(1 for _ in whole.build.folder.rglob("*.o"))
    assert f"with {units:,} units (8 shards" in results
    added = whole.after(Edit("another group of functions", "", GROUP))
    assert numbers(added.generated) == OF_A_GROUP
    assert added.written == ("main.cpp",)
    row = "    CPU: _bincount_cpu\n"
    renamed = whole.after(Edit("a kernel's name", row, row.replace("_bincount_cpu", "bincount_")))
    assert renamed.total == 7 and renamed.written == ("bincount.kernel.cpp",)
    # Class Tensor declares every method, and every operator takes a Tensor, so everything depends
    # on it.
    assert whole.after(Edit("another method", "", METHOD)).total > 1600
