"""`opgen build`: from YAML and kernels to a library, in one command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cli_support import GOOD

from support.build import DEBUG, REPOSITORY, environment, launcher, run, tool

KERNELS = """\
#include <opgen/kernel.h>

#include <aten/NativeFunctions.h>

OPGEN_KERNEL(neg_cpu)(const Tensor& self) { return self; }
"""


def opgen_build(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = environment()
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    return subprocess.run(
        [tool("opgen"), "build", "good.yaml", "-o", "out", "--namespace", "aten", *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_folder_of_headers_that_is_not_there(tmp_path: Path) -> None:
    """It is reported before anything is written."""
    (tmp_path / "good.yaml").write_text(GOOD)
    done = opgen_build(tmp_path, "-I", "nowhere")
    assert done.returncode == 1 and "error[E0905]: nowhere is no folder" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_python_where_it_has_no_place(tmp_path: Path) -> None:
    """Protects who forgets `--python`: nothing is compiled without the author's files."""
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "own").mkdir()
    done = opgen_build(tmp_path, "--target", "torch", "--python-folder", "own")
    assert done.returncode == 2 and "--python-folder goes with --python" in done.stderr
    assert not (tmp_path / "out").exists()


def assert_it_loads(library: Path) -> None:
    """In a process of its own: another test of this one may have loaded operators of the same names."""
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", load, library], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_build_and_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)

    # Nothing but the YAML: it builds and links, on stubs.
    bare = opgen_build(tmp_path)
    assert bare.returncode == 0, bare.stderr
    library = tmp_path / bare.stdout.split()[0]
    assert library.name == "libaten.so"
    assert_it_loads(library)

    # A kernel that does not fit: the compiler's words, which name the author's file.
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "neg.cpp").write_text(KERNELS.replace("const Tensor& self", "double"))
    wrong = opgen_build(tmp_path, "--kernels", "kernels")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "kernels/neg.cpp:5" in wrong.stderr and "error:" in wrong.stderr

    # The right one.
    (kernels / "neg.cpp").write_text(KERNELS)
    right = opgen_build(tmp_path, "--kernels", "kernels")
    assert right.returncode == 0, right.stderr
    assert_it_loads(library)


@pytest.mark.slow
def test_a_wheel_works_outside_of_the_checkout(tmp_path: Path) -> None:
    wheels, fresh = tmp_path / "wheels", tmp_path / "fresh"
    before = run([sys.executable, "-m", "pip", "freeze"])
    run([sys.executable, "-m", "pip", "wheel", "-q", REPOSITORY, "--no-deps", "-w", wheels])
    (wheel,) = wheels.glob("opgen-*.whl")
    run([sys.executable, "-m", "venv", "--without-pip", fresh])
    # pip runs inside the new environment: with --prefix it would uninstall the opgen of this one.
    install = ["--python", fresh / "bin" / "python", "install", "-q", "--no-deps", wheel]
    run([sys.executable, "-m", "pip", *install])
    assert run([sys.executable, "-m", "pip", "freeze"]) == before, "this environment was changed"
    # What opgen depends on is taken from this environment, whose own opgen comes second.
    (site,) = fresh.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(f"{Path(click.__file__).parents[1]}\n")
    opgen = fresh / "bin" / "opgen"

    variables = {k: v for k, v in environment().items() if k != "PYTHONPATH"}
    variables["PATH"] = f"{opgen.parent}{os.pathsep}{variables['PATH']}"
    project = tmp_path / "project"
    example = REPOSITORY / "examples" / "myadd"
    project.mkdir()
    for name in ("native_functions.yaml", "kernels/myadd.cpp", "main.cpp"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text((example / name).read_text())
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\n"
        "project(outside LANGUAGES CXX)\n"
        "find_package(opgen REQUIRED)\n"
        "opgen_add_operators(myops YAML native_functions.yaml KERNELS kernels/myadd.cpp)\n"
        "add_executable(program main.cpp)\n"
        "target_link_libraries(program PRIVATE myops)\n"
    )
    run([opgen, "generate", "native_functions.yaml", "-o", "tree"], cwd=project, env=variables)
    run([opgen, "check", "native_functions.yaml", "-o", "tree"], cwd=project, env=variables)
    folder = run([opgen, "--cmake-dir"], cwd=project, env=variables).strip()
    assert Path(folder).is_relative_to(fresh)

    command = [tool("cmake"), "-S", ".", "-B", "built", "-G", "Ninja", f"-Dopgen_DIR={folder}"]
    command += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", *DEBUG]
    command += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher()[0]}"] if launcher() else []
    run(command, cwd=project, env=variables)
    run([tool("cmake"), "--build", "built"], cwd=project, env=variables)
    printed = run([project / "built" / "program"])
    assert "myadd(a, row)" in printed and "2 x 3, no data" in printed
