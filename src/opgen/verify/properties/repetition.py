"""The same call returns the same: again, with other numbers of threads, beside other calls, with the same seed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec.structs import replace

from opgen.verify.caller import (
    Case,
    Finding,
    NotTested,
    Outcome,
    Property,
    Result,
    Run,
    captured,
    differ,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, TensorSpec, each_tensor, tensors, with_other_numbers
from opgen.verify.properties.common import NO_SIGNATURE, enlarged, with_outs
from opgen.verify.subjects import CONCURRENT, NOT_RANDOM, SPECIFIED, Need, default_of

# Elements of a call whose work is divided among threads, by whose number they cannot be divided, and of one that takes long
# enough to meet others.
_LARGE, _LONG = {"quick": 90_002, "default": 300_002, "thorough": 600_002}, 20_000
# Two threads make so many calls at the same time, as far as these seconds last, and one a share of them for each number
# of threads.
_LEAST, _MOST = 8, 60
_SHARE, _TIMES = 8, 4
_SECONDS = {"quick": 0.1, "default": 0.5, "thorough": 2.0}
_THREADS = 4


_DETERMINISTIC: tuple[Need, ...] = (
    (NOT_RANDOM[0], "it has the tag nondeterministic_seeded"),
    SPECIFIED,
)
_RANDOM: tuple[Need, ...] = (
    (lambda s: s.is_random or s.has_generator, "it is not random"),
    SPECIFIED,
)


def _threads(case: Case) -> Iterator[Finding]:
    before = case.backend.threads()
    case.need(before, "the number of threads cannot be set")
    call = _enlarged(case, _LARGE[case.mode])
    # The rounding error of a sum grows with the square root of the number of its terms.
    units = max([64.0, *(tensor.count**0.5 for tensor in tensors(call))])
    try:
        case.backend.set_threads(1)
        started = time.process_time()
        expected = case.run(call)
        rounds = _rounds(case, _SHARE * (time.process_time() - started), _TIMES)
        case.need_accepted(expected, what="large inputs")
        for count in (_THREADS, 3):
            case.backend.set_threads(count)
            for _ in range(rounds):
                found = case.run(call)
                wrong = found.error and found.message
                if wrong := wrong or differ(found.everything, expected.everything, units=units):
                    how = f"with {count} threads"
                    runs = Run(how, call, threads=count), Run("with 1 thread", call, threads=1)
                    yield case.finding(f"{how}, {wrong}", *runs)
    finally:
        case.backend.set_threads(before)


def _rounds(case: Case, seconds: float, least: int) -> int:
    """Return how often a call that takes so long is made again: most races are lost only sometimes."""
    return int(min(max(_SECONDS[case.mode] / max(seconds, 1e-6), least), _MOST))


def _enlarged(case: Case, count: int) -> Call:
    """Return the call with larger tensors; those of out arguments follow."""
    large = enlarged(case, count)
    if large is None:
        raise NotTested("no size can grow")
    return with_outs(case.caller, case.subject, large)


# Calls that are made before the result of an earlier one is read again: more than a pool has buffers.
_LATER = 6
# Calls that are made again: a race is lost sometimes only.
_AGAIN = 12
# The same kernel may add elements in another order, if they lie at another address.
_FEW_UNITS = 4


def _repeatable(case: Case) -> Iterator[Finding]:
    yield from _again(case)
    yield from keeps_settings(case)
    yield from _in_other_modes(case)
    yield from _with_defaults(case)
    yield from _first_in_a_process(case)


def _again(case: Case) -> Iterator[Finding]:
    one = case.run()
    # Calls with other elements and numbers in between: the operator may keep something.
    others = [each_tensor(case.call, lambda spec, k=k: _other(spec, 17 * k)) for k in range(1, _LATER)]  # type: ignore[misc]
    for call in (*others, with_other_numbers(others[0])):
        case.run(call)
    if one.error is None and not one.blocks and not case.subject.written:
        now = list(case.caller.results(case.subject, one.returned))
        later = Run("a later call", others[0])
        text = "later calls change what an earlier one has returned: "
        yield from case.unlike(text, now, one.results, one, later, exact=True)
    if one.error is None and not case.subject.written:
        # Tensors lie where those of the call before were.
        case.run(others[0], "block")
        again = case.run(how="block").everything
        text = "after a call whose tensors had the same addresses, "
        before = Run("the call before", others[0])
        yield from case.unlike(text, again, one.everything, one, before, units=_FEW_UNITS)
    for _ in range(_AGAIN):
        two = case.run()
        if (one.error is None) != (two.error is None):
            yield case.finding(
                f"the same call is sometimes refused: {(one if one.error else two).message}"
            )
        yield from case.unlike("the same call, again: ", two.everything, one.everything, exact=True)


def keeps_settings(case: Case) -> Iterator[Finding]:
    """The operator leaves the settings of the process as they were, and prints nothing."""
    settings = case.backend.settings()
    before = {what: setting.read() for what, setting in settings.items()}
    for setting in settings.values():
        setting.write(setting.own)
    try:
        with captured(1) as printed:
            case.run()
        now = {what: setting.read() for what, setting in settings.items()}
    finally:
        for what, setting in settings.items():
            setting.write(before[what])
    for what, setting in settings.items():
        if now[what] != setting.own:
            yield case.finding(f"{what} was {setting.own}, and is {now[what]} after the call")
    if printed:
        yield case.finding(f"it prints: {printed[0]}")


def _in_other_modes(case: Case) -> Iterator[Finding]:
    """The same call returns the same if its tensors require gradients, and if none is recorded."""
    if case.base.error is not None:
        return
    leaves = [place for place, spec in case.read_only().items() if spec.is_differentiable]

    def require(outcome: Outcome) -> None:
        outcome.given = specs.changed(outcome.given, leaves, case.backend.leaf)

    if not leaves or case.subject.written:
        return
    for how, context in case.backend.modes().items():
        with context():
            found = case.run(prepare=require)
        yield from case.compare(f"{how}: ", found, case.base, "results", units=_FEW_UNITS)


def _with_defaults(case: Case) -> Iterator[Finding]:
    """Arguments that are left out are those of the schema."""
    known = {a.name: v for a in case.subject.arguments for v in default_of(a)}
    if not known:
        return
    rest = {name: value for name, value in case.call.items() if name not in known}
    short, full = case.run(rest), case.run({**rest, **known})
    if short.error is not None and full.error is not None:
        return
    for found, what in ((short, "left out"), (full, "given")):
        if found.error is not None:
            if NO_SIGNATURE in found.message:
                return
            text = f"refuses a call with {', '.join(known)} {what}: {found.message}"
            yield case.finding(text, short, full)
    text = ", ".join(f"{name}={value!r}" for name, value in known.items())
    yield from case.compare(f"with {text} left out instead of given, ", short, full)


def _first_in_a_process(case: Case) -> Iterator[Finding]:
    """The call returns what it returns in a process that has called no operator before."""
    larger = {n: v + 2 if type(v) is int and v >= 0 else v for n, v in case.call.items()}
    # What was kept for some of the numbers is wrong for the others.
    varied = [{**larger, n: v + 1} for n, v in larger.items() if type(v) in (int, float)]
    tried: list[Call] = []
    for call in (case.call, with_other_numbers(case.call), larger, *varied):
        if call in tried:
            continue
        tried.append(call)
        here = case.run(call)
        first = case.caller.first(case.subject, call) if here.error is None else None
        wrong = first and differ(here.everything, first, units=_FEW_UNITS)
        if wrong:
            yield case.finding(f"in a process with earlier calls, {wrong} in one without", call)


def _other(spec: TensorSpec, seed: int = 17) -> TensorSpec:
    if spec.values is not None:
        return specs.reordered(spec)
    return replace(spec, values=None, fill=replace(spec.fill, seed=spec.fill.seed + seed))


def _undeclared_random(case: Case) -> Iterator[Finding]:
    before, is_drawn = _beside_default(case, case.call)
    after = case.run(seed=2)
    case.need_accepted(before, after)
    without = "and the operator does not have the tag nondeterministic_seeded"
    text = f"the result depends on the seed, {without}: "
    yield from case.unlike(text, after.everything, before.everything, exact=True)
    if is_drawn:
        yield case.finding(f"the default generator has moved on, {without}")


def _beside_default(case: Case, call: Call) -> tuple[Outcome, bool]:
    """Make a call; return also whether it has drawn numbers from the default generator."""
    found = case.run(call, seed=1)
    state = case.backend.random_state()
    case.backend.seed(1)
    return found, state != case.backend.random_state()


def _generator(case: Case) -> Iterator[Finding]:
    names = [a.name for a in case.subject.arguments if a.type.is_generator_like()]
    if not names:
        one, again = case.run(seed=3), case.run(seed=3)
        case.need_accepted(one, again)
        text = "the same seed gives another result: "
        yield from case.unlike(text, again.everything, one.everything, exact=True)
        return
    name = names[0]

    def with_seed(seed: int) -> Call:
        return {**case.call, name: specs.GeneratorSpec(seed)}

    one, is_drawn = _beside_default(case, with_seed(5))
    again = case.run(with_seed(5), seed=2)
    other = case.run(with_seed(6), seed=1)
    case.need_accepted(one, again, other, what="a generator")
    text = (
        "a generator with the same seed gives another result, if the default one has another seed: "
    )
    yield from case.unlike(text, again.everything, one.everything, again, exact=True)
    if is_drawn:
        yield case.finding(
            "a generator is passed, and the default one has moved on, too", with_seed(5)
        )
    many = max((r.elements.size for r in one.everything if r.elements is not None), default=0)
    if many >= 8 and differ(other.everything, one.everything, exact=True) is None:
        # Nor is it with many seeds, and without a generator: a probability of 0.
        results = [case.run(with_seed(seed), seed=seed) for seed in (11, 12, 13)]
        results += [case.run({**case.call, name: None}, seed=seed) for seed in (1, 2)]
        first = results[0].everything
        if all(r.error is None and not differ(r.everything, first, exact=True) for r in results):
            raise NotTested("the result does not depend on random numbers for these arguments")
        yield case.finding("generators with other seeds give the same result", with_seed(5))


def _concurrent(case: Case) -> Iterator[Finding]:
    try:
        large = _enlarged(case, _LONG)
    except NotTested:
        large = case.call
    calls = [large, with_other_numbers(each_tensor(large, _other))]
    started = time.process_time()
    expected = [case.run(call) for call in calls]
    spent = time.process_time() - started
    case.need_accepted(*expected, what="large inputs")
    caller = case.caller
    rounds = _rounds(case, spent, _LEAST)
    caller.reached[CONCURRENT] += rounds
    barrier = threading.Barrier(2)

    def work(given: Sequence[dict[str, Any]]) -> list[Exception | tuple[Result, ...]]:
        returned: list[Any] = []
        barrier.wait(20)
        for arguments in given:
            caller.progress()
            try:
                returned.append(case.subject.call(arguments))
            except Exception as error:
                returned.append(error)
        # Results are read at the end: until then, the threads do nothing but call.
        subject = case.subject
        return [
            (
                value
                if isinstance(value, Exception)
                else (*caller.results(subject, value), *caller.written(subject, arguments))
            )
            for arguments, value in zip(given, returned)
        ]

    given = [[caller.build(call) for _ in range(rounds)] for call in calls]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(work, given))
    for alone, other, found in zip(expected, reversed(calls), outcomes):
        runs = alone, Run("in another thread", other)
        text = "during a call in another thread, "
        for results in found:
            if isinstance(results, Exception):
                yield case.finding(f"{text}it fails: {results}", *runs)
            else:
                yield from case.unlike(text, results, alone.everything, *runs)


PROPERTIES = (
    Property("V0150", _threads, (SPECIFIED,), quickly=3, enough=2, cost=5, is_ordered=True),
    Property("V0151", _repeatable, _DETERMINISTIC, quickly=3, enough=10, is_ordered=True),
    Property("V0152", _undeclared_random, _DETERMINISTIC, quickly=2, enough=6),
    Property("V0153", _generator, _RANDOM, quickly=3, enough=8),
    Property("V0154", _concurrent, _DETERMINISTIC, quickly=1, enough=4, cost=5, is_ordered=True),
)
