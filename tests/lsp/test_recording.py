"""The session that docs/editors.md shows is what the server answers today."""

from __future__ import annotations

from record import PAGE, put_into_page, record


def test_the_recording_is_up_to_date() -> None:
    """`python tests/lsp/record.py` writes it anew."""
    page = PAGE.read_text(encoding="utf-8")
    assert "Replace 'Tensr' by 'Tensor'" in page
    assert put_into_page(page, record()) == page
