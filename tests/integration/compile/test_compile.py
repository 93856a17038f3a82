"""The compiler as reviewer: g++ and clang++ parse every tree that the golden inputs give, without a warning.

Headers of one operator are parsed alone, after the runtime's precompiled headers; one header of each kind also without
them, so that no #include can be missing.
"""

from __future__ import annotations

import functools
import sysconfig
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest

from support.build import RUNTIME, Compiler, cache_folder, compilers, default_compiler, locked
from support.goldens import GOLDENS
from support.selection import each_once, some
from support.trees import sources, write_tree

# Those of target torch are compiled with PyTorch's headers, by tests/nightly/test_torch_goldens.py.
FEATURES = {
    golden.name: golden
    for golden in GOLDENS
    if golden.options.get("target", "runtime") == "runtime"
}
# Together these have every kind of header and source.
TRULY_ALONE = (
    "composite_explicit_autogen",
    "derivatives_runtime",
    "factory",
    "precomputed",
    "selective",
    "structured_pointwise",
    "ufunc",
)
OTHERS = tuple(name for name in FEATURES if name not in TRULY_ALONE)

# The formulas of derivatives_runtime call a function that its author's header declares with this.
DEFINES = ("-DMYLIB_WITH_JOIN",)

HEADER_KINDS = (
    "Functions.h",
    "Operators",
    "SelectedDtypes.h",
    "TensorBody.h",
    "_dispatch.h",
    "_meta.h",
    "_native.h",
    "_ops.h",
    "function header",
)

# Those whose headers are compiled by default: all headers of a feature take seconds.
FEW = TRULY_ALONE[::7]


# A fourth of the other features for each commit.
_SLOW = (pytest.mark.slow, pytest.mark.sampled(4))


def each_feature(default: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test for each feature; by default, for some of them."""
    return pytest.mark.parametrize(
        "feature",
        [pytest.param(f, marks=() if f in default else _SLOW) for f in FEATURES],
    )


@pytest.mark.parametrize(
    ("feature", "compiler"),
    [
        *each_once(TRULY_ALONE, compilers()),
        *(pytest.param(*pair, marks=_SLOW) for pair in product(OTHERS, compilers())),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_source_compiles(feature: str, compiler: Compiler) -> None:
    said = compiler.check(include(feature), *DEFINES, *sources(tree(feature)))
    assert not said, said


@each_feature(TRULY_ALONE)
def test_all_sources_compile_as_one(feature: str, tmp_path: Path) -> None:
    """CMake compiles the sources of a small library as one: no two files may define the same hidden name."""
    one = tmp_path / "one.cpp"
    one.write_text("".join(f'#include "{source}"\n' for source in sources(tree(feature))))
    said = default_compiler().check(include(feature), *DEFINES, one)
    assert not said, said


@each_feature(FEW)
def test_every_header_compiles_alone(feature: str) -> None:
    problems = [default_compiler().check_headers(include(feature), h) for h in headers(feature)]
    assert not any(problems), "\n".join(problems)


@pytest.mark.parametrize("compiler", compilers()[1:], ids=lambda compiler: compiler.name)
@each_feature(FEW)
def test_all_headers_compile_together(feature: str, compiler: Compiler) -> None:
    """Compile them with the compiler that has not compiled each of them alone."""
    said = compiler.check_headers(include(feature), *headers(feature))
    assert not said, said


@pytest.mark.parametrize("wanted", some(HEADER_KINDS, 3))
def test_headers_include_all_that_they_need(wanted: str) -> None:
    """Compile only the longest header of each kind: each takes as long as the runtime's headers."""
    _, feature, header = max(
        (path.stat().st_size, feature, path)
        for feature in TRULY_ALONE
        for path in files(feature)
        if path.suffix == ".h" and kind(path) == wanted
    )
    name = header.relative_to(include(feature)[0]).as_posix()
    said = default_compiler().check_headers(include(feature), name, precompiled=False)
    assert not said, said


@pytest.mark.parametrize("feature", some(TRULY_ALONE, 7))
def test_sources_include_all_that_they_need(feature: str) -> None:
    checked = [*DEFINES, *sources(tree(feature))]
    said = default_compiler().check(include(feature), *checked, precompiled=False)
    assert not said, said


@pytest.mark.parametrize("feature", ["python_module", "shards"])
def test_the_sources_of_a_python_module_compile(feature: str) -> None:
    headers = [RUNTIME / "python" / "include", Path(sysconfig.get_path("include"))]
    found = sorted((tree(feature) / "python").glob("*.cpp"))
    assert len(found) == {"python_module": 1, "shards": 3}[feature]
    said = default_compiler().check([*include(feature), *headers], *found)
    assert not said, said


def test_the_features_parsed_truly_alone_have_every_kind_of_file() -> None:
    kinds = {kind(path) for feature in FEATURES for path in files(feature)}
    alone = {kind(path) for feature in TRULY_ALONE for path in files(feature)}
    assert alone == kinds
    parsed = {kind(path) for feature in FEATURES for path in files(feature) if path.suffix == ".h"}
    assert parsed == set(HEADER_KINDS)


@functools.cache
def tree(feature: str) -> Path:
    """Return the folder with the tree generated from an input."""
    with locked("goldens"):
        return write_tree(FEATURES[feature].tree(), cache_folder() / "goldens" / feature)


def include(feature: str) -> list[Path]:
    """Return the tree's own headers, an author's, and those of the library that it extends."""
    golden = FEATURES[feature]
    found = [tree(feature) / "include", golden.folder]
    if golden.base is not None:
        base = golden.base.name
        found.append(tree(base) / "include")
    return found


def headers(feature: str) -> list[str]:
    """Return every header of a tree, as it is included."""
    top = include(feature)[0]
    return sorted(path.relative_to(top).as_posix() for path in top.rglob("*.h"))


def files(feature: str) -> list[Path]:
    """Return the headers and sources of a library, without those of a Python module and of frameworks, which include
    others' headers (tests/integration/run/test_tvm_ffi.py compiles the latter).
    """
    found = (path for path in tree(feature).rglob("*") if path.suffix in (".h", ".cpp"))
    return [path for path in found if path.parent.name not in ("python", "frameworks")]


def kind(path: Path) -> str:
    """Return the name of a file without the names of operators and keys, and the numbers of shards."""
    if path.parent.name == "ops":
        endings = ("_ops.h", "_native.h", "_meta.h", "_dispatch.h")
        return next((e for e in endings if path.name.endswith(e)), "function header")
    stems = ("Register", "Operators", "TensorMethods", "Stubs", "Functions.h")
    return next((stem for stem in stems if stem in path.name), path.name)
