"""The result does not depend on how inputs lie in memory, nor on how their shapes are written."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod as product

import numpy as np
from msgspec.structs import replace

from opgen.verify.caller import (
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Outcome,
    Property,
    Result,
    differ,
    place_text,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec
from opgen.verify.calls.sweeps import with_special_numbers
from opgen.verify.memory.blocks import more_memory
from opgen.verify.properties import common
from opgen.verify.properties.common import new_memory_shows, with_outs
from opgen.verify.subjects import DRAWS_NOTHING, SPECIFIED, TAKES_NO_LIST, TAKES_TENSORS, Need

_TENSORS = (SPECIFIED, TAKES_TENSORS)
_COMPARED: tuple[Need, ...] = (
    (
        DRAWS_NOTHING[0],
        "it is random: its elements depend on the order in which they are drawn",
    ),
    *_TENSORS,
)


def _strided(case: Case) -> Iterator[Finding]:
    inputs = case.inputs()
    names = common.names_of_layouts(inputs.values())
    case.need(names, "no input has a dimension")
    groups: list[Sequence[Place]] = [list(inputs)]
    if case.mode != "quick" and len(inputs) > 1:
        groups += [[p] for p in inputs]
    for name, group in itertools.product(names, groups):
        found = case.run(common.in_layout(case.call, group, name), "block")
        which = "inputs" if len(group) > 1 else place_text(group[0])
        yield from case.compare(f"{which} {name}: ", found, case.base)
    yield from _far_apart(case)


# Dtypes of which few bytes lie between elements that are far apart.
_NARROW = ("uint8", "bool", "float16", "float32")


def _far_apart(case: Case) -> Iterator[Finding]:
    """The place of an element needs more than 32 bits. The memory between elements is not touched."""
    inputs = case.inputs().items()
    found = [p for p, s in inputs if s.shape and s.shape[0] > 1 and 0 not in s.shape]
    if not found or case.subject.outs:
        return
    for dtype in _NARROW:
        narrow = specs.changed(
            case.call, found, lambda s, d=dtype: s if s.dtype == d else specs.as_dtype(s, d)  # type: ignore[misc]
        )
        small = Case(case.caller, case.subject, narrow, mode=case.mode)
        if small.base.error is None:
            call = specs.changed(narrow, found[:1], specs.far_apart)
            with more_memory():
                text = f"{place_text(found[0])} with elements 2^31 apart: "
                far = small.run(call, "block")
                finding = next(small.compare(text, far, small.base), None)
                case.caller.memory.release_all()
            if finding:
                yield finding
            return


def _expanded(case: Case) -> Iterator[Finding]:
    refused = False
    case.need_to_apply(case.read_only(), "no tensor is only read")
    for place, spec in case.read_only().items():
        for dim, size in enumerate(spec.shape):
            if size < 2 or spec.count == 0:
                continue
            same = specs.explicit(spec, np.repeat(specs.elements(spec).take([0], dim), size, dim))
            plain = case.run(specs.put(case.call, place, same))
            found = case.run(specs.put(case.call, place, specs.expanded(same, dim)), "block")
            text = f"{place_text(place)} expanded along dimension {dim}: "
            yield from case.compare(text, found, plain)
            refused = refused or (not case.is_tried and plain.error is None)
    case.need_to_apply(case.is_tried or not refused, "it refuses expanded inputs")
    case.need(case.is_tried, "no input can be expanded")


def _elsewhere(
    case: Case, moved: Callable[[TensorSpec], TensorSpec], text: str
) -> Iterator[Finding]:
    """Compare a call whose inputs lie at other places with the call that was drawn."""
    inputs = case.inputs()
    case.need(inputs, "the call has no tensors")
    found = case.run(specs.changed(case.call, inputs, moved), "block")
    yield from case.compare(f"{text}: ", found, case.base)


_offset = partial(_elsewhere, moved=specs.shifted, text="inputs that begin inside of their storage")
_misaligned = partial(
    _elsewhere,
    moved=specs.misaligned,
    text="inputs at addresses that are multiples of one element only",
)


def _empty(case: Case) -> Iterator[Finding]:
    sizes = {size for spec in case.inputs().values() for size in spec.shape}
    guard = case.caller.guard
    for size in sorted(sizes):
        try:
            call = with_outs(case.caller, case.subject, specs.with_sizes(case.call, {size: 0}))
        except NotTested:
            continue
        found = case.run(call)
        if found.error is not None:
            continue
        case.is_tried = True
        how = f"with size 0 in place of {size}"
        has_meta = case.subject.facts.has_meta and not case.subject.is_random
        meta = case.run(call, "meta").results if has_meta else ()
        for one, other in zip(found.results, meta):
            a, b = one.described, other.described
            if a is not None and b is not None and (a.shape, a.dtype) != (b.shape, b.dtype):
                yield case.finding(
                    f"{how}, {one.label} has shape {list(a.shape)} and dtype {a.dtype}; "
                    f"Meta says {list(b.shape)} and {b.dtype}",
                    found,
                )
        if wrong := guard and new_memory_shows(case, guard, call):
            text = f"{how}, the result depends on memory that was not written: {wrong}"
            yield case.finding(text, found)
    case.need_to_apply(case.is_tried, "it refuses inputs without elements")


def _scalar(case: Case) -> Iterator[Finding]:
    case.need(case.inputs(), "the call has no tensors")

    def single(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
        whole = spec if spec.values else replace(spec, shape=(1,), values=None)
        return specs.explicit(spec, specs.elements(whole).ravel()[:1].reshape(shape))

    line = specs.each_tensor(case.call, lambda s: single(s, (1,)))
    point = specs.each_tensor(case.call, lambda s: single(s, ()))
    try:
        expected, found = (case.run(with_outs(case.caller, case.subject, c)) for c in (line, point))
        case.need_accepted(expected, found)
    except NotTested:
        raise NotApplicable("it refuses inputs without dimensions") from None
    for one, other in zip(found.everything, expected.everything):
        a, b = one.elements, other.elements
        if a is not None and b is not None and a.size == b.size > 0:
            text = "inputs without dimensions: "
            yield from case.unlike(text, [_flat(one)], [_flat(other)], found, expected)


def _flat(result: Result) -> Result:
    """Return a result with one dimension."""
    assert result.elements is not None and result.described is not None
    flat = result.elements.ravel()
    return Result(result.label, replace(result.described, shape=flat.shape), flat)


def _conjugated(case: Case) -> Iterator[Finding]:
    for place, spec in case.read_only().items():
        numbers = specs.elements(spec)
        # The conjugate of the conjugate is the tensor itself.
        turned = [("conj", "conjugated", np.conj(numbers))] if spec.is_complex else []
        turned += [("neg", "negated", -numbers)] if spec.is_differentiable else []
        for bit, what, values in turned:
            lazy = replace(specs.plain(specs.explicit(spec, values)), bit=bit)
            found = case.run(specs.put(case.call, place, lazy))
            yield from case.compare(f"{place_text(place)} {what} lazily: ", found, case.base)
    why = "no input that is only read can be conjugated or negated"
    case.need_to_apply(case.is_tried, why)


_BROADCASTS: tuple[Need, ...] = (
    DRAWS_NOTHING,
    (
        lambda s: s.facts.is_pointwise,
        "it does not claim to be pointwise (the tag pointwise, or TensorIteratorBase)",
    ),
    TAKES_NO_LIST,
    (
        lambda s: sum(a.type.is_tensor_like() for a in s.schema.arguments.flat_non_out) > 1,
        "it takes one tensor",
    ),
)
_SHAPES = (
    ((3, 4), (4,)),
    ((3, 3), (3,)),
    ((2, 3), (2, 1)),
    ((2, 1), (1, 3)),
    ((2, 2, 3), (2, 3)),
    ((3,), ()),
    ((2, 3, 3), (2, 1, 3)),
)


def _broadcasting(case: Case) -> Iterator[Finding]:
    inputs = case.inputs()
    case.need(len(inputs) > 1, "the call has one tensor")
    functional = not case.subject.written
    shapes = _SHAPES if case.mode != "quick" else _SHAPES[case.number % 3 :: 3]
    if len({spec.dtype for spec in inputs.values()}) > 1:
        # A tensor without dimensions promotes less than the same number expanded.
        shapes = tuple(pair for pair in shapes if () not in pair)
    first = next(iter(inputs))
    for pair in shapes:
        refusals: dict[bool, str] = {}
        for turned in (False, True) if functional else (False,):
            large, small = pair[::-1] if turned else pair
            whole = np.broadcast_shapes(large, small)
            if not functional and whole != large:
                continue
            call = specs.changed(case.call, inputs, partial(_shaped, shape=small))
            call = specs.put(call, first, _shaped(specs.at(call, first), large))
            try:
                call = with_outs(case.caller, case.subject, call)
            except NotTested:
                continue
            found = case.run(call)
            refusals[turned] = "" if found.error is None else found.message
            if found.error is not None:
                continue
            case.is_tried = True
            plain = case.run(specs.changed(call, inputs, partial(_expanded_to, shape=whole)))
            text = f"shapes {list(large)} and {list(small)}: "
            yield from case.compare(text, found, plain)
        if len(refusals) == 2 and bool(refusals[False]) != bool(refusals[True]):
            one, other = (pair[::-1], pair) if refusals[False] else (pair, pair[::-1])
            yield case.finding(
                f"accepts shapes {list(one[0])} and {list(one[1])}, and refuses "
                f"{list(other[0])} and {list(other[1])}: {refusals[False] or refusals[True]}"
            )
    case.need_to_apply(case.is_tried, "it refuses shapes that broadcast")


def _shaped(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    return replace(spec, shape=shape, values=None, layout=None)


def _expanded_to(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    return specs.explicit(spec, np.ascontiguousarray(np.broadcast_to(specs.elements(spec), shape)))


# Whether the order of elements matters shows at small sizes; at the others, loops over vectors, buffers and blocks end.
_SMALL = (2, 3, 4, 5, 6, 7)
_TALL = (*(8, 9, 15, 16, 17, 31, 32, 33), *(63, 65, 129, 257, 1025))
# So many other elements are tried at small sizes before a finding.
_OTHERS = 8
# Too many for sums, which depend on the order of so many elements.
_VERY_TALL = (8193, 70_001)
# At these, special numbers are also tried. More elements, or seconds, are not.
_SMALL_SPECIAL, _TALL_SPECIAL = (2, 3, 4), (5, 7, 9, 17, 33)
_MOST_ELEMENTS, _MOST_SECONDS = 250_000, 0.5


_ANY_ORDER: tuple[Need, ...] = (
    (lambda s: s.functional is None, "the functional variant is tested"),
    *_COMPARED,
)


def _reordered(case: Case) -> Iterator[Finding]:
    """Reversed inputs give the reversed result, or the same one, at all sizes if they do at small ones."""
    line = specs.each_tensor(case.call, lambda s: s if s.values else replace(s, shape=s.shape[-1:]))
    # With a size of its own along the first dimension, and small ones along the others, it can grow most.
    tall = specs.each_tensor(
        case.call, lambda s: s if s.values else replace(s, shape=_uneven(s.shape))
    )
    first = _largest_shape(tall)[:1]
    tall = specs.with_sizes(tall, {size: 2 for size in specs.sizes_of(tall) if size not in first})
    tall = tall if case.run(tall).error is None else case.call
    for call in (line, tall)[line == tall :]:
        base = case.run(call)
        for size in () if base.error is not None else _ends(call):
            turn = _Turn(case, call, size, base)
            if not turn.is_learned(_SMALL, special=False):
                continue
            case.is_tried = True
            finding = turn.find((*_TALL, *(_VERY_TALL if call is tall else ())), special=False)
            if finding is None and turn.is_learned(_SMALL_SPECIAL, special=True):
                finding = turn.find(_TALL_SPECIAL, special=True)
            if finding is not None:
                yield finding
    case.need_to_apply(case.is_tried, "the order of its elements matters")


def _uneven(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0] + 1, *shape[1:]) if shape and shape[0] == shape[-1] else shape


def _largest_shape(call: Call) -> tuple[int, ...]:
    return max((spec.shape for spec in specs.tensors(call)), key=product, default=())


def _ends(call: Call) -> list[int]:
    """Return the sizes of the first and the last dimension of the largest tensor."""
    shape = _largest_shape(call)
    return [size for size in dict.fromkeys((*shape[:1], *shape[-1:])) if size > 1]


class _Turn:
    """A call whose tensors are reversed along all dimensions of one size, and so are its results."""

    def __init__(self, case: Case, call: Call, size: int, base: Outcome) -> None:
        self.case = case
        self.call = call
        self.size = size
        self.base = base
        self.dims = {p: self._dims(specs.at(call, p).shape) for p in specs.places(call)}
        self.shapes = [() if r.described is None else r.described.shape for r in base.everything]
        self.is_element_wise = all(size in shape for shape in self.shapes)

    def _dims(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(dim for dim, n in enumerate(shape) if n == self.size)

    def is_learned(self, sizes: Sequence[int], *, special: bool) -> bool:
        """Whether the order does not matter at any of these sizes."""
        return all(self.compare(call, n) == "" for n in sizes for call in self._calls(n, special))

    def find(self, sizes: Sequence[int], *, special: bool) -> Finding | None:
        last, seconds = 1, 0.0
        shapes = [*(specs.at(self.call, p).shape for p in self.dims), *self.shapes]
        for size in sizes:
            most = max(product([size if n == self.size else n for n in s]) for s in shapes)
            if most > _MOST_ELEMENTS or seconds * (size / last) ** 2 > _MOST_SECONDS:
                break
            if size in _VERY_TALL and not self.is_element_wise:
                break
            for call in self._calls(size, special):
                started = time.process_time()
                wrong = self.compare(call, size)
                last, seconds = size, time.process_time() - started
                if wrong and self._is_learned_of_others(special):
                    how = f"in the opposite order along a dimension of size {size}"
                    text = f"inputs {how}, {wrong}; at small sizes, the order does not matter"
                    return self.case.finding(text, self._turned(call), call)
        return None

    def _is_learned_of_others(self, special: bool) -> bool:
        """Whether the order does not matter for other elements either: for a few, it may not matter by chance."""
        sizes = _SMALL_SPECIAL if special else _SMALL
        calls = (
            specs.each_tensor(self.call, lambda s, k=k: replace(s, fill=replace(s.fill, seed=k)))  # type: ignore[misc]
            for k in range(_OTHERS)
        )
        turns = (_Turn(self.case, call, self.size, self.base) for call in calls)
        return all(turn.is_learned(sizes, special=special) for turn in turns)

    def compare(self, call: Call, size: int) -> str | None:
        """Return how the result differs if the inputs are reversed, "" if it does not.

        Returns None if the call is refused, or the shape of a result is not that of the base with this size.
        """
        one, other = self.case.run(call), self.case.run(self._turned(call))
        if one.error is not None or other.error is not None:
            return None
        shapes = [tuple(size if n == self.size else n for n in shape) for shape in self.shapes]
        if [() if r.described is None else r.described.shape for r in one.everything] != shapes:
            return None
        expected = [
            r if r.elements is None else replace(r, elements=np.flip(r.elements, self._dims(shape)))
            for r, shape in zip(one.everything, self.shapes)
        ]
        units = max(64, *(specs.at(call, place).count for place in self.dims))
        return differ(other.everything, expected, units=units) or ""

    def _calls(self, size: int, special: bool) -> Iterator[Call]:
        call = specs.with_sizes(self.call, {self.size: size})
        yield from with_special_numbers(self.case.subject, call, 2) if special else (call,)

    def _turned(self, call: Call) -> Call:
        for place, dims in self.dims.items():
            call = specs.put(call, place, replace(specs.at(call, place), flipped=dims))
        return call


PROPERTIES = (
    Property("V0120", _strided, _COMPARED, quickly=4, enough=12, is_ordered=True, is_swept=True),
    Property("V0121", _expanded, _COMPARED, quickly=3, enough=10, is_ordered=True),
    Property("V0122", _offset, _COMPARED, quickly=2, enough=8, is_swept=True),
    Property("V0123", _misaligned, _COMPARED, quickly=2, enough=8),
    Property("V0124", _empty, _TENSORS, quickly=3, enough=10, imports=common.META),
    Property("V0125", _scalar, _COMPARED, quickly=2, enough=8),
    Property(
        *("V0126", _conjugated, _COMPARED),
        kinds=("torch",),
        quickly=2,
        about=common.has_differentiable,
    ),
    Property("V0127", _broadcasting, _BROADCASTS, quickly=2, enough=6, is_ordered=True),
    Property("V0128", _reordered, _ANY_ORDER, quickly=1, enough=3, cost=10, is_ordered=True),
)
