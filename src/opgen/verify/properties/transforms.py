"""Programs that PyTorch transforms return what the calls return: vmap, functionalization, compilers, export, autocast."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from opgen.gradtest.backends import first_line
from opgen.verify.caller import (
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Property,
    Result,
    Run,
    leaves,
    place_text,
    wrong_elements,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec
from opgen.verify.properties.common import TRACING, has_tensors, program_of
from opgen.verify.properties.meta import is_about_meta
from opgen.verify.subjects import (
    DRAWS_NOTHING,
    HAS_META,
    NOT_RANDOM,
    RETURNS_TENSORS,
    SPECIFIED,
    TAKES_TENSORS,
    Need,
    Subject,
)

# What PyTorch says where it does not support an operator at all.
_UNSUPPORTED = (
    *("alias annotations", "Batching rule not implemented", "out= or view ops", ".item()"),
    *("vmap: ", "not supported", "Unsupported", "unsupported", "data-dependent", "randomness"),
    *("DataDependent", "dynamic shape", "in-place arithmetic", "no fake impl", "composite"),
    *("not implemented", "NotImplemented", "graph break", "Graph break", "ConstraintViolation"),
    *("is not written yet", "does not have kernel registrations", "expected one of"),
)
# What it says where it has no rule for an operator, or cannot have one.
_WITHOUT_RULE = (
    "Batching rule not implemented",
    "is not written yet",
    "dynamic shape",
    "randomness",
)


_PLAIN = (DRAWS_NOTHING, TAKES_TENSORS, SPECIFIED)
_VMAPPABLE: tuple[Need, ...] = (
    (lambda s: not (s.written or s.is_view), "it writes an argument, or returns a view"),
    *(NOT_RANDOM, RETURNS_TENSORS, *_PLAIN),
)
_COMPILABLE: tuple[Need, ...] = (
    *(NOT_RANDOM, HAS_META),
    (lambda s: not s.is_out, "programs are compiled without out="),
    *_PLAIN,
)
_AUTOCASTABLE: tuple[Need, ...] = (
    (lambda s: not s.written, "autocast leaves operators that write alone"),
    *(NOT_RANDOM, *_PLAIN),
)


def _unsupported(error: BaseException) -> bool:
    text = f"{type(error).__name__}: {error}"
    return isinstance(error, NotImplementedError) or any(words in text for words in _UNSUPPORTED)


def _vmap(case: Case) -> Iterator[Finding]:
    chosen = {p: s for p, s in case.tensors().items() if p[1] is None}
    case.need(chosen and case.base.error is None, "the call has no tensors")
    for batched, dim in _ways(list(chosen), case.mode):
        # The same elements in another order stay in the domain of the operator.
        stacks = {place: [chosen[place], specs.reordered(chosen[place])] for place in batched}
        alone = []
        for index in (0, 1):
            call = case.call
            for place, stack in stacks.items():
                call = specs.put(call, place, stack[index])
            alone.append(case.run(call))
        if any(found.error is not None for found in alone):
            continue
        try:
            found = _mapped(case, stacks, dim)
        except Exception as error:
            if _unsupported(error) and not _is_own_fault(case.subject, error):
                raise NotApplicable(f"vmap does not support it: {first_line(error)}") from None
            yield case.finding(f"vmap fails: {first_line(error)}")
        case.is_tried = True
        names = ", ".join(place_text(p) for p in stacks)
        for index, one in enumerate(alone):
            rows = [_row(result, index) for result in found]
            expected = [result for result in one.results if result.described is not None]
            text = f"vmap over dimension {dim} of {names}, example {index}: "
            yield from case.unlike(text, rows, expected, Run("alone", one.call))
    case.need(case.is_tried, "it refuses the examples of a batch")


def _is_own_fault(subject: Subject, error: BaseException) -> bool:
    """Whether the operator, and not PyTorch, is why vmap fails.

    With a rule of its own, there is no loop over the examples, which works. A composite can call other operators than those
    that have no rule: what it does beside, such as to read an element as a number, it can do without.
    """
    without_rule = any(words in str(error) for words in _WITHOUT_RULE)
    return subject.facts.has_batching_rule or (subject.facts.is_composite and not without_rule)


def _ways(chosen: Sequence[Place], mode: str) -> Iterator[tuple[Sequence[Place], int]]:
    yield chosen, 0
    if mode != "quick" or len(chosen) > 1:
        yield chosen[:1], 0
    for one in chosen[1:] if mode != "quick" else chosen[1:][-1:]:
        yield [one], 0
    if mode != "quick":
        yield chosen, -1


def _mapped(case: Case, stacks: Mapping[Place, list[TensorSpec]], dim: int) -> list[Result]:
    given = case.caller.build(case.call)
    batches = []
    for stack in stacks.values():
        axis = dim if dim >= 0 else len(stack[0].shape)
        numbers = np.stack([specs.elements(spec) for spec in stack], axis=axis)
        batches.append(case.backend.fresh(specs.explicit(stack[0], numbers)))
    names = [place[0] for place in stacks]

    def one(*examples: Any) -> Any:
        returned = case.subject.call({**given, **dict(zip(names, examples))})
        return tuple(v for _, v in leaves(case.subject, returned) if case.backend.is_tensor(v))

    case.backend.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = case.backend.vmap(one, [dim] * len(batches))(*batches)
    values = found if isinstance(found, tuple) else (found,)
    labels = [r.label for r in case.base.results if r.described is not None]
    return [case.caller.result(label, value) for label, value in zip(labels, values)]


def _row(result: Result, index: int) -> Result:
    assert result.described is not None and result.elements is not None
    numbers = result.elements[index] if result.elements.ndim else result.elements
    described = result.described
    row = replace(described, shape=described.shape[1:], strides=described.strides[1:])
    return Result(result.label, row, np.asarray(numbers))


# Programs.


def _results(case: Case, values: Sequence[Any]) -> list[Result]:
    return [case.caller.result(f"result {index}", value) for index, value in enumerate(values)]


def _eager(case: Case, call: Call) -> tuple[Callable[..., Any], list[Any], list[Result]]:
    program, inputs = program_of(case, call)
    case.backend.seed(0)
    try:
        values = program(*inputs)
    except Exception as error:
        raise NotTested(f"the program fails: {first_line(error)}") from None
    case.need_to_apply(values, "the program returns no tensors")
    return program, inputs, _results(case, values)


def _copies(*inputs: Any) -> Any:
    """Stand in for a program with the operator: it calls none of the library."""
    return tuple(t.clone() for t in specs.flat(inputs) if hasattr(t, "clone"))


def _failure(
    case: Case, what: str, error: BaseException, tool: Callable[[Callable[..., Any]], Any]
) -> Finding:
    """Return the finding of a failure. Raises NotTested if the tool also fails without the operator."""
    if type(error).__name__.startswith("Internal"):
        raise NotTested(f"PyTorch fails: {first_line(error)}")
    try:
        tool(_copies)
    except Exception as without:
        raise NotTested(f"PyTorch also fails without the operator: {first_line(without)}") from None
    return case.finding(f"{what}: {first_line(error)}")


def _functionalized(case: Case) -> Iterator[Finding]:
    program, inputs, expected = _eager(case, case.call)
    case.backend.seed(0)

    def tool(program: Callable[..., Any]) -> Any:
        return case.backend.module.func.functionalize(program)(*inputs)

    try:
        values = tool(program)
    except Exception as error:
        if _unsupported(error):
            raise NotApplicable(f"PyTorch does not support it: {first_line(error)}") from None
        yield _failure(case, "a functionalized program fails", error, tool)
    yield from case.unlike("a functionalized program: ", _results(case, values), expected)


def _compiled(case: Case) -> Iterator[Finding]:
    torch: Any = case.backend.module
    backend = "inductor" if case.mode == "thorough" else "aot_eager_decomp_partition"
    program, inputs, expected = _eager(case, case.call)

    def tool(program: Callable[..., Any]) -> tuple[Any, Any]:
        torch._dynamo.reset()
        compiled = torch.compile(program, backend=backend, fullgraph=True, dynamic=True)
        case.backend.seed(0)
        return compiled, compiled(*inputs)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled, values = tool(program)
            yield from case.unlike(f"compiled by {backend}: ", _results(case, values), expected)
            yield from _compiled_again(case, compiled, backend)
    except Exception as error:
        if _unsupported(error) or is_about_meta(error):
            raise NotApplicable(f"PyTorch does not compile it: {first_line(error)}") from None
        yield _failure(case, f"it cannot be compiled by {backend}", error, tool)
    finally:
        torch._dynamo.reset()


def _compiled_again(case: Case, compiled: Any, backend: str) -> Iterator[Finding]:
    """Call the compiled program with other sizes."""
    sizes = {size: size + 2 for size in specs.sizes_of(case.call)}
    if not sizes:
        return
    call = specs.with_sizes(case.call, sizes)
    try:
        _, inputs, expected = _eager(case, call)
    except NotTested:
        return
    case.backend.seed(0)
    found = _results(case, compiled(*inputs))
    yield from case.unlike(f"compiled by {backend}, with other sizes: ", found, expected, call)


def _exported(case: Case) -> Iterator[Finding]:
    torch: Any = case.backend.module
    program, inputs, expected = _eager(case, case.call)

    def tool(program: Callable[..., Any]) -> Any:
        class Model(torch.nn.Module):  # type: ignore[misc]
            def forward(self, *tensors: Any) -> Any:
                return program(*tensors)

        exported = torch.export.export(Model(), tuple(inputs), strict=False)
        case.backend.seed(0)
        return exported.module()(*inputs)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = tool(program)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if "alias annotations" in text or "no fake impl" in text or "NotImplemented" in text:
            raise NotApplicable(f"PyTorch does not export it: {first_line(error)}") from None
        if "DynamicOutputShape" in text:
            raise NotApplicable("the shape of its result depends on data") from None
        yield _failure(case, "it cannot be exported", error, tool)
    yield from case.unlike("exported: ", _results(case, values), expected)


def _autocast(case: Case) -> Iterator[Finding]:
    torch, call, base = case.backend.module, case.call, case.base
    dtypes = {place: spec.dtype for place, spec in case.tensors().items()}
    if "float32" not in dtypes.values():
        # Autocast leaves calls without such a tensor alone.
        first = next(iter(dtypes.values()))
        same = [place for place, dtype in dtypes.items() if dtype == first]
        call = specs.changed(call, same, partial(specs.as_dtype, dtype="float32"))
        base = case.run(call)
    case.need_accepted(base, what="float32")
    given = case.caller.build(call)
    case.backend.seed(0)
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            returned = case.subject.call(given)
    except Exception as error:
        yield case.finding(f"under autocast, it fails: {first_line(error)}", call)
    for one, other in zip(case.caller.results(case.subject, returned), base.results):
        if one.described is None or other.described is None or one.elements is None:
            continue
        if other.elements is None or one.described.shape != other.described.shape:
            yield case.finding(f"under autocast, {one.label} has another shape", call)
            return
        narrow = one.described.dtype != other.described.dtype
        dtype = "bfloat16" if narrow else other.described.dtype
        wrong = wrong_elements(one.elements, other.elements, dtype, units=12 if narrow else 64)
        if wrong.any():
            # What is computed in bfloat16 inside, and returned as float32, is no more precise.
            coarse = wrong_elements(one.elements, other.elements, "bfloat16", units=12)
            if not narrow and not coarse.any():
                continue
            place = int(wrong.ravel().argmax())
            a, b = one.elements.ravel()[place], other.elements.ravel()[place]
            yield case.finding(f"under autocast, {one.label} is {a}, expected {b}", call)


_of_torch = partial(Property, kinds=("torch",))
_INDUCTOR = (*TRACING, "torch._inductor.compile_fx")
_of_compilers = partial(_of_torch, needs=_COMPILABLE, quickly=1, enough=2, mode="default")
PROPERTIES = (
    Property("V0170", _vmap, _VMAPPABLE, quickly=4, enough=8, is_ordered=True),
    _of_torch("V0171", _functionalized, _PLAIN, quickly=2, enough=6, is_ordered=True),
    _of_compilers("V0172", _compiled, cost=10, is_ordered=True, imports=_INDUCTOR),
    _of_compilers("V0173", _exported, cost=5, imports=TRACING),
    _of_torch(
        *("V0174", _autocast, _AUTOCASTABLE), quickly=2, enough=6, is_swept=True, about=has_tensors
    ),
)
