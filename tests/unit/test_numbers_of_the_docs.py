"""Numbers on the pages: each agrees with the code, or with a file made from measurements."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import pytest

from opgen import edits
from opgen.compat import breaks
from opgen.diagnostics import MAX_ERRORS
from opgen.diagnostics.properties import NAMES
from opgen.importing.cpp import reader
from opgen.io import files, manifest
from opgen.parse.yaml import nodes
from opgen.pipeline import importing, loading
from opgen.targets.base import PYTORCH
from robust import test_hostile_names
from support.build import REPOSITORY
from support.inputs import aten_inputs
from support.library import own_registry
from support.pytorch import packaged_native_functions
from support.torch_extension import require_torch
from support.trees import make_tree, texts

_MB = 1_000_000
_MIB = 1 << 20


def constant(path: str, name: str) -> int:
    """Return the value of a C++ constant: products and shifts of numbers."""
    text = (REPOSITORY / "runtime" / path).read_text()
    found = re.search(rf"\b{name} =\s*([^;]+);", text)
    assert found, f"{path} has no {name}"
    value = 1
    shifted = re.fullmatch(r"(?:std::\w+\()?(\d+)\)? << (\d+)", found[1])
    if shifted:
        return int(shifted[1]) << int(shifted[2])
    for factor in found[1].split("*"):
        value *= int(factor)
    return value


def newest_python() -> str:
    """Return the newest Python that the package names."""
    named = re.findall(r":: Python :: 3\.(\d+)", (REPOSITORY / "pyproject.toml").read_text())
    return f"3.{max(map(int, named))}"


def releases_of_pytorch() -> str:
    ends = (PYTORCH.oldest, PYTORCH.newest)
    return " to ".join(f"{major}.{minor}" for major, minor in ends)


def units() -> str:
    """Return the number of units of the project that benchmarks/rebuilds.py compiled."""
    results = (REPOSITORY / "benchmarks/RESULTS.md").read_text()
    found = re.search(r"with ([\d,]+) units \(8 shards", results)
    assert found
    return found[1]


# page, a text with {} for the number, and where the number comes from
NUMBERS: list[tuple[str, str, Callable[[], int | str]]] = [
    ("concepts/robustness.md", "any file of up to {} MB", lambda: loading.MAX_BYTES // _MB),
    ("concepts/robustness.md", "size of a file: {} MB", lambda: loading.MAX_BYTES // _MB),
    (
        "concepts/robustness.md",
        "allow-list of `opgen compat`: {} MB",
        lambda: breaks.MAX_BYTES // _MB,
    ),
    ("concepts/robustness.md", "a manifest: {} MB)", lambda: files.MAX_BYTES // _MB),
    ("concepts/robustness.md", "values in a file: {} million", lambda: nodes._MAX_SIZE // _MB),
    ("concepts/robustness.md", "between commas counts as {} more", lambda: nodes._PART_SIZE),
    ("concepts/robustness.md", "a list or mapping as {},", lambda: nodes._COLLECTION_SIZE),
    ("concepts/robustness.md", "length of a value: {} characters", lambda: nodes._MAX_SCALAR),
    (
        "concepts/robustness.md",
        "nesting of lists and mappings: {} levels",
        lambda: nodes._MAX_DEPTH,
    ),
    ("concepts/robustness.md", "opgen stops after {} |", lambda: MAX_ERRORS),
    ("concepts/robustness.md", "an allow-list: {} lines", lambda: breaks._MAX_ENTRIES),
    ("concepts/robustness.md", "a path in a manifest: {} characters", lambda: manifest._MAX_PATH),
    ("concepts/robustness.md", "`--fix` fixes at most {} errors", lambda: edits.MAX_FIXES),
    ("concepts/robustness.md", "more than {} misplaced blanks", lambda: loading.MAX_BLANKS),
    ("concepts/robustness.md", "more than {} MB or more", lambda: importing._MOST_BYTES // _MB),
    ("concepts/robustness.md", "more than {}\nregistrations", lambda: reader._MOST_CALLS),
    (
        "../tests/RESULTS.md",
        "at each of {} places of the input files",
        lambda: len(test_hostile_names.PLACES),
    ),
    (
        "../README.md",
        "[{} operators](native_functions.yaml)",
        lambda: len(own_registry().functions),
    ),
    ("../README.md", "Python 3.10 to {}, Linux", newest_python),
    ("../README.md", "for target torch PyTorch [{}](", releases_of_pytorch),
    ("start/install.md", "supports PyTorch {}.", releases_of_pytorch),
    *(
        (page, "{} properties", lambda: len(NAMES))
        for page in (
            "../README.md",
            "guides/verify.md",
            "reference/verify-properties.md",
            "reference/cli.md",
            "../templates/new/test_promises.py.j2",
        )
    ),
    ("../tests/RESULTS.md", "965 overloads ({} now)", lambda: len(own_registry().functions)),
    ("guides/builds.md", "at most 9 of {} units", units),
    (
        "guides/performance.md",
        "Up to {} bytes of data are stored inside",
        lambda: constant("include/opgen/tensor/storage.h", "kInlineStorageBytes"),
    ),
    (
        "guides/performance.md",
        "blocks over {} KiB are returned",
        lambda: constant("src/core/pool.h", "kLargestPooled") // 1024,
    ),
    (
        "guides/performance.md",
        "freed blocks of {} MiB and more",
        lambda: constant("src/device/cpu_cache_impl.h", "kSmallestCached") // _MIB,
    ),
    (
        "guides/performance.md",
        "requests huge pages for blocks of {} MiB and more",
        lambda: constant("src/device/cpu_cache.cpp", "kFirstHuge") // _MIB,
    ),
    (
        "guides/performance.md",
        "fewer than {}³ multiplications",
        lambda: round(constant("src/kernels/blas.cpp", "kWorthIt") ** (1 / 3)),
    ),
    (
        "guides/performance.md",
        "prefetch {} KiB ahead",
        lambda: constant("include/opgen/cpu/vector_folds.h", "kFoldAhead") // 1024,
    ),
    (
        "guides/python.md",
        "or with sizes, of {} elements and more",
        lambda: constant("python/src/objects.h", "kWorthReleasing"),
    ),
]


@pytest.mark.parametrize(
    ("page", "text", "number"), NUMBERS, ids=[f"{page}-{text[:40]}" for page, text, _ in NUMBERS]
)
def test_a_number_is_that_of_the_code(
    page: str, text: str, number: Callable[[], int | str]
) -> None:
    """Protects pages from numbers that the code no longer has."""
    value = number()
    shown = f"{value:,}" if isinstance(value, int) else value
    written = re.sub(r"\s+", " ", (REPOSITORY / "docs" / page).read_text())
    assert re.sub(r"\s+", " ", text.format(shown)) in written, f"{page}: {text.format(shown)}"


def test_numbers_in_words() -> None:
    """Protects counts of examples, and the iterator's limits."""
    errors = (REPOSITORY / "docs/guides/compiler-errors.md").read_text()
    assert "for twelve common mistakes in kernels, and two in formulas" in errors
    rows = re.findall(r"^\| (?!mistake)(.+?) \|", errors, re.MULTILINE)
    formulas = [row for row in rows if "formula" in row.lower()]
    assert (len(rows), len(formulas)) == (12 + 2, 2)
    gallery = (REPOSITORY / "tests/differential/parity/errors_gallery.md").read_text()
    assert "for twelve mistakes" in gallery and len(re.findall(r"^## ", gallery, re.M)) == 12
    page = (REPOSITORY / "docs/guides/performance.md").read_text()
    state = "include/opgen/iterator/iterator_state.h"
    assert "up to four broadcast or strided" in page and constant(state, "kOperands") == 4
    assert "up to five dimensions" in page and constant(state, "kDims") == 5


