"""All kinds of generated files, and kernels, are C++ that the headers of every release of PyTorch take.

`python tests/nightly/torch_run.py` runs some of them; docs/torch-releases.md has what was found.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.build import REPOSITORY, environment, run, tool
from support.torch_headers import RELEASES, headers_of
from support.torch_release import generate, include_flags, write_unit

pytestmark = pytest.mark.nightly

RUN = REPOSITORY / "tests" / "run"
EXAMPLES = REPOSITORY / "examples"

# Of each library: its YAML, its kernels, and the folder of headers of its own.
LIBRARIES: Mapping[str, tuple[Path, tuple[Path, ...]]] = {
    # Structured and not, generated variants, a composite, Autograd, Functionalize.
    "both": (RUN / "torch_target/operators.yaml", (RUN / "torch_target/kernels.cpp",)),
    # What writes its arguments, hidden twins, views.
    "forms": (RUN / "torch_library/forms.yaml", (RUN / "torch_library/forms.cpp",)),
    # Rows of every kind of key, custom classes.
    "rows": (RUN / "torch_rows/rows.yaml", (RUN / "torch_rows/rows.cpp",)),
    # Metas for sizes that are symbols.
    "symbolic": (RUN / "symbolic/operators.yaml", (RUN / "symbolic/metas.cpp",)),
    # Kernels that exist already.
    "adopt": (EXAMPLES / "adopt/after/native_functions.yaml", ()),
}

# Backends of PyTorch's own operators: its own file, of the same release, is read beside them.
BACKENDS: Mapping[str, tuple[Path, tuple[Path, ...]]] = {
    "backend": (
        RUN / "torch_backend/backend.yaml",
        tuple(sorted((RUN / "torch_backend").glob("*.cpp"))),
    ),
    "privateuse1": (
        EXAMPLES / "privateuse1/backend.yaml",
        tuple(sorted((EXAMPLES / "privateuse1/src").glob("*.cpp"))),
    ),
}

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("library", [*LIBRARIES, *BACKENDS])
@pytest.mark.parametrize("release", RELEASES)
def test_headers(release: str, library: str, compiler: str, tmp_path: Path) -> None:
    """Protects the range of releases that is promised."""
    check(release, library, compiler, tmp_path)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_older_release_is_refused_in_words(compiler: str, tmp_path: Path) -> None:
    """Protects who compiles by hand: the first error says which releases are taken."""
    with pytest.raises(AssertionError, match=r"this PyTorch is too old: opgen needs 2\.9 or newer"):
        check("2.8.0", "both", compiler, tmp_path)


def check(release: str, library: str, compiler: str, folder: Path) -> None:
    headers = headers_of(release)
    tree = folder / "tree"
    if library in LIBRARIES:
        yaml, kernels = LIBRARIES[library]
        generate(yaml, tree)
    else:
        yaml, kernels = BACKENDS[library]
        own = headers / "torchgen/packaged/ATen/native/native_functions.yaml"
        generate(own, tree, "--backend-yaml", yaml)
    unit = write_unit(tree)
    flags = [*include_flags(tree, headers / "torch"), f"-I{yaml.parent}", *WARNINGS]
    if library == "adopt":
        flags.append(f"-I{yaml.parent / 'csrc'}")
    command = [tool(compiler), "-std=c++20", "-fsyntax-only", *flags]
    for source in (unit, *kernels):
        run([*command, source], env=environment())
