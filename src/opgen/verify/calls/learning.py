"""Learn by trial which calls an operator accepts, and draw such calls."""

from __future__ import annotations

import contextlib
import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import hypothesis
import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase
from hypothesis.internal.conjecture import providers
from msgspec import Struct, field

from opgen.gradtest.drawing import Choices, Plan, Undrawable
from opgen.model.function_schema import Argument
from opgen.verify.backends.base import round_as_usual
from opgen.verify.caller import Caller
from opgen.verify.calls.specs import DTYPES, Call, TensorSpec, elements, tensors
from opgen.verify.calls.vocabulary import CallDrawer, Requirements
from opgen.verify.subjects import Subject, default_of

_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?|\[[^\]]*\]")
# Plans that are kept, and refused calls of each reason.
_MOST_PLANS = 40
_MOST_REFUSED, _MOST_CALLS = 16, 8
# Refusals are followed until so large a part of the calls is accepted.
_MANY = 0.1
# Optional arguments of which every combination is drawn, and how often each is tried.
_MOST_COMBINED, _TRIES = 3, 4
NO_MEMORY = "there is not enough memory"


class Effort(Struct, frozen=True):
    """How many calls are drawn: at least `least`, and up to `most` while fewer than `plans` plans are accepted.

    Once a plan is accepted, `patience` calls without another one are enough. Then the `dtypes_of` best plans are drawn
    with every dtype. All limits are numbers of calls, so that the same seed draws the same calls on every machine.
    """

    least: int = 60
    most: int = 1500
    plans: int = 8
    patience: int = 500
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
    # Accepted calls: the first ones, and those with each combination of optional arguments.
    calls: list[Call] = field(default_factory=list)
    combined: list[Call] = field(default_factory=list)


def learn(
    caller: Caller,
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
    generator = random.Random(f"{seed} {subject.name}")
    learner = _Learner(caller, subject, note, frozenset(skip), last, Choices(generator))
    learner.try_alike()
    learner.explore(effort)
    learner.vary_optionals()
    learner.vary_dtypes(effort.dtypes_of)
    return learner.result()


class _Learner(Struct):
    """Draws calls of one operator, makes them, and counts by plan which are accepted."""

    caller: Caller
    subject: Subject
    note: Callable[[int], None]
    skip: frozenset[int]
    last: int | None
    choices: Choices
    found: Learned = field(default_factory=Learned)
    requirements: Requirements = field(default_factory=Requirements)
    # How many calls were drawn, and at which of them a plan was accepted for the first time.
    number: int = 0
    latest: int = 0
    # Accepted plans by their texts, and how often each plan was drawn and accepted.
    kept: dict[str, Plan] = {}
    drawn: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)

    def _tensors(self) -> list[Argument]:
        return [a for a in self.subject.inputs if a.type.is_tensor_like()]

    def _drawer(self, *plans: Plan) -> CallDrawer:
        return CallDrawer(self.subject.inputs, self.choices, self.subject.domain, plans)

    def try_alike(self) -> None:
        """Draw calls whose tensors have one shape and dtype: of all plans, most operators accept this one."""
        kinds = (("any", "float32"), ("positive", "float32"), ("any", "int64"))
        for rank, (kind, dtype), _ in itertools.product((1, 2, 3), kinds, range(2)):
            plan: Plan = {"": ("size",) * rank, "*": (dtype,)}
            for argument in self._tensors():
                is_index = "index" in argument.name
                words = ("full", "int64", "small") if is_index else ("full", "main", kind)
                plan[argument.name] = ("2", *words) if argument.type.is_list_like() else words
            try:
                self._attempt(*self._drawer(plan).draw(only_known=True))
            except Undrawable:
                return

    def explore(self, effort: Effort) -> None:
        """Draw plans, new ones and changes of accepted ones."""
        drawer = self._drawer()
        self.found.narrowings = (*drawer.narrowings(), *self.subject.domain.narrowings())
        while not self._is_enough(effort):
            if self.number >= effort.least and self._is_hard():
                drawer.follow(self.requirements)
            # With few plans, new ones are worth more.
            drawer.known, drawer.changed = 0.8 if len(self.kept) >= effort.plans else 0.6, 0.4
            try:
                call, plan = drawer.draw()
            except Undrawable as error:
                self.found.undrawable = str(error)
                break
            if self._attempt(call, plan):
                drawer.accepted.append(plan)

    def vary_optionals(self) -> None:
        """Draw calls with each combination of optional arguments given and absent, by a plan that was accepted often.

        If the operator accepts them, they have floats of both signs: many arguments matter for one sign only.
        """
        optional = [a for a in self.subject.inputs if a.default is not None or a.type.is_nullable()]
        plans = self._reliable()
        if not optional or not plans:
            return
        # The same dtype in most tensors, of several elements.
        known = max(
            (self.kept[text] for text in sorted(plans, key=lambda text: -self.taken[text])),
            key=lambda plan: (bool(plan[""]), sum("main" in words for words in plan.values())),
        )
        signed = {**known, "*": ("float32",)}
        for name in (argument.name for argument in self._tensors()):
            if len(words := signed.get(name, ())) > 1:
                signed[name] = (*words[:-1], "any")
        for absent in _combinations([a.name for a in optional]):
            for kept in (*(signed,) * _TRIES, *(known,) * _TRIES):
                plan = dict(kept)
                drawer = self._drawer(plan)
                for argument in optional:
                    if argument.name in absent:
                        word = "none" if argument.default is None else "default"
                        plan[argument.name] = (word,)
                    elif plan.get(argument.name) in (None, ("none",), ("default",)):
                        plan[argument.name] = drawer.given(argument)
                drawer.accepted[:] = [plan]
                call, drawn = drawer.draw(only_known=True)
                for argument in optional:
                    default = default_of(argument)
                    if argument.name in call and default in ([False], [True]):
                        call[argument.name] = not default[0]
                if kept is signed and not any(map(_has_both_signs, tensors(call))):
                    continue
                if self._attempt(call, drawn):
                    self.found.combined.append(call)
                    break

    def vary_dtypes(self, count: int) -> None:
        """Draw every dtype of the plans that were accepted most."""
        for text in sorted(self._reliable(), key=lambda text: -self.taken[text])[:count]:
            for dtype in self.subject.domain.dtypes or DTYPES:
                plan = {**self.kept[text], "*": (dtype,)}
                self._attempt(*self._drawer(plan).draw(only_known=True))

    def result(self) -> Learned:
        self.found.plans = [self.kept[text] for text in self._reliable()][:_MOST_PLANS]
        return self.found

    def _is_enough(self, effort: Effort) -> bool:
        if self.number >= effort.most or (self.last is not None and self.number >= self.last):
            return True
        is_tired = self.kept and self.number - self.latest >= effort.patience
        return self.number >= effort.least and (
            bool(is_tired) or len(self._reliable()) >= effort.plans
        )

    def _is_hard(self) -> bool:
        """Whether few calls are accepted, perhaps by chance."""
        return self.found.accepted < _MANY * self.number

    def _reliable(self) -> list[str]:
        """Return the plans whose calls are mostly accepted, unless all of them were by chance."""
        good = [text for text in self.kept if 2 * self.taken[text] >= self.drawn[text]]
        return good or list(self.kept)

    def _attempt(self, call: Call, plan: Plan) -> bool:
        """Make a call; return whether it is accepted."""
        found = self.found
        self.number += 1
        is_last = self.last is not None and self.number > self.last
        if is_last or self.number in self.skip:
            return False
        self.note(self.number)
        found.drawn += 1
        try:
            outcome = self.caller.run(self.subject, call)
        except MemoryError:
            found.reasons[NO_MEMORY] += 1
            return False
        text = repr(sorted(plan.items()))
        self.drawn[text] += 1
        if outcome.error is None:
            found.accepted += 1
            found.calls += [call] if len(found.calls) < _MOST_CALLS else []
            self.taken[text] += 1
            if text not in self.kept:
                self.kept[text] = dict(plan)
                self.latest = self.number
            return True
        if self._is_hard():
            self.requirements.hear(outcome.message, call, [a.name for a in self._tensors()])
        # Equal reasons are counted together.
        reason = _NUMBERS.sub("…", outcome.message)[:160]
        found.reasons[reason] += 1
        if found.reasons[reason] <= 2 and len(found.refused) < _MOST_REFUSED:
            found.refused.append((call, outcome.message))
        return False


