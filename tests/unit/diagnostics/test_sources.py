"""Positions: from offsets to lines and columns."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Location, Source, Span


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_and_columns_count_from_one(end: str) -> None:
    source = Source("f", f"ab{end}cd{end}")
    assert source.location(0) == Location(1, 1)
    assert source.location(1) == Location(1, 2)
    assert source.location(2 + len(end)) == Location(2, 1)
    assert source.location(len(source.text)) == Location(3, 1)


def test_lines_are_given_without_their_ends() -> None:
    source = Source("f", "ab\r\n\r\ncd")
    assert [source.line_text(i) for i in (1, 2, 3)] == ["ab", "", "cd"]


def test_only_carriage_return_and_line_feed_end_a_line() -> None:
    source = Source("f", "a\u2028b\x0bc\x85d\ne")
    assert source.location(7) == Location(1, 8)
    assert source.location(8) == Location(2, 1)


def test_an_empty_text_has_one_line() -> None:
    source = Source("f", "")
    assert source.location(0) == Location(1, 1)
    assert source.line_text(1) == ""


def test_a_span_knows_its_text() -> None:
    source = Source("f", "hello")
    assert Span(source, 1, 3).text == "el"
    assert source.start == Span(source, 0, 0)


def test_sources_are_compared_by_identity() -> None:
    assert Source("f", "a") != Source("f", "a")
