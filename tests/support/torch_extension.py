"""Torch extensions for the tests, built by `opgen build`, one compiler at a time."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.aten_calls import write_aten_calls
from support.build import (
    RUNTIME,
    cache_folder,
    cmake_build,
    default_compiler,
    environment,
    launcher,
    locked,
    one_torch_unit,
    run,
    tool,
)


def require_torch() -> None:
    """Skip the test without torch; fail it if OPGEN_REQUIRE_TORCH=1."""
    if importlib.util.find_spec("torch") is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: nothing to build target torch against")


STRICT = "-O0 -Wall -Wextra -Wshadow -Werror"
_HEADERS = Path(__file__).parent / "torch_headers"


# CMake tries the compiler without the folders of PyTorch, where the header cannot be included.
_LAUNCHER = """\
#!/bin/sh
case "$*" in
  *"-std=gnu++20 "*/torch/csrc/api/include*) exec {launcher} "$@" -fpch-preprocess -include {header} ;;
  *) exec {launcher} "$@" ;;
esac
"""


@functools.cache
def _launcher_with_headers() -> Path:
    """Return a compiler launcher that includes PyTorch's headers, precompiled with STRICT, before each source.

    A source takes 6 s with them and 16 s without. What a source includes itself is tested by test_torch_includes.py.
    """
    folder = cache_folder() / "torch-precompiled"
    header = folder / "CMakeFiles/precompiled.dir/cmake_pch.hxx"
    script = folder / "launcher"
    with locked(folder.name):
        cmake_build(
            _HEADERS,
            folder,
            f"-Dopgen_DIR={RUNTIME / 'cmake'}",
            f"-DOPGEN_EXECUTABLE={tool('opgen')}",
            f"-DPython_EXECUTABLE={sys.executable}",
            "-DCMAKE_BUILD_TYPE=None",
            f"-DCMAKE_CXX_FLAGS={STRICT}",
            target="CMakeFiles/precompiled.dir/cmake_pch.hxx.gch",
        )
        script.write_text(_LAUNCHER.format(launcher=" ".join(launcher()), header=header))
        script.chmod(0o755)
    return script


def strict_environment(target: str = "torch", flags: str = STRICT) -> dict[str, str]:
    """Return the environment in which a build is quick, and every warning an error. Its build type must be None.

    PyTorch's headers are precompiled for target torch and the flags STRICT, with g++.
    """
    precompiled = target == "torch" and flags == STRICT and default_compiler().name == "g++"
    word = str(_launcher_with_headers()) if precompiled else "".join(launcher())
    return {**environment(), "CXXFLAGS": flags, "CMAKE_CXX_COMPILER_LAUNCHER": word}


def build_extension(
    yaml: Path | Sequence[Path],
    kernels: Path | None,
    tree: Path,
    *more: str | Path,
    flags: str = STRICT,
    target: str = "torch",
) -> Path:
    """Build `yaml` without optimisation and with every warning an error; return the shared library.

    Without `kernels` it gets stubs. `more` are further options of `opgen build`. With target torch-stable, the library
    is in its Python package, which scripts of `run_script` import, and kernels call ATen through functions of the same
    names.
    """
    if target == "torch-stable":
        calls = write_aten_calls(tree.with_name(f"{tree.name}-aten"), _sources(kernels))
        more = (*more, "--python", "-I", calls)
    files = [yaml] if isinstance(yaml, Path) else yaml
    command = [tool("opgen"), "build", *files, "--target", target, "-o", tree, *more]
    if kernels is not None:
        command += ["--kernels", kernels]
    with one_torch_unit():
        run([*command, "--build-type", "None", "-j", "1"], env=strict_environment(target, flags))
    where = "python/*/lib*.so" if "--python" in more else "lib*.so"
    (library,) = (tree / "cmake-build").glob(where)
    return library


def keep_no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have inductor compile every graph again: a cached one may name operators and tags of another build.

    C++ that it has compiled before is still found by its text, which saves most of the time.
    """
    monkeypatch.setenv("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")
    monkeypatch.setenv("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")


def _sources(kernels: Path | None) -> list[Path]:
    """Return the sources that may be compiled for these kernels: all that lie beside them."""
    if kernels is None:
        return []
    folder = kernels if kernels.is_dir() else kernels.parent
    return sorted(folder.glob("*.cpp"))


# Where a script loads a library that is in a package, it imports the package, as a user does.
_IMPORT_PACKAGES = """
import importlib, runpy, sys
from pathlib import Path
import torch

load_library = torch.ops.load_library

def load(path):
    package = Path(path).parent
    if not (package / "__init__.py").exists():
        return load_library(path)
    sys.path.insert(0, str(package.parent))
    importlib.import_module(package.name)

torch.ops.load_library = load
sys.argv = sys.argv[1:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_script(script: Path, *arguments: str | Path, python: str = sys.executable) -> str:
    """Run a script with this Python, or another one, which must exit with 0, and return its output."""
    command = [python, "-c", _IMPORT_PACKAGES, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{script.name}\n{done.stdout}{done.stderr[-5000:]}"
    return done.stdout
