"""Libraries that cannot be loaded say why, and leave PyTorch unchanged: another release, a namespace that is taken."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import cache_folder, one_torch_unit, run, tool
from support.pytorch import torch_folder
from support.torch_extension import build_extension, strict_environment

pytestmark = pytest.mark.slow

ALONE = "- func: taken::one(Tensor self) -> Tensor\n  dispatch:\n    CPU: one_cpu\n"
SHARED = "- namespace: taken\n  fragment: True\n- func: two(Tensor self) -> Tensor\n  dispatch:\n    CPU: two_cpu\n"
# A function like PyTorch's that returns another release; the dynamic loader finds it before libtorch's own.
ELSE = "#include <stdint.h>\nuint64_t aoti_torch_abi_version(void) { return (2ull << 56) | (%dull << 48) | (7ull << 40); }\n"


@pytest.fixture(scope="module")
def alone() -> Path:
    """The folder of package `alone`, which owns the namespace `taken`."""
    return package("alone", ALONE)


@pytest.fixture(scope="module")
def shared() -> Path:
    """The folder of package `shared`, which adds to the namespace `taken`."""
    return package("shared", SHARED)


def package(name: str, yaml: str) -> Path:
    torch_folder()
    folder = cache_folder() / "run" / "torch_loading" / name
    with one_torch_unit():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ops.yaml").write_text(yaml)
        (folder / "own").mkdir(exist_ok=True)
        (folder / "own" / "ops.py").write_text(f'__all__ = ["OWN"]\nOWN = "of {name}"\n')
        command = [tool("opgen"), "build", folder / "ops.yaml", "--target", "torch", "--python"]
        command += ["--python-folder", folder / "own"]
        command += ["--name", name, "-o", folder / "tree", "--build-type", "None", "-j", "1"]
        run(command, env=strict_environment())
    return folder / "tree" / "cmake-build" / "python"


def python(program: str, *folders: Path, **variables: str) -> tuple[int, str]:
    """Return how a program ends, and its output, with packages in `folders`."""
    path = os.pathsep.join(map(str, folders))
    done = subprocess.run(
        [sys.executable, "-c", f"import torch\n{program}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, **variables},
    )
    return done.returncode, done.stdout


def copied(package: Path, folder: Path) -> Path:
    """Copy the library of a package."""
    library = package / package.parents[2].name
    return shutil.copy(library / f"lib{library.name}.so", folder / "libcopy.so")


def test_two_copies(alone: Path, tmp_path: Path) -> None:
    """Protects the process, and the library that was loaded first: loading the second one raises an ImportError that
    names both."""
    copy, own = copied(alone, tmp_path), alone / "alone" / "libalone.so"
    program = f"""
torch.ops.load_library({str(copy)!r})
for attempt in range(2):
    try:
        import alone
    except ImportError as error:
        print(error, error.__cause__)
print(torch.ops.taken.one.default._schema)
"""
    words = (
        f"{own} defines the namespace taken, which is already defined (registered at {copy}, ops.yaml:1): "
        "load only one of them, or build one with 'fragment: True' at the top of its YAML None\n"
    )
    schema = "taken::one(Tensor self) -> Tensor\n"
    assert python(program, alone) == (0, words + words + schema)


def test_the_authors_own_python_is_in_the_package(alone: Path) -> None:
    """Protects `opgen build --python-folder`: the package has the names in the `__all__` of ops.py."""
    assert python("import alone\nprint(alone.OWN)", alone) == (0, "of alone\n")


def test_load_library_raises_the_librarys_error(alone: Path, tmp_path: Path) -> None:
    """Protects a library without its package, whose Python code would check first."""
    program = f"""
torch.ops.load_library({str(copied(alone, tmp_path))!r})
try:
    torch.ops.load_library({str(alone / "alone" / "libalone.so")!r})
except OSError as error:
    while error.__cause__:
        error = error.__cause__
    print(type(error).__name__, str(error).partition(",")[0])
"""
    words = f"ImportError {alone}/alone/libalone.so defines the namespace taken"
    assert python(program) == (0, f"{words}\n")


def test_fragments_share_a_namespace(alone: Path, shared: Path, tmp_path: Path) -> None:
    """Protects fragments of a namespace, loaded in either order; the same operator twice is still rejected."""
    for first, second in (("alone", "shared"), ("shared", "alone")):
        program = f"import {first}, {second}\nprint(alone.one.default, shared.two.default)"
        assert python(program, alone, shared) == (0, "taken.one.default taken.two.default\n")
    program = f"""
import shared
try:
    torch.ops.load_library({str(copied(shared, tmp_path))!r})
except OSError as error:
    print(error.__cause__.__cause__)
print(shared.two.default._schema)
"""
    code, said = python(program, shared)
    assert code == 0 and said.endswith("\ntaken::two(Tensor self) -> Tensor\n")
    assert (
        f"{tmp_path}/libcopy.so cannot register its operators: Tried to register an operator"
        in said
    )
    assert f"registered at {shared}/shared/libshared.so, ops.yaml:3" in said


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD needs the dynamic loader of Linux")
@pytest.mark.parametrize("minor", [0, 99])
def test_another_release(minor: int, alone: Path, tmp_path: Path) -> None:
    """Protects against a library that loads and misbehaves: PyTorch's classes differ between releases."""
    (tmp_path / "else.c").write_text(ELSE % minor)
    run([tool("gcc"), "-shared", "-fPIC", "-o", tmp_path / "else.so", tmp_path / "else.c"])
    library = alone / "alone" / "libalone.so"
    program = f"""
try:
    torch.ops.load_library({str(library)!r})
except OSError as error:
    print(error.__cause__.__cause__)
print(hasattr(torch.ops.taken, "one"))
"""
    said = python(program, LD_PRELOAD=str(tmp_path / "else.so"))
    assert said[0] == 0
    assert f"{library} was built for torch " in said[1]
    assert f", but torch 2.{minor}.7 is running; build it again\nFalse\n" in said[1]


