"""The collector: order, duplicates and severities, and the exception that carries it."""

from __future__ import annotations

from opgen.diagnostics import (
    Diagnostics,
    OpgenError,
    Severity,
    Source,
    Span,
)

CODE = "E0001"


def test_items_are_ordered_by_file_of_first_mention_then_position_then_code() -> None:
    first, second = Source("b", "xyz"), Source("a", "xyz")
    diagnostics = Diagnostics()
    diagnostics.error("E2", "m", Span(first, 2, 3))
    diagnostics.error("E1", "m", Span(second, 0, 1))
    diagnostics.error("E3", "m", Span(first, 0, 1))
    diagnostics.error("E1", "m", Span(first, 2, 2))
    diagnostics.error("E9", "m", None)
    assert [item.code for item in diagnostics.sorted()] == ["E9", "E3", "E1", "E2", "E1"]


def test_equal_items_are_given_once() -> None:
    span = Span(Source("a", "x"), 0, 1)
    diagnostics = Diagnostics()
    for _ in range(2):
        diagnostics.error(CODE, "m", span, labels=[(span, "l")], notes=["n"])
    assert len(diagnostics) == 2
    assert len(diagnostics.sorted()) == 1


def test_warnings_are_not_errors() -> None:
    diagnostics = Diagnostics()
    diagnostics.warning("W1001", "m", None)
    assert not diagnostics.has_errors
    assert diagnostics.error_count == 0
    assert diagnostics.sorted()[0].severity is Severity.warning
    diagnostics.error(CODE, "m", None)
    assert diagnostics.has_errors
    assert diagnostics.error_count == 1


def test_a_record_is_accepted_as_its_code() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(CODE, "m", None)
    assert diagnostics.sorted()[0].code == "E0001"


def test_the_exception_names_the_first_error() -> None:
    diagnostics = Diagnostics()
    diagnostics.warning("W1", "a warning", None)
    diagnostics.error("E1", "an error", None)
    error = OpgenError(diagnostics)
    assert str(error) == "an error"
    assert [d.code for d in error.diagnostics] == ["E1", "W1"]
