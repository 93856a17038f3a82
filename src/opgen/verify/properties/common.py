"""What several families of properties use."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import prod as product
from typing import Any

from opgen.gradtest.calls import each
from opgen.model.types import BaseTy
from opgen.verify.caller import (
    PATTERNS,
    Caller,
    Case,
    NotTested,
    Outcome,
    differ,
    leaves,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec
from opgen.verify.memory.guard import Guard
from opgen.verify.subjects import Subject

# In the refusal of arguments that no overload takes, by opgen's packages.
NO_SIGNATURE = "signature:"

# What PyTorch imports when it first computes a gradient, calls a Meta kernel of its own, computes a tangent, or traces.
GRADIENTS = ("torch.fx.experimental.symbolic_shapes",)
META = ("torch._dynamo",)
TANGENTS = (*META, "torch._decomp.decompositions_for_jvp")
TRACING = ("torch._dynamo", "torch.export._trace", "torch._functorch.partitioners")


def names_of_layouts(found: Iterable[TensorSpec]) -> list[str]:
    """Return the names of all layouts that one of the tensors can have."""
    return list(dict.fromkeys(name for spec in found for name, _ in layout_variants(spec)))


def in_layout(call: Call, found: Iterable[Place], name: str) -> Call:
    """Return the call with the tensors at some places in a layout, if they can have it."""
    return specs.changed(call, found, lambda spec: dict(layout_variants(spec)).get(name, spec))


def layout_variants(spec: TensorSpec) -> Iterator[tuple[str, TensorSpec]]:
    """Yield layouts with other strides, each with its name."""
    if spec.count == 0 or not spec.shape:
        return
    yield "with gaps between elements", specs.gapped(spec)
    if len(spec.shape) > 1:
        yield "with its dimensions in another order", specs.transposed(spec)
        yield "with gaps between rows", specs.padded(spec)
    if len(spec.shape) > 2:
        yield "with its last dimension outermost", specs.rotated(spec)


def differ_in_bits(one: Outcome, other: Outcome) -> str | None:
    """Return how two outcomes differ; None if they do not, or a call was refused."""
    if one.error is not None or other.error is not None:
        return None
    return differ(one.everything, other.everything, exact=True)


def new_memory_shows(case: Case, guard: Guard, call: Call) -> str | None:
    """Return how the outcome of a call depends on what new memory contains; None if it does not."""
    outcomes = []
    for pattern in PATTERNS:
        guard.bytes_(pattern, PATTERNS[0])
        outcomes.append(case.run(call, watch=True))
    guard.bytes_(*PATTERNS)
    return differ_in_bits(*outcomes)


def remember(outcome: Outcome) -> None:
    """Have the blocks of a call keep a copy of their bytes."""
    for block in outcome.blocks.values():
        block.remember()


# The first size of calls that grow, the next ones as multiples, and how many seconds a call may take.
_FIRST, _FACTOR = 1024, 8
_SECONDS = {"quick": 0.1, "default": 0.25, "thorough": 0.5}


def enlarged(case: Case, elements_: int) -> Call | None:
    """Return the call with a larger size, so that its largest tensor has about so many elements, or None.

    It has fewer if smaller calls take long: the time grows on as it has grown, at first as the square of the elements.
    """
    call, count, last = None, 0, 0.0
    while count < elements_:
        count = min(count * _FACTOR or _FIRST, elements_)
        larger = _with_elements(case, count)
        if larger is None:
            break
        call = larger
        # What takes long for the first time may not the second time.
        for _ in range(2):
            started = time.process_time()
            case.run(larger)
            spent = time.process_time() - started
            growth = max(spent / last, _FACTOR) if last else _FACTOR**2
            if spent * growth <= _SECONDS[case.mode]:
                break
        else:
            break
        last = spent
    return call


def _with_elements(case: Case, elements_: int) -> Call | None:
    """Return the call with about so many elements.

    The largest size that occurs in the largest tensor grows, with all sizes that equal it. Results count, too: that of
    [9, 1] and [1, 9] grows as the square.
    """
    call = case.call
    shapes = [spec.shape for spec in specs.tensors(call)]
    known = {size for shape in shapes for size in shape}
    shapes += [r.described.shape for r in case.base.results if r.described is not None]
    largest = max(shapes, key=product, default=())
    grown = [size for size in largest if size > 1 and size in known]
    if not grown or product(largest) == 0:
        return None
    chosen = max(grown)
    power = sum(size == chosen for size in largest)
    rest = product(largest) / chosen**power
    size = max(math.ceil((elements_ / rest) ** (1 / power)), chosen)
    grown_shapes = ([size if s == chosen else s for s in shape] for shape in shapes)
    if any(product(shape) > 8 * elements_ for shape in grown_shapes):
        return None
    return specs.with_sizes(call, {chosen: size})


def with_outs(caller: Caller, subject: Subject, call: Mapping[str, Any]) -> Call:
    """Return the call with out arguments of the shapes and dtypes that the functional variant returns.

    Their elements are from 5 to 6, so that it shows which are not written. Without such a variant, the call stays as it is.
    Raises NotTested if the variant refuses the call, or returns no tensor.
    """
    functional = subject.functional
    made = {name: value for name, value in call.items() if name not in subject.outs}
    if not subject.outs or functional is None:
        return dict(call)
    found = caller.run(functional, made)
    if found.error is not None:
        raise NotTested(f"the functional variant refuses it: {found.message}")
    returned = [found.returned] if len(functional.schema.returns) == 1 else list(found.returned)
    for index, (name, value) in enumerate(zip(subject.outs, returned)):
        made[name] = each(partial(_like, caller, specs.Fill(index + 1, 5, 6)), value)
    return made


def _like(caller: Caller, fill: specs.Fill, value: Any) -> Any:
    if not caller.backend.is_tensor(value):
        raise NotTested("the result is no tensor")
    described = caller.backend.describe(value)
    return TensorSpec(described.dtype, described.shape, fill)


def program_of(case: Case, call: Call) -> tuple[Callable[..., Any], list[Any]]:
    """Return a program that calls the operator on copies of its tensors, and what it takes.

    It takes the tensors, lists of tensors, and integers that may be symbols. It returns the tensors that the operator
    returns, and those that it has written.
    """
    subject, backend = case.subject, case.backend
    given = case.caller.build(call)
    symbolic = {a.name for a in subject.arguments if a.type.is_base_ty_like(BaseTy.SymInt)}

    def is_input(name: str, value: Any) -> bool:
        values = value if isinstance(value, list) else [value]
        has_integers = name in symbolic and all(type(item) is int for item in values)
        return has_integers or (bool(values) and all(map(backend.is_tensor, values)))

    inputs = {name: value for name, value in given.items() if is_input(name, value)}
    written = [name for name in subject.written if name in inputs]

    def program(*values: Any) -> Any:
        # torch.compile traces this.
        made = dict(zip(inputs, values))
        for name in written:
            made[name] = each(lambda t: t.clone(), made[name])
        returned = subject.call({**given, **made})
        found = [v for _, v in leaves(subject, returned) if backend.is_tensor(v)]
        for name in written:
            found += made[name] if isinstance(made[name], list) else [made[name]]
        return tuple(found)

    return program, list(inputs.values())


def has_differentiable(call: Call) -> bool:
    """Whether a tensor of the call has real or complex numbers."""
    return any(spec.is_differentiable for spec in specs.tensors(call))


def has_tensors(call: Call) -> bool:
    """Whether the call has a tensor."""
    return bool(specs.tensors(call))
