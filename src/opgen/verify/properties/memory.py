"""What is written and read, and which results share memory with arguments: as the schema says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from opgen.verify.backends.base import Described
from opgen.verify.caller import PATTERNS, Case, Finding, Outcome, Property, Run, leaves, place_text
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec, at, elements, explicit, put
from opgen.verify.memory.blocks import Changes
from opgen.verify.properties.common import differ_in_bits, new_memory_shows, remember
from opgen.verify.properties.repetition import keeps_settings
from opgen.verify.subjects import HAS_CHECKED_ELEMENTS, RETURNS_TENSORS, WRITES, Need

_TENSORS: Need = (
    lambda s: s.schema.arguments.has_tensor_arg() or bool(s.outs),
    "it takes no tensors",
)
_ALIASES: tuple[Need, ...] = (
    (lambda s: any(r.annotation is not None for r in s.schema.returns), "no result is an alias"),
    (
        lambda s: bool(s.written) or not s.facts.is_composite,
        "it is composite: the operators that it calls return the aliases",
    ),
)


def _all_layouts(case: Case) -> Iterator[tuple[str, Call]]:
    """Yield the call with dense tensors, and with gaps."""
    yield "dense", specs.each_tensor(case.call, specs.plain)
    if any(spec.count > 1 for spec in case.tensors().values()):
        yield "with gaps", specs.each_tensor(case.call, specs.gapped)
        yield "inside of larger storages", specs.each_tensor(case.call, specs.shifted)


def _observed(case: Case) -> Iterator[tuple[str, Call, str, Changes]]:
    """Yield what calls have written of their arguments: the layout, the call, the argument, and its bytes."""
    for how, call in _all_layouts(case):
        found = case.run(call, "block", prepare=remember)
        for place, block in found.blocks.items() if found.error is None else ():
            yield how, call, place_text(place), block.changes()


def _undeclared_write(case: Case) -> Iterator[Finding]:
    case.need_to_apply(case.read_only(), "the schema marks every tensor as written")
    for how, call, name, changes in _observed(case):
        if changes.elements and name.partition("[")[0] not in case.subject.written:
            text = f"writes {name} ({how}), which the schema does not mark as written"
            yield case.finding(text, call)


def _write_between(case: Case) -> Iterator[Finding]:
    for how, call, name, changes in _observed(case):
        if changes.between is not None:
            text = (
                f"writes byte {changes.between} of the storage of {name} ({how}), which is part of "
            )
            yield case.finding(f"{text}none of its elements", call)


def _write_beyond(case: Case) -> Iterator[Finding]:
    for how, call, name, changes in _observed(case):
        if changes.beyond is not None:
            side = "before" if changes.beyond < 0 else "behind"
            text = f"writes byte {abs(changes.beyond)} {side} the storage of {name} ({how})"
            yield case.finding(text, call)
    if guard := case.caller.guard:
        # Its results live until memory is checked.
        kept = case.run(watch=True)
        if written := guard.check():
            yield case.finding(f"writes {written} that it has allocated")
        del kept


def _read_beyond(case: Case) -> Iterator[Finding]:
    case.need_to_apply(case.tensors(), "the call has no tensors")

    def mark(outcome: Outcome, pattern: int) -> None:
        for block in outcome.blocks.values():
            block.fill_around(pattern)

    for how, call in _all_layouts(case):
        # New memory is watched, and so always has the same elements.
        outcomes = (
            case.run(call, "block", watch=True, prepare=partial(mark, pattern=pattern))
            for pattern in PATTERNS
        )
        if wrong := differ_in_bits(*outcomes):
            text = (
                f"the result depends on bytes beside the elements of its arguments ({how}): {wrong}"
            )
            yield case.finding(text, call)
    yield from _read_beyond_list(case)
    # Where the memory ends, reading further ends the process.
    for end in ("tail", "head"):
        case.run(specs.each_tensor(case.call, partial(specs.placed, place=end)), "block")


def _read_beyond_list(case: Case) -> Iterator[Finding]:
    """The result depends on numbers of longer lists, which were where a list of numbers is now."""
    for name, value in case.call.items():
        if not isinstance(value, list) or not value or type(value[0]) not in (int, float):
            continue
        for given in (value, value[:-1]):
            call = {**case.call, name: given}
            outcomes = []
            for number in (11, 13):
                for more in (3, 2, 1):
                    case.run({**call, name: [type(value[0])(number)] * (len(given) + more)})
                outcomes.append(case.run(call))
            wrong = differ_in_bits(*outcomes)
            if wrong:
                yield case.finding(
                    f"the result depends on what lies behind the numbers of {name}: {wrong}", call
                )


def _uninitialised(case: Case) -> Iterator[Finding]:
    guard = case.caller.guard
    case.need(guard, "memory is not watched: install a C compiler")
    if wrong := guard and new_memory_shows(case, guard, case.call):
        yield case.finding(f"the result depends on memory that was not written: {wrong}")
    if outs := case.outs():
        other = case.run(specs.changed(case.call, outs, partial(specs.filled_with, value=0)))
        text = "the result depends on what out contained before: "
        yield from case.compare(text, other, case.base)


def _sharing(one: Described, other: Described) -> bool:
    return one.storage != 0 and one.storage == other.storage


def _arguments(case: Case, outcome: Outcome) -> list[tuple[Place, Described]]:
    return [(place, case.backend.describe(at(outcome.given, place))) for place in case.tensors()]


def _letters(annotation: Any) -> set[str]:
    return {*annotation.alias_set, *_letters(annotation.inner)} if annotation else set()


def _undeclared_alias(case: Case) -> Iterator[Finding]:
    annotations = {a.name: _letters(a.annotation) for a in case.subject.arguments}
    for call in (case.call, _with_simple_numbers(case)):
        found = case.run(call)
        if found.error is not None:
            continue
        yield from _shared_by_results(case, call, found)
        given = _arguments(case, found)
        for _, allowed, described in _results(case, found):
            for place, argument in given if described.storage_bytes else ():
                permitted = "*" in allowed or (allowed & annotations[place[0]])
                if _sharing(described, argument) and not permitted:
                    yield case.finding(
                        f"the result shares memory with {place_text(place)}; the schema does not say so",
                        call,
                    )


def _results(case: Case, found: Outcome) -> Iterator[tuple[int, set[str], Described]]:
    """Yield the results that are tensors of the CPU, those of lists too: their indices, the letters of their aliases."""
    returns = case.subject.schema.returns
    values = [found.returned] if len(returns) == 1 else list(found.returned or ())
    for index, (declared, value) in enumerate(zip(returns, values)):
        for item in filter(
            case.backend.is_tensor, value if isinstance(value, list | tuple) else [value]
        ):
            described = case.backend.describe(item)
            if described.device == "cpu":
                yield index, _letters(declared.annotation), described


def _shared_by_results(case: Case, call: Call, found: Outcome) -> Iterator[Finding]:
    """Two results share memory only if the schema says that they are views."""
    if any(r.annotation is not None for r in case.subject.schema.returns):
        return
    seen: dict[int, str] = {}
    for label, value in leaves(case.subject, found.returned):
        described = case.backend.describe(value) if case.backend.is_tensor(value) else None
        if not described or not described.storage * described.storage_bytes or 0 in described.shape:
            continue
        if described.storage in seen:
            yield case.finding(
                f"{label} shares memory with {seen[described.storage]}; the schema does not say so",
                call,
            )
        seen[described.storage] = label


def _with_simple_numbers(case: Case) -> Call:
    """Return the call with the numbers for which there may be nothing to do: 1 for floats, and the whole size."""
    largest = max((s.shape[0] for s in case.tensors().values() if s.shape), default=1)
    simple: dict[type, Any] = {float: 1.0, int: largest}
    return {name: simple.get(type(value), value) for name, value in case.call.items()}


def _missing_alias(case: Case) -> Iterator[Finding]:
    annotations = {a.name: _letters(a.annotation) for a in case.subject.arguments}
    calls = [("", case.call)]
    if any(spec.count > 1 for spec in case.tensors().values()):
        calls.append((" with gaps", specs.each_tensor(case.call, specs.gapped)))
        calls.append((" transposed", specs.each_tensor(case.call, specs.transposed)))
    for how, call in calls:
        found = case.run(call, "block")
        if found.error is not None:
            continue
        given = _arguments(case, found)
        for index, letters, described in _results(case, found):
            bases = [
                (place, d)
                for place, d in given
                if letters & annotations[place[0]] and "*" not in letters
            ]
            if 0 in described.shape or all(0 in d.shape for _, d in bases):
                continue
            if not any(_sharing(described, d) for _, d in bases):
                names = ", ".join(place_text(p) for p, _ in bases)
                yield case.finding(
                    f"result {index} does not share memory with {names}{how}, as the schema says",
                    call,
                )


def _overlap(case: Case) -> Iterator[Finding]:
    written = [(p, s) for p, s in case.written().items() if s.count > 1]
    case.need(written, "what is written has one element")
    case.need_accepted(case.base)
    place, spec = written[0]
    yield from _self_overlap(case, place, spec)
    yield from _shared_with_input(case, place, spec)


def _self_overlap(case: Case, place: Place, spec: TensorSpec) -> Iterator[Finding]:
    """The written tensor is expanded: its elements along a dimension are the same memory."""
    dim = next(d for d, size in enumerate(spec.shape) if size > 1)
    numbers = elements(spec)
    same = np.repeat(numbers.take([0], dim), spec.shape[dim], dim)
    dense = explicit(spec, same)
    expected = case.run(put(case.call, place, dense))
    found = case.run(put(case.call, place, specs.expanded(dense, dim)), "block")
    text = f"writes {place_text(place)}, whose elements share memory, without refusing it: "
    yield from case.compare(text, found, expected, "written")


def _shared_with_input(case: Case, place: Place, spec: TensorSpec) -> Iterator[Finding]:
    """An input lies on the memory of the written tensor, shifted by one row, or not."""
    for other_place, other in case.read_only().items():
        if (other.shape, other.dtype) != (spec.shape, spec.dtype):
            continue
        row = spec.count // spec.shape[0]
        for shift in (row, 0):
            strides = specs.contiguous_strides(spec.shape)
            numbers = np.concatenate([elements(other).ravel(), elements(other).ravel()[:row]])
            line = explicit(spec, numbers.reshape((spec.shape[0] + 1, *spec.shape[1:])))
            read = specs.laid_out(other, strides, offset=0, behind=row)
            write = specs.laid_out(spec, strides, offset=shift, behind=row - shift)

            shared = partial(_share, case, line, {place: write, other_place: read})
            found = case.run(prepare=shared)
            if found.error is not None:
                continue
            # The same elements without shared memory.
            inputs = put(
                case.call, other_place, explicit(other, numbers[: spec.count].reshape(spec.shape))
            )
            own = numbers[shift : shift + spec.count].reshape(spec.shape)
            expected = case.run(put(inputs, place, explicit(spec, own)))
            if expected.error is None:
                what = "begins one row behind" if shift else "is the same memory as"
                text = f"{place_text(place)} {what} {place_text(other_place)}, and the call is not refused: "
                run = Run("the same elements in memory of their own", expected.call)
                yield from case.unlike(text, found.written[:1], expected.written[:1], run)


def _share(
    case: Case, line: TensorSpec, rows: Mapping[Place, TensorSpec], outcome: Outcome
) -> None:
    """Put arguments that are rows of one tensor into a call."""
    block = case.caller.memory.block(specs.plain(line))
    block.write(elements(line))
    for place, one in zip(rows, case.backend.sharing(block, list(rows.values()))):
        outcome.given = put(outcome.given, place, one)


def _exception_safe(case: Case) -> Iterator[Finding]:
    yield from keeps_settings(case)
    shapes: dict[Place, Described] = {}

    def look(outcome: Outcome) -> None:
        remember(outcome)
        shapes.update(_arguments(case, outcome))

    found = case.run(how="block", prepare=look)
    case.need(found.error, "the call is accepted")
    for place, block in found.blocks.items():
        if place[0] in case.subject.outs:
            # As in PyTorch, what out= contains after a failure is not specified.
            continue
        changes, text = block.changes(), f"refuses the call ({found.message}), after it has"
        if changes.elements or changes.between is not None:
            yield case.finding(f"{text} written {place_text(place)}")
        now = case.backend.describe(at(found.given, place))
        if (now.shape, now.strides) != (shapes[place].shape, shapes[place].strides):
            yield case.finding(f"{text} resized {place_text(place)}")


PROPERTIES = (
    Property("V0110", _undeclared_write, (_TENSORS,), quickly=3, enough=10, is_swept=True),
    Property("V0111", _write_between, (_TENSORS,), quickly=3, enough=10, is_swept=True),
    Property("V0112", _write_beyond, quickly=3, enough=12, is_swept=True),
    Property(
        "V0113", _read_beyond, (_TENSORS, HAS_CHECKED_ELEMENTS), quickly=3, enough=12, is_swept=True
    ),
    Property("V0114", _uninitialised, (HAS_CHECKED_ELEMENTS,), quickly=4, enough=12, is_swept=True),
    Property("V0115", _undeclared_alias, (RETURNS_TENSORS,), quickly=4, enough=12, is_swept=True),
    Property("V0116", _missing_alias, _ALIASES, quickly=4, enough=12),
    Property("V0117", _overlap, (WRITES, HAS_CHECKED_ELEMENTS), quickly=2, enough=8),
    Property("V0118", _exception_safe, (_TENSORS,), quickly=8, enough=30, refused="only"),
)
