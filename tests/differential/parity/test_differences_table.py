"""docs/reference/torchgen-differences.md lists every numbered fact about torchgen with the right code or reason."""

from __future__ import annotations

import re
from collections import defaultdict

from differences_table import codes_in, read_table

from opgen.pipeline.codes import CODES

_NUMBERS = (
    *(f"V{n:03}" for n in range(1, 186)),
    *(f"C{n:02}" for n in range(1, 34)),
    *(f"A{n:02}" for n in range(1, 90)),
    *(f"D{n:02}" for n in range(1, 24)),
    *(f"DC{n}" for n in range(1, 6)),
    *(f"DA{n}" for n in range(1, 10)),
)


def test_every_number_is_listed() -> None:
    assert sorted(read_table().numbers) == sorted(_NUMBERS)


def test_the_codes_are_those_whose_records_name_the_number() -> None:
    """Compare the page with the `facts` of the codes' records: both are written by hand."""
    recorded = defaultdict(set)
    for record in CODES.values():
        for number in record.facts:
            recorded[number].add(record.code)
    verdicts = read_table().numbers
    listed = {n: set(codes_in(v)) for n, v in verdicts.items() if re.match(r"[EW]\d{4}", v)}
    assert listed == {n: codes for n, codes in recorded.items() if n in verdicts}


def test_rows_without_a_code_have_a_reason() -> None:
    reasons = [v for v in read_table().numbers.values() if not codes_in(v[:5])]
    assert all(re.match(r"(accepted|unreachable|not checked)(: .+)?$", v) for v in reasons)


def test_every_stricter_code_exists() -> None:
    assert read_table().stricter <= CODES.keys()
