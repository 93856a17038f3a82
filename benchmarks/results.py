"""Write tables into benchmarks/RESULTS.md, each between its own marks."""

from __future__ import annotations

from pathlib import Path

PATH = Path(__file__).resolve().parent / "RESULTS.md"


def write_between(script: str, text: str) -> None:
    """Put `text` between the marks `<!-- script -->` and `<!-- end of script -->`."""
    first, last = f"<!-- {script} -->", f"<!-- end of {script} -->"
    before, mark, rest = PATH.read_text().partition(first)
    _, end, after = rest.partition(last)
    assert mark and end, f"{PATH} has no marks of {script}"
    PATH.write_text(f"{before}{first}\n{text}\n{last}{after}")
