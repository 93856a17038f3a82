"""Gradients: compared with finite differences, in both modes, and what has none says so."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from opgen.gradtest.backends import NOT_THERE, first_line, is_comparison
from opgen.gradtest.calls import each
from opgen.verify.backends.base import Described
from opgen.verify.caller import (
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Outcome,
    Property,
    Result,
    differ,
    leaves,
    place_text,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Array, Call, Place, TensorSpec
from opgen.verify.properties.common import GRADIENTS, TANGENTS, has_differentiable
from opgen.verify.subjects import NOT_RANDOM, SPECIFIED, TAKES_TENSORS, Need

_WIDER = {**dict.fromkeys(("float16", "bfloat16", "float32"), "float64"), "complex64": "complex128"}
# Formulas of gradients may lose so many units of the last place in float32.
_COARSE = 1024
# More inputs take long: each element is moved.
_MOST_ELEMENTS = 16
# Messages that say that a gradient is not there.
_NO_FORMULA = (
    *NOT_THERE,
    *("autograd kernel was not registered", "not registered", "derivative for", "no grad"),
    *("does not require grad", "none of the tensors", "None of the Tensors", "Batching rule"),
    *("Trying to use forward AD", "jvp", "not differentiable", "cannot be computed"),
    *("does not have a grad_fn", "out=", "leaf Variable", "backward is not implemented"),
    *("no gradient", "has no gradient", "not support", "no autograd formula was registered"),
)


_TAKES_GRADIENTS: tuple[Need, ...] = (
    (lambda s: not s.is_out, "out= has no gradient"),
    *(SPECIFIED, TAKES_TENSORS, NOT_RANDOM),
)
_DIFFERENTIABLE: tuple[Need, ...] = (
    *_TAKES_GRADIENTS,
    (lambda s: s.facts.formulas is not False or s.facts.is_composite, "it has no formula"),
)


# What writes an argument counts that, whether it has a formula or not.
_WRITES_OR_SAVES = tuple(
    (lambda s, holds=holds: bool(s.written) or holds(s), why) for holds, why in _DIFFERENTIABLE
)


def _says_no(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, NotImplementedError) or any(words in text for words in _NO_FORMULA)


class _Function:
    """An operator as a function of the tensors at some places. It writes copies of them only."""

    def __init__(self, case: Case, call: Call, chosen: Sequence[Place]) -> None:
        self.case = case
        self.call = call
        self.chosen = chosen

    def given(self, inputs: Sequence[Any]) -> dict[str, Any]:
        case = self.case
        # Other tensors are the same in each call.
        made = case.caller.build(self.call)
        for place, value in zip(self.chosen, inputs):
            made = specs.put(made, place, value)
        return {
            n: each(self._clone, v) if n in case.subject.written else v for n, v in made.items()
        }

    def _clone(self, value: Any) -> Any:
        return self.case.backend.clone(value) if self.case.backend.is_tensor(value) else value

    def finding(self, text: str) -> Finding:
        return self.case.finding(text, self.call)

    def outputs(self, *inputs: Any) -> tuple[Any, ...]:
        """Return the results with a gradient."""
        case = self.case
        case.caller.progress()
        given = self.given(inputs)
        case.backend.seed(0)
        returned = case.subject.call(given)
        found = [value for _, value in leaves(case.subject, returned)]
        if not case.subject.schema.returns:
            found = [given[name] for name in case.subject.written]
        backend = case.backend
        return tuple(v for v in found if backend.is_tensor(v) and backend.is_differentiable(v))

    def weighted(
        self,
        outputs: Sequence[Any],
        inputs: Sequence[Any],
        wanted: Sequence[int],
        weights: Sequence[Any] = (),
        label: str = "it",
    ) -> list[Result | None]:
        """Return the gradients of the outputs at some places."""
        case, chosen = self.case, [outputs[i] for i in wanted]
        found = case.backend.gradients(chosen, inputs, weights or _weights(case, chosen))
        return [None if g is None else case.caller.result(label, g) for g in found]

    def differences(
        self,
        text: str,
        found: Sequence[Result | None],
        expected: Sequence[Result | None],
        chosen: Sequence[Place] = (),
        **options: Any,
    ) -> Iterator[Finding]:
        """Yield findings of gradients that differ. `text` has a place for the name of the input."""
        for place, one, other in zip(chosen or self.chosen, found, expected):
            if wrong := one and other and differ([one], [other], **options):
                yield self.finding(f"{text.format(place_text(place))}{wrong}")


def _weights(case: Case, outputs: Sequence[Any]) -> list[Any]:
    return [case.backend.fresh(_weight(case.backend.describe(value))) for value in outputs]


def _wide(case: Case, dtype: str) -> tuple[Call, list[Place]]:
    """Return the call with floating-point tensors of a wide dtype, and where they are. Elements are distinct."""
    call = dict(_smaller(case.call))
    is_small = all(spec.count <= _MOST_ELEMENTS for spec in specs.tensors(call))
    case.need(is_small, "the tensors are too large")
    chosen = []
    subject = case.subject
    without = {*subject.domain.non_differentiable, *subject.facts.non_differentiable}
    for place in specs.places(call):
        spec = specs.at(call, place)
        if not spec.is_differentiable:
            continue
        wide = replace(spec, dtype="complex128" if spec.is_complex else dtype, layout=None)
        if spec.values is None:
            fill = spec.fill
            # Away from zero, where many functions have a kink.
            fill = replace(fill, points=(*fill.points, 0.0), gap=max(fill.gap, 0.08))
            wide = specs.explicit(wide, _distinct(specs.elements(replace(wide, fill=fill))))
        call = specs.put(call, place, wide)
        if place[0] not in without:
            chosen.append(place)
    case.need(chosen, "no input can have a gradient")
    for name, value in call.items():
        # A result of a narrow dtype is too coarse for finite differences.
        if isinstance(value, specs.Named) and value.name in _WIDER:
            call = {**call, name: specs.Named(value.kind, _WIDER[value.name])}
    return call, chosen


def _smaller(call: Call) -> Call:
    """Return the call with smaller sizes, if its tensors have too many elements."""
    for _ in range(8):
        largest = max(specs.tensors(call), key=lambda s: s.count)
        if largest.count <= _MOST_ELEMENTS:
            break
        size = max(largest.shape)
        if size <= 2:
            break
        call = specs.with_sizes(call, {size: max(2, size // 2)})
    return call


def _distinct(numbers: Any) -> Any:
    """Move equal elements apart, so that no maximum is met twice."""
    flat = numbers.ravel().copy()
    order = np.argsort(flat.real, kind="stable")
    for left, right in itertools.pairwise(order):
        if abs(flat[right] - flat[left]) < 0.01:
            flat[right] += 0.013 * (1 + right % 3)
    return flat.reshape(numbers.shape)


@contextlib.contextmanager
def _computing(what: str) -> Iterator[None]:
    """Raise NotApplicable if no gradient is computed because the operator has none, and NotTested for other errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:
            if _says_no(error):
                raise NotApplicable(
                    f"it says that it has no gradient: {first_line(error)}"
                ) from error
            raise NotTested(f"{what}: {first_line(error)}") from error
    if any("autograd kernel was not registered" in str(each.message) for each in caught):
        raise NotApplicable("PyTorch warns that it has no formula")


