"""docs/reference/torchgen-differences.md lists every numbered fact about torchgen with the right code or reason."""

from __future__ import annotations

import re

from differences_table import codes_in, read_table

from opgen.diagnostics import known_codes

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


def test_every_code_exists() -> None:
    table = read_table()
    named = table.stricter.union(*map(codes_in, table.numbers.values()))
    assert named <= set(known_codes())


def test_rows_without_a_code_have_a_reason() -> None:
    reasons = [v for v in read_table().numbers.values() if not codes_in(v[:5])]
    assert all(re.match(r"(accepted|unreachable|not checked)(: .+)?$", v) for v in reasons)
