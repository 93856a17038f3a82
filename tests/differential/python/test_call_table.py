"""Calls with arguments in every form, made of our library and of PyTorch: 1,300 of them, compared one by one.

Calls with different outcomes are listed in `call_differences.txt` under the reason.
`tests/RESULTS.md` has the counts, which OPGEN_UPDATE_GOLDEN=1 writes.
"""

from __future__ import annotations

import collections
import functools
import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from differential.python.outcomes import (
    DIFFERENCES,
    TABLE,
    Call,
    Outcome,
    of_ours,
    of_torch,
    read_calls,
)
from support.build import REPOSITORY
from support.library import own_package
from support.selection import calls_the_slice, on_both

CALLS = tuple(read_calls(TABLE))
REASONS = {call.text: call.group for call in read_calls(DIFFERENCES)}
REFUSALS = TABLE.with_name("refusals.txt")
DOCUMENT = REPOSITORY / "tests" / "RESULTS.md"


@dataclass(frozen=True, slots=True)
class Compared:
    call: Call
    ours: Outcome
    theirs: Outcome

    @property
    def same(self) -> bool:
        return self.ours.same(self.theirs)

    def __str__(self) -> str:
        return f"{TABLE.name}:{self.call.line}: {self.call.text}\n  ours:    {self.ours}\n  PyTorch: {self.theirs}"


@functools.cache
def _ours() -> tuple[Outcome, ...]:
    caller = of_ours(own_package())
    return tuple(map(caller.outcome, CALLS))


@pytest.fixture(scope="module")
def compared() -> tuple[Compared, ...]:
    """Skip the tests without torch; fail them if OPGEN_REQUIRE_TORCH=1."""
    if importlib.util.find_spec("torch") is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: it is needed for the comparison")
    torch: Any = importlib.import_module("torch")
    theirs = map(of_torch(torch).outcome, CALLS)
    return tuple(map(Compared, CALLS, _ours(), theirs))


@on_both
@pytest.mark.parametrize("group", dict.fromkeys(call.group for call in CALLS))
def test_a_call_has_the_outcome_that_it_has_in_pytorch(
    group: str,
    part: str,
    compared: tuple[Compared, ...],
    record_property: Callable[[str, object], None],
) -> None:
    """Compare which calls are accepted, what they return and write, and the class of what they raise."""
    whole = part == "whole"
    found = [
        c for c in compared if c.call.group == group and (whole or calls_the_slice(c.call.text))
    ]
    wrong = [each for each in found if not each.same and each.call.text not in REASONS]
    assert not wrong, "\n" + "\n".join(map(str, wrong))
    record_property("call table: calls", len(found))
    record_property("call table: equal", sum(each.same for each in found))


@pytest.mark.slow
@pytest.mark.whole_library
def test_listed_differences_exist(compared: tuple[Compared, ...]) -> None:
    """Protects against listed differences that no longer exist."""
    same = [each.call.text for each in compared if each.same and each.call.text in REASONS]
    assert not same, f"no longer different: remove from {DIFFERENCES.name}: {same}"
    unknown = REASONS.keys() - {call.text for call in CALLS}
    assert not unknown, f"not in {TABLE.name}: {unknown}"


def test_the_table_has_every_call_once() -> None:
    counts = collections.Counter(call.text for call in CALLS)
    assert [text for text, count in counts.items() if count > 1] == []
    assert len(CALLS) > 1250


@pytest.mark.slow
@pytest.mark.whole_library
def test_the_document_has_the_sums(compared: tuple[Compared, ...]) -> None:
    """Protects tests/RESULTS.md from getting out of date."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = text.partition("<!-- calls: begin -->\n")
    _, end, after = rest.partition("<!-- calls: end -->\n")
    assert begin and end, f"{DOCUMENT}: the marks around the table of calls are gone"
    wanted = before + begin + _sums(compared) + end + after
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        DOCUMENT.write_text(wanted, encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == wanted, "OPGEN_UPDATE_GOLDEN=1 writes the sums"


def test_the_page_has_every_reason() -> None:
    """Protects readers of docs/guides/python.md from a difference that it does not list."""
    page = (REPOSITORY / "docs/guides/python.md").read_text(encoding="utf-8")
    for reason in set(REASONS.values()):
        if not reason.startswith("our library lacks"):
            kind, colon, what = reason.partition(": ")
            known = kind in ("opgen accepts more", "opgen accepts less", "different exception")
            assert (what if colon and known else reason) in page


def _sums(compared: tuple[Compared, ...]) -> str:
    groups: Mapping[str, list[bool]] = collections.defaultdict(list)
    for each in compared:
        groups[each.call.group].append(each.same)
    rows = [(group, len(same), sum(same)) for group, same in groups.items()]
    rows.append(("all", len(compared), sum(each.same for each in compared)))
    lines = ["| calls | made | equal | different |", "|---|---|---|---|"]
    lines += [f"| {group} | {made} | {equal} | {made - equal} |" for group, made, equal in rows]
    reasons = collections.Counter(REASONS.values())
    lines += ["", "| reason for the difference | calls |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in reasons.items()]
    return "\n".join(lines) + "\n"


@on_both
def test_every_refusal_names_every_signature_and_why(part: str) -> None:
    """Protects the text of a TypeError: the called function, each of its signatures, and why each does not fit."""
    refusals = [
        (call, outcome.message)
        for call, outcome in zip(CALLS, _ours())
        if "does not match any signature" in outcome.message
    ]
    assert len(refusals) > (200 if part == "whole" else 100)
    for call, message in refusals:
        first, *candidates = message.split("\n")
        name = first.removeprefix("Tensor.").partition("(")[0]
        assert name.isidentifier() and first.endswith(") does not match any signature:"), call.text
        assert candidates, message
        for candidate in candidates:
            assert candidate.startswith("  ("), message
            signature, colon, why = candidate.partition(": argument '")
            if not colon:
                signature, colon, why = candidate.partition(": it ")
            assert colon and " -> " in signature and len(why) > 10, message


@pytest.mark.slow
@pytest.mark.whole_library
def test_the_texts_of_type_errors() -> None:
    """Protects the exact text of a TypeError of each kind."""
    caller = of_ours(own_package())
    text = "".join(
        f"{call.text}\n    {str(caller.outcome(call)).replace(chr(10), chr(10) + '    ')}\n"
        for call in _refused()
    )
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        REFUSALS.write_text(text, encoding="utf-8")
    assert text == REFUSALS.read_text(encoding="utf-8")


def _refused() -> Iterator[Call]:
    """Return the calls in refusals.txt, which are the lines without indentation."""
    for number, line in enumerate(REFUSALS.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith(" "):
            yield Call("refusals", number, line)
