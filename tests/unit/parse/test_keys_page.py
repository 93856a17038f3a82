"""docs/reference/keys.md explains every key, in the words that editors show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opgen.parse.entries.keys import CLASS_KEYS, HEADER_KEYS, KEYS

_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "keys.md"


def table(texts: Mapping[str, str]) -> str:
    rows = (f"| `{name}` | {text} |\n" for name, text in texts.items())
    return f"| key | purpose |\n|---|---|\n{''.join(rows)}"


def test_the_page_has_every_key() -> None:
    page = _PAGE.read_text()
    entry = {name: key.description for name, key in KEYS.items()}
    for texts in (HEADER_KEYS, CLASS_KEYS, entry):
        assert table(texts) in page, f"docs/reference/keys.md lacks\n{table(texts)}"