def test_releases_of_pytorch() -> None:
    """Protects who chooses a release from "supported" that means "compiled, but never run"."""
    results = (REPOSITORY / "tests/RESULTS.md").read_text()
    table = results.split("| release | libraries |")[1].split("\n\n")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]
    # The tests of .ci/run use this release.
    tests = re.search(r"torch==([\d.]+)", (REPOSITORY / ".ci/run").read_text())
    assert tests
    was_run = {row[0]: row[3] == "yes" or row[0] == tests[1] for row in rows}
    page = (REPOSITORY / "docs/start/install.md").read_text()
    built = page.split("Libraries were built")[1].split(".\n\n")[0]
    assert built.count("With") == 1
    for text, expected in zip(built.split("With"), (True, False)):
        named = re.findall(r"\d+\.\d+\.\d+", text)
        assert named == [release for release in was_run if was_run[release] is expected]


@functools.cache
def _module_of_pytorch() -> tuple[str, dict[str, str]]:
    yaml = packaged_native_functions()
    ignored = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")
    inputs = aten_inputs((yaml,), ignore_keys=ignored, tags=yaml.with_name("tags.yaml"))
    tree = texts(make_tree(inputs, python=True))
    return tree["python/module.cpp"], tree


@pytest.mark.slow
def test_the_module_for_pytorchs_file() -> None:
    """Protects the numbers of runtime/python/README.md that are counted, not measured."""
    require_torch()
    page = (REPOSITORY / "runtime/python/README.md").read_text()
    page = re.sub(r"\s+", " ", page)
    module, tree = _module_of_pytorch()
    schemas = {
        name: re.sub(r"\s+", "", signature)
        for path, text in tree.items()
        if path.endswith("_ops.h")
        for name, signature in re.findall(
            r"struct (\w+)\s*:\s*opgen::Operator<\w+,\s*(.*?)> \{", text, re.DOTALL
        )
    }
    used = re.findall(r"thunk<at::_ops::(\w+)::schema([^>]*)>", module)
    thunks = {(schemas[name], rest) for name, rest in used}
    operators = {name for name, _ in used}
    assert f"PyTorch's {len(operators):,} operators need {len(thunks):,} thunks" in page
    rows = module.count("constexpr Overload ")
    assert f"{rows:,} rows of overloads" in page
    assert f"registering {len(schemas):,} schemas" in page
    own = texts(make_tree(aten_inputs((REPOSITORY / "native_functions.yaml",)), python=True))
    for text, measured in ((module, "67 million"), (own["python/module.cpp"], "43 million")):
        functions = len(
            re.findall(r"^    \{\.name = ", text.split("opgen_functions[]")[1], re.MULTILINE)
        )
        assert f"| {functions:,} | {measured} |" in page, functions
