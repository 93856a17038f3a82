"""opgen_add_operators in a user's build: which steps run after which edit, with Ninja and with Make, in folders with
spaces.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.build import run, tool
from support.stand_in import Build

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "build_steps"
GENERATORS = ["Ninja", *["Unix Makefiles"][: bool(shutil.which("make"))]]


@pytest.fixture(scope="module", params=GENERATORS)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The project of HERE, configured, and built source by source. Tests undo their edits."""
    folder = tmp_path_factory.mktemp("build steps")
    source = folder / "a project"
    shutil.copytree(HERE, source)
    build = Build(source, folder / "out of source", request.param)
    build.configure("-DOPGEN_UNITY_BYTES=0")
    compiled, _ = build.build()
    assert (
        len(compiled) == len(set(compiled)) + 4
    )  # Both libraries have four sources of the same name.
    return build


def test_each_edit_compiles_only_dependent_sources(project: Build) -> None:
    """Protects exact inputs and outputs: operators can be added, changed and removed without configuring by hand."""
    yaml = project.source / "some ops.yaml"
    before = yaml.read_text()
    assert project.build()[0] == []

    entry = "\n- func: ops::extra(Tensor self) -> Tensor\n  dispatch:\n    CPU: extra_cpu\n    SparseCPU: extra_sparse\n"
    yaml.write_text(before + entry)
    of_one = ["CPUStubs.cpp", "Operators.cpp", "RegisterCPU.cpp", "RegisterSchema.cpp"]
    of_sparse = ["RegisterSparseCPU.cpp", "SparseCPUStubs.cpp"]
    assert project.build()[0] == sorted(of_one + of_sparse)
    assert project.build()[0] == []

    yaml.write_text(yaml.read_text().replace("CPU: extra_cpu", "CPU: other_cpu"))
    assert project.build()[0] == sorted(["CPUStubs.cpp", "RegisterCPU.cpp", *of_sparse])

    yaml.write_text(
        yaml.read_text().replace("ops::two(Tensor self)", "ops::two(Tensor self, int n)")
    )
    assert project.build()[0] == sorted([*of_one, "main.cpp"])

    yaml.write_text(before)
    assert project.build()[0] == sorted([*of_one, "main.cpp"])
    assert not list(project.folder.rglob("extra*")), "what no operator needs is still there"
    assert project.build()[0] == []


def test_a_mistake_stops_the_build_and_undoing_it_compiles_nothing(project: Build) -> None:
    """A diagnostic passes through the build system, and a failed run leaves the tree intact."""
    yaml = project.source / "some ops.yaml"
    before = yaml.read_text()
    yaml.write_text(before + "\n- func: ops::bad(Tensr self) -> Tensor\n")
    for _ in (1, 2):
        done = project.try_build()
        assert done.returncode != 0
        assert "E0307" in done.stdout and "some ops.yaml:9:" in done.stdout
        assert project.compiled() == []
    yaml.write_text(before)
    assert project.build()[0] == []


def test_kernels_are_looked_at(project: Build) -> None:
    """Protects users of CMake: what `opgen build` says about a kernel, a build says once for each edit."""
    kernel = project.source / "kernels" / "a kernel.cpp"
    before = kernel.read_text()
    assert project.build()[0] == []
    kernel.write_text(before.replace("one_cpu", "won_cpu"))
    compiled, said = project.build()
    assert compiled == ["a kernel.cpp"] and said.count("W0921") == 2
    assert "no entry names the kernel 'won_cpu'" in said and "did you mean 'one_cpu'?" in said
    assert project.build() == ([], project.build()[1]) and "W0921" not in project.build()[1]
    kernel.write_text(before.replace("one_native", "one"))
    assert "add '#include <ops/ops/one_native.h>'" in project.build()[1]
    kernel.write_text(before)
    compiled, said = project.build()
    assert compiled == ["a kernel.cpp"] and "warning" not in said


def test_a_file_that_opgen_finds_by_itself_may_come_and_go(project: Build) -> None:
    """Protects derivatives.yaml and tags.yaml: the next build notices the file without configuring by hand."""
    formulas = project.source / "derivatives.yaml"
    assert project.build()[0] == []
    formulas.write_text("- name: ops::no_such_operator\n  self: grad\n")
    done = project.try_build()
    assert done.returncode != 0 and "E1210" in done.stdout
    formulas.write_text("[]\n")
    assert project.build()[0] == []
    formulas.write_text("- name: ops::no_such_operator\n  self: grad\n")
    assert "E1210" in project.try_build().stdout
    formulas.unlink()
    assert project.build()[0] == []


def test_the_files_of_opgen_itself_are_inputs(project: Build) -> None:
    """Protects upgrades: the build also depends on templates, tables and modules of opgen."""
    if project.generator == "Ninja":
        depends = run([tool("ninja"), "-C", project.folder, "-t", "deps", "opgen-ops.outputs"])
    else:
        depends = (project.folder / "CMakeFiles" / "Makefile.cmake").read_text()
    for name in ("RegisterKey.cpp.j2", "key_readers.py", "dispatch_keys.txt"):
        assert name in depends, name
