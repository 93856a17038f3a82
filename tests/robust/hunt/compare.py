"""Compare the outcomes of one call with both libraries: where they differ, and whether that is a defect."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from differential.numerics import exceptions
from differential.numerics.tolerances import close, tolerance
from differential.numerics.values import BY_NAME, to_numbers
from robust.hunt.plans import Plan
from robust.hunt.worker import Facts, Outcome

# Our message when an output overlaps an input.
_OVERLAP = re.compile(
    r"overlap|share[sd]? (memory|storage|its storage)|same memory|single memory|one place|in one place|aliases",
    re.I,
)
# No argument should cause these.
_UNEXPECTED = ("SystemError", "UnicodeDecodeError", "KeyError", "AttributeError")
_FRACTIONS = "float|complex|inf|nan"
_ONE_PLACE = re.compile("several elements share memory")
_MEMORY = re.compile(r"cannot allocate|out of memory|MemoryError", re.I)


@dataclass(frozen=True, slots=True)
class Difference:
    kind: str
    text: str


def difference(
    plan: Plan, ours: Outcome, theirs: Outcome, apart: Outcome | None
) -> Difference | None:
    """Return the difference; None if they are equal or differ as intended. Kinds that begin with "(" are counted and
    are not defects.
    """
    unfit = next((f for f in (*_facts(ours.results), *ours.tensors) if not f.fits), None)
    if unfit is not None:
        return Difference("outside", f"{_shown(unfit)} does not fit its storage")
    if ours.refused is not None:
        if ours.refused in _UNEXPECTED and theirs.refused != ours.refused:
            return Difference("exception", f"{ours.refused}: {ours.message}")
        if "internal error" in ours.message:
            return Difference("internal", ours.message)
    if theirs.refused in ("Crashes", "Hangs"):
        return Difference(f"(PyTorch {theirs.refused.lower()})", "")
    if theirs.refused is not None and ours.refused is not None:
        return None
    if ours.refused is not None:
        if "no forward-mode formula" in ours.message and not any(theirs.tangents):
            return Difference("(an error where PyTorch drops the tangent)", "")
        return _refused(plan, ours, theirs, apart)
    if theirs.refused is not None:
        if apart is not None and apart.refused is None and not _results(plan, ours, apart):
            return Difference("(right where PyTorch refuses an overlap)", "")
        if plan.forward:
            return Difference("(PyTorch has no forward mode here)", "")
        if not exceptions.refusal_counts(plan.operator):
            return Difference("(accepted, as tests/differential/numerics allows)", "")
        if plan.writes_twice() and "more than one element" in theirs.message:
            before = [place.sizes for place in plan.tensors]
            if any(before[n] != ours.tensors[n].sizes for n in plan.written_tensors):
                return Difference("(an output whose elements share memory is resized)", "")
        # What is refused for another reason, too, is not accepted for its overlap.
        other = theirs if apart is None or apart.refused is None else apart
        return Difference("accepted", f"PyTorch says {other.refused}: {_line(other.message)}")
    found = _results(plan, ours, theirs) or _after(plan, ours, theirs)
    if found is None and plan.forward:
        return _tangents(plan, ours, theirs)
    if found is not None and apart is not None:
        if apart.refused is None and _results(plan, ours, apart) is None:
            return Difference("(right where PyTorch is not)", "")
        if apart.refused is not None:
            return Difference("(no right answer)", "")
        return Difference("overlap", found.text)
    if found is not None and plan.writes_twice():
        return Difference("(no right answer)", "")
    any_bits = {"content", "dtype"} & set(plan.notes) and re.search(_FRACTIONS, str(found))
    if found is not None and any_bits and found.kind in ("values", "around"):
        # Near the ends of the range, intermediate results may overflow.
        return Difference("(floats made of arbitrary bits)", "")
    return found


def _refused(plan: Plan, ours: Outcome, theirs: Outcome, apart: Outcome | None) -> Difference:
    if exceptions.may_refuse(plan.operator):
        return Difference("(refused, as tests/differential/numerics allows)", "")
    if _MEMORY.search(ours.message) or ours.refused == "MemoryError":
        return Difference("(memory)", "")
    if apart is None and _ONE_PLACE.search(ours.message):
        return Difference("(output whose elements share memory refused)", "")
    found = _facts(theirs.results)
    if found and all(0 in each.sizes for each in found):
        # PyTorch checks dtypes where it reads elements; here it read none.
        return Difference("(refused where there are no elements)", "")
    if apart is not None and _OVERLAP.search(ours.message):
        right = apart.refused is None and _results(plan, theirs, apart) is None
        return Difference(
            "(overlap refused where PyTorch is right)" if right else "(overlap refused)", ""
        )
    return Difference("refused", f"{ours.refused}: {_line(ours.message)}")


def _results(plan: Plan, ours: Outcome, theirs: Outcome) -> Difference | None:
    if len(ours.results) != len(theirs.results):
        return Difference("count", f"{len(ours.results)} results, not {len(theirs.results)}")
    for number, (mine, their) in enumerate(zip(ours.results, theirs.results)):
        if isinstance(mine, Facts) and isinstance(their, Facts):
            found = _tensors(plan, mine, their)
            if found is not None:
                return Difference(found.kind, f"result {number}: {found.text}")
        elif isinstance(mine, Facts) or isinstance(their, Facts):
            return Difference("type", f"{_shown(mine)}, not {_shown(their)}")
        elif not _same_number(mine, their) and not plan.unspecified:
            return Difference("values", f"{mine!r}, not {their!r}")
    return None


def _after(plan: Plan, ours: Outcome, theirs: Outcome) -> Difference | None:
    """Compare what the calls did to their arguments, and to the memory around them."""
    for number, (mine, their) in enumerate(zip(ours.tensors, theirs.tensors)):
        if (mine.sizes, _steps(mine)) != (their.sizes, _steps(their)):
            return Difference("argument", f"t{number} is {_shown(mine)} then, not {_shown(their)}")
    for mine, their in zip(ours.results, theirs.results):
        if isinstance(mine, Facts) and (mine.buffer, mine.tensor) != (their.buffer, their.tensor):
            if mine.content == b"" and mine.tensor == their.tensor:
                continue  # Without elements, the storage cannot be observed.
            return Difference(
                "alias",
                f"a result is t{mine.tensor} on b{mine.buffer}, not t{their.tensor} on b{their.buffer}",
            )
    if plan.unspecified:
        return None
    for number, (mine, their) in enumerate(zip(ours.buffers, theirs.buffers)):
        if mine != their:
            dtype = plan.buffers[number].dtype
            whole = Facts(dtype, (len(mine) // BY_NAME[dtype].itemsize,), (1,), 0, 0, 0, True, mine)
            found = _values(plan, whole, mine, their)
            if found is not None:
                written = {plan.tensors[t].buffer for t in plan.written_tensors}
                kind = "around" if number in written else "written"
                return Difference(kind, f"b{number}: {found.text}")
    return None


def _tangents(plan: Plan, ours: Outcome, theirs: Outcome) -> Difference | None:
    """Compare tangents. None stands for zeros; PyTorch's may have another dtype than their tensor."""
    if plan.unspecified:
        return None
    facts = [*_facts(ours.results), *ours.tensors]
    for number, (mine, their, of) in enumerate(zip(ours.tangents, theirs.tangents, facts)):
        a, b = (_numbers(each) for each in (mine, their))
        a = np.zeros_like(b) if a is None and b is not None else a
        b = np.zeros_like(a) if b is None and a is not None else b
        if a is None or b is None:
            continue
        if a.shape != b.shape or (mine is not None and mine.sizes != of.sizes):
            return Difference("tangent", f"{number}: {_shown(mine)}, not {_shown(their)}")
        names = {buffer.dtype for buffer in plan.buffers} | {of.dtype}
        halves = names & {"float16", "bfloat16"}
        # What overflows in half precision depends on how it is computed.
        a = np.where(np.isfinite(b), a, b) if halves else a
        relative = 0.05 if halves else 1e-6 if names <= {"float64", "complex128"} else 2e-3
        bad = ~close(a, b, relative, relative * _largest(plan, b) + relative)
        value = _numbers(of)
        if value is not None and value.shape == bad.shape:
            bad &= ~np.isnan(value)  # The derivative where there is no value is anything.
        if bad.any():
            at = int(np.argmax(bad))
            text = f"{number}: {int(bad.sum())} of {bad.size} differ, first at {at}: {a[at]!r}, not {b[at]!r}"
            return Difference("tangent", text)
    return None


