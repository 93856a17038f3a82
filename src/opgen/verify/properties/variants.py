"""The functional variant, the in-place one and the one with out= do the same; what an out argument goes through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from opgen.model.types import BaseTy
from opgen.verify.backends.base import Described
from opgen.verify.caller import (
    EPSILONS,
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Outcome,
    Property,
    Run,
    differ,
    wrong_elements,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec
from opgen.verify.properties.common import is_checked_value, remember
from opgen.verify.subjects import DRAWS_NOTHING, WRITES, Need

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
    if found.error is not None:
        raise NotTested(f"the functional variant refuses it: {found.message}")
    return found


def _inplace_agrees(case: Case) -> Iterator[Finding]:
    if not is_checked_value(case):
        raise NotApplicable("its elements are not specified")
    expected = _functional(case).results
    found = case.base.results if case.subject.schema.returns else case.base.written
    kinds = (
        [r.described and (r.described.shape, r.described.dtype) for r in results]
        for results in zip(found, expected)
    )
    if any(one != other for one, other in kinds):
        raise NotApplicable("the functional variant returns another shape or dtype")
    if len(found) == 1:
        found = (replace(found[0], label="self"),)
    runs = _beside_functional(case, "in place", case.call)
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


def _beside_functional(case: Case, how: str, call: Call) -> tuple[Run, Run]:
    """Return a call, and the same one of the functional variant."""
    assert case.subject.functional is not None
    return Run(how, call), Run("functional", call, case.subject.functional.spelling)


def _outs(case: Case) -> list[tuple[Place, TensorSpec]]:
    found = [(p, spec) for p, spec in case.tensors() if p[0] in case.subject.outs]
    if not found:
        raise NotTested("the list of out arguments is empty")
    return found


def _compare_outs(
    case: Case, call: Call, found: Outcome, expected: Outcome, how: str
) -> Iterator[Finding]:
    runs = _beside_functional(case, "with out=", call)
    yield from case.unlike(f"with out= {how}, ", found.written, expected.results, *runs)


def _out_agrees(case: Case) -> Iterator[Finding]:
    if not is_checked_value(case):
        raise NotApplicable("its elements are not specified")
    expected = _functional(case)
    outs = _outs(case)
    found = case.base
    if found.error is not None:
        yield case.finding(
            f"refuses an out argument of the right shape and dtype: {found.message}",
            *_beside_functional(case, "with out=", case.call),
        )
    yield from _compare_outs(case, case.call, found, expected, "of the right shape")
    if len(found.results) == len(found.written):
        yield from case.unlike("with out=, what is returned: ", found.results, expected.results)
    for how, change in (("with gaps", specs.gapped), ("transposed", specs.transposed)):
        if not any(spec.count > 1 for _, spec in outs):
            break
        call = specs.changed(case.call, [place for place, _ in outs], change)
        strided = case.run(call, "block")
        if strided.error is None:
            yield from _compare_outs(case, call, strided, expected, how)


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
    outs = [place for place, _ in _outs(case)]
    return specs.changed(
        case.call, outs, lambda s: replace(s, shape=shape(s), fill=specs.Fill(1, 5, 6))
    )


def _out_resizes(case: Case) -> Iterator[Finding]:
    expected = _functional(case)
    tried = False
    for how in _OTHER_SHAPES:
        call = _reshaped_outs(case, how)
        found = case.run(call)
        if found.error is not None or call == case.call:
            continue
        tried = True
        for one, other in zip(found.written, expected.results):
            assert one.described is not None and other.described is not None
            if one.described.shape != other.described.shape:
                yield case.finding(
                    f"out {how} is left with shape {list(one.described.shape)}, "
                    f"the result has {list(other.described.shape)}",
                    Run("with out= of another shape", call),
                )
        if is_checked_value(case):
            yield from _compare_outs(case, call, found, expected, how)
    if not tried:
        raise NotApplicable("it refuses out arguments of another shape")


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
        if found.error is not None:
            raise NotApplicable("it refuses out arguments of another shape")
        resized = any(
            result.described is not None and result.described.shape != specs.at(other, place).shape
            for result, (place, _) in zip(found.written, _outs(case))
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
    if not case.base.written or case.base.error is not None:
        raise NotTested("it refuses an out argument of the right dtype")
    outs = _outs(case)
    tried = False
    for place, spec in outs:
        dtype = _REFUSED_DTYPES.get(spec.dtype)
        if dtype is None:
            continue
        tried = True
        wrong = replace(spec, dtype=dtype, fill=specs.Fill(3, 0, 4))
        call = specs.put(case.call, place, wrong)
        found = case.run(call, "block", prepare=remember)
        if found.error is None:
            yield case.finding(f"writes a result of {spec.dtype} to out of {dtype}", call)
        elif any(block.changes().elements for block in found.blocks.values()):
            yield case.finding(f"refuses out of {dtype}, after it has written to an argument", call)
    yield from _out_casts(case, outs)
    if not tried:
        raise NotApplicable("results of bool can be stored in any dtype")


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


def _out_casts(case: Case, outs: list[tuple[Place, TensorSpec]]) -> Iterator[Finding]:
    """An out argument of another dtype of the same kind receives the numbers of the result, unless it is refused."""
    if not is_checked_value(case):
        return
    expected = _functional(case)
    for index, (place, spec) in enumerate(outs):
        for dtype in _CASTS.get(spec.dtype, ()):
            call = specs.put(case.call, place, replace(spec, dtype=dtype, fill=specs.Fill(3, 5, 6)))
            found = case.run(call)
            if found.error is not None or index >= len(found.written):
                continue
            one, other = found.written[index], expected.results[index]
            if one.described is None or one.elements is None or other.elements is None:
                continue
            if one.described.dtype != dtype or one.elements.shape != other.elements.shape:
                yield case.finding(f"out of {dtype} is {one.described} after the call", call)
            with np.errstate(all="ignore"):
                numbers = other.elements.astype(one.elements.dtype)
            narrow = replace(other, described=one.described, elements=numbers)
            # The dtype with fewer digits.
            coarse = max(dtype, spec.dtype, key=lambda d: EPSILONS.get(d, 0.0))
            if wrong_elements(one.elements, numbers, coarse).any():
                text = differ([one], [narrow]) or "its elements are wrong"
                yield case.finding(f"out of {dtype}: {text}", call)


def _out_keeps(case: Case) -> Iterator[Finding]:
    expected = _functional(case)
    outs = _outs(case)
    if not any(spec.count > 1 for _, spec in outs):
        raise NotTested("the result has one element")
    tried = False
    for how, change in (
        ("dense", specs.plain),
        ("with gaps", specs.gapped),
        ("transposed", specs.transposed),
        ("that begins inside of its storage", specs.shifted),
    ):
        call = specs.changed(case.call, [place for place, _ in outs], change)
        pairs, found = _kept(case, outs, call, "block")
        if found.error is not None:
            continue
        tried = True
        for was, _, now in pairs:
            if was.storage != now.storage:
                yield case.finding(f"gives out, {how}, other memory", call)
            if (was.shape, was.strides, was.offset) != (now.shape, now.strides, now.offset):
                yield case.finding(
                    f"out, {how}, had strides {list(was.strides)} and offset {was.offset}, and has "
                    f"{list(now.strides)} and {now.offset} after the call",
                    call,
                )
        if is_checked_value(case):
            yield from case.unlike(f"out, {how}: ", found.written, expected.results, call)
    if not tried:
        raise NotTested("it refuses every out argument")


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
    first = next((p for p, _ in case.written()), None)
    if first is None:
        raise NotTested("no tensor is written")
    shape = specs.at(case.call, first).shape
    for place, spec in case.read_only():
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
        for was, label, now in _kept(case, case.written(), call, "fresh")[0]:
            if (was.shape, was.strides, was.dtype) != (now.shape, now.strides, now.dtype):
                yield case.finding(f"{label} was {was}, and is {now} after the call{how}", call)


def _kept(
    case: Case, written: Sequence[tuple[Place, TensorSpec]], call: Call, way: str
) -> tuple[list[tuple[Described, str, Described]], Outcome]:
    """Return what tensors were before a call, their names, and what they are after it: none if it is refused."""
    before: list[Described] = []

    def look(outcome: Outcome) -> None:
        before.extend(case.backend.describe(specs.at(outcome.given, place)) for place, _ in written)

    found = case.run(call, way, prepare=look)
    pairs = zip(before, found.written)
    return [(was, now.label, now.described) for was, now in pairs if now.described], found


PROPERTIES = (
    Property(
        "V0101", _inplace_agrees, _INPLACE, enough=12, quickly=4, is_ordered=True, is_swept=True
    ),
    Property("V0102", _out_agrees, _OUT, enough=12, quickly=3, is_ordered=True, is_swept=True),
    Property("V0103", _out_resizes, _OUT, quickly=2),
    Property("V0104", _out_warns, (*_OUT, _NO_FACTORY), quickly=1, enough=4),
    Property("V0105", _out_refuses, _CASTS_TO_OUT, quickly=2),
    Property("V0106", _out_keeps, _OUT, quickly=2),
    Property("V0107", _inplace_keeps, _KEEPS_TENSORS, quickly=2),
)
