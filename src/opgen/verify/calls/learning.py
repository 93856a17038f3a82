"""Learn by trial which calls an operator accepts, and draw such calls."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import hypothesis
import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase
from msgspec import Struct, field

from opgen.drawing.choices import RandomChoices
from opgen.drawing.drawer import Undrawable
from opgen.drawing.plans import Plan
from opgen.verify.calls.specs import DTYPES, Call
from opgen.verify.calls.vocabulary import CallDrawer
from opgen.verify.lab import Lab
from opgen.verify.subjects import Subject

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?|\[[^\]]*\]")
# Plans that are kept, and refused calls of each reason.
_MOST_PLANS = 40
_MOST_REFUSED = 16


class Effort(Struct, frozen=True):
    """How much is drawn: at least `least` calls, up to `most` while fewer than `plans` plans are accepted."""

    least: int = 60
    most: int = 1500
    plans: int = 8
    seconds: float = 1.5
    dtypes_of: int = 2


class Learned(Struct):
    """What was learned: plans of accepted calls, and refused calls with the reasons in words."""

    plans: list[Plan] = field(default_factory=list)
    refused: list[tuple[Call, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    drawn: int = 0
    accepted: int = 0
    undrawable: str = ""
    narrowings: tuple[str, ...] = ()
    # The numbers of calls that ended the process.
    crashed: dict[int, Call] = field(default_factory=dict)


def learn(
    lab: Lab,
    subject: Subject,
    seed: int,
    effort: Effort,
    note: Callable[[int], None] = lambda number: None,
    skip: Sequence[int] = (),
    last: int | None = None,
) -> Learned:
    """Draw calls until enough plans are accepted.

    `note` receives the number of each call. Calls whose numbers are in `skip`, or above `last`, are not made.
    """
    found = Learned()
    choices = RandomChoices(random.Random(f"{seed} {subject.name}"))
    drawer = CallDrawer(subject.inputs, subject.domain, choices)
    found.narrowings = (*drawer.narrowings(), *subject.domain.narrowings())
    ends = time.process_time() + effort.seconds
    kept: dict[str, Plan] = {}
    # How often each plan was drawn and accepted.
    drawn: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    number = 0

    def attempt(call: Call, plan: Plan) -> bool:
        nonlocal number
        number += 1
        if number in skip:
            found.crashed[number] = call
            return False
        if last is not None and number > last:
            return False
        note(number)
        outcome = lab.run(subject, call)
        found.drawn += 1
        text = repr(sorted(plan.items()))
        drawn[text] += 1
        if outcome.error is None:
            found.accepted += 1
            taken[text] += 1
            kept.setdefault(text, dict(plan))
            return True
        reason = reason_of(outcome.message)
        found.reasons[reason] += 1
        if found.reasons[reason] <= 2 and len(found.refused) < _MOST_REFUSED:
            found.refused.append((call, outcome.message))
        return False

    def reliable() -> list[str]:
        """Return the plans whose calls are mostly accepted, unless all of them were by chance."""
        good = [text for text in kept if 2 * taken[text] >= drawn[text]]
        return good or list(kept)

    while found.drawn < effort.most and time.process_time() < ends:
        if last is not None and number >= last:
            break
        if found.drawn >= effort.least and len(reliable()) >= effort.plans:
            break
        # With few plans, new ones are worth more.
        drawer.explore(0.8 if len(kept) >= effort.plans else 0.6, 0.4)
        try:
            call, plan = drawer.draw()
        except Undrawable as error:
            found.undrawable = str(error)
            break
        if attempt(call, plan):
            drawer.accepted.append(plan)
    # The other dtypes of the plans that were accepted most.
    by_text = {text: kept[text] for text in reliable()}
    common = sorted(by_text, key=lambda text: -taken[text])
    for text in common[: effort.dtypes_of]:
        for dtype in subject.domain.dtypes or DTYPES:
            known = CallDrawer(
                subject.inputs,
                subject.domain,
                choices,
                [{**by_text[text], "*": (dtype,)}],
            )
            attempt(*known.draw(only_known=True))
    found.plans = [kept[text] for text in reliable()][:_MOST_PLANS]
    return found


def reason_of(message: str) -> str:
    """Return a message without its numbers, so that equal reasons are counted together."""
    return _NUMBERS.sub("…", message)[:160]


class _Drawn:
    """Choices of hypothesis."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def number(self, low: float, high: float) -> float:
        return float(self._draw(st.floats(low, high, allow_nan=False)))

    def choice(self, choices: Sequence[Any]) -> Any:
        return choices[self._draw(st.integers(0, len(choices) - 1))]

    def chance(self, probability: float) -> bool:
        return bool(self._draw(st.integers(0, 99)) < probability * 100)


def _strategy(subject: Subject, plans: Sequence[Plan]) -> st.SearchStrategy[Call]:
    @st.composite
    def calls(draw: Callable[..., Any]) -> Call:
        drawer = CallDrawer(subject.inputs, subject.domain, _Drawn(draw), plans)
        return drawer.draw(only_known=True)[0]

    return calls()


def _settings(count: int, phases: Sequence[Phase]) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=tuple(phases),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )


def drawn_calls(subject: Subject, plans: Sequence[Plan], count: int, seed: int) -> list[Call]:
    """Draw calls by plans that the operator accepts."""
    found: list[Call] = []

    @hypothesis.seed(seed)
    @_settings(count, [Phase.generate])
    @hypothesis.given(_strategy(subject, plans))
    def collect(call: Call) -> None:
        found.append(call)

    if plans:
        collect()
    return found


class _Fails(Exception):
    """A drawn call violates the property that is being shrunk."""


def shrunk(
    subject: Subject,
    plans: Sequence[Plan],
    count: int,
    seed: int,
    fails: Callable[[Call], bool],
    seconds: float,
) -> Iterator[Call]:
    """Yield calls of which `fails` returns True, each simpler than the last: the last one is minimal.

    The calls are drawn as by `drawn_calls` with the same seed.
    """
    found: list[Call] = []
    ends = time.process_time() + seconds

    @hypothesis.seed(seed)
    @_settings(count, [Phase.generate, Phase.shrink])
    @hypothesis.given(_strategy(subject, plans))
    def search(call: Call) -> None:
        if time.process_time() < ends and fails(call):
            found.append(call)
            raise _Fails

    try:
        search()
    except _Fails:
        pass
    except Exception as error:
        # Of calls that fail at times only, hypothesis says so.
        if not type(error).__module__.startswith("hypothesis"):
            raise
    yield from found