def _prepared(case: Case, dtype: str) -> tuple[_Function, list[Any], tuple[Any, ...], list[int]]:
    """Return the operator as a function, leaves, its outputs for them, and which of these require a gradient."""
    function, inputs = _function_and_leaves(case, dtype)
    with _computing(f"it refuses {dtype}"):
        outputs = function.outputs(*inputs)
    case.need_to_apply(outputs, "no result can have a gradient")
    for value in outputs:
        numbers = case.backend.elements(value)
        case.need(numbers.size, "the result has no elements")
        case.need(np.isfinite(numbers).all(), "the result is not finite")
    wanted = [i for i, value in enumerate(outputs) if case.backend.requires_grad(value)]
    return function, inputs, outputs, wanted


def _function_and_leaves(case: Case, dtype: str) -> tuple[_Function, list[Any]]:
    call, chosen = _wide(case, dtype)
    made = case.caller.build(call)
    inputs = [case.backend.leaf(specs.at(made, place)) for place in chosen]
    return _Function(case, call, chosen), inputs


# Compares the gradients of a function of some tensors with finite differences.
_Check = Callable[[Callable[..., Any], Sequence[Any]], None]


def _checked(case: Case, check: _Check, what: str) -> Iterator[Finding]:
    reasons: list[Exception] = []
    is_complex = any(spec.is_complex for spec in case.tensors().values())
    dtypes = ("float64", "complex128")[is_complex:]
    for dtype in dtypes:
        try:
            yield from _checked_in(dtype, case, check, what)
        except (NotTested, NotApplicable) as reason:
            reasons.append(reason)
    if len(reasons) == len(dtypes):
        raise reasons[0]


