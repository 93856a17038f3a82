"""docs/torchgen-differences.md says of every known case of torchgen's what opgen does: it is complete and true."""

from __future__ import annotations

import re
from collections import defaultdict

from differences_table import codes_in, read_table

from opgen.pipeline import CODES

_NUMBERS = (
    *(f"V{n:03}" for n in range(1, 186)),
    *(f"C{n:02}" for n in range(1, 34)),
    *(f"A{n:02}" for n in range(1, 90)),
)


def test_every_number_is_listed() -> None:
    assert sorted(read_table().numbers) == sorted(_NUMBERS)


def test_the_codes_are_those_whose_records_name_the_number() -> None:
    """Protects both from growing apart: a record's `facts` and the page are written by hand."""
    recorded = defaultdict(set)
    for record in CODES.values():
        for number in record.facts:
            recorded[number].add(record.code)
    verdicts = read_table().numbers
    listed = {n: set(codes_in(v)) for n, v in verdicts.items() if re.match(r"[EW]\d{4}", v)}
    assert listed == {n: codes for n, codes in recorded.items() if n in verdicts}


def test_what_has_no_code_has_a_reason() -> None:
    reasons = [v for v in read_table().numbers.values() if not codes_in(v[:5])]
    assert all(re.match(r"(accepted|unreachable|not checked)(: .+)?$", v) for v in reasons)


def test_every_stricter_code_exists() -> None:
    assert read_table().stricter <= CODES.keys()
