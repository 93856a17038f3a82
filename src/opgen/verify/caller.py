"""Make the arguments of calls, call operators, and keep what they returned and wrote."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from opgen.diagnostics.properties import NAMES
from opgen.gradtest.backends import first_line
from opgen.verify.backends import Backend
from opgen.verify.backends.base import Described
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Array, Call, Place, TensorSpec, at, elements, places
from opgen.verify.memory.blocks import Block, Memory
from opgen.verify.memory.guard import Guard
from opgen.verify.subjects import CALLS, EXPANDED, LARGE, STRIDED, Need, Subject


class Run(Struct, frozen=True):
    """One call of a program that shows a finding: how the operator is called, and with how many threads, if that matters."""

    label: str
    call: Mapping[str, Any]
    spelling: str = ""
    threads: int = 0


class Finding(Struct, frozen=True):
    """A violated property: what is wrong, and the calls that show it."""

    message: str
    runs: tuple[Run, ...] = ()


class NotApplicable(Exception):
    """The property does not apply to this operator, or this call."""


class NotTested(Exception):
    """The property could not be tested with this call."""


Check = Callable[["Case"], Iterator[Finding]]


class Property(Struct, frozen=True):
    """One property of operators.

    `needs` are what it needs of an operator. `check` yields findings for one call, of which
    the first one ends it; it throws NotApplicable or NotTested. After `enough` calls (`quickly` of them with --quick) that were checked, the property holds;
    `mode` is the first mode that checks it: "quick", "default" or "thorough". `kinds` are the backends that it is about.
    With `is_ordered`, the check compares results that were computed in different orders of elements.
    `imports` are modules that PyTorch imports when the check first calls it.
    A check takes about `cost` times as long as most: its findings are shrunk with fewer calls.
    `refused` is "only" for a property of refused calls, "also" for one of all calls.
    """

    code: str
    check: Check
    needs: Sequence[Need] = ()
    quickly: int = 3
    enough: int = 8
    mode: str = "quick"
    kinds: tuple[str, ...] = ("torch", "runtime")
    refused: str = ""
    cost: int = 1
    is_ordered: bool = False
    # Whether it is also checked for calls with special sizes and numbers, and each combination of optional arguments.
    is_swept: bool = False
    imports: tuple[str, ...] = ()
    # Which calls the property is about; of an operator that accepts no such call it says nothing.
    about: Callable[[Call], bool] = lambda call: True

    @property
    def name(self) -> str:
        """The name on the command line and in reports: "out-agrees"."""
        return NAMES[self.code]

    def lacks(self, subject: Subject) -> str:
        """Return why the property does not apply to an operator, or ""."""
        return next((why for holds, why in self.needs if not holds(subject)), "")


# The distance from 1 to the next number.
EPSILONS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
# Two loops over the same elements may add them in another order: so many units of the last place, of the largest number
# that can have taken part.
_UNITS = 64
_LEAST_SCALE = 4.0


class Result(Struct, frozen=True):
    """One tensor that a call returned, or wrote: `label` says which. Other results are `other`."""

    label: str
    described: Described | None = None
    elements: Array | None = None
    other: Any = None


def differ(
    found: Sequence[Result],
    expected: Sequence[Result],
    *,
    exact: bool = False,
    strides: bool = False,
    units: float = _UNITS,
) -> str | None:
    """Return how results differ from what is expected, in words; None if they agree.

    With `exact`, all bits of numbers are compared; else rounding may differ by some `units` of the last place.
    """
    if len(found) != len(expected):
        return f"{len(found)} results, expected {len(expected)}"
    texts = (_differ_once(*pair, exact, strides, units) for pair in zip(found, expected))
    return next((text for text in texts if text is not None), None)


def _differ_once(
    one: Result, other: Result, exact: bool, strides: bool, units: float
) -> str | None:
    label = one.label or other.label
    a, b = one.described, other.described
    if a is None or b is None:
        if a is not b or not _same_values(one.other, other.other):
            return f"{label} is {one.other!r}, expected {other.other!r}"
        return None
    if a.shape != b.shape:
        return f"{label} has shape {list(a.shape)}, expected {list(b.shape)}"
    if a.dtype != b.dtype:
        return f"{label} has dtype {a.dtype}, expected {b.dtype}"
    if strides and significant(a) != significant(b):
        return f"{label} has strides {list(a.strides)}, expected {list(b.strides)}"
    found, expected = one.elements, other.elements
    # Most results are equal, which is seen at once; NaN is not.
    if found is None or expected is None or np.array_equal(found, expected):
        return None
    wrong = wrong_elements(found, expected, a.dtype, exact=exact, units=units)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(wrong.ravel().argmax()), found.shape))
    count = int(wrong.sum())
    where = f"element {list(place)} of {label}" if place else label
    more = f" ({count} of {found.size} elements differ)" if count > 1 else ""
    return f"{where} is {found[place]}, expected {expected[place]}{more}"


def significant(described: Described) -> tuple[int, ...]:
    """Return the strides of dimensions with more than one element; none for a tensor without elements."""
    if 0 in described.shape:
        return ()
    return tuple(step for size, step in zip(described.shape, described.strides) if size > 1)


def _same_values(one: Any, other: Any) -> bool:
    if one != one:
        return bool(other != other)
    if isinstance(one, float | complex) and isinstance(other, float | complex):
        return bool(abs(one - other) <= 1e-6 * max(abs(one), abs(other), 1))
    return bool(one == other)


def wrong_elements(
    found: Array, expected: Array, dtype: str, *, exact: bool = False, units: float = _UNITS
) -> Array:
    """Return which elements differ by more than rounding. NaN equals NaN."""
    if exact or dtype not in EPSILONS:
        same = found == expected
        if dtype in EPSILONS:
            same |= np.isnan(found) & np.isnan(expected)
        return np.asarray(~same)
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    a, b = found.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        magnitudes = np.abs(b)
        finite = magnitudes[np.isfinite(magnitudes)]
        scale = max(float(finite.max()) if finite.size else 0.0, _LEAST_SCALE)
        near = np.abs(a - b) <= units * EPSILONS[dtype] * scale
        same = (a == b) | near | (np.isnan(a) & np.isnan(b))
    return np.asarray(~same)


# What uninitialised memory is filled with in turn, and what lies beside elements.
PATTERNS = (0xA5, 0x3C)


class Outcome(Struct):
    """What happened in one call, of an operator with this spelling: `error`, or `returned`.

    The arguments are as they were `given`.
    """

    call: Mapping[str, Any] = {}
    spelling: str = ""

    error: Exception | None = None
    returned: Any = None
    given: dict[str, Any] = {}
    blocks: dict[Place, Block] = {}
    results: tuple[Result, ...] = ()
    written: tuple[Result, ...] = ()
    warned: tuple[str, ...] = ()

    @property
    def everything(self) -> tuple[Result, ...]:
        """What was returned, and what was written."""
        return (*self.results, *self.written)

    @property
    def message(self) -> str:
        """The first line of the refusal."""
        return first_line(self.error)


class Caller(Struct):
    """Calls operators of a backend. It calls `progress()` before every call, and `remember` with those that `run` makes."""

    backend: Backend
    memory: Memory
    guard: Guard | None
    progress: Callable[[], None] = lambda: None
    remember: Callable[[Mapping[str, Any]], None] = lambda call: None
    # How many accepted calls reached what, and the dtypes of their first tensors.
    reached: Counter[str] = field(default_factory=Counter)
    dtypes: set[str] = set()
    # Make a call in a process that has called no operator; return its results, or None if it cannot be made.
    first: Callable[[Subject, Mapping[str, Any]], tuple[Result, ...] | None] = (
        lambda subject, call: None
    )
    # Whether all arguments lie in watched memory: an operator has ended its process, perhaps by a write beyond them.
    is_cautious: bool = False

    # Arguments.

    def build(
        self, call: Mapping[str, Any], how: str = "fresh", outcome: Outcome | None = None
    ) -> dict[str, Any]:
        """Return the arguments of a call. `how` is "fresh", "block" or "meta"."""

        def made(value: Any, place: Place) -> Any:
            if isinstance(value, list | tuple):
                return [made(item, (place[0], i)) for i, item in enumerate(value)]
            if isinstance(value, TensorSpec) and how == "block":
                return self.placed(value, place, outcome)
            if isinstance(value, TensorSpec) and how == "meta":
                return self.backend.meta(value)
            if how == "meta" and getattr(value, "kind", "") == "device":
                return self.backend.other(replace(value, name="meta"))
            return self.backend.made(value)

        return {name: made(value, (name, None)) for name, value in call.items()}

    def placed(
        self, spec: TensorSpec, place: Place = ("", None), outcome: Outcome | None = None
    ) -> Any:
        """Return a tensor in watched memory, which lasts until the next call of `run`."""
        block = self.memory.block(spec if spec.layout else specs.plain(spec))
        block.write(elements(spec))
        if outcome is not None:
            outcome.blocks[place] = block
        return self.backend.over(block)

    # Calls.

    def run(
        self,
        subject: Subject,
        call: Mapping[str, Any],
        how: str = "fresh",
        *,
        seed: int = 0,
        watch: bool = False,
        warn: bool = False,
        prepare: Callable[[Outcome], None] | None = None,
    ) -> Outcome:
        """Call an operator. With `watch`, the guard watches the memory of new tensors; with `warn`, warnings are kept.

        `prepare` may change the arguments before the call.
        """
        outcome = Outcome(call, subject.spelling)
        self.memory.release_all()
        self.remember(call)
        if self.is_cautious and how == "fresh":
            how = "block"
        outcome.given = self.build(call, how, outcome)
        if prepare is not None:
            prepare(outcome)
        backend = self.backend
        backend.seed(seed)
        self.progress()
        if watch:
            backend.watch_memory(True)
        try:
            with contextlib.ExitStack() as stack:
                warned = stack.enter_context(_kept_warnings()) if warn else []
                outcome.returned = subject.call(outcome.given)
            outcome.warned = tuple(warned)
        except Exception as error:
            if isinstance(error, MemoryError) or not backend.refusal(error):
                raise
            outcome.error = error
        finally:
            if watch:
                backend.watch_memory(False)
        if outcome.error is None:
            has_elements = how != "meta"
            if has_elements:
                self._count(call)
            outcome.results = tuple(self.results(subject, outcome.returned, has_elements))
            outcome.written = tuple(self.written(subject, outcome.given, has_elements))
        return outcome

    def _count(self, call: Mapping[str, Any]) -> None:
        found = specs.tensors(call)
        self.reached[CALLS] += 1
        self.reached[LARGE] += any(spec.count > 1 for spec in found)
        self.reached[STRIDED] += any(specs.is_strided(spec) for spec in found)
        self.reached[EXPANDED] += any(spec.layout and 0 in spec.layout.strides for spec in found)
        if found:
            self.dtypes.add(found[0].dtype)

    def results(
        self, subject: Subject, returned: Any, with_elements: bool = True
    ) -> Iterator[Result]:
        """Yield what a call returned, lists one by one."""
        for label, value in leaves(subject, returned):
            yield self.result(label, value, with_elements)

    def result(self, label: str, value: Any, with_elements: bool = True) -> Result:
        """Return a value as it is now."""
        if not self.backend.is_tensor(value):
            return Result(label, other=value)
        described = self.backend.describe(value)
        is_known = with_elements and described.device == "cpu"
        return Result(label, described, self.backend.elements(value).copy() if is_known else None)

    def written(
        self, subject: Subject, given: Mapping[str, Any], with_elements: bool = True
    ) -> Iterator[Result]:
        """Yield the arguments that a call may have written, lists one by one."""
        for name in subject.schema.arguments.mutable_arg_names:
            for label, item in _items(name, given.get(name)):
                if item is not None:
                    yield self.result(label, item, with_elements)


def leaves(subject: Subject, returned: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values that a call returned with their names, lists one by one."""
    returns = subject.schema.returns
    if not returns:
        return
    values = [returned] if len(returns) == 1 else list(returned)
    for index, (declared, value) in enumerate(zip(returns, values)):
        name = declared.name or ("the result" if len(returns) == 1 else f"result {index}")
        yield from _items(name, value)


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield f"{name}[{index}]", item
    else:
        yield name, value