def _checked_in(dtype: str, case: Case, check: _Check, what: str) -> Iterator[Finding]:
    function, inputs, _, wanted = _prepared(case, dtype)
    case.need_to_apply(wanted, "no result requires a gradient")
    try:
        with _computing(f"the {what} fails"):
            check(function.outputs, inputs)
    except NotTested as failure:
        error = failure.__cause__ or failure
        text = " ".join(str(error).split())[:400]
        if not is_comparison(error):
            problem = case.backend.problem()
            case.need(not problem, f"no gradient can be computed here: {problem}")
            yield function.finding(f"the {what} fails: {text}")
        # PyTorch computes a forward gradient of zero for an operator without any formula.
        is_said = case.backend.has_tape and _says_no_backward(case, function, inputs)
        case.need_to_apply(not is_said, "it says that it has no gradient")
        case.need(_is_stable(case, function.call), "the result is not smooth near the call")
        is_repeated = _is_of_repeated_indices(case, check, function, inputs)
        case.need(not is_repeated, specs.REPEATED)
        yield function.finding(f"the {what} is wrong: {text}")


def _says_no_backward(case: Case, function: _Function, inputs: Sequence[Any]) -> bool:
    """Whether the backward pass says that there is no formula."""
    try:
        outputs = [v for v in function.outputs(*inputs) if case.backend.requires_grad(v)]
        case.backend.gradients(outputs, inputs, _weights(case, outputs))
    except Exception as error:
        return _says_no(error)
    return False


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _stepped(case: Case, call: Call, found: Iterable[Place], step: Array | float) -> Outcome:
    """Call the operator with a step added to the tensors at some places: of what finite differences are made."""
    return case.run(
        specs.changed(call, found, lambda spec: specs.explicit(spec, specs.elements(spec) + step))
    )


def _is_stable(case: Case, call: Call) -> bool:
    """Whether results move little when inputs do, and do not stay: finite differences mean nothing at a jump, or on stairs."""
    found = [place for place in specs.places(call) if specs.at(call, place).is_differentiable]
    base, least, *others = (_stepped(case, call, found, by) for by in (0, 1e-12, 1e-6, -1e-6))
    if any(outcome.error is not None for outcome in (base, least, *others)):
        return False
    moves = False
    for other in others:
        for a, b in zip(base.everything, other.everything):
            if a.elements is None or b.elements is None or a.elements.shape != b.elements.shape:
                return False
            moves |= not np.array_equal(a.elements, b.elements)
            near = 1e-3 * (1 + np.abs(a.elements)) if a.elements.dtype.kind in "fc" else 0
            if (np.abs(1.0 * a.elements - b.elements) > near).any():
                return False
    return not moves or differ(least.everything, base.everything, exact=True) is not None


def _is_of_repeated_indices(
    case: Case, check: _Check, function: _Function, inputs: Sequence[Any]
) -> bool:
    """Whether the gradient is too large because an index occurs twice: it is not wrong for different indices.

    A gradient that is too small is a defect: an operator that reads an element twice adds up both gradients.
    """
    if not specs.has_repeated_indices(function.call) or not _is_too_large(case, function, inputs):
        return False
    for call in specs.with_distinct_indices(function.call):
        if case.run(call).error is None:
            try:
                with _quiet():
                    check(_Function(case, call, function.chosen).outputs, list(inputs))
            except Exception:
                return False
    return True


