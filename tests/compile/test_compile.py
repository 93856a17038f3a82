"""The compiler as reviewer: every golden tree parses without a warning, by g++ and by clang++.

What is compiled is what is committed under tests/golden/*/expected. Headers of one operator are parsed alone, after
the runtime's precompiled headers; one header of each kind also without them, so that no #include can be missing.
"""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest

from support.build import RUNTIME, Compiler, compilers, default_compiler
from support.trees import sources

GOLDEN = Path(__file__).parents[1] / "golden"
FEATURES = sorted(path.parent.name for path in GOLDEN.glob("*/expected"))
# Between them these have every kind of header and source.
TRULY_ALONE = (
    "composite_explicit_autogen",
    "factory",
    "precomputed",
    "selective",
    "structured_pointwise",
    "ufunc",
)

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

each_compiler = pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)
each_feature = pytest.mark.parametrize("feature", FEATURES)


@each_compiler
@each_feature
def test_every_source_compiles(feature: str, compiler: Compiler) -> None:
    said = compiler.check(include(feature), *sources(tree(feature)))
    assert not said, said


@each_feature
def test_all_sources_compile_as_one(feature: str, tmp_path: Path) -> None:
    """As CMake compiles those of a small library: no two files may define the same hidden name."""
    one = tmp_path / "one.cpp"
    one.write_text("".join(f'#include "{source}"\n' for source in sources(tree(feature))))
    said = default_compiler().check(include(feature), one)
    assert not said, said


@each_feature
def test_every_header_compiles_alone(feature: str) -> None:
    problems = [default_compiler().check_headers(include(feature), h) for h in headers(feature)]
    assert not any(problems), "\n".join(problems)


@pytest.mark.parametrize("compiler", compilers()[1:], ids=lambda compiler: compiler.name)
@each_feature
def test_all_headers_compile_together(feature: str, compiler: Compiler) -> None:
    """The compiler that has not seen each of them alone."""
    said = compiler.check_headers(include(feature), *headers(feature))
    assert not said, said


@pytest.mark.parametrize("wanted", HEADER_KINDS)
def test_headers_include_all_that_they_need(wanted: str) -> None:
    """The longest of each kind: each takes as long as the runtime's headers."""
    _, feature, header = max(
        (path.stat().st_size, feature, path)
        for feature in TRULY_ALONE
        for path in files(feature)
        if path.suffix == ".h" and kind(path) == wanted
    )
    name = header.relative_to(include(feature)[0]).as_posix()
    said = default_compiler().check_headers(include(feature), name, precompiled=False)
    assert not said, said


@pytest.mark.parametrize("feature", TRULY_ALONE)
def test_sources_include_all_that_they_need(feature: str) -> None:
    said = default_compiler().check(include(feature), *sources(tree(feature)), precompiled=False)
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


def tree(feature: str) -> Path:
    return GOLDEN / feature / "expected"


def include(feature: str) -> list[Path]:
    """The tree's own headers, an author's, and those of the library that it extends."""
    found = [tree(feature) / "include", GOLDEN / feature]
    options = GOLDEN / feature / "options.json"
    extends = json.loads(options.read_text()).get("extends") if options.exists() else None
    if extends:
        found.append((GOLDEN / feature / extends).parent / "include")
    return found


def headers(feature: str) -> list[str]:
    """Every header of a tree, as it is included."""
    top = include(feature)[0]
    return sorted(path.relative_to(top).as_posix() for path in top.rglob("*.h"))


def files(feature: str) -> list[Path]:
    """The headers and sources of a library, without the source of a module for Python."""
    found = (path for path in tree(feature).rglob("*") if path.suffix in (".h", ".cpp"))
    return [path for path in found if path.parent.name != "python"]


def kind(path: Path) -> str:
    """What a file is, but for the names of operators, keys and shards in its name."""
    if path.parent.name == "ops":
        endings = ("_ops.h", "_native.h", "_meta.h", "_dispatch.h")
        return next((e for e in endings if path.name.endswith(e)), "function header")
    stems = ("Register", "Operators", "TensorMethods", "Stubs", "Functions.h")
    return next((stem for stem in stems if stem in path.name), path.name)
