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
from opgen.verify.calls.learning import NO_MEMORY, Effort, Learned, drawn_calls, learn, shrunk
from opgen.verify.calls.mistakes import with_mistakes
from opgen.verify.calls.programs import call_text, program
from opgen.verify.calls.specs import (
    REPEATED,
    Call,
    each_tensor,
    has_repeated_indices,
    tensors,
    with_distinct_indices,
)
from opgen.verify.calls.sweeps import swept, swept_sizes
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
    Message,
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


class _Calls(Struct):
    """The calls of one overload: what was learned, and those that are checked. `accepted` are drawn ones.

    `crashes` are those that have ended processes, and `ended` what they show, by the properties that they violate.
    """

    subject: Subject
    crashes: Sequence[Crash] = ()
    ended: dict[str, list[Shown]] = {}
    learned: Learned = field(default_factory=Learned)
    accepted: list[Case] = field(default_factory=list)
    refused: list[Case] = field(default_factory=list)
    swept: list[Case] = field(default_factory=list)

    def about(self, property_: Property) -> list[Case]:
        """Return the calls that a property is about, but for swept ones."""
        if property_.refused == "only":
            return self.refused
        few, others = self.accepted[:2], self.accepted[2:]
        return [*few, *self.refused, *others] if property_.refused else self.accepted

    def fatal(self, stage: str) -> set[int]:
        """Return the numbers of the calls of a stage that have ended a process."""
        return {crash.number for crash in self.crashes if crash.stage == stage}


def chosen_properties(kind: str, mode: str, names: Sequence[str]) -> list[Property]:
    """Return the properties that are checked for a kind of tensors: those with these names, or all of the mode."""
    level = MODES.index(mode)
    return [
        p
        for p in PROPERTIES
        if kind in p.kinds and (p.name in names if names else MODES.index(p.mode) <= level)
    ]