def _is_too_large(case: Case, function: _Function, inputs: Sequence[Any]) -> bool:
    """Whether no element of the gradient is smaller than by finite differences."""
    try:
        outputs = function.outputs(*inputs)
        weights = _weights(case, outputs)
        found = case.backend.gradients(outputs, inputs, weights)
    except Exception:
        return False
    scales = [case.backend.elements(value) for value in weights]
    for place, gradient in zip(function.chosen, found):
        slopes = _numeric_gradient(case, function.call, place, scales)
        if slopes is None or gradient is None:
            return False
        signs = np.sign(slopes)
        larger = case.backend.elements(gradient).real.ravel() * signs - slopes * signs
        if (larger < -1e-3 * (1 + np.abs(slopes))).any():
            return False
    return True


def _numeric_gradient(case: Case, call: Call, place: Place, scales: Sequence[Any]) -> Array | None:
    """Return the derivative of the weighted results by the real part of each element of an input, or None if there is none."""
    spec = specs.at(call, place)
    slopes = []
    for one in np.eye(spec.count):
        step = 1e-5 * one.reshape(spec.shape)
        results = []
        for outcome in (_stepped(case, call, [place], by) for by in (step, -step)):
            made = outcome.results or outcome.written
            results.append([r.elements for r in made if r.elements is not None])
        pairs = [(a, b) for a, b in zip(*results) if a.dtype.kind in "fc"]
        if len(pairs) != len(scales):
            return None
        total = sum(((a - b) * np.conj(w)).real.sum() for (a, b), w in zip(pairs, scales))
        slopes.append(total / 2e-5)
    return np.array(slopes)


def _backward(case: Case) -> Iterator[Finding]:
    yield from _checked(case, partial(case.backend.gradcheck, forward=False), "gradient")
    if case.backend.has_tape:
        yield from _same_gradients(case)
        yield from _gradients_of_float32(case)


def _gradients_of_float32(case: Case) -> Iterator[Finding]:
    """The gradient of float32 is that of float64, rounded."""
    found: list[list[Result | None]] = []
    for dtype in ("float64", "float32"):
        function, inputs, outputs, wanted = _prepared(case, dtype)
        if not wanted or any(spec.is_complex for spec in specs.tensors(function.call)):
            return
        found.append(function.weighted(outputs, inputs, wanted))
    wide, narrow = found
    rounded = [
        a and b and replace(a, described=b.described, elements=_as_float32(a.elements))
        for a, b in zip(wide, narrow)
    ]
    text = "in float32, the gradient of {} is not that of float64: "
    yield from function.differences(text, narrow, rounded, units=_COARSE)


def _as_float32(numbers: Array | None) -> Array | None:
    return None if numbers is None else numbers.astype("float32")


def _same_gradients(case: Case) -> Iterator[Finding]:
    """The gradient is the same if other calls come before the backward pass, and if one input alone requires it."""
    function, inputs, outputs, wanted = _prepared(case, "float64")
    call = function.call
    if not wanted or specs.has_repeated_indices(call):
        return
    expected = function.weighted(outputs, inputs, wanted)
    kept = function.outputs(*inputs)
    later = _Function(case, specs.with_other_numbers(call), function.chosen)
    for factor in (0.75, -0.75):
        # Multiples of the elements in another order.
        moved = specs.changed(
            call, function.chosen, lambda s, f=factor: specs.explicit(s, np.roll(specs.elements(s), 1) * f)  # type: ignore[misc]
        )
        made = case.caller.build(moved)
        with contextlib.suppress(Exception):
            later.outputs(*(case.backend.leaf(specs.at(made, place)) for place in function.chosen))
    found = function.weighted(kept, inputs, wanted)
    yield from function.differences("later calls change the gradient of {}: ", found, expected)
    for index, place in enumerate(function.chosen if len(inputs) > 1 else ()):
        alone = [v if i == index else v.detach() for i, v in enumerate(inputs)]
        outputs = function.outputs(*alone)
        if not all(case.backend.requires_grad(outputs[i]) for i in wanted):
            continue
        found = function.weighted(outputs, [inputs[index]], wanted)
        text = "if only {} requires a gradient: "
        yield from function.differences(text, found, expected[index:], [place])