def _has_both_signs(spec: TensorSpec) -> bool:
    return spec.is_float and bool((elements(spec) < 0).any() and (elements(spec) > 0).any())


def _combinations(names: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yield which arguments are absent: every combination of a few, else all, none, each alone and all but each."""
    if len(names) <= _MOST_COMBINED:
        for count in range(len(names) + 1):
            yield from map(frozenset, itertools.combinations(names, count))
        return
    yield frozenset()
    yield frozenset(names)
    for name in names:
        yield frozenset([name])
        yield frozenset(names) - {name}


class _Drawn(Choices):
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


@contextlib.contextmanager
def _by_seed_only() -> Iterator[None]:
    """Keep hypothesis from drawing constants of the sources of loaded modules.

    They differ from machine to machine. It would also write them into a folder .hypothesis where the user works.
    """
    # Hypothesis refuses to work where an operator has left denormal numbers switched off.
    round_as_usual()
    name = "_get_local_constants"
    collect = getattr(providers, name, None)
    if collect is None:
        # Older releases have no such constants.
        yield
        return
    none = type(collect.__globals__["_local_constants"])()
    setattr(providers, name, lambda: none)
    try:
        yield
    finally:
        setattr(providers, name, collect)


def _each_call(
    subject: Subject,
    plans: Sequence[Plan],
    count: int,
    seed: int,
    take: Callable[[Call], object],
    *phases: Phase,
) -> None:
    """Give hypothesis's draws of calls by plans that the operator accepts to `take`."""

    @st.composite
    def calls(draw: Callable[..., Any]) -> Call:
        drawer = CallDrawer(subject.inputs, _Drawn(draw), subject.domain, plans)
        return drawer.draw(only_known=True)[0]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate, *phases),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(calls())
    def test(call: Call) -> None:
        take(call)

    with _by_seed_only():
        test()


def drawn_calls(subject: Subject, plans: Sequence[Plan], count: int, seed: int) -> list[Call]:
    """Draw calls by plans that the operator accepts."""
    found: list[Call] = []
    if plans:
        _each_call(subject, plans, count, seed, found.append)
    return found


class _Fails(Exception):
    """A drawn call violates the property that is being shrunk."""


def shrink(
    subject: Subject,
    plans: Sequence[Plan],
    count: int,
    seed: int,
    fails: Callable[[Call], bool],
    most: int,
) -> None:
    """Look for a call of which `fails` returns True, and for simpler ones: the last of them is minimal.

    The calls are drawn as by `drawn_calls` with the same seed. After the first call that fails, at most `most` others
    are tried.
    """
    left: int | None = None

    def search(call: Call) -> None:
        nonlocal left
        left = left and left - 1
        is_failing = left != 0 and fails(call)
        round_as_usual()
        if is_failing:
            left = left or most + 1
            raise _Fails

    try:
        _each_call(subject, plans, count, seed, search, Phase.shrink)
    except _Fails:
        pass
    except Exception as error:
        # Hypothesis reports calls that fail only sometimes.
        if not type(error).__module__.startswith("hypothesis"):
            raise