@contextlib.contextmanager
def _kept_warnings() -> Iterator[list[str]]:
    """Collect warnings of Python, and what C++ prints to stderr."""
    found: list[str] = []
    with captured(2) as printed, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [*printed, *(str(each.message) for each in caught)]


@contextlib.contextmanager
def captured(stream: int) -> Iterator[list[str]]:
    """Collect the lines that are printed, also by C++: 1 for stdout, 2 for stderr."""
    found: list[str] = []
    flush = ctypes.CDLL(None).fflush
    python = sys.stdout if stream == 1 else sys.stderr
    python.flush()
    flush(None)
    kept = os.dup(stream)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), stream)
        try:
            yield found
        finally:
            python.flush()
            flush(None)
            os.dup2(kept, stream)
            os.close(kept)
            file.seek(0)
            found += file.read().decode(errors="replace").splitlines()


class Case(Struct):
    """One call, of which a property is checked: the operator accepts it, unless `refused`."""

    caller: Caller
    subject: Subject
    call: Call
    refused: bool = False
    number: int = 0
    mode: str = "default"
    # Whether results were compared.
    is_tried: bool = False
    _base: Outcome | None = None

    @property
    def backend(self) -> Backend:
        return self.caller.backend

    @property
    def base(self) -> Outcome:
        """The outcome of the call with dense tensors in memory of their own."""
        if self._base is None:
            self._base = self.caller.run(self.subject, self.call)
        return self._base

    def run(
        self, call: Mapping[str, Any] | None = None, how: str = "fresh", **options: Any
    ) -> Outcome:
        """Call the operator."""
        return self.caller.run(self.subject, self.call if call is None else call, how, **options)

    def tensors(self) -> dict[Place, TensorSpec]:
        """Return the tensors of the call by their places."""
        return {place: at(self.call, place) for place in places(self.call)}

    def inputs(self) -> dict[Place, TensorSpec]:
        """Return all tensors but out arguments."""
        return {p: spec for p, spec in self.tensors().items() if p[0] not in self.subject.outs}

    def outs(self) -> dict[Place, TensorSpec]:
        """Return the out arguments."""
        return {p: spec for p, spec in self.tensors().items() if p[0] in self.subject.outs}

    def read_only(self) -> dict[Place, TensorSpec]:
        """Return the tensors that the schema does not mark as written."""
        return {p: spec for p, spec in self.tensors().items() if p[0] not in self.subject.written}

    def written(self) -> dict[Place, TensorSpec]:
        """Return the tensors that the schema marks as written."""
        return {p: spec for p, spec in self.tensors().items() if p[0] in self.subject.written}

    def need(self, holds: object, why: str) -> None:
        """Raise NotTested if the call does not have what a test needs."""
        if not holds:
            raise NotTested(why)

    def need_to_apply(self, holds: object, why: str) -> None:
        """Raise NotApplicable if the property is not about the call."""
        if not holds:
            raise NotApplicable(why)

    def need_accepted(self, *outcomes: Outcome, what: str = "the call") -> None:
        """Raise NotTested if the operator has refused one of the calls."""
        self.need(all(outcome.error is None for outcome in outcomes), f"it refuses {what}")

    def compare(
        self, text: str, found: Outcome, expected: Outcome, of: str = "everything", **options: Any
    ) -> Iterator[Finding]:
        """Yield a finding if two calls do not do the same, unless the operator refuses one of them.

        `of` is which results count: "everything", "results" or "written".
        """
        if found.error is None and expected.error is None:
            one, other = getattr(found, of), getattr(expected, of)
            yield from self.unlike(text, one, other, found, expected, **options)

    def unlike(
        self,
        text: str,
        found: Sequence[Result],
        expected: Sequence[Result],
        *calls: Outcome | Call | Run,
        **options: Any,
    ) -> Iterator[Finding]:
        """Yield a finding, with a text before how they differ, if results are not as expected."""
        self.is_tried = True
        wrong = differ(found, expected, **options)
        if wrong:
            yield self.finding(f"{text}{wrong}", *calls, label=text.strip(" :,") or "the call")

    def finding(
        self, message: str, *calls: Outcome | Call | Run, label: str = "the call"
    ) -> Finding:
        """Return a finding with the calls that show it; of two, the second one does what is expected."""
        runs: list[Run] = []
        for one in calls or (self.call,):
            what = "what is expected" if runs else label
            if isinstance(one, Outcome):
                one = Run(what, one.call, one.spelling)
            runs.append(one if isinstance(one, Run) else Run(what, one))
        return Finding(message, tuple(runs))


def place_text(place: Place) -> str:
    """Return how a tensor of a call is called: `self`, `tensors[1]`."""
    name, index = place
    return name if index is None else f"{name}[{index}]"