def _forward(case: Case) -> Iterator[Finding]:
    return _checked(case, partial(case.backend.gradcheck, forward=True), "forward gradient")


def _second(case: Case) -> Iterator[Finding]:
    return _checked(case, case.backend.gradgradcheck, "gradient of the gradient")


def _silent_zero(case: Case) -> Iterator[Finding]:
    function, inputs, *_ = _prepared(case, "float64")
    for index, place in enumerate(function.chosen):
        # One input at a time requires a gradient.
        given = [value if i == index else value.detach() for i, value in enumerate(inputs)]
        gradient = None
        try:
            with _computing("the gradient fails"):
                outputs = function.outputs(*given)
                if wanted := [v for v in outputs if case.backend.requires_grad(v)]:
                    weights = _weights(case, wanted)
                    (gradient,) = case.backend.gradients(wanted, [given[index]], weights)
        except NotApplicable as reason:
            if reason.__cause__ is None:
                raise
            continue
        if gradient is not None and np.any(case.backend.elements(gradient)):
            continue
        if _depends(case, function.call, place):
            yield function.finding(
                f"the result depends on {place_text(place)}, and its gradient is "
                f"{'zero' if gradient is not None else 'not there'}, without an error"
            )


def _weight(described: Described) -> TensorSpec:
    """Return a dense tensor for a result, whose elements are different, and none is zero."""
    numbers = 0.5 + 0.25 * np.arange(np.prod(described.shape, dtype=int)).reshape(described.shape)
    return specs.explicit(TensorSpec(described.dtype, described.shape), numbers)


def _depends(case: Case, call: Call, place: Place) -> bool:
    """Whether floating-point results move, little, when an input moves little: the numeric derivative is not zero."""
    base = case.run(call)
    slopes = []
    for step in (1e-4, 5e-5, 1e-10):
        moved = _stepped(case, call, [place], step)
        if moved.error or base.error:
            return False
        slope = 0.0
        for a, b in zip(base.everything, moved.everything):
            if a.elements is None or b.elements is None or a.elements.shape != b.elements.shape:
                return False
            if a.elements.dtype.kind in "fc" and a.elements.size:
                slope = max(slope, float(np.abs(a.elements - b.elements).max()) / step)
        slopes.append(slope)
    # A jump has slopes that grow as the step shrinks, and stairs become flat.
    return max(slopes) > 1e-3 and max(slopes) - min(slopes) < 0.05 * max(slopes)


def _integer_gradient(case: Case) -> Iterator[Finding]:
    function, inputs = _function_and_leaves(case, "float64")
    try:
        returned = case.subject.call(function.given(inputs))
    except Exception as error:
        raise NotTested(f"it refuses float64: {first_line(error)}") from None
    for label, value in leaves(case.subject, returned):
        if not case.backend.is_tensor(value) or case.backend.is_differentiable(value):
            continue
        case.is_tried = True
        if case.backend.requires_grad(value):
            yield function.finding(
                f"{label} has dtype {case.backend.describe(value).dtype} and requires a gradient"
            )
    case.need_to_apply(case.is_tried, "no result has integers")


def _gradient_strides(case: Case) -> Iterator[Finding]:
    function, inputs, outputs, wanted = _prepared(case, "float64")
    case.need_to_apply(wanted, "no result requires a gradient")
    sizes = [np.prod(case.backend.describe(outputs[i]).shape) for i in wanted]
    case.need(max(sizes) > 1, "the result has one element")
    found: dict[str, list[Result | None]] = {}
    # An expanded gradient has equal elements, and so has the dense one that it is compared with.
    for how in ("dense", "equal", "expanded", "with gaps", "transposed"):
        try:
            with _computing("the gradient fails"):
                fresh = function.outputs(*inputs)
                weights = [_gradient(case, fresh[i], how) for i in wanted]
                found[how] = function.weighted(fresh, inputs, wanted, weights, "the gradient")
        except (NotApplicable, NotTested) as reason:
            if how == "dense" or reason.__cause__ is None:
                raise
            why = first_line(reason.__cause__)
            yield function.finding(f"a gradient that is {how} is refused: {why}")
        base = found["equal" if how in ("equal", "expanded") else "dense"]
        text = f"the gradient of {{}} differs if the incoming gradient is {how}: "
        yield from function.differences(text, found[how], base)