def test_a_program_without_python_ends_with_the_reason(alone: Path, tmp_path: Path) -> None:
    """Protects C++ programs: the reason is the last output, and no operator of the wrong kind is called."""
    (tmp_path / "main.c").write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(int count, char** paths) {\n"
        "  for (int i = 1; i < count; ++i) puts(dlopen(paths[i], RTLD_NOW) ? paths[i] : dlerror());\n"
        "  return 0;\n}\n"
    )
    run([tool("gcc"), tmp_path / "main.c", "-o", tmp_path / "main", "-ldl"])
    library, copy = alone / "alone" / "libalone.so", copied(alone, tmp_path)
    assert run([tmp_path / "main", library]) == f"{library}\n"
    done = subprocess.run(
        [tmp_path / "main", library, copy], capture_output=True, text=True, check=False
    )
    assert done.returncode < 0 and f"{copy} defines the namespace taken, which is" in done.stderr


KERNELS = """\
#include "own.h"

#include <opgen/kernel.h>

#include <kern/ops/twice_native.h>

namespace own {
at::Tensor scale(const at::Tensor& image) { return image.mul(FACTOR); }
}  // namespace own

OPGEN_KERNEL(twice_cpu)(const at::Tensor& image) { return own::scale(own::scale(image)); }
"""


@pytest.mark.parametrize("order", [(2, 3), (3, 2)])
def test_two_versions_of_a_library(order: tuple[int, int]) -> None:
    """Protects values: each calls its own functions, also where libraries see each other's, as those of a program do.

    The kernels' sources need no edit.
    """
    libraries = [str(version(factor)) for factor in order]
    program = (
        f"import ctypes\nfor path in {libraries}: ctypes.CDLL(path, ctypes.RTLD_GLOBAL)\n"
        "for ops in torch.ops.kern, torch.ops.kern_v3:\n"
        "  print(ops.scale(torch.ones(())).item(), ops.twice(torch.ones(())).item())"
    )
    assert python(program) == (0, "2.0 4.0\n3.0 9.0\n")


ADOPTED = """\
#include <torch/library.h>

namespace own {
at::Tensor twice(const at::Tensor& image);
namespace {
at::Tensor scale(const at::Tensor& image) { return image.mul(FACTOR); }
}  // namespace
at::Tensor twice(const at::Tensor& image) { return scale(scale(image)); }
}  // namespace own

TORCH_LIBRARY(KERN, m) {
  m.def("scale(Tensor image) -> Tensor", &own::scale);
  m.def("twice(Tensor image) -> Tensor", &own::twice);
}
"""


@pytest.mark.parametrize("mode", ["RTLD_GLOBAL", "RTLD_LOCAL"])
def test_two_versions_of_an_adopted_library(mode: str) -> None:
    """Protects values: both have functions of the same names, in a snippet and in a header that opgen wrote."""
    libraries = [str(adopted(factor)) for factor in (2, 3)]
    program = (
        f"import ctypes\nfor path in {libraries}: ctypes.CDLL(path, ctypes.{mode})\n"
        "for ops in torch.ops.grown_v2, torch.ops.grown_v3:\n"
        "  print(ops.scale(torch.ones(())).item(), ops.twice(torch.ones(())).item())"
    )
    assert python(program) == (0, "2.0 4.0\n3.0 9.0\n")


@functools.cache
def adopted(factor: int) -> Path:
    """Return a library that opgen registers after an import, under a namespace that its build chooses."""
    folder = cache_folder() / "run" / "torch_loading" / f"adopted{factor}"
    shutil.rmtree(folder / "kernels", ignore_errors=True)
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "own.cpp").write_text(ADOPTED.replace("FACTOR", str(factor)))
    command = [tool("opgen"), "import", "kernels", "-D", f"KERN=grown_v{factor}", "--force"]
    run([*command, "--kernels-as-they-are", "--edit", "-o", "grown.yaml"], cwd=folder)
    given = (folder / "grown.yaml", folder / "kernels", folder / "tree", "--name", "grown")
    return build_extension(*given, "-I", folder)


@functools.cache
def version(factor: int) -> Path:
    """Return library `kern` whose functions multiply by this factor; number 3 has a namespace of its own."""
    folder = cache_folder() / "run" / "torch_loading" / f"version{factor}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.h").write_text(
        "#pragma once\n#include <ATen/core/Tensor.h>\n"
        "namespace own { at::Tensor scale(const at::Tensor& image); }\n"
    )
    (folder / "kernels.cpp").write_text(KERNELS.replace("FACTOR", str(factor)))
    yaml = folder / "kern.yaml"
    yaml.write_text(
        "- include: [own.h]\n\n"
        "- func: scale(Tensor image) -> Tensor\n  dispatch:\n    CPU: ::own::scale\n\n"
        "- func: twice(Tensor image) -> Tensor\n  dispatch:\n    CPU: twice_cpu\n"
    )
    namespace = "kern" if factor == 2 else f"kern_v{factor}"
    names = ("--name", "kern", "--namespace", namespace)
    return build_extension(yaml, folder / "kernels.cpp", folder / "tree", *names)
