"""Lists of intended breaks: what they match, when they expire, and which lines are invalid."""

from __future__ import annotations

from datetime import date

import pytest
from versions import breaks

from opgen.compat import not_allowed, parse_allow_list
from opgen.diagnostics import Diagnostics, Source

_TODAY = date(2026, 6, 15)
_BREAKS = breaks("- func: foo.a(int x) -> ()\n- func: bar(int x) -> ()\n", "[]\n")


def _left(text: str) -> tuple[list[str], list[str]]:
    """Return the operators whose breaks are not allowed, and the codes of the diagnostics about the list."""
    diagnostics = Diagnostics()
    allowed = parse_allow_list(Source("allowed.txt", text), diagnostics)
    left = not_allowed(_BREAKS, allowed, _TODAY, diagnostics)
    return [found.operator for found in left], [d.code for d in diagnostics]


@pytest.mark.parametrize("name", ["aten::foo.a", "foo.a", "aten::foo", "foo", "fo+", ".*foo.*"])
def test_names_and_patterns(name: str) -> None:
    assert _left(f"{name}\n") == (["aten::bar"], [])


def test_a_pattern_matches_in_full() -> None:
    assert _left("fo\n") == (["aten::foo.a", "aten::bar"], ["W1152"])


def test_comments_and_empty_lines() -> None:
    assert _left("# all of it\n\n  foo  # gone for good\nbar # too\n") == ([], [])


def test_dates() -> None:
    assert _left("foo 2026-06-15\n") == (["aten::bar"], [])
    assert _left("foo 2026-06-14\n") == (["aten::foo.a", "aten::bar"], ["W1151"])


@pytest.mark.parametrize("line", ["foo(", "foo soon", "foo 2026-06-15 x"])
def test_lines_that_cannot_be_read(line: str) -> None:
    assert _left(f"bar\n{line}\n") == (["aten::foo.a"], ["E1150"])


@pytest.mark.parametrize(
    "pattern",
    ["a?" * 40 + "b", "(a|a)" * 40 + "b", "(a?|a)(a?|a)" * 9, "(a??)" * 30, ".*.*.*(a|a)(b|c)"],
)
def test_a_pattern_that_could_take_exponential_time_is_rejected(pattern: str) -> None:
    assert _left(f"{pattern}\n")[1] == ["E1150"]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(aten::)?(_foreach_)?(add|sub|mul|div)_?(\.out)?",
        "|".join(f"name{i}" for i in range(50)),
        r"[a|b|c?*+]{3}\?\|\.x",
        r"(?:at|quantized)::.*",
        r".*_(backward|forward).*(out)?",
    ],
)
def test_a_pattern_with_many_alternatives_is_accepted(pattern: str) -> None:
    assert _left(f"{pattern}\n")[1] == ["W1152"]


def test_places() -> None:
    diagnostics = Diagnostics()
    parse_allow_list(Source("allowed.txt", "# a\n  foo(  # b\n"), diagnostics)
    (item,) = diagnostics
    assert item.span is not None and item.span.text == "foo("