def _gradient(case: Case, output: Any, how: str) -> Any:
    described = case.backend.describe(output)
    spec = _weight(described)
    if how in ("equal", "expanded"):
        spec = specs.explicit(spec, np.full(described.shape, 0.75))
    if how == "expanded":
        spec = specs.laid_out(spec, (0,) * len(spec.shape))
    elif how == "with gaps":
        spec = specs.gapped(spec) if spec.shape else spec
    elif how == "transposed":
        spec = specs.transposed(spec) if len(spec.shape) > 1 else spec
    return case.caller.placed(spec)


def _counts_writes(case: Case) -> Iterator[Finding]:
    """A write to a tensor that the backward pass needs makes it fail, or does not change the gradient."""
    if case.subject.written:
        yield from _counted(case)
        return
    case.need_to_apply(has_differentiable(case.call), "no input can have a gradient")
    is_view = case.subject.is_view
    case.need_to_apply(
        not is_view, "a result is a view, to which a write is an operator of its own"
    )
    function, inputs, outputs, wanted = _prepared(case, "float64")
    case.need_to_apply(wanted, "no result requires a gradient")
    expected = function.weighted(outputs, inputs, wanted)
    for what in ("a result", "an input"):
        leaves_ = [case.backend.leaf(value) for value in inputs]
        outputs = function.outputs(*leaves_)
        try:
            with case.backend.no_grad():
                for value in outputs if what == "a result" else leaves_:
                    value[...] = 1.5
            found = function.weighted(outputs, leaves_, wanted)
        except Exception:
            continue
        text = f"a write to {what} before the backward pass goes unnoticed: the gradient of {{}} changes, "
        yield from function.differences(text, found, expected)


def _counted(case: Case) -> Iterator[Finding]:
    versions: dict[Place, int] = {}
    contents: dict[Place, tuple[Any, ...]] = {}

    def content(tensor: Any) -> tuple[Any, ...]:
        return tuple(case.backend.describe(tensor).shape), case.backend.elements(tensor).tobytes()

    def look(outcome: Outcome) -> None:
        for place in case.written():
            tensor = specs.at(outcome.given, place)
            versions[place], contents[place] = case.backend.version(tensor), content(tensor)

    found = case.run(prepare=look)
    case.need_accepted(found)
    is_changed = False
    for place in case.written():
        tensor = specs.at(found.given, place)
        if content(tensor) == contents[place]:
            # An operator that has nothing to do may return at once.
            continue
        is_changed = True
        now = case.backend.version(tensor)
        if now == versions[place]:
            yield case.finding(
                f"writes {place_text(place)}, and its version counter stays at {now}: autograd does not notice "
                "that a saved tensor has changed"
            )
    if not is_changed:
        raise NotApplicable("it changes no element")


_of_gradients = partial(
    Property, needs=_DIFFERENTIABLE, about=has_differentiable, imports=GRADIENTS
)
PROPERTIES = (
    _of_gradients("V0160", _backward, quickly=2, enough=8, cost=2),
    _of_gradients("V0161", _forward, quickly=1, enough=6, cost=2, imports=TANGENTS),
    _of_gradients("V0162", _second, quickly=1, enough=4, cost=3),
    # Without a formula, the backward pass is an error.
    _of_gradients("V0163", _silent_zero, needs=_TAKES_GRADIENTS, quickly=2, enough=6),
    _of_gradients("V0164", _integer_gradient, quickly=1, enough=4, imports=()),
    _of_gradients("V0165", _gradient_strides, quickly=3, enough=6),
    Property("V0166", _counts_writes, _WRITES_OR_SAVES, quickly=2, enough=6, imports=GRADIENTS),
)
