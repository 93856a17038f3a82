"""Verify one overload of an operator: learn which calls it accepts, draw calls, check every property."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.verify.caller import (
    Caller,
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Property,
    Run,
    differ,
)
from opgen.verify.calls.learning import NO_MEMORY, Effort, Learned, drawn_calls, learn, shrink
from opgen.verify.calls.programs import call_text, program
from opgen.verify.calls.specs import (
    REPEATED,
    Call,
    each_tensor,
    has_repeated_indices,
    tensors,
    with_distinct_indices,
)
from opgen.verify.calls.sweeps import swept, swept_sizes, with_mistakes
from opgen.verify.properties import BY_NAME, PROPERTIES
from opgen.verify.properties.common import NO_SIGNATURE, with_outs
from opgen.verify.properties.process import CRASH, HANG
from opgen.verify.runner.messages import (
    EXCLUDED,
    FAILED,
    MODES,
    NOT_APPLICABLE,
    NOT_TESTED,
    PASSED,
    Crash,
    OperatorReport,
    Request,
    Shown,
    Verdict,
)
from opgen.verify.subjects import OF_DTYPES, Subject


class Plan(Struct, frozen=True):
    """How much is done in one mode."""

    effort: Effort
    cases: int
    refused: int
    shrinks: int


PLANS = {
    "quick": Plan(Effort(least=30, most=300, plans=5, patience=80, dtypes_of=1), 10, 16, 40),
    "default": Plan(Effort(least=60, most=2000, plans=8, patience=400), 32, 48, 100),
    "thorough": Plan(
        Effort(least=200, most=12000, plans=24, patience=2000, dtypes_of=4), 150, 200, 300
    ),
}
# Calls that end the process are left out; after so many outside of checks, or so many in all, the operator is given up.
_MOST_CRASHES_OF_CALLS, MOST_CRASHES = 8, 24
_MOST_CRASHES_OF_LEARNING, _MOST_HANGS = 2, 3
_MISTAKES_OF = 4
# After so many mistakes that end the process, no others are made: the operator does not check its arguments.
_MOST_FATAL_MISTAKES = 3
_REPLAYS = 5
# The property of calls that return the same again, and how often one is made before another property is said to be violated.
# Calls of which threads have lost a race are made more often: most races are lost only sometimes.
_REPEATABLE, _TIMES, _TIMES_OF_RACES = "repeatable", 16, 100
_OF_RACES = ("V0150", "V0154")
_UNSTEADY = "the same call, made again, returns something else"
# Families of properties whose checks make plain calls, of which none may end the process.
_OF_PLAIN_CALLS = ("V0128", "V015", "V018")


def chosen_properties(kind: str, mode: str, names: Sequence[str]) -> list[Property]:
    """Return the properties that are checked for a kind of tensors: those with these names, or all of the mode."""
    level = MODES.index(mode)
    return [
        p
        for p in PROPERTIES
        if kind in p.kinds and (p.name in names if names else MODES.index(p.mode) <= level)
    ]


class Examination(Struct):
    """Verifies one overload of an operator from where a process before this one has ended, and sends its report as it grows.

    `position` notes where this process stands, for its parent to read when it has ended: the operator, the stage, the number
    of the call, and the property. `known` is what was learned of other overloads, by the ids of their subjects.
    """

    caller: Caller
    request: Request
    properties: Sequence[Property]
    position: Callable[[str, str, int, str], None]
    send: Callable[[OperatorReport], None]
    known: dict[int, Learned]
    subject: Subject
    report: OperatorReport
    # How processes have ended in calls of the overload, and what that shows, by the properties that it violates.
    crashes: Sequence[Crash] = ()
    ended: dict[str, list[Shown]] = {}
    # What was learned, and the calls that are checked. `accepted` are drawn ones.
    learned: Learned = field(default_factory=Learned)
    accepted: list[Case] = []
    refused: list[Case] = []
    swept: list[Case] = []

    @property
    def plan(self) -> Plan:
        return PLANS[self.request.mode]

    def run(self) -> None:
        """Verify the overload."""
        if self.subject.facts.untestable:
            self._say_of_all(NOT_APPLICABLE, self.subject.facts.untestable)
            return
        try:
            self._examine()
        except Exception as error:
            # The operator's own errors are results of its calls: this one is opgen's. The verdicts that are there stay.
            self._say_of_all(NOT_TESTED, _check_failed(error))

    def _left(self) -> list[Property]:
        """Return the properties without a verdict."""
        told = {verdict.property for verdict in self.report.verdicts}
        return [p for p in self.properties if p.name not in told]

    def _tell(self, verdict: Verdict) -> None:
        others = (v for v in self.report.verdicts if v.property != verdict.property)
        self.report.verdicts = [*others, verdict]
        self.send(self.report)

    def _at(self, stage: str, number: int, property_: str = "") -> None:
        self.position(self.subject.name, stage, number, property_)

    def _examine(self) -> None:
        started = time.process_time()
        report, caller, is_replayed = self.report, self.caller, bool(self.request.replayed)
        caller.is_cautious = bool(self.crashes)
        caller.reached.clear()
        caller.dtypes.clear()
        hangs = sum(crash.kind == HANG for crash in self.crashes)
        of_calls = sum(crash.stage != "check" for crash in self.crashes)
        # One crash is all that a replayed call can show.
        most = 1 if is_replayed else MOST_CRASHES
        if of_calls >= _MOST_CRASHES_OF_CALLS or len(self.crashes) >= most or hangs >= _MOST_HANGS:
            self._give_up()
            return
        if is_replayed:
            self.accepted = self.refused = self._replayed()
        else:
            self._learn()
            self._make_cases()
            self._sweep()
        report.drawn, report.accepted = self.learned.drawn, self.learned.accepted
        report.plans = len(self.learned.plans)
        report.refusals = self.learned.reasons.most_common(5)
        report.narrowings = self.learned.narrowings
        report.takes_tensors = self.subject.schema.arguments.has_tensor_arg()
        if not is_replayed and self._has_no_function():
            self._say_of_all(NOT_APPLICABLE, "the package has no function for this overload")
            return
        self.send(report)
        self._take_crashes()
        # A check of another property may have found that calls are not repeatable: that verdict is given again in its turn,
        # with all findings.
        for property_ in self._left():
            self._tell(self._verdict(property_))
        report.reached = {**caller.reached, OF_DTYPES: len(caller.dtypes)}
        report.seconds = time.process_time() - started
        self.send(report)

    def _give_up(self) -> None:
        """Report what has ended the processes, and that nothing else was tested."""
        if not self.request.replayed:
            self._learn()
        self._take_crashes()
        told = {verdict.property for verdict in self.report.verdicts}
        for name, shown in self.ended.items():
            if name not in told:
                self._tell(Verdict(name, FAILED, 1, findings=(shown[-1],)))
        self._say_of_all(NOT_TESTED, "the operator ends its process too often")

    def _say_of_all(self, status: str, why: str) -> None:
        """Give one verdict for all properties that have none."""
        self.report.verdicts += [Verdict(p.name, status, reason=why) for p in self._left()]
        self.report.seconds = max(self.report.seconds, 1e-6)
        self.send(self.report)

    # Calls.

    def _fatal(self, stage: str) -> set[int]:
        """Return the numbers of the calls of a stage that have ended a process."""
        return {crash.number for crash in self.crashes if crash.stage == stage}

    def _about(self, property_: Property) -> list[Case]:
        """Return the calls that a property is about, but for swept ones."""
        if property_.refused == "only":
            return self.refused
        few, others = self.accepted[:2], self.accepted[2:]
        return [*few, *self.refused, *others] if property_.refused else self.accepted

    def _learn(self) -> None:
        subject = self.subject
        functional = self.known.get(id(subject.functional)) if subject.functional else None
        if subject.is_out and functional is not None and functional.plans:
            # The calls of an operator with out= are those of its functional variant.
            self.learned = functional
            return
        skip = self._fatal("learn")
        self.learned = learn(
            self.caller,
            subject.functional if subject.is_out and subject.functional else subject,
            self.request.seed,
            self.plan.effort,
            lambda number: self._at("learn", number),
            list(skip),
            # With what was learned until then, the others can be checked.
            max(skip) if len(skip) >= _MOST_CRASHES_OF_LEARNING else None,
        )
        if not self.learned.plans and functional is not None:
            # An in-place operator accepts some of the calls of the functional one.
            self.learned.plans = functional.plans
        self.known[id(subject)] = self.learned

    def _case(self, call: Call, **options: Any) -> Case:
        return Case(self.caller, self.subject, call, mode=self.request.mode, **options)

    def _made(
        self, stage: str, made: Sequence[Call], *, first: int = 0, refused: bool = False
    ) -> Iterator[Case]:
        """Yield the calls, which were made, but for those that have ended a process before. `first` is their first number."""
        subject, fatal = self.subject, self._fatal(stage)
        for number, call in enumerate(made, first):
            if number in fatal:
                continue
            self._at(stage, number)
            try:
                if not (refused and all(n in call for n in subject.outs)):
                    call = with_outs(self.caller, subject, call)
                case = self._case(call, refused=refused, number=number)
                # It is made once, and remembered.
                _ = case.base
            except (NotTested, MemoryError):
                continue
            yield case

    def _is_accepted(self, case: Case) -> bool:
        """Whether an overload accepts a call. One with out= accepts those of its functional variant."""
        is_of_functional = self.subject.is_out and self.subject.functional is not None
        return case.base.error is None or is_of_functional

    def _make_cases(self) -> None:
        """Make the calls that were drawn, and calls with mistakes."""
        accepted: list[Case] = []
        learned, most = self.learned, self.plan.refused
        drawn = drawn_calls(self.subject, learned.plans, self.plan.cases, self.request.seed)
        # Plans may have been accepted by chance.
        drawn = [*drawn, *learned.calls, *learned.combined]
        for case in self._made("base", drawn):
            if self._is_accepted(case):
                accepted.append(case)
            else:
                self.refused.append(self._case(case.call, refused=True))
        self.accepted = _in_turn(sorted(accepted, key=lambda case: -_richness(case.call)))
        fatal = {number for number in self._fatal("base") if number > len(drawn)}
        if len(fatal) >= _MOST_FATAL_MISTAKES or len(self.refused) >= most:
            return
        # A crash is remembered by its place in this list.
        changed: list[Call] = []
        for case in self.accepted[:_MISTAKES_OF]:
            changed += list(with_mistakes(self.subject, case.call))[:most]
        pairs = itertools.zip_longest(changed, (call for call, _ in learned.refused))
        mistakes = [call for pair in pairs for call in pair if call is not None][: 3 * most]
        for case in self._made("base", mistakes, first=len(drawn) + 1, refused=True):
            if case.base.error is not None:
                self.refused.append(case)
            if len(self.refused) >= most:
                break

    def _sweep(self) -> None:
        """Make calls that are changed systematically; keep those that the operator accepts."""
        if len(self._fatal("sweep")) >= _MOST_FATAL_MISTAKES:
            return
        subject, changed = self.subject, list(self.learned.combined)
        if self.accepted:
            with_floats = [c for c in self.accepted if any(s.is_float for s in tensors(c.call))]
            chosen = with_floats or self.accepted
            changed += swept(subject, chosen[0].call)
            # With one dimension, its size is the number of elements of a loop.
            least = min(chosen, key=lambda case: _rank(case.call)).call
            line = each_tensor(
                least, lambda s: replace(s, shape=s.shape[-1:]) if s.values is None else s
            )
            accepts = self.caller.run(subject.functional or subject, line).error is None
            changed += swept_sizes(subject, line if accepts else least)
        self.swept = [case for case in self._made("sweep", changed) if self._is_accepted(case)]

    def _has_no_function(self) -> bool:
        """Whether every call of an overload with out= fails because Python has no such function."""
        errors = [case.base.error for case in self.accepted]
        return (
            self.subject.is_out
            and bool(errors)
            and all(isinstance(e, TypeError) and NO_SIGNATURE in str(e) for e in errors)
        )

    # Verdicts.

    def _verdict(self, property_: Property) -> Verdict:
        name, subject, learned = property_.name, self.subject, self.learned
        if name in subject.domain.skip:
            return Verdict(name, EXCLUDED, reason=subject.domain.skip[name])
        reason = self.caller.backend.not_applicable.get(name) or property_.lacks(subject)
        if reason:
            return Verdict(name, NOT_APPLICABLE, reason=reason)
        if found := self.ended.get(name):
            return Verdict(name, FAILED, len(found), findings=tuple(found[:3]))
        cases = self._about(property_)
        if not cases and property_.refused == "only" and self.accepted:
            return Verdict(name, NOT_APPLICABLE, reason="it refuses no call")
        if not cases:
            why = learned.undrawable or "no call is accepted"
            if learned.reasons and not learned.plans and not learned.undrawable:
                why += f": {learned.reasons.most_common(1)[0][0]}"
            return Verdict(name, NOT_TESTED, reason=why)
        if not any(property_.about(case.call) for case in cases):
            why = "it does not apply to the calls that are accepted"
            return Verdict(name, NOT_APPLICABLE, reason=why)
        return self._checked(property_, cases)

    def _checked(self, property_: Property, cases: list[Case]) -> Verdict:
        enough = {"quick": property_.quickly, "thorough": 4 * property_.enough}.get(
            self.request.mode, property_.enough
        )
        enough = len(cases) if self.request.replayed else enough
        count = 0
        # After so many cases without a verdict, the others will not say more.
        left = max(3 * enough, 6)
        inapplicable: Counter[str] = Counter()
        untested: Counter[str] = Counter()
        for index, case in enumerate([*cases, *(self.swept if property_.is_swept else ())]):
            if (count >= enough or left <= 0) and index < len(cases):
                continue
            if not property_.about(case.call):
                continue
            self._at("check", index, property_.name)
            finding = None
            try:
                finding = _find_violation(property_, case)
                if finding is not None and self._is_unsteady(property_, case, finding):
                    raise NotTested(_UNSTEADY)
            except NotApplicable as reason:
                inapplicable[str(reason)] += 1
                left -= 1
            except NotTested as reason:
                untested[str(reason)] += 1
                left -= 1
            except MemoryError:
                untested[NO_MEMORY] += 1
            except Exception as error:
                untested[_check_failed(error)] += 1
                left -= 1
            else:
                count += 1
                if finding is not None:
                    return self._failed(property_, case, finding, count)
        if count:
            return Verdict(property_.name, PASSED, count)
        if inapplicable:
            return Verdict(property_.name, NOT_APPLICABLE, reason=inapplicable.most_common(1)[0][0])
        why = untested.most_common(1)[0][0] if untested else "no call was checked"
        return Verdict(property_.name, NOT_TESTED, reason=why)

    def _is_unsteady(self, property_: Property, case: Case, finding: Finding) -> bool:
        """Whether a call of a finding, made again, returns something else: that is the finding then, of its own property."""
        subject, steady = self.subject, BY_NAME[_REPEATABLE]
        is_skipped = _REPEATABLE in subject.domain.skip or bool(steady.lacks(subject))
        if is_skipped or steady not in self.properties:
            return False
        for run in finding.runs:
            # New memory is watched, and so has the same elements each time.
            first, *others = (
                self.caller.run(subject, run.call, "block", watch=True)
                for _ in range(_TIMES_OF_RACES if property_.code in _OF_RACES else _TIMES)
            )
            for other in others:
                wrong = differ(other.everything, first.everything, exact=True)
                if wrong and first.error is None and other.error is None:
                    found = Finding(f"the same call, again: {wrong}", (run,))
                    shown = self._shown(found, (_REPEATABLE,), case.call, case.number)
                    self.ended.setdefault(_REPEATABLE, []).append(shown)
                    self._tell(Verdict(_REPEATABLE, FAILED, 1, findings=(shown,)))
                    return True
        return False

    def _failed(self, property_: Property, case: Case, finding: Finding, count: int) -> Verdict:
        """Return the verdict with the finding for the smallest call."""
        name, number = property_.name, case.number
        verdict = Verdict(
            name, FAILED, count, findings=(self._shown(finding, (name,), case.call, number),)
        )
        if case.refused or not self.learned.plans:
            return verdict
        # It stays if a smaller call ends the process.
        self._tell(verdict)
        self._at("shrink", number, name)
        found: list[Shown] = []

        def fails(call: Call) -> bool:
            try:
                made = with_outs(self.caller, self.subject, call)
                again = self._case(made, number=number)
                if again.base.error is not None and not self.subject.is_out:
                    return False
                smaller = _find_violation(property_, again)
            except Exception:
                return False
            if smaller is not None:
                found.append(self._shown(smaller, (name,), made, number, is_shrunk=True))
            return smaller is not None

        most = self.plan.shrinks // property_.cost
        shrink(self.subject, self.learned.plans, self.plan.cases, self.request.seed, fails, most)
        return replace(verdict, findings=(found[-1],)) if found else verdict

    def _shown(
        self,
        finding: Finding,
        properties: tuple[str, ...],
        call: Call,
        number: int,
        *,
        is_shrunk: bool = False,
    ) -> Shown:
        """Return a finding with a program that checks the properties for a call."""
        only = (self.subject.name,)
        request = replace(self.request, only=only, properties=properties, guard="")
        text = program(self.subject, finding, request, call, number)
        return Shown(finding.message, call_text(finding.runs[0].call), text, is_shrunk)

    def _replayed(self) -> list[Case]:
        """Return the call that is replayed, several times: what a race does shows sometimes."""
        call, number = pickle.loads(bytes.fromhex(self.request.replayed))
        return [self._case(call, number=number) for _ in range(_REPLAYS)]

    # Processes that ended.

    def _take_crashes(self) -> None:
        """Make findings of what ended the processes before this one, by the properties that they violate."""
        for crash in self.crashes:
            message, names = _what_ended(crash)
            for name in names:
                self.ended.setdefault(name, []).append(self._shown_crash(name, message, crash))

    def _shown_crash(self, name: str, message: str, crash: Crash) -> Shown:
        last = call = crash.call
        checked = CRASH
        if crash.stage == "check" and crash.property in BY_NAME:
            # The last call may be one that the check has made of the one that was drawn.
            checked = crash.property
            cases = [*self._about(BY_NAME[checked]), *self.swept]
            call = cases[crash.number].call if crash.number < len(cases) else last
        if call is None:
            return Shown(message, "", "")
        finding = Finding(message, (Run("the call", call if last is None else last),))
        return self._shown(finding, tuple({name, checked}), call, crash.number)


def _find_violation(property_: Property, case: Case) -> Finding | None:
    """Check one call; return what is wrong, or None.

    Raises NotTested also if the result depends on the order in which elements are visited, because an index occurs
    twice: the property does not apply to it, unless it is violated with different indices, too.
    """
    case.is_tried = False
    finding = next(property_.check(case), None)
    if finding is None or not property_.is_ordered or not has_repeated_indices(case.call):
        return finding
    for call in with_distinct_indices(case.call):
        again = Case(case.caller, case.subject, call, number=case.number, mode=case.mode)
        if again.base.error is None:
            found = next(property_.check(again), None)
            if found is not None:
                return found
    raise NotTested(REPEATED)


def _richness(call: Call) -> int:
    """Return how much a call shows: one with several elements and dimensions, of the usual dtype, comes first.

    So does one without numbers that may leave elements as they are, and one with a number between 0 and 1: a probability
    beyond them leaves nothing to chance.
    """
    found = tensors(call)
    return (
        2 * any(spec.count >= 4 for spec in found)
        + any(len(spec.shape) >= 2 and max(spec.shape) > 1 for spec in found)
        + any(spec.dtype == "float32" for spec in found)
        + all(type(value) is bool or value not in (0, 1) for value in call.values())
        + 2 * any(type(value) is float and 0.1 < value < 0.9 for value in call.values())
    )


def _in_turn(cases: Sequence[Case]) -> list[Case]:
    """Return the calls so that those with other flags, and other arguments left out, come in turn: few are checked."""
    turns: Counter[Any] = Counter()
    placed = []
    for case in cases:
        flags = tuple(
            (name, value if isinstance(value, bool | str) else value is None)
            for name, value in case.call.items()
        )
        placed.append((turns[flags], case))
        turns[flags] += 1
    return [case for _, case in sorted(placed, key=lambda pair: pair[0])]


def _rank(call: Call) -> int:
    """Return the most dimensions that a tensor of the call has; many if no tensor has several elements."""
    return max((len(spec.shape) for spec in tensors(call) if spec.count > 1), default=99)


def _what_ended(crash: Crash) -> tuple[str, list[str]]:
    """Return what happened in words, and the properties that it violates."""
    where = f" (while '{crash.property}' was checked)" if crash.property else ""
    if crash.kind == HANG:
        return f"the call does not return{where}", [HANG]
    message = f"the process ends with {crash.kind}{where}"
    names = [crash.property] if crash.stage == "check" else []
    if names and BY_NAME[crash.property].code.startswith(_OF_PLAIN_CALLS):
        # The check makes calls as users do.
        names.append(CRASH)
    if crash.note.startswith("write"):
        message += f": it writes {crash.note.partition(' ')[2]}"
        names.append("write-beyond")
    elif crash.note.startswith("read"):
        message += f": it reads {crash.note.partition(' ')[2]}"
        names.append("read-beyond")
    return message, list(dict.fromkeys(names)) or [CRASH]


def _check_failed(error: Exception) -> str:
    if os.environ.get("OPGEN_VERIFY_DEBUG"):
        raise error
    lines = str(error).strip().splitlines()
    return f"the check failed: {type(error).__name__}: {lines[0][:120] if lines else ''}"


def signal_name(code: int) -> str:
    """Return how a process ended: "SIGSEGV", or its exit code."""
    if os.WIFSIGNALED(code):
        return signal.Signals(os.WTERMSIG(code)).name
    return f"exit code {os.WEXITSTATUS(code)}"
