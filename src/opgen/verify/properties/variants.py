"""The functional variant, the in-place one and the one with out= do the same; what an out argument goes through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import numpy as np
from msgspec.structs import replace

from opgen.model.types import BaseTy
from opgen.verify.backends.base import Described
from opgen.verify.caller import EPSILONS, Case, Finding, Outcome, Property, differ, wrong_elements
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec
from opgen.verify.properties.common import remember
from opgen.verify.subjects import DRAWS_NOTHING, HAS_CHECKED_ELEMENTS, WRITES, Need

_HAS_FUNCTIONAL: Need = (lambda s: s.functional is not None, "it has no functional variant")
_INPLACE: tuple[Need, ...] = (
    (lambda s: s.is_inplace, "it is no in-place operator"),
    _HAS_FUNCTIONAL,
)
_OUT: tuple[Need, ...] = ((lambda s: s.is_out, "it has no out="), _HAS_FUNCTIONAL)
_NO_FACTORY: Need = (
    lambda s: any(a.type.is_tensor_like() for a in s.schema.arguments.flat_non_out),
    "it takes no tensors: out= chooses the dtype, and is resized on purpose",
)
# A dtype that is chosen, by an argument or for a factory, is that of out=: nothing is lost in a conversion.
_CASTS_TO_OUT: tuple[Need, ...] = (
    *(*_OUT, DRAWS_NOTHING),
    (
        lambda s: not any(
            a.type.is_base_ty_like(BaseTy.ScalarType) for a in s.schema.arguments.flat_non_out
        ),
        "its dtype is an argument",
    ),
    _NO_FACTORY,
)
# Operators whose purpose is to change the shape, the strides or the memory of an argument.
_RESHAPING = ("resize", "set_", "swap", "as_strided", "detach")


def _functional(case: Case) -> Outcome:
    """Return what the functional variant does in the same call."""
    assert case.subject.functional is not None
    call = {n: v for n, v in case.call.items() if n not in case.subject.outs}
    found = case.caller.run(case.subject.functional, call)
    case.need(found.error is None, f"the functional variant refuses it: {found.message}")
    return found


def _inplace_agrees(case: Case) -> Iterator[Finding]:
    functional = _functional(case)
    expected = functional.results
    found = case.base.results if case.subject.schema.returns else case.base.written
    kinds = (
        [r.described and (r.described.shape, r.described.dtype) for r in results]
        for results in zip(found, expected)
    )
    is_same = all(one == other for one, other in kinds)
    case.need_to_apply(is_same, "the functional variant returns another shape or dtype")
    if len(found) == 1:
        found = (replace(found[0], label="self"),)
    runs = case.base, functional
    yield from case.unlike("in place, ", found, expected[: len(found)], *runs)
    for one, other in zip(found, expected):
        a, b = one.elements, other.elements
        if a is None or b is None or a.dtype.kind != "f" or differ([one], [other], exact=True):
            continue
        # All other numbers are the same bits: both compute in one order.
        wrong = (np.signbit(a) != np.signbit(b)) & (a == 0)
        if wrong.any():
            place = [int(i) for i in np.unravel_index(int(wrong.ravel().argmax()), a.shape)]
            text = f"in place, element {place} of {one.label} is a zero of another sign"
            yield case.finding(text, *runs)


def _outs(case: Case) -> dict[Place, TensorSpec]:
    outs = case.outs()
    case.need(outs, "the list of out arguments is empty")
    return outs


def _compare_outs(case: Case, found: Outcome, expected: Outcome, how: str) -> Iterator[Finding]:
    return case.unlike(how, found.written, expected.results, found, expected)


def _out_agrees(case: Case) -> Iterator[Finding]:
    expected, outs, found = _functional(case), _outs(case), case.base
    if found.error is not None:
        text = f"refuses an out argument of the right shape and dtype: {found.message}"
        yield case.finding(text, found, expected)
    yield from _compare_outs(case, found, expected, "with out= of the right shape, ")
    if len(found.results) == len(found.written):
        yield from case.unlike("with out=, what is returned: ", found.results, expected.results)
    if any(spec.count > 1 for spec in outs.values()):
        for how, change in (("with gaps", specs.gapped), ("transposed", specs.transposed)):
            strided = case.run(specs.changed(case.call, outs, change), "block")
            if strided.error is None:
                yield from _compare_outs(case, strided, expected, f"with out= {how}, ")


# Other shapes of out=, whose elements are from 5 to 6.
_OTHER_SHAPES: Mapping[str, Callable[[TensorSpec], tuple[int, ...]]] = {
    "without elements": lambda s: (0,),
    "of another shape": lambda s: (2, s.shape[0] + 1) if len(s.shape) == 1 else (s.count + 3,),
    "of larger sizes": lambda s: tuple(n + 2 for n in s.shape),
    "of smaller sizes": lambda s: tuple(max(n - 1, 0) for n in s.shape),
}


def _reshaped_outs(case: Case, how: str) -> Call:
    """Return the call with another shape of its out arguments."""
    shape = _OTHER_SHAPES[how]
    return specs.changed(
        case.call, _outs(case), lambda s: replace(s, shape=shape(s), fill=specs.Fill(1, 5, 6))
    )


def _out_resizes(case: Case) -> Iterator[Finding]:
    expected = _functional(case)
    for how in _OTHER_SHAPES:
        call = _reshaped_outs(case, how)
        found = case.run(call)
        if found.error is not None or call == case.call:
            continue
        case.is_tried = True
        for one, other in zip(found.written, expected.results):
            assert one.described is not None and other.described is not None
            if one.described.shape != other.described.shape:
                yield case.finding(
                    f"out {how} is left with shape {list(one.described.shape)}, "
                    f"the result has {list(other.described.shape)}",
                    found,
                )
        if case.subject.has_checked_elements:
            yield from _compare_outs(case, found, expected, f"with out= {how}, ")
    case.need_to_apply(case.is_tried, "it refuses out arguments of another shape")


def _out_warns(case: Case) -> Iterator[Finding]:
    empty = _reshaped_outs(case, "without elements")
    other = _reshaped_outs(case, "of another shape")
    for call, text in (
        (case.call, "warns of a resize, although out has the right shape"),
        (empty, "warns of the resize of an out without elements"),
        (other, "resizes an out that has elements, without a warning"),
    ):
        found = case.run(call, warn=True)
        says_resized = any("resize" in warning for warning in found.warned)
        if call is not other:
            if found.error is None and says_resized:
                yield case.finding(text, call)
            continue
        case.need_to_apply(not found.error, "it refuses out arguments of another shape")
        resized = any(
            result.described is not None and result.described.shape != specs.at(other, place).shape
            for result, place in zip(found.written, _outs(case))
        )
        if resized and not says_resized:
            yield case.finding(text, call)


# Dtypes of out= that results of a dtype cannot be written to.
_REFUSED_DTYPES = {
    **dict.fromkeys(specs.COMPLEX, "float32"),
    **dict.fromkeys(specs.FLOATS, "int64"),
    **dict.fromkeys(specs.INTEGERS, "bool"),
}


def _out_refuses(case: Case) -> Iterator[Finding]:
    case.need(case.base.written, "it refuses an out argument of the right dtype")
    outs = _outs(case)
    known = {p: _REFUSED_DTYPES[s.dtype] for p, s in outs.items() if s.dtype in _REFUSED_DTYPES}
    for place, dtype in known.items():
        spec = outs[place]
        wrong = replace(spec, dtype=dtype, fill=specs.Fill(3, 0, 4))
        found = case.run(specs.put(case.call, place, wrong), "block", prepare=remember)
        if found.error is None:
            yield case.finding(f"writes a result of {spec.dtype} to out of {dtype}", found)
        elif any(block.changes().elements for block in found.blocks.values()):
            text = f"refuses out of {dtype}, after it has written to an argument"
            yield case.finding(text, found)
    yield from _out_casts(case, outs)
    case.need_to_apply(known, "results of bool can be stored in any dtype")


# Dtypes of out arguments that hold most results of another one.
_CASTS = {
    "float32": ("float64", "float16"),
    "float64": ("float32",),
    "complex64": ("complex128",),
    "complex128": ("complex64",),
    "int64": ("int32", "float32"),
    **dict.fromkeys(("bool", "uint8", "int8", "int16", "int32"), ("int64",)),
    **dict.fromkeys(("float16", "bfloat16"), ("float32",)),
}


def _out_casts(case: Case, outs: Mapping[Place, TensorSpec]) -> Iterator[Finding]:
    """An out argument of another dtype of the same kind receives the numbers of the result, unless it is refused."""
    if not case.subject.has_checked_elements:
        return
    expected = _functional(case)
    for index, (place, spec) in enumerate(outs.items()):
        for dtype in _CASTS.get(spec.dtype, ()):
            call = specs.put(case.call, place, replace(spec, dtype=dtype, fill=specs.Fill(3, 5, 6)))
            found = case.run(call)
            if found.error is not None or index >= len(found.written):
                continue
            one, other = found.written[index], expected.results[index]
            if one.described is None or one.elements is None or other.elements is None:
                continue
            if one.described.dtype != dtype or one.elements.shape != other.elements.shape:
                yield case.finding(f"out of {dtype} is {one.described} after the call", found)
            with np.errstate(all="ignore"):
                numbers = other.elements.astype(one.elements.dtype)
            narrow = replace(other, described=one.described, elements=numbers)
            # The dtype with fewer digits.
            coarse = max(dtype, spec.dtype, key=lambda d: EPSILONS.get(d, 0.0))
            if wrong_elements(one.elements, numbers, coarse).any():
                text = differ([one], [narrow]) or "its elements are wrong"
                yield case.finding(f"out of {dtype}: {text}", found)


def _out_keeps(case: Case) -> Iterator[Finding]:
    expected, outs = _functional(case), _outs(case)
    case.need(any(spec.count > 1 for spec in outs.values()), "the result has one element")
    for how, change in (
        ("dense", specs.plain),
        ("with gaps", specs.gapped),
        ("transposed", specs.transposed),
        ("that begins inside of its storage", specs.shifted),
    ):
        pairs, found = _kept(case, outs, specs.changed(case.call, outs, change), "block")
        if found.error is not None:
            continue
        case.is_tried = True
        for was, _, now in pairs:
            if was.storage != now.storage:
                yield case.finding(f"gives out, {how}, other memory", found)
            if (was.shape, was.strides, was.offset) != (now.shape, now.strides, now.offset):
                yield case.finding(
                    f"out, {how}, had strides {list(was.strides)} and offset {was.offset}, and has "
                    f"{list(now.strides)} and {now.offset} after the call",
                    found,
                )
        if case.subject.has_checked_elements:
            yield from _compare_outs(case, found, expected, f"out, {how}: ")
    case.need(case.is_tried, "it refuses every out argument")


_KEEPS_TENSORS: tuple[Need, ...] = (
    (lambda s: bool(s.written) and not s.is_out, WRITES[1]),
    (
        lambda s: "inplace_view" not in s.facts.tags,
        "it changes the shape of its argument, and has the tag inplace_view",
    ),
    (
        lambda s: not str(s.schema.name.name).startswith(_RESHAPING),
        "its purpose is to change its argument",
    ),
)


def _inplace_keeps(case: Case) -> Iterator[Finding]:
    calls = [("", case.call)]
    case.need(case.written(), "no tensor is written")
    shape = next(iter(case.written().values())).shape
    for place, spec in case.read_only().items():
        # The result would be larger than what is written.
        larger = replace(spec, shape=(2, *shape), values=None, layout=None)
        calls.append(
            (f" with {place[0]} of shape {[2, *shape]}", specs.put(case.call, place, larger))
        )
        wider = {"float32": "float64", "int64": "float32", "int32": "float32"}.get(spec.dtype)
        if wider is not None:
            wide = specs.put(case.call, place, replace(spec, dtype=wider))
            calls.append((f" with {place[0]} of {wider}", wide))
    for how, call in calls:
        for was, label, now in _kept(case, case.written(), call)[0]:
            if (was.shape, was.strides, was.dtype) != (now.shape, now.strides, now.dtype):
                yield case.finding(f"{label} was {was}, and is {now} after the call{how}", call)


def _kept(
    case: Case, written: Iterable[Place], call: Call, way: str = "fresh"
) -> tuple[list[tuple[Described, str, Described]], Outcome]:
    """Return what tensors were before a call, their names, and what they are after it: none if it is refused."""
    before: list[Described] = []

    def look(outcome: Outcome) -> None:
        before.extend(case.backend.describe(specs.at(outcome.given, place)) for place in written)

    found = case.run(call, way, prepare=look)
    pairs = zip(before, found.written)
    return [(was, now.label, now.described) for was, now in pairs if now.described], found


_of_elements = partial(Property, enough=12, is_ordered=True, is_swept=True)
PROPERTIES = (
    _of_elements("V0101", _inplace_agrees, (*_INPLACE, HAS_CHECKED_ELEMENTS), quickly=4),
    _of_elements("V0102", _out_agrees, (*_OUT, HAS_CHECKED_ELEMENTS), quickly=3),
    Property("V0103", _out_resizes, _OUT, quickly=2),
    Property("V0104", _out_warns, (*_OUT, _NO_FACTORY), quickly=1, enough=4),
    Property("V0105", _out_refuses, _CASTS_TO_OUT, quickly=2),
    Property("V0106", _out_keeps, _OUT, quickly=2),
    Property("V0107", _inplace_keeps, _KEEPS_TENSORS, quickly=2),
)
