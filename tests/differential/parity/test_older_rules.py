"""Rules that came with a release of PyTorch do not apply to files of earlier releases.

The expected verdicts on these small files were found by running the torchgen of each release. The release is
recognised by the tags in the tags.yaml next to the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opgen.diagnostics import Diagnostics
from opgen.model.profile import Tag, TagSet
from opgen.parse.files.native_functions import builtin_tags
from opgen.pipeline.loading import load
from support.inputs import text_inputs

# Tags that each release added to those of the one before. 2.1 and 2.7 added none.
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
    """Return the reported codes, and the operators that the file defines."""
    diagnostics = Diagnostics()
    tags = "".join(f"- tag: {name}\n  desc: of this release\n" for name in _tags(release).names)
    inputs = text_inputs(text, tags=tags, strict_torchgen=True)
    registry = load(inputs, diagnostics)
    functions = () if registry is None else registry.functions
    return [item.code for item in diagnostics], [str(f.func.name) for f in functions]


def test_the_tags_are_those_of_today() -> None:
    """Protects the table above against a release that it lacks."""
    assert set(_tags(_RELEASES[-1]).names) == set(builtin_tags().names)


@pytest.mark.parametrize("release", _RELEASES)
def test_const_references_to_outs(release: str) -> None:
    """PyTorch 2.5.1 and 2.6.0 have five such entries. torchgen rejects them from 2.7 on, but the tags of 2.7 do not
    show the release.
    """
    since = _RELEASES.index(release) >= _RELEASES.index("2.8")
    assert _read(_CONST_REF, release)[0] == (["E0249"] if since else [])


@pytest.mark.parametrize("release", _RELEASES)
def test_random_by_an_argument(release: str) -> None:
    """torchgen considers argument names from 2.1 on, but the tags of 2.1 do not show the release."""
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
