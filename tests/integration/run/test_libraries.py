"""Several libraries in one process, of strangers or one that extends another; also as a CMake project of a user."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from opgen.io.manifest import MANIFEST
from support.build import (
    REPOSITORY,
    RUNTIME_ABI,
    cmake_build,
    environment,
    jobs,
    launcher,
    link_library,
    link_program,
    project_definitions,
    require_headers,
    run,
    run_program,
)
from support.python_package import run_python
from support.trees import generate, sources

HERE = Path(__file__).parent / "libraries"


def library(folder: Path, name: str, *kernels: str) -> tuple[Path, Path]:
    """A library of its own: its tree, and the compiled library."""
    tree = generate(HERE / f"{name}.yaml", folder / name, name=name)
    files = [*sources(tree), *(HERE / kernel for kernel in kernels)]
    return tree, link_library(name, folder, files, [tree / "include"])


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Libraries base and second, whose authors do not know each other, and again, which defines an operator of base."""
    folder = tmp_path_factory.mktemp("libraries")
    kernels = {"base": "twice.cpp", "second": "thrice.cpp", "again": "again.cpp"}
    return {name: library(folder, name, kernel) for name, kernel in kernels.items()}


@pytest.mark.slow
def test_a_library_out_of_tree_uses_the_methods_of_another(
    libraries: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    tree, base = libraries["base"]
    more_tree = generate(HERE / "more.yaml", tmp_path / "more", extends=tree / MANIFEST)
    include = [tree / "include", more_tree / "include"]
    files = [*sources(more_tree), HERE / "fourfold.cpp"]
    more = link_library("more", tmp_path, files, include, base)
    program = link_program(tmp_path, [HERE / "main.cpp"], include, base, more)
    assert run_program(program) == (0, "6 12\n", "")


@pytest.mark.slow
def test_libraries_of_strangers_share_a_program(
    libraries: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    """Protects the one class Tensor of signatures: each library takes the other's tensors, by reference."""
    trees, made = zip(libraries["base"], libraries["second"])
    include = [tree / "include" for tree in trees]
    for number, order in enumerate([made, made[::-1]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = link_program(folder, [HERE / "strangers.cpp"], include, *order)
        assert run_program(program) == (0, "4 18 14 1 3 18 36 2\n", "")


_REFUSED = "library {0} is not registered: base::twice is defined twice: by {1} and by {0}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [*itertools.permutations(["base", "second", "again"])], ids=" ".join
)
def test_loaded_libraries_share_a_process_or_are_refused_in_words(
    names: tuple[str, ...], libraries: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    """Protects dlopen: the second library that defines an operator is an error and no abort, and unloading one
    library leaves the others working.
    """
    program = link_program(tmp_path, [HERE / "loads.cpp"], [])
    paths = [str(libraries[name][1]) for name in names]
    code, printed, complained = run_program(program, arguments=paths)
    assert code == 0, complained
    first, late = sorted(["base", "again"], key=names.index)
    refusal = _REFUSED.format(late, first)
    assert refusal in complained
    twice = {"base": "base::twice 2", "again": "base::twice -1"}[first]
    once = "again::once 1" if first == "again" else "no operator again::once is defined"
    lines = printed.splitlines()
    assert lines[:2] == [twice, "second::thrice 3"]
    assert lines[2].startswith(once)
    # The first one may have been unloaded.
    kept = {"base::twice": twice, "second::thrice": "second::thrice 3"}
    for line, (name, expected) in zip(lines[3:], kept.items(), strict=True):
        owner = "second" if name == "second::thrice" else first
        assert line == expected or owner == names[0], lines


# ABIs of the runtime: that of this checkout, and that of a later one.
_ABIS = {"base": RUNTIME_ABI, "second": RUNTIME_ABI + 1}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The build folders of the Python packages base, which this opgen has built, and second, which a later one has."""
    require_headers()
    folder = tmp_path_factory.mktemp("releases")
    later = folder / "later"
    for name in ("src", "runtime", "templates", "docs"):
        shutil.copytree(
            REPOSITORY / name, later / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name, words in (
        ("runtime/include/opgen/core/macros.h", "OPGEN_RUNTIME_ABI {}"),
        ("src/opgen/targets/runtime.py", "runtime_abi={},"),
    ):
        text = (later / name).read_text()
        before, after = (words.format(abi) for abi in _ABIS.values())
        assert before in text
        (later / name).write_text(text.replace(before, after))
    variables = environment()
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    built = {}
    for name, kernel, source in (
        ("base", "twice", REPOSITORY / "src"),
        # Without optimisation, its runtime takes a third of the time.
        ("second", "thrice", later / "src"),
    ):
        tree = folder / name
        options = ["--kernels", HERE / f"{kernel}.cpp", "-o", tree, "--name", name, "--python"]
        options += ["--build-type", "Release" if name == "base" else "Plain", "-j", str(jobs())]
        command = [sys.executable, "-m", "opgen", "build", HERE / f"{name}.yaml", *options]
        run(command, env={**variables, "PYTHONPATH": str(source)})
        built[name] = tree / "cmake-build"
    return built


def refused(late: str) -> str:
    """What is said of a library if the other one was loaded first."""
    (first,) = {*_ABIS} - {late}
    return (
        f"library {late} is not registered: it was built for ABI {_ABIS[late]} of opgen's runtime, "
        f"and this process uses ABI {_ABIS[first]}, /"
    )


@pytest.mark.slow
@pytest.mark.parametrize("names", [("base", "second"), ("second", "base")], ids=" ".join)
def test_a_library_for_another_abi_is_refused_in_words(
    names: tuple[str, str], releases: Mapping[str, Path], tmp_path: Path
) -> None:
    """Protects processes from two runtimes: the second library that `dlopen` or `import` loads is an error that
    names both, and the first one works.
    """
    first, late = names
    calls = {"base": "twice", "second": "thrice"}
    program = link_program(tmp_path, [HERE / "loads.cpp"], [])
    paths = [str(releases[name] / f"lib{name}.so") for name in names]
    code, printed, complained = run_program(program, arguments=paths)
    assert code == 0, complained
    assert refused(late) in complained and refused(first) not in complained
    # The program calls by the names of its own runtime, that of base.
    assert ("base::twice 2" in printed.splitlines()) == (first == "base")
    assert "no operator second::thrice is defined" in printed
    run_python(
        f"""
        import os
        import {first}
        read, write = os.pipe()
        stderr = os.dup(2)
        os.dup2(write, 2)  # the warning of the library
        try:
            import {late}
        except ImportError as error:
            assert {refused(late)!r} in str(error), error
        else:
            assert False, "no error"
        os.dup2(stderr, 2)
        assert {first}.{calls[first]}({first}.tensor([1.0])).tolist() == [{2 if first == "base" else 3}]
        """,
        *(folder / "python" for folder in releases.values()),
    )


@pytest.mark.slow
def test_a_program_with_libraries_for_two_abis_starts(
    releases: Mapping[str, Path], tmp_path: Path
) -> None:
    """Protects `main` from symbols of another runtime: one of the libraries is refused, as with dlopen."""
    made = [releases[name] / f"lib{name}.so" for name in ("base", "second")]
    for number, order in enumerate([made, made[::-1]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = link_program(folder, [HERE / "loads.cpp"], [], *order)
        code, printed, complained = run_program(program)
        assert code == 0, complained
        assert sum(refused(name) in complained for name in _ABIS) == 1, complained
        assert "no operator second::thrice is defined" in printed


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
