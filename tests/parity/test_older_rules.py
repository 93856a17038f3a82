"""Rules that came with a release of PyTorch: files of the releases before it are read without them.

Each small file is one that the release's own torchgen takes or refuses, which was seen by running it. Here the release
is told as opgen tells it, by the tags that are declared beside the file; the files themselves are in no package that
the tests could ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.model.tags import Tag, TagSet
from opgen.parse import builtin_tags, parse_entries
from opgen.resolve import resolve

# What each release declared more than the one before it. 2.1 and 2.7 declared nothing new.
_ADDED = {
    "2.0": "core data_dependent_output dynamic_output_shape generated inplace_view nondeterministic_bitwise "
    "nondeterministic_seeded pointwise view_copy",
    "2.1": "",
    "2.2": "pt2_compliant_tag",
    "2.3": "needs_fixed_stride_order",
    "2.4": "",
    "2.5": "flexible_layout",
    "2.6": "maybe_aliasing_or_mutating",
    "2.7": "",
    "2.8": "cudagraph_unsafe needs_contiguous_strides needs_exact_strides",
    "2.10": "reduction",
    "2.11": "out_variant",
    "2.13": "inplace out",
}
_RELEASES = tuple(_ADDED)

_CONST_REF = """\
- func: wide(Tensor self) -> Tensor
  dispatch:
    CPU: wide
- func: wide.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  use_const_ref_for_mutable_tensors: True
  dispatch:
    CPU: wide_out
"""
_RANDOM_ARGUMENT = """\
- func: recur(Tensor self, float dropout) -> Tensor
  dispatch:
    CPU: recur
"""
_CORE_COMPOSITE = """\
- func: fold(Tensor self) -> Tensor
  tags: core
  autogen: fold.out
"""


def _tags(release: str) -> TagSet:
    known = _RELEASES[: _RELEASES.index(release) + 1]
    return TagSet(tuple(Tag(name, "") for r in known for name in _ADDED[r].split()))


def _read(text: str, release: str) -> tuple[list[str], list[str]]:
    """The codes that are reported, and the operators that the file makes."""
    diagnostics = Diagnostics()
    tags = _tags(release)
    source = Source("native_functions.yaml", text)
    parsed = parse_entries([source], tags, (), diagnostics, strict_torchgen=True)
    if diagnostics.has_errors:
        return [item.code for item in diagnostics], []
    registry = resolve(parsed.functions, diagnostics, tags.names)
    return [item.code for item in diagnostics], [str(f.func.name) for f in registry.functions]


def test_the_tags_are_those_of_today() -> None:
    """Protects the table above against a release that is not in it."""
    assert set(_tags(_RELEASES[-1]).names) == set(builtin_tags().names)


@pytest.mark.parametrize("release", _RELEASES)
def test_const_references_to_outs(release: str) -> None:
    """PyTorch 2.5.1 and 2.6.0 have five such entries. torchgen refuses them from 2.7 on; 2.7's tags do not tell."""
    since = _RELEASES.index(release) >= _RELEASES.index("2.8")
    assert _read(_CONST_REF, release)[0] == (["E0249"] if since else [])


@pytest.mark.parametrize("release", _RELEASES)
def test_random_by_an_argument(release: str) -> None:
    """torchgen looks at arguments' names from 2.1 on; 2.1's tags do not tell."""
    since = _RELEASES.index(release) >= _RELEASES.index("2.2")
    assert _read(_RANDOM_ARGUMENT, release)[0] == (["E0247"] if since else [])


@pytest.mark.parametrize("release", _RELEASES)
def test_variants_of_core_composites(release: str) -> None:
    since = _RELEASES.index(release) >= _RELEASES.index("2.6")
    codes, operators = _read(_CORE_COMPOSITE, release)
    assert not codes
    assert operators == (["fold", "fold.out"] if since else ["fold"])


@pytest.mark.parametrize("text", [_CONST_REF, _RANDOM_ARGUMENT, _CORE_COMPOSITE])
def test_the_installed_torchgen_agrees(packaged: object, text: str) -> None:
    oracle = pytest.importorskip("torchgen_oracle")
    judge: Callable[..., Any] = oracle.judge
    verdict = judge(text, frozenset(_tags(_RELEASES[-1]).names))
    codes, operators = _read(text, _RELEASES[-1])
    assert verdict.accepts == (not codes)
    assert [row["operator_name"] for row in verdict.rows or ()] == operators
