"""All kinds of generated files, and kernels, compile with the headers of every supported release of PyTorch.

`python tests/nightly/torch_run.py` also runs some of them; tests/RESULTS.md has the results.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from support.build import REPOSITORY, environment, run, tool
from support.torch_headers import RELEASES, headers_of
from support.torch_release import generate, include_flags, write_unit
from support.torch_releases_page import add_compiler

pytestmark = pytest.mark.nightly

RUN = REPOSITORY / "tests" / "integration" / "run"
EXAMPLES = REPOSITORY / "examples"

# For each library: its YAML, its kernels, and the folder of its own headers.
LIBRARIES: Mapping[str, tuple[Path, tuple[Path, ...]]] = {
    # Structured and not, generated variants, a composite, Autograd, Functionalize.
    "both": (RUN / "torch_target/operators.yaml", (RUN / "torch_target/kernels.cpp",)),
    # Operators that write their arguments, their generated functional forms, views.
    "forms": (RUN / "torch_library/forms.yaml", (RUN / "torch_library/forms.cpp",)),
    # Rows of every kind of key, custom classes.
    "rows": (RUN / "torch_rows/rows.yaml", (RUN / "torch_rows/rows.cpp",)),
    # Meta functions for symbolic sizes.
    "symb": (
        RUN / "symbolic/operators.yaml",
        (RUN / "symbolic/metas.cpp", RUN / "symbolic/kernels.cpp"),
    ),
    # Kernels that exist already.
    "fuse": (EXAMPLES / "adopt/after/native_functions.yaml", ()),
}

# Backends of PyTorch's own operators: PyTorch's file of the same release is read as well.
BACKENDS: Mapping[str, tuple[Path, tuple[Path, ...]]] = {
    "privateuse1": (
        RUN / "torch_backend/backend.yaml",
        tuple(sorted((RUN / "torch_backend").glob("*.cpp"))),
    ),
    "pocket": (
        EXAMPLES / "privateuse1/backend.yaml",
        tuple(sorted((EXAMPLES / "privateuse1/src").glob("*.cpp"))),
    ),
}

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
UPDATE = os.environ.get("OPGEN_UPDATE_GOLDEN") == "1"
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("release", RELEASES)
def test_libraries(release: str, compiler: str, tmp_path: Path) -> None:
    """Protects the supported range of releases. All are compiled as one source, since ATen's headers take long to
    compile."""
    check_libraries(release, LIBRARIES, compiler, tmp_path)
    if UPDATE:
        add_compiler(release, "libraries", compiler)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("release", RELEASES)
def test_backends(release: str, compiler: str, tmp_path: Path) -> None:
    """Protects the same range for kernels of PyTorch's own operators, as each release declares them."""
    for backend in BACKENDS:
        check_backend(release, backend, compiler, tmp_path / backend)
    if UPDATE:
        add_compiler(release, "backends", compiler)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_older_release_is_rejected_with_an_error(compiler: str, tmp_path: Path) -> None:
    """Protects those who call a compiler themselves: an error names the supported releases."""
    with pytest.raises(AssertionError, match=r"this PyTorch is too old: opgen needs 2\.9 or newer"):
        check_libraries("2.8.0", ["both"], compiler, tmp_path)


@pytest.mark.parametrize("release", ["2.9.1", "2.12.1", "2.15.0"])
def test_run(release: str, tmp_path: Path) -> None:
    """Protects the results on the page. Runs in an environment with the wheel from the index, which takes 7 GB."""
    if shutil.disk_usage(tmp_path).free < 20e9:
        pytest.skip(
            "an environment with torch takes 7 GB, and fewer than 20 GB of this disk are free"
        )
    folder = tmp_path / "environment"
    try:
        run([sys.executable, "-m", "venv", folder])
        python = folder / "bin" / "python"
        run([python, "-m", "pip", "install", "-q", "--no-cache-dir", f"torch=={release}", "numpy"])
        write = ["--write"] if UPDATE else []
        print(run([sys.executable, Path(__file__).parent / "torch_run.py", python, *write]))
    finally:
        shutil.rmtree(folder)


def check_libraries(release: str, names: Iterable[str], compiler: str, folder: Path) -> None:
    trees, lines, flags = [], [], []
    for name in names:
        yaml, kernels = LIBRARIES[name]
        tree = folder / name
        generate(yaml, tree, "--name", name)
        trees.append(tree)
        lines += [
            f'#include "{source}"\n' for source in (*sorted(tree.glob("src/*.cpp")), *kernels)
        ]
        lines += [f"#undef {macro}\n" for macro in sorted(macros(tree))]
        flags.append(f"-I{yaml.parent}")
    unit = folder / "unit.cpp"
    unit.write_text("".join(lines))
    parse(compiler, [unit], [*flags, *include_flags(trees, headers_of(release) / "torch")])


def check_backend(release: str, backend: str, compiler: str, folder: Path) -> None:
    torch = headers_of(release)
    yaml, kernels = BACKENDS[backend]
    own = torch / "torchgen/packaged/ATen/native/native_functions.yaml"
    generate(own, folder / "tree", "--backend-yaml", yaml, "--name", backend)
    sources = [write_unit(folder / "unit.cpp", generated(folder / "tree")), *kernels]
    parse(compiler, sources, include_flags([folder / "tree"], torch / "torch"))


def macros(tree: Path) -> set[str]:
    """Return the macros for kernels. All libraries give them the same names, so they are undefined before the next
    one."""
    headers = tree.glob("include/**/*.h")
    return {
        name for path in headers for name in re.findall(r"(?m)^#define (\w+)", path.read_text())
    }


def generated(tree: Path) -> list[Path]:
    return [*sorted(tree.glob("src/*.cpp")), *sorted(tree.glob("stubs/*.cpp"))]


def parse(compiler: str, sources: Iterable[Path], flags: Iterable[str]) -> None:
    for source in sources:
        command = [tool(compiler), "-std=c++20", "-fsyntax-only", *flags, *WARNINGS, source]
        run(command, env=environment())
