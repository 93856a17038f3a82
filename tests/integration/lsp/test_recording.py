"""The session in docs/guides/ci.md shows the server's current answers."""

from __future__ import annotations

import pytest
from record import PAGE, put_into_page, record


@pytest.mark.slow
def test_the_recording_is_up_to_date() -> None:
    """`python tests/integration/lsp/record.py` writes it."""
    page = PAGE.read_text(encoding="utf-8")
    assert "Replace 'Tensr' by 'Tensor'" in page
    assert put_into_page(page, record()) == page
