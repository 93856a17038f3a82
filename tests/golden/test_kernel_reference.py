"""The reference of macros and loops names everything that an author of kernels can use, and nothing else."""

from __future__ import annotations

import re

import pytest

from support.build import INCLUDE
from support.pages import DOCS

PAGE = (DOCS / "reference/loops.md").read_text(encoding="utf-8")
# Parts of other macros.
_PARTS = {
    "OPGEN_DISPATCH_CASE",
    "OPGEN_DISPATCH_FILTER",
    "OPGEN_DISPATCH_SWITCH",
    "OPGEN_DISPATCH_TAG",
    "OPGEN_CHECK_KIND",
}


def header(name: str) -> str:
    return (INCLUDE / "opgen" / name).read_text(encoding="utf-8")


def named() -> set[str]:
    """Return the macros that the page names; `NAME` (`_AND`, `_AND1` to `_AND4`) names five."""
    found = set(re.findall(r"OPGEN_\w+", PAGE))
    for base, more in re.findall(r"`(OPGEN_DISPATCH_\w+)` \(([^)]*)\)", PAGE):
        found |= {base + suffix for suffix in re.findall(r"`(_AND\d?)`", more)}
        if span := re.search(r"`_AND(\d)` to `_AND(\d)`", more):
            found |= {f"{base}_AND{n}" for n in range(int(span[1]), int(span[2]) + 1)}
    return found


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("dispatch_macros.h", r"^#define (OPGEN_DISPATCH\w*)\("),
        ("dispatch_macros.h", r"^#define (OPGEN_\w+_DTYPES) "),
        ("kernel_macros.h", r"^#define (OPGEN_\w+)\("),
        ("core/error.h", r"^#define (OPGEN_(?:CHECK|WARN|SYM_CHECK)\w*)\("),
    ],
)
def test_every_macro_is_listed(file: str, pattern: str) -> None:
    """Protects authors from reading a header to find a macro."""
    macros = set(re.findall(pattern, header(file), re.MULTILINE)) - _PARTS
    assert macros
    assert macros - named() == set()


def test_every_listed_macro_exists() -> None:
    """Protects authors from macros that are gone."""
    files = ("dispatch_macros.h", "kernel_macros.h", "core/error.h")
    defined = {name for file in files for name in re.findall(r"#define (OPGEN_\w+)", header(file))}
    assert named() - defined == set()


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("cpu/dispatch.h", r"^using (\w+Types) ="),
        ("cpu/loops.h", r"^void (cpu_\w+|vector_loop)\("),
        ("cpu/reduce.h", r"^void (cpu_\w+)\(|TensorIterator (make_reduction)\("),
        ("cpu/truth.h", r"^OPGEN_API void (cpu_\w+)\("),
        ("cpu/moments.h", r"^void (cpu_\w+)\(|(moments_of_row|normalise_row)\("),
        ("cpu/bounds.h", r"^void (cpu_\w+)\("),
        ("cpu/extremes.h", r"^void (cpu_\w+)\("),
        ("cpu/softmax.h", r"^void (cpu_\w+)\("),
        ("cpu/row_buffers.h", r"(row_as|store_row_as)\("),
        ("core/parallel.h", r"(\w+_num_threads|get_thread_num|in_parallel_region|parallel_for)\("),
        ("cpu/random.h", r"\b(draw_\w+)\(|class (NormalDraws)"),
        ("iterator/iterator_config.h", r"^  TensorIteratorConfig& (\w{4,})\("),
        ("iterator/tensor_iterator.h", r"^  void (build\w*)\("),
        ("structured/meta_base.h", r"\b(set_output_\w+|maybe_get_output)\("),
    ],
)
def test_every_function_is_listed(file: str, pattern: str) -> None:
    """Protects authors from reading a header to find a loop, a builder or a rule."""
    functions = {
        next(filter(None, match if isinstance(match, tuple) else (match,)))
        for match in re.findall(pattern, header(file), re.MULTILINE)
    }
    assert functions
    words = set(re.findall(r"\w+", PAGE))
    # `build_borrowing_…` is a form of each builder.
    assert {n for n in functions if not words & {n, n.replace("borrowing_", "")}} == set()
