"""Several libraries in one process: one owns class Tensor, others extend it; also as a CMake project of a user."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opgen.io.manifest import MANIFEST
from support.build import (
    cmake_build,
    link_library,
    link_program,
    project_definitions,
    run_program,
)
from support.trees import generate, sources

HERE = Path(__file__).parent / "libraries"


def library(name: str, folder: Path, *kernels: str) -> tuple[Path, Path]:
    """A library that owns class Tensor: its tree, and the compiled library."""
    tree = generate(HERE / f"{name}.yaml", folder / name)
    files = [*sources(tree), *(HERE / kernel for kernel in kernels)]
    return tree, link_library(name, folder, files, [tree / "include"])


@pytest.mark.slow
def test_a_library_out_of_tree_uses_the_tensor_of_another(tmp_path: Path) -> None:
    tree, base = library("base", tmp_path, "twice.cpp")
    more_tree = generate(HERE / "more.yaml", tmp_path / "more", extends=tree / MANIFEST)
    assert not list(more_tree.rglob("TensorBody.h"))
    include = [tree / "include", more_tree / "include"]
    files = [*sources(more_tree), HERE / "fourfold.cpp"]
    more = link_library("more", tmp_path, files, include, base)
    program = link_program(tmp_path, [HERE / "main.cpp"], include, base, more)
    assert run_program(program) == (0, "6 12\n", "")


@pytest.mark.slow
def test_a_second_owner_of_class_tensor_is_rejected(tmp_path: Path) -> None:
    tree, base = library("base", tmp_path, "twice.cpp")
    _, second = library("second", tmp_path)
    program = link_program(tmp_path, [HERE / "owners.cpp"], [tree / "include"], base, second)
    code, printed, complained = run_program(program)
    assert code != 0
    assert not printed
    assert "base" in complained and "second" in complained and "Tensor" in complained, complained


@pytest.mark.slow
def test_a_kernel_for_each_instruction_set_is_chosen_and_lowered_by_the_environment(
    tmp_path: Path,
) -> None:
    cmake_build(HERE.parent / "capabilities", tmp_path, *project_definitions())

    def run(wanted: str) -> tuple[str, str, str]:
        code, printed, complained = run_program(
            tmp_path / "program", {"OPGEN_CPU_CAPABILITY": wanted}
        )
        assert code == 0, complained
        assert ("expected default, avx2 or avx512" in complained) == (wanted == "sse9")
        chosen, compiled, value = printed.strip().split(", ")
        return chosen, compiled, value

    order = ["default", "avx2", "avx512"]
    compiled_for = ["DEFAULT", "AVX2 with AVX2", "AVX512 with AVX-512"]
    best, _, value = run("avx512")
    for wanted in order:
        chosen = min(wanted, best, key=order.index)
        assert run(wanted) == (chosen, compiled_for[order.index(chosen)], value)
    assert run("sse9")[0] == best


@pytest.mark.slow
@pytest.mark.parametrize("one_by_one", [False, True], ids=["as one", "one by one"])
def test_a_cmake_project_rebuilds_only_changed_files(one_by_one: bool, tmp_path: Path) -> None:
    """The generated sources of a small library are one object, unless separate ones are requested."""
    project, built = tmp_path / "project", tmp_path / "built"
    shutil.copytree(HERE, project)
    definitions = [*project_definitions(), *["-DOPGEN_UNITY_BYTES=0"][: int(one_by_one)]]
    cmake_build(project, built, *definitions)
    assert run_program(built / "program") == (0, "6 12\n", "")
    assert run_program(built / "by_name") == (0, "found\n", "")

    before = compiled(built)
    cmake_build(project, built, *definitions)
    assert compiled(built) == before, "nothing was edited, and something is compiled"

    yaml = project / "more.yaml"
    entry = "\n- func: more::negated(Tensor self) -> Tensor\n  dispatch:\n    CPU: negated_cpu\n"
    yaml.write_text(yaml.read_text() + entry)
    cmake_build(project, built, *definitions)
    after = compiled(built)
    changed = {name for name in after if after[name] != before.get(name)}
    kept = {Path(name).name for name in after if name not in changed}
    assert {"twice.cpp.o", "fourfold.cpp.o"} <= kept
    if one_by_one:
        assert "RegisterCPU.cpp.o" in {Path(name).name for name in changed}
        assert "TensorMethods.cpp.o" in kept
    else:
        assert "unity_generated_0_cxx.cxx.o" in {Path(name).name for name in changed}
    assert all("base.dir" not in name for name in changed)
    assert run_program(built / "program") == (0, "6 12\n", "")


def compiled(folder: Path) -> dict[str, int]:
    """Return the time when each object file was made."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*.o")
    }
