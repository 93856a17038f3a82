"""Dtypes are promoted as PyTorch promotes them, and narrow ones lose no more than their rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from msgspec.structs import replace

from opgen.verify.caller import EPSILONS, Case, Finding, Property, Result, differ
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Array, Call, Fill, Place, TensorSpec, as_dtype, put
from opgen.verify.properties.common import enlarged
from opgen.verify.subjects import TAKES_NO_LIST, TAKES_TENSORS, Need

# Pairs of dtypes, and what PyTorch promotes tensors with dimensions to.
_PAIRS = (
    *(("float32", "float64", "float64"), ("int64", "float32", "float32")),
    *(("int32", "int64", "int64"), ("float16", "float32", "float32")),
    *(("bool", "int64", "int64"), ("float32", "complex64", "complex64")),
    *(("bfloat16", "float16", "float32"), ("uint8", "int8", "int16")),
    ("float64", "complex64", "complex128"),
)
# Dtypes that no result of integers has.
_NOT_DEFAULT = ("float64", "float16", "bfloat16", "complex128")
# Elements of a call for precision, and how many units of the last place a result may be wrong by.
_MANY = 3000
_UNITS = 12


_PROMOTES: tuple[Need, ...] = (
    (
        lambda s: s.facts.is_pointwise and not s.written,
        "it does not claim to be pointwise, or writes an argument",
    ),
    TAKES_NO_LIST,
)


def _promotion(case: Case) -> Iterator[Finding]:
    # Tensors with dimensions, all of one shape: numbers and tensors without dimensions are promoted in another way.
    same = case.read_only()
    call = specs.changed(
        case.call, same, lambda s: replace(s, shape=(3,), values=None, layout=None)
    )
    case = Case(case.caller, case.subject, call, mode=case.mode)
    inputs = case.read_only()
    case.need(inputs and case.base.error is None, "it refuses inputs of one shape")
    if len(inputs) >= 2:
        for one, other, wide in _PAIRS:
            for turned in ((one, other), (other, one)):
                dtypes = (*turned, *(wide for _ in range(2, len(inputs))))
                yield from _mixed(case, dtypes, wide)
    for dtype in ("int64", "int32", "bool"):
        found = case.run(specs.changed(case.call, same, partial(as_dtype, dtype=dtype)))
        case.is_tried |= found.error is None
        for result in found.results:
            if result.described is not None and result.described.dtype in _NOT_DEFAULT:
                text = f"inputs of {dtype} give {result.label} of {result.described.dtype}: floating-point "
                yield case.finding(
                    f"{text}results of integers have the default dtype, float32", found
                )
    case.need(case.is_tried, "it refuses other dtypes")


def _mixed(case: Case, dtypes: tuple[str, ...], wide: str) -> Iterator[Finding]:
    call, same = dict(case.call), dict(case.call)
    for (place, spec), dtype in zip(case.read_only().items(), dtypes):
        narrow = as_dtype(replace(spec, layout=None), dtype)
        numbers = specs.elements(narrow)
        if dtype.startswith(("float", "bfloat")) and wide.startswith("complex"):
            numbers = numbers.astype(np.complex128)
        call = put(call, place, narrow)
        same = put(same, place, specs.explicit(replace(narrow, dtype=wide), numbers))
    text = f"inputs of {' and '.join(dtypes)}: "
    return case.compare(text, case.run(call), case.run(same), "results")


_FUNCTIONAL: tuple[Need, ...] = (
    (
        lambda s: not (s.is_random or s.is_unspecified),
        "its elements are random, or not specified",
    ),
    (lambda s: s.is_functional, "it writes arguments"),
    TAKES_TENSORS,
)


def _precision(case: Case) -> Iterator[Finding]:
    case.need(case.read_only(), "the call has no tensors")
    large = enlarged(case, _MANY) or case.call
    for dtype in ("float16", "bfloat16"):
        yield from _half(case, large, dtype)
    for dtype in ("float16", "float32"):
        yield from _overflow(case, dtype)
    for dtype in ("uint8", "int8", "int16", "int32"):
        yield from _integers(case, large, dtype)
        yield from _small_integers(case, dtype)
    for dtype in ("float64", "int64"):
        yield from _computed_in_float32(case, dtype)
    case.need_to_apply(case.is_tried, "it accepts no narrow dtypes")


def _narrowed(
    case: Case,
    call: Call,
    dtypes: tuple[str, str],
    how: str,
    make: Callable[[Place, TensorSpec], TensorSpec | None],
    compare: Callable[[Result, Result], str | None],
) -> Iterator[Finding]:
    """Compare a call in a narrow dtype with the same one in a wide dtype. `make` returns tensors of both; None for others."""
    narrow, wide = dict(call), dict(call)
    for place in case.read_only():
        made = make(place, specs.at(call, place))
        if made is not None:
            narrow = put(narrow, place, replace(made, dtype=dtypes[0]))
            wide = put(wide, place, replace(made, dtype=dtypes[1]))
    if narrow == wide:
        return
    found, expected = case.run(narrow), case.run(wide)
    if found.error is None and expected.error is None:
        case.is_tried = True
        for wrong in filter(None, map(compare, found.results, expected.results)):
            yield case.finding(f"{how}: {wrong}", found, expected, label=how)


def _half(case: Case, large: Call, dtype: str) -> Iterator[Finding]:
    """Compare float16 or bfloat16 with float64, for positive numbers: nothing cancels."""

    def make(_: Place, spec: TensorSpec) -> TensorSpec | None:
        fill = Fill(spec.fill.seed + 1, 0.3, 0.4)
        return replace(spec, fill=fill, values=None, rounded=dtype) if spec.is_float else None

    compare = partial(_beyond_rounding, dtype=dtype)
    return _narrowed(case, large, (dtype, "float64"), f"inputs of {dtype}", make, compare)


# Elements whose exponentials overflow.
_LARGE = {"float16": (12.0, 15.0), "float32": (89.0, 110.0)}


def _overflow(case: Case, dtype: str) -> Iterator[Finding]:
    """Compare float32 or float16 with float64, for large numbers: what is finite and not large stays finite."""
    low, high = _LARGE[dtype]

    def make(place: Place, spec: TensorSpec) -> TensorSpec | None:
        is_known = spec.values is not None or place[0] in case.subject.domain.arguments
        if is_known or not spec.is_float:
            return None
        return replace(spec, fill=Fill(spec.fill.seed + 1, low, high), rounded=dtype)

    def compare(one: Result, other: Result) -> str | None:
        pair = _elements(one, other, dtype)
        if pair is None:
            return None
        wrong = ~np.isfinite(pair[0]) & (np.abs(pair[1]) < 100 * high)
        return _first_wrong(one, wrong, *pair)

    how = f"inputs of {dtype} from {low:g} to {high:g}"
    return _narrowed(case, case.call, (dtype, "float64"), how, make, compare)


# So many results that float32 can hold exactly, of inputs that it cannot, are no chance.
_MANY_EXACT, _DRAWS = 12, 16


def _computed_in_float32(case: Case, dtype: str) -> Iterator[Finding]:
    """The results of float64 or int64 are not all numbers of float32 that need most of its digits."""
    exact: set[float] = set()
    call = dict(case.call)
    for draw in range(_DRAWS):
        call = dict(case.call)
        for place, spec in case.read_only().items():
            fill = replace(spec.fill, seed=spec.fill.seed + draw + 1)
            if dtype == "int64" and place[0] not in case.subject.domain.arguments:
                # So large that few are numbers of float32 by chance; some operators count up to them.
                fill = Fill(draw + 1, 5e7, 1e8, whole=True)
            if spec.values is None and (spec.is_float if dtype == "float64" else spec.is_integer):
                call = put(call, place, replace(spec, dtype=dtype, fill=fill))
        found = case.run(call)
        if found.error is not None or call == case.call:
            return
        for result in found.results:
            if result.described is not None and result.described.dtype == dtype:
                assert result.elements is not None
                numbers = result.elements.ravel()
                long = numbers[_needs_digits(numbers, 16)]
                case.is_tried = case.is_tried or long.size > 0
                if _needs_digits(long, 24).any():
                    return
                exact.update(long.tolist())
    if len(exact) >= _MANY_EXACT:
        yield case.finding(
            f"all results of {dtype}, such as {next(iter(exact))}, are numbers of float32: it computes in float32",
            call,
        )


def _needs_digits(numbers: Array, count: int) -> Array:
    """Return which numbers need more than so many binary digits."""
    with np.errstate(all="ignore"):
        scaled = np.frexp(numbers.astype(np.longdouble))[0] * np.longdouble(2.0**count)
        return np.asarray(np.isfinite(scaled) & (scaled != np.trunc(scaled)))


def _elements(one: Result, other: Result, dtype: str) -> tuple[Array, Array] | None:
    """Return the elements of two results; None if the first has another dtype, or another shape than the second."""
    if one.elements is None or other.elements is None or one.described is None:
        return None
    is_same = one.described.dtype == dtype and one.elements.shape == other.elements.shape
    return (one.elements, other.elements) if is_same else None


def _beyond_rounding(one: Result, other: Result, dtype: str) -> str | None:
    pair = _elements(one, other, dtype)
    if pair is None:
        return None
    found, expected = (numbers.astype(np.float64) for numbers in pair)
    top = 65504.0 if dtype == "float16" else 3.3e38
    with np.errstate(invalid="ignore"):
        allowed = _UNITS * EPSILONS[dtype] * np.maximum(np.abs(expected), 0.05)
        wrong = np.abs(found - expected) > allowed
    wrong &= np.isfinite(expected) & (np.abs(expected) < top / 2) & (np.abs(expected) > 1e-3)
    return _first_wrong(one, wrong, found, expected, " and rounded")


def _first_wrong(
    one: Result, wrong: Array, found: Array, expected: Array, more: str = ""
) -> str | None:
    """Return which element is wrong, in words; None if there is none."""
    if not wrong.any():
        return None
    a, b = (numbers.ravel()[int(wrong.ravel().argmax())] for numbers in (found, expected))
    return f"{one.label} is {a}, and {b:.6g} if computed in float64{more}"


def _integers(case: Case, large: Call, dtype: str) -> Iterator[Finding]:
    """Compare narrow integers with int64, where the result is wider than the input: a sum, a product."""
    limit = {"uint8": 200, "int8": 100, "int16": 30000, "int32": 10_000_000}[dtype]

    def make(_: Place, spec: TensorSpec) -> TensorSpec | None:
        fill = Fill(spec.fill.seed + 1, limit // 2, limit, whole=True)
        is_number = spec.is_integer or spec.is_float
        return replace(spec, fill=fill, values=None) if is_number else None

    def compare(one: Result, other: Result) -> str | None:
        if one.described is None or other.described is None or one.elements is None:
            return None
        if one.described.dtype not in ("int64", dtype) or other.described.dtype != "int64":
            return None
        assert other.elements is not None
        if one.described.dtype == dtype and one.elements.shape == other.elements.shape:
            # What does not fit wraps around.
            fits = other.elements == other.elements.astype(one.elements.dtype)
            numbers = np.where(fits, one.elements, other.elements).astype(np.int64)
            one = replace(one, described=other.described, elements=numbers)
        return differ([one], [other])

    return _narrowed(case, large, (dtype, "int64"), f"inputs of {dtype}", make, compare)


def _small_integers(case: Case, dtype: str) -> Iterator[Finding]:
    """Compare narrow integers with int64, where they are indices or counts: in no dtype do they wrap around."""

    def make(_: Place, spec: TensorSpec) -> TensorSpec | None:
        if not spec.is_integer or spec.values is not None:
            return None
        return replace(spec, fill=replace(spec.fill, low=max(spec.fill.low, 0)))

    def compare(one: Result, other: Result) -> str | None:
        if one.described is None or other.described is None:
            return None
        is_same = one.described.dtype == other.described.dtype
        return differ([one], [other]) if is_same else None

    how = f"integers of {dtype}"
    return _narrowed(case, case.call, (dtype, "int64"), how, make, compare)


PROPERTIES = (
    Property("V0140", _promotion, _PROMOTES, quickly=1, enough=3),
    Property("V0141", _precision, _FUNCTIONAL, quickly=2, enough=6),
)