class Examination:
    """Verifies overloads of operators, and tells `send` what it finds.

    `position` notes where this process stands, for its parent to read when it has ended: the operator, the stage, the number
    of the call, and the property.
    """

    def __init__(
        self,
        caller: Caller,
        request: Request,
        position: Callable[[str, str, int, str], None],
        send: Callable[[Message], None],
    ) -> None:
        self.caller = caller
        self.request = request
        self.mode = request.mode
        self.seed = request.seed
        self.plan = PLANS[request.mode]
        self.position = position
        self.send = send
        self.properties = chosen_properties(caller.backend.kind, request.mode, request.properties)
        self._learned: dict[int, Learned] = {}
        self._told: set[str] = set()
        self._operator = ""

    def examine(self, subject: Subject, crashes: Sequence[Crash], done: Sequence[str]) -> None:
        """Verify one overload, from where a process before this one has ended."""
        self._operator, self._told = subject.name, set(done)
        facts = subject.facts
        report = OperatorReport(subject.name, subject.group, file=facts.file, line=facts.line)
        if facts.untestable:
            self._say_of_all(report, NOT_APPLICABLE, facts.untestable)
            return
        try:
            mine = [crash for crash in crashes if crash.operator == subject.name]
            self._examine(_Calls(subject, mine), report)
        except Exception as error:
            # The operator's own errors are results of its calls: this one is opgen's. The verdicts that are there stay.
            self._say_of_all(report, NOT_TESTED, _check_failed(error))

    def _tell(self, verdict: Verdict) -> None:
        self._told.add(verdict.property)
        self.send(Message(self._operator, verdict=verdict))

    def _examine(self, calls: _Calls, report: OperatorReport) -> None:
        started = time.process_time()
        subject, mine, is_replayed = calls.subject, calls.crashes, bool(self.request.replayed)
        self.caller.is_cautious = bool(mine)
        self.caller.reached.clear()
        self.caller.dtypes.clear()
        hangs = sum(crash.kind == HANG for crash in mine)
        of_calls = sum(crash.stage != "check" for crash in mine)
        # One crash is all that a replayed call can show.
        most = 1 if is_replayed else MOST_CRASHES
        if of_calls >= _MOST_CRASHES_OF_CALLS or len(mine) >= most or hangs >= _MOST_HANGS:
            self._give_up(calls, report)
            return
        if is_replayed:
            calls.accepted = calls.refused = self._replayed(subject)
        else:
            calls.learned = self._learn(calls)
            calls.accepted, calls.refused = self._cases(calls)
            calls.swept = self._swept(calls)
        learned = calls.learned
        report.drawn, report.accepted = learned.drawn, learned.accepted
        report.plans = len(learned.plans)
        report.refusals = learned.reasons.most_common(5)
        report.narrowings = learned.narrowings
        report.takes_tensors = subject.schema.arguments.has_tensor_arg()
        if not is_replayed and _has_no_function(subject, calls.accepted):
            text = "the package has no function for this overload"
            self._say_of_all(report, NOT_APPLICABLE, text)
            return
        self.send(Message(report.name, report=report))
        calls.ended = self._crash_findings(calls)
        # What a check tells about another property is told again, with all of its findings.
        for property_ in [p for p in self.properties if p.name not in self._told]:
            self._tell(self._verdict(property_, calls))
        report.reached = {**self.caller.reached, OF_DTYPES: len(self.caller.dtypes)}
        report.seconds = time.process_time() - started
        self.send(Message(report.name, report=report))

    def _give_up(self, calls: _Calls, report: OperatorReport) -> None:
        """Report what has ended the processes, and that nothing else was tested."""
        if not self.request.replayed:
            calls.learned = self._learn(calls)
        found = self._crash_findings(calls)
        self.send(Message(report.name, report=report))
        for name, shown in found.items():
            if name not in self._told:
                self._tell(Verdict(name, FAILED, 1, findings=(shown[-1],)))
        self._say_of_all(report, NOT_TESTED, "the operator ends its process too often")

    def _say_of_all(self, report: OperatorReport, status: str, why: str) -> None:
        """Give one verdict for all properties of which nothing was told."""
        self.send(Message(report.name, report=report))
        for property_ in self.properties:
            if property_.name not in self._told:
                self._tell(Verdict(property_.name, status, reason=why))
        report.seconds = max(report.seconds, 1e-6)
        self.send(Message(report.name, report=report))

    # Calls.

    def _learn(self, calls: _Calls) -> Learned:
        subject = calls.subject
        functional = self._learned.get(id(subject.functional)) if subject.functional else None
        if subject.is_out and functional is not None and functional.plans:
            # The calls of an operator with out= are those of its functional variant.
            return functional
        skip = calls.fatal("learn")
        learned = learn(
            self.caller,
            subject.functional if subject.is_out and subject.functional else subject,
            self.seed,
            self.plan.effort,
            lambda number: self.position(subject.name, "learn", number, ""),
            list(skip),
            # With what was learned until then, the others can be checked.
            max(skip) if len(skip) >= _MOST_CRASHES_OF_LEARNING else None,
        )
        if not learned.plans and functional is not None:
            # An in-place operator accepts some of the calls of the functional one.
            learned.plans = functional.plans
        self._learned[id(subject)] = learned
        return learned

    def _made(
        self,
        calls: _Calls,
        stage: str,
        made: Sequence[Call],
        *,
        first: int = 0,
        refused: bool = False,
    ) -> Iterator[tuple[Case, BaseException | None]]:
        """Yield the calls with what they throw, but for those that have ended a process before. `first` is their first number."""
        subject, fatal = calls.subject, calls.fatal(stage)
        for number, call in enumerate(made, first):
            if number in fatal:
                continue
            self.position(subject.name, stage, number, "")
            try:
                if not (refused and all(n in call for n in subject.outs)):
                    call = with_outs(self.caller, subject, call)
                case = Case(self.caller, subject, call, refused, number, self.mode)
                error = case.base.error
            except (NotTested, MemoryError):
                continue
            yield case, error

    def _cases(self, calls: _Calls) -> tuple[list[Case], list[Case]]:
        accepted: list[Case] = []
        refused: list[Case] = []
        subject, learned, most = calls.subject, calls.learned, self.plan.refused
        drawn = drawn_calls(subject, learned.plans, self.plan.cases, self.seed)
        # Plans may have been accepted by chance.
        drawn = [*drawn, *learned.calls, *learned.combined]
        for case, error in self._made(calls, "base", drawn):
            if error is None or _is_of_functional(subject):
                accepted.append(case)
            else:
                refused.append(Case(self.caller, subject, case.call, refused=True, mode=self.mode))
        accepted = _in_turn(sorted(accepted, key=lambda case: -_richness(case.call)))
        fatal = {number for number in calls.fatal("base") if number > len(drawn)}
        mistakes = self._mistakes(subject, learned, accepted)[: 3 * most]
        if len(fatal) >= _MOST_FATAL_MISTAKES or len(refused) >= most:
            mistakes = []
        for case, error in self._made(calls, "base", mistakes, first=len(drawn) + 1, refused=True):
            if error is not None:
                refused.append(case)
            if len(refused) >= most:
                break
        return accepted, refused

    def _swept(self, calls: _Calls) -> list[Case]:
        """Return calls that were changed systematically, and that the operator accepts."""
        if len(calls.fatal("sweep")) >= _MOST_FATAL_MISTAKES:
            return []
        subject, changed = calls.subject, list(calls.learned.combined)
        if calls.accepted:
            with_floats = [c for c in calls.accepted if any(s.is_float for s in tensors(c.call))]
            chosen = with_floats or calls.accepted
            changed += swept(subject, chosen[0].call)
            # With one dimension, its size is the number of elements of a loop.
            least = min(chosen, key=lambda case: _rank(case.call)).call
            line = each_tensor(
                least, lambda s: replace(s, shape=s.shape[-1:]) if s.values is None else s
            )
            accepts = self.caller.run(subject.functional or subject, line).error is None
            changed += swept_sizes(subject, line if accepts else least)
        made = self._made(calls, "sweep", changed)
        return [case for case, error in made if error is None or _is_of_functional(subject)]

    def _mistakes(self, subject: Subject, learned: Learned, accepted: list[Case]) -> list[Call]:
        """Return calls that kernels should refuse. A crash is remembered by its place in this list."""
        calls = []
        for case in accepted[:_MISTAKES_OF]:
            calls += list(with_mistakes(subject, case.call))[: self.plan.refused]
        pairs = itertools.zip_longest(calls, (call for call, _ in learned.refused))
        return [call for pair in pairs for call in pair if call is not None]

    # Verdicts.

    def _verdict(self, property_: Property, calls: _Calls) -> Verdict:
        name, subject, ended = property_.name, calls.subject, calls.ended
        if name in subject.domain.skip:
            return Verdict(name, EXCLUDED, reason=subject.domain.skip[name])
        reason = self.caller.backend.not_applicable.get(name) or property_.lacks(subject)
        if reason:
            return Verdict(name, NOT_APPLICABLE, reason=reason)
        if name in ended:
            return Verdict(name, FAILED, len(ended[name]), findings=tuple(ended[name][:3]))
        cases = calls.about(property_)
        if not cases and property_.refused == "only" and calls.accepted:
            return Verdict(name, NOT_APPLICABLE, reason="it refuses no call")
        if not cases:
            learned = calls.learned
            why = learned.undrawable or "no call is accepted"
            if learned.reasons and not learned.plans and not learned.undrawable:
                why += f": {learned.reasons.most_common(1)[0][0]}"
            return Verdict(name, NOT_TESTED, reason=why)
        if not any(property_.about(case.call) for case in cases):
            return Verdict(
                name, NOT_APPLICABLE, reason="it does not apply to the calls that are accepted"
            )
        return self._checked(property_, calls, cases)

    def _checked(self, property_: Property, calls: _Calls, cases: list[Case]) -> Verdict:
        subject = calls.subject
        enough = {"quick": property_.quickly, "thorough": 4 * property_.enough}.get(
            self.mode, property_.enough
        )
        enough = len(cases) if self.request.replayed else enough
        count = 0
        # After so many cases without a verdict, the others will not say more.
        left = max(3 * enough, 6)
        inapplicable: Counter[str] = Counter()
        untested: Counter[str] = Counter()
        for index, case in enumerate([*cases, *(calls.swept if property_.is_swept else ())]):
            if (count >= enough or left <= 0) and index < len(cases):
                continue
            if not property_.about(case.call):
                continue
            self.position(subject.name, "check", index, property_.name)
            try:
                finding = _find_violation(property_, case)
            except NotApplicable as reason:
                inapplicable[str(reason)] += 1
                left -= 1
                continue
            except NotTested as reason:
                untested[str(reason)] += 1
                left -= 1
                continue
            except MemoryError:
                untested[NO_MEMORY] += 1
                continue
            except Exception as error:
                untested[_check_failed(error)] += 1
                left -= 1
                continue
            if finding is not None and self._is_unsteady(calls, property_, case, finding):
                untested[_UNSTEADY] += 1
                left -= 1
                continue
            count += 1
            if finding is not None:
                return self._failed(calls, property_, case, finding, count)
        if count:
            return Verdict(property_.name, PASSED, count)
        if inapplicable:
            return Verdict(property_.name, NOT_APPLICABLE, reason=inapplicable.most_common(1)[0][0])
        why = untested.most_common(1)[0][0] if untested else "no call was checked"
        return Verdict(property_.name, NOT_TESTED, reason=why)

    def _is_unsteady(
        self, calls: _Calls, property_: Property, case: Case, finding: Finding
    ) -> bool:
        """Whether a call of a finding, made again, returns something else: that is the finding then, of its own property."""
        subject, steady = calls.subject, BY_NAME[_REPEATABLE]
        if steady not in self.properties or _REPEATABLE in subject.domain.skip:
            return False
        if steady.lacks(subject):
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
                    shown = self._shown(
                        subject, found, False, (_REPEATABLE,), case.call, case.number
                    )
                    calls.ended.setdefault(_REPEATABLE, []).append(shown)
                    self._tell(Verdict(_REPEATABLE, FAILED, 1, findings=(shown,)))
                    return True
        return False

    def _failed(
        self, calls: _Calls, property_: Property, case: Case, finding: Finding, count: int
    ) -> Verdict:
        subject, learned = calls.subject, calls.learned
        best, call, is_shrunk, name = finding, case.call, False, property_.name

        def shown() -> Shown:
            return self._shown(subject, best, is_shrunk, (name,), call, case.number)

        if not case.refused and learned.plans:
            # It stays if a smaller call ends the process.
            self._tell(Verdict(name, FAILED, count, findings=(shown(),)))
            self.position(subject.name, "shrink", case.number, name)
            found: list[tuple[Finding, Call]] = []

            def fails(call: Call) -> bool:
                try:
                    made = with_outs(self.caller, subject, call)
                    again = Case(self.caller, subject, made, number=case.number, mode=self.mode)
                    if again.base.error is not None and not subject.is_out:
                        return False
                    finding = _find_violation(property_, again)
                except Exception:
                    return False
                if finding is not None:
                    found.append((finding, made))
                return finding is not None

            for _ in shrunk(
                subject,
                learned.plans,
                self.plan.cases,
                self.seed,
                fails,
                self.plan.shrinks // property_.cost,
            ):
                pass
            if found:
                (best, call), is_shrunk = found[-1], True
        return Verdict(name, FAILED, count, findings=(shown(),))

    def _shown(
        self,
        subject: Subject,
        finding: Finding,
        is_shrunk: bool,
        properties: tuple[str, ...],
        call: Call,
        number: int,
    ) -> Shown:
        """Return a finding with a program that checks the properties for a call."""
        request = replace(self.request, only=(subject.name,), properties=properties, guard="")
        text = program(subject, finding, request, call, number)
        return Shown(finding.message, call_text(finding.runs[0].call), text, is_shrunk)

    def _replayed(self, subject: Subject) -> list[Case]:
        """Return the call that is replayed, several times: what a race does shows sometimes."""
        call, number = pickle.loads(bytes.fromhex(self.request.replayed))
        options = {"number": number, "mode": self.mode}
        return [Case(self.caller, subject, call, **options) for _ in range(_REPLAYS)]

    # Processes that ended.

    def _crash_findings(self, calls: _Calls) -> dict[str, list[Shown]]:
        """Return findings for what ended the processes before this one, by the properties that they violate."""
        found: dict[str, list[Shown]] = {}
        for crash in calls.crashes:
            message, names = _what_ended(crash)
            for name in names:
                found.setdefault(name, []).append(self._shown_crash(calls, name, message, crash))
        return found

    def _shown_crash(self, calls: _Calls, name: str, message: str, crash: Crash) -> Shown:
        last = call = crash.call
        checked = CRASH
        if crash.stage == "check" and crash.property in BY_NAME:
            # The last call may be one that the check has made of the one that was drawn.
            checked = crash.property
            cases = [*calls.about(BY_NAME[checked]), *calls.swept]
            call = cases[crash.number].call if crash.number < len(cases) else last
        if call is None:
            return Shown(message, "", "")
        finding = Finding(message, (Run("the call", call if last is None else last),))
        return self._shown(
            calls.subject, finding, False, tuple({name, checked}), call, crash.number
        )


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


def _is_of_functional(subject: Subject) -> bool:
    """Whether an overload with out= accepts the calls of its functional variant."""
    return subject.is_out and subject.functional is not None


def _has_no_function(subject: Subject, accepted: Sequence[Case]) -> bool:
    """Whether every call of an overload with out= fails because Python has no such function."""
    return (
        subject.is_out
        and bool(accepted)
        and all(
            isinstance(case.base.error, TypeError) and NO_SIGNATURE in str(case.base.error)
            for case in accepted
        )
    )


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
