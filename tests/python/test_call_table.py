"""Calls in every form that arguments have, made of our library and of PyTorch: 1,300 of them, compared one by one.

Where the two differ, the call stands in `call_differences.txt` under the reason. `docs/python.md` has the sums;
OPGEN_UPDATE_GOLDEN=1 writes them there.
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

from python.outcomes import (
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

CALLS = tuple(read_calls(TABLE))
REASONS = {call.text: call.group for call in read_calls(DIFFERENCES)}
REFUSALS = TABLE.with_name("refusals.txt")
DOCUMENT = REPOSITORY / "docs" / "python.md"


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
    """Skips without torch; fails if OPGEN_REQUIRE_TORCH=1."""
    if importlib.util.find_spec("torch") is None:
        if os.environ.get("OPGEN_REQUIRE_TORCH") == "1":
            pytest.fail("OPGEN_REQUIRE_TORCH=1, and torch is not installed")
        pytest.skip("torch is not installed: nothing to compare with")
    torch: Any = importlib.import_module("torch")
    theirs = map(of_torch(torch).outcome, CALLS)
    return tuple(map(Compared, CALLS, _ours(), theirs))


@pytest.mark.parametrize("group", dict.fromkeys(call.group for call in CALLS))
def test_a_call_comes_to_what_it_comes_to_in_pytorch(
    group: str,
    compared: tuple[Compared, ...],
    record_property: Callable[[str, object], None],
) -> None:
    """Protects which calls are taken, what they return and write, and the class of what they raise."""
    found = [each for each in compared if each.call.group == group]
    wrong = [each for each in found if not each.same and each.call.text not in REASONS]
    assert not wrong, "\n" + "\n".join(map(str, wrong))
    record_property("call table: calls", len(found))
    record_property("call table: equal", sum(each.same for each in found))


def test_what_is_called_different_differs(compared: tuple[Compared, ...]) -> None:
    """Protects the reasons from standing longer than they are true."""
    same = [each.call.text for each in compared if each.same and each.call.text in REASONS]
    assert not same, f"equal by now: remove from {DIFFERENCES.name}: {same}"
    unknown = REASONS.keys() - {call.text for call in CALLS}
    assert not unknown, f"not in {TABLE.name}: {unknown}"


def test_the_table_has_every_call_once() -> None:
    counts = collections.Counter(call.text for call in CALLS)
    assert [text for text, count in counts.items() if count > 1] == []
    assert len(CALLS) > 1250


def test_the_document_has_the_sums(compared: tuple[Compared, ...]) -> None:
    """Protects docs/python.md from saying what was true once."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = text.partition("<!-- calls: begin -->\n")
    _, end, after = rest.partition("<!-- calls: end -->\n")
    assert begin and end, f"{DOCUMENT}: the marks around the table of calls are gone"
    wanted = before + begin + _sums(compared) + end + after
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        DOCUMENT.write_text(wanted, encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == wanted, "OPGEN_UPDATE_GOLDEN=1 writes the sums"


def _sums(compared: tuple[Compared, ...]) -> str:
    groups: Mapping[str, list[bool]] = collections.defaultdict(list)
    for each in compared:
        groups[each.call.group].append(each.same)
    rows = [(group, len(same), sum(same)) for group, same in groups.items()]
    rows.append(("all", len(compared), sum(each.same for each in compared)))
    lines = ["| calls | made | equal | different |", "|---|---|---|---|"]
    lines += [f"| {group} | {made} | {equal} | {made - equal} |" for group, made, equal in rows]
    reasons = collections.Counter(REASONS.values())
    lines += ["", "| why they differ | calls |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in reasons.items()]
    return "\n".join(lines) + "\n"


def test_every_refusal_names_every_signature_and_why() -> None:
    """Protects the words of a TypeError: what was called, each signature of it, and for each why it does not fit."""
    refusals = [
        (call, outcome.message)
        for call, outcome in zip(CALLS, _ours())
        if "fits no signature" in outcome.message
    ]
    assert len(refusals) > 200
    for call, message in refusals:
        first, *candidates = message.split("\n")
        name = first.rpartition(" ")[2]
        assert first.removeprefix("Tensor.").startswith(f"{name}("), f"{call.text}: {message}"
        assert candidates, message
        for candidate in candidates:
            assert candidate.startswith(f"  {name}("), message
            signature, colon, why = candidate.partition(": argument '")
            if not colon:
                signature, colon, why = candidate.partition(": it ")
            assert colon and " -> " in signature and len(why) > 10, message


def test_the_words_of_refusals() -> None:
    """Protects the exact text of a refusal of each kind."""
    caller = of_ours(own_package())
    text = "".join(
        f"{call.text}\n    {str(caller.outcome(call)).replace(chr(10), chr(10) + '    ')}\n"
        for call in _refused()
    )
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        REFUSALS.write_text(text, encoding="utf-8")
    assert text == REFUSALS.read_text(encoding="utf-8")


def _refused() -> Iterator[Call]:
    """The calls in refusals.txt: what stands at the margin."""
    for number, line in enumerate(REFUSALS.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith(" "):
            yield Call("refusals", number, line)