def _numbers(facts: Facts | None) -> Any:
    if facts is None or facts.content is None:
        return None
    dtype = BY_NAME[facts.dtype]
    return to_numbers(dtype, np.frombuffer(facts.content, dtype.carrier)).astype(complex)


def _tensors(plan: Plan, mine: Facts, their: Facts) -> Difference | None:
    if mine.dtype != their.dtype:
        return Difference("dtype", f"{mine.dtype}, not {their.dtype}")
    if mine.sizes != their.sizes:
        return Difference("shape", f"{list(mine.sizes)}, not {list(their.sizes)}")
    if _steps(mine) != _steps(their):
        return Difference(
            "strides", f"{list(mine.strides)}, not {list(their.strides)}, of {list(mine.sizes)}"
        )
    if plan.unspecified or mine.content is None or their.content is None:
        return None
    return _values(plan, mine, mine.content, their.content)


def _values(plan: Plan, facts: Facts, mine: bytes, their: bytes) -> Difference | None:
    if mine == their:
        return None
    dtype = BY_NAME[facts.dtype]
    with np.errstate(all="ignore"):
        a = to_numbers(dtype, np.frombuffer(mine, dtype.carrier))
        b = to_numbers(dtype, np.frombuffer(their, dtype.carrier))
        if a.shape != b.shape:
            return Difference("values", f"{a.size} elements, not {b.size}")
        # An output may be wider than the computation: the coarsest dtype of the call decides.
        names = [facts.dtype, *(b.dtype for b in plan.buffers)]
        if any(BY_NAME[name].kind in ("int", "bool") for name in names):
            names.append("float32")
        operator = plan.operator.partition(".")[0].rstrip("_")
        relative, absolute = max(
            tolerance(BY_NAME[name], operator)
            for name in names
            if (BY_NAME[name].kind in ("float", "complex") and dtype.kind in ("float", "complex"))
            or name == facts.dtype
        )
        if dtype.kind in ("float", "complex"):
            # If addends cancel, the error depends on their size, not on that of the sum.
            absolute += relative * _largest(plan, b)
        bad = ~close(a, b, relative, absolute)
    if not bad.any():
        return None
    at = int(np.argmax(bad))
    return Difference(
        "values", f"{int(bad.sum())} of {bad.size} differ, first at {at}: {a[at]!r}, not {b[at]!r}"
    )


def _largest(plan: Plan, answers: Any) -> float:
    finite = np.abs(answers[np.isfinite(answers)]) if answers.size else answers
    return float(finite.max()) if finite.size else 0.0


def _steps(facts: Facts) -> tuple[int, ...]:
    """Return the strides of dimensions with more than one element."""
    if 0 in facts.sizes:
        return ()
    return tuple(step for size, step in zip(facts.sizes, facts.strides) if size > 1)


def _facts(results: tuple[Any, ...]) -> list[Facts]:
    return [each for each in results if isinstance(each, Facts)]


def _same_number(mine: Any, their: Any) -> bool:
    if type(mine) is not type(their):
        return False
    if isinstance(mine, float):
        return (
            mine == their
            or math.isclose(mine, their, rel_tol=1e-5)
            or (mine != mine and their != their)
        )
    if isinstance(mine, complex):
        return bool(np.isclose(mine, their, rtol=1e-5, equal_nan=True))
    return bool(mine == their)


def _shown(value: Any) -> str:
    if isinstance(value, Facts):
        return f"{value.dtype}{list(value.sizes)} by {list(value.strides)} + {value.offset}"
    return repr(value)


def _line(text: str) -> str:
    return text.split("\n")[0][:400]
