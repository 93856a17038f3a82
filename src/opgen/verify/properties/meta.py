"""Meta kernels and fakes say what the real kernel does, also for sizes that are symbols."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from opgen.verify.caller import (
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Outcome,
    Property,
    Result,
    Run,
    leaves,
    significant,
)
from opgen.verify.calls.specs import DTYPES, Call, TensorSpec, at, places, put, tensors
from opgen.verify.properties.common import (
    META,
    TRACING,
    as_dtype,
    changed,
    filled_with,
    first_line,
    layout_variants,
    sizes_of,
    with_sizes,
)
from opgen.verify.subjects import Subject

# Messages that say that there is no Meta kernel, or that it would have to know elements.
_NO_META = (
    *("no fake impl", "no meta", "Meta", "UnsupportedOperator"),
    *("DataDependent", "data-dependent", "data dependent"),
    *("not implemented", "NotImplemented", "Cannot access data", "meta tensor", "is a stub"),
    *("DynamicOutputShape", "not written yet", "no kernel", "doesn't have storage"),
)
# Numbers that the dtype of a tensor cannot hold are checked when they are written.
_NO_NUMBER = ("without overflow",)
# A real kernel that exists for some dtypes only: Meta serves all devices, which may have others.
_NO_DTYPE = ("not implemented for", "not supported for", "is not implemented", "unsupported dtype")


def _has_meta(subject: Subject) -> str:
    if not subject.facts.has_meta:
        return "it has no Meta kernel"
    return ""


def _plans_with_meta(subject: Subject) -> str:
    if subject.returns_tensors and all(r.is_write for r in subject.schema.returns):
        return "it returns only what it writes: Meta has nothing to plan"
    if not subject.returns_tensors:
        return "it returns no tensors"
    return _has_meta(subject)


def _returns_with_meta(subject: Subject) -> str:
    if not subject.returns_tensors:
        return "it returns no tensors"
    return _has_meta(subject)


def is_about_meta(error: BaseException) -> bool:
    """Whether an exception says that Meta cannot know the result."""
    text = f"{type(error).__name__}: {error}"
    return isinstance(error, NotImplementedError) or any(words in text for words in _NO_META)


def _meta(case: Case, call: Call) -> tuple[Result, ...]:
    """Return what Meta says about a call."""
    found = case.run(call, "meta")
    if found.error is None:
        return found.results
    if is_about_meta(found.error):
        raise NotApplicable("Meta cannot know the result")
    raise NotTested(f"Meta refuses it: {found.message}")


def _pairs(case: Case, call: Call, found: Outcome) -> Iterator[tuple[Result, Result]]:
    if found.error is not None:
        raise NotTested("it refuses the call")
    meta = _meta(case, call)
    if len(meta) != len(found.results):
        return
    for one, other in zip(found.results, meta):
        if one.described is not None and other.described is not None:
            yield one, other


def _meta_shape(case: Case) -> Iterator[Finding]:
    found = case.base
    for one, other in _pairs(case, case.call, found):
        assert one.described is not None and other.described is not None
        if one.described.shape != other.described.shape:
            yield case.finding(
                f"{one.label} has shape {list(one.described.shape)}; Meta says {list(other.described.shape)}"
            )
            return
    if len(found.results) != len(_meta(case, case.call)):
        yield case.finding(
            f"returns {len(found.results)} tensors; Meta returns {len(_meta(case, case.call))}"
        )


def _meta_dtype(case: Case) -> Iterator[Finding]:
    """For every dtype of the tensors that have the dtype of the first one."""
    first = next((spec.dtype for _, spec in case.tensors()), "")
    tried = False
    for dtype in (first, *(d for d in DTYPES if d != first)):
        call = case.call
        if dtype != first:
            same = [place for place, spec in case.tensors() if spec.dtype == first]
            call = changed(call, same, lambda spec, dtype=dtype: as_dtype(spec, dtype))  # type: ignore[misc]
        found = case.base if dtype == first else case.run(call)
        if found.error is not None:
            continue
        try:
            pairs = list(_pairs(case, call, found))
        except NotTested:
            continue
        tried = True
        for one, other in pairs:
            assert one.described is not None and other.described is not None
            if one.described.dtype != other.described.dtype:
                yield case.finding(
                    f"{one.label} has dtype {one.described.dtype}; Meta says {other.described.dtype}",
                    Run("call", call),
                )
                return
    if not tried:
        raise NotTested("Meta refuses every dtype")


def _meta_strides(case: Case) -> Iterator[Finding]:
    calls = [("dense inputs", case.call)]
    names: dict[str, None] = {}
    for _, spec in case.read_only():
        names.update(dict.fromkeys(name for name, _ in layout_variants(spec)))
    for name in names:
        call = dict(case.call)
        for place, spec in case.tensors():
            variant = dict(layout_variants(spec)).get(name)
            if variant is not None and place[0] not in case.subject.outs:
                call = put(call, place, variant)
        calls.append((f"inputs {name}", call))
    for how, call in calls:
        try:
            found = case.base if call is case.call else case.run(call)
            pairs = list(_pairs(case, call, found))
        except NotImplementedError:
            # A package without as_strided.
            continue
        except NotTested:
            if call is case.call:
                raise
            continue
        for one, other in pairs:
            assert one.described is not None and other.described is not None
            if one.described.shape != other.described.shape:
                continue
            if significant(one.described) != significant(other.described):
                yield case.finding(
                    f"{how}: {one.label} has strides {list(one.described.strides)}; "
                    f"Meta says {list(other.described.strides)}",
                    Run(how, call),
                )
                return


def _other_elements(call: Call) -> Iterator[Call]:
    """Yield the call with other elements: what a kernel refuses for all of them, it does not refuse for elements."""
    yield changed(call, list(places(call)), lambda spec: filled_with(spec, 0))
    yield changed(call, list(places(call)), lambda spec: filled_with(spec, 1))
    yield changed(
        call,
        list(places(call)),
        lambda spec: replace(spec, values=None, fill=replace(spec.fill, seed=spec.fill.seed + 1)),
    )


def _meta_refuses(case: Case) -> Iterator[Finding]:
    real = case.run()
    meta = case.run(how="meta")
    if real.error is None and meta.error is not None:
        if is_about_meta(meta.error):
            raise NotApplicable("Meta cannot know the result")
        yield case.finding(f"Meta refuses what the kernel accepts: {meta.message}")
        return
    if real.error is None or meta.error is not None:
        return
    text = str(real.error)
    if any(words in text for words in _NO_DTYPE) or isinstance(real.error, NotImplementedError):
        raise NotTested("the kernel does not have the dtype")
    if any(words in text for words in _NO_NUMBER):
        raise NotTested("a number does not fit into the dtype")
    if isinstance(real.error, MemoryError):
        raise NotTested("there is not enough memory")
    is_made = case.subject.domain.make is not None
    if is_made and any(spec.is_integer for spec in tensors(case.call)):
        raise NotTested("the kernel may refuse it for an index")
    for other in () if is_made else _other_elements(case.call):
        if case.run(other).error is None:
            raise NotTested("the kernel refuses it for its elements")
    yield case.finding(f"Meta accepts what the kernel refuses: {real.message}")


# Symbols.


def _torch(case: Case) -> Any:
    return importlib.import_module("torch")


def _is_traceable(subject: Subject) -> str:
    if not subject.schema.arguments.has_tensor_arg():
        return "it takes no tensors"
    if subject.is_out or "inplace_view" in subject.facts.tags:
        return "programs are traced without it"
    return _has_meta(subject)


class _Symbols:
    """Fake tensors whose sizes are symbols, one for each size above 1 of a call."""

    def __init__(self, case: Case, *, backed: bool) -> None:
        shapes: Any = importlib.import_module("torch.fx.experimental.symbolic_shapes")
        fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
        self.env = shapes.ShapeEnv()
        self.mode = fake.FakeTensorMode(shape_env=self.env, allow_non_fake_inputs=False)
        self.torch = _torch(case)
        self.sympy: Any = importlib.import_module("sympy")
        self.symbols: dict[int, Any] = {}
        source: Any = importlib.import_module("torch._dynamo.source").ConstantSource
        for size in sizes_of(case.call) if backed else ():
            name = f"size_{size}"
            symbol = self.env.create_symbol(
                size,
                source(name),
                shapes.DimDynamic.DYNAMIC,
                constraint_dim=None,
            )
            self.symbols[size] = self.env.create_symintnode(symbol, hint=size, source=source(name))
        self.backed = backed

    def _size(self, size: int) -> Any:
        if self.backed or size < 2:
            return self.symbols.get(size, size)
        # Each size of each tensor is another number: whether two are equal is known when the program runs.
        symint = self.env.create_unbacked_symint()
        self.torch._check(symint >= 0)
        return symint

    def tensor(self, backend: Any, spec: TensorSpec) -> Any:
        shape = [self._size(size) for size in spec.shape]
        dtype = backend._dtypes[spec.dtype]
        with self.mode:
            return self.torch.empty(shape, dtype=dtype, device="cpu")

    def value(self, backend: Any, value: Any) -> Any:
        if isinstance(value, TensorSpec):
            return self.tensor(backend, value)
        if isinstance(value, list | tuple):
            return [self.value(backend, item) for item in value]
        return backend.other(value)

    def at(self, number: Any, sizes: Mapping[int, int]) -> Any:
        """Return the value of an expression for other sizes."""
        if isinstance(number, int):
            return number
        node = getattr(number, "node", None)
        expression = node.expr if node is not None else number
        return int(expression.xreplace(self._substitution(sizes)))

    def holds(self, guard: Any, sizes: Mapping[int, int]) -> bool:
        found = guard.xreplace(self._substitution(sizes))
        return bool(found)

    def _substitution(self, sizes: Mapping[int, int]) -> dict[Any, Any]:
        return {
            symint.node._expr: self.sympy.Integer(sizes.get(size, size))
            for size, symint in self.symbols.items()
        }


def _can_change(case: Case, size: int) -> bool:
    """Whether the kernel accepts another size in the place of this one: a box may have 4 numbers, and no others."""
    calls = [
        with_sizes(case.call, {size: other}) for other in (size + 1, size + 2, size - 1, 2 * size)
    ]
    return any(case.run(call).error is None for call in calls)


def _symbolic(case: Case) -> Iterator[Finding]:
    sizes = sizes_of(case.call)
    if not sizes or case.base.error is not None:
        raise NotTested("no size is above 1")
    symbols = _Symbols(case, backed=True)
    try:
        with symbols.mode:
            given = {n: symbols.value(case.backend, v) for n, v in case.call.items()}
            returned = case.subject.call(given)
    except Exception as error:
        if is_about_meta(error):
            if "Cannot call sizes() on tensor with symbolic" in str(error):
                yield case.finding(f"sizes cannot be symbols: {first_line(error)}")
                return
            raise NotApplicable("Meta cannot know the result") from None
        if "symbolic sizes" in str(error):
            yield case.finding(f"sizes cannot be symbols: {first_line(error)}")
            return
        raise NotTested(f"Meta refuses it: {first_line(error)}") from None
    for size, symint in symbols.symbols.items():
        fixed = symbols.env.replacements.get(symint.node._expr)
        if fixed is not None and fixed.is_number:
            if not _can_change(case, size):
                raise NotApplicable(f"it takes no other size than {size}")
            yield case.finding(
                f"size {fixed} is specialized: a graph for sizes {sizes} works for no others",
                Run("traced", case.call),
            )
            return
    tried = 0
    for other in _other_sizes(sizes):
        broken = [g.expr for g in symbols.env.guards if not symbols.holds(g.expr, other)]
        if len(set(other.values())) < len(other):
            # Sizes that were different are equal: a comparison of two sizes is another graph, rightly.
            broken = [
                expr
                for expr in broken
                if len(expr.free_symbols) < 2
                or (
                    not isinstance(expr, symbols.sympy.Eq)
                    and not isinstance(expr, symbols.sympy.Ne)
                )
            ]
        if not broken and tried >= (2 if case.mode == "quick" else 4):
            continue
        call = with_sizes(case.call, other)
        real = case.run(call)
        if real.error is not None:
            continue
        tried += 1
        named = ", ".join(f"{a} becomes {b}" for a, b in other.items())
        if broken:
            yield case.finding(
                f"a graph for sizes {sizes} does not work for others ({named}): it is specialized by {broken[0]}",
                Run("traced", case.call),
                Run("with other sizes", call),
            )
            return
        yield from _symbolic_results(case, symbols, returned, real, other, named, call)
    if not tried:
        raise NotTested("no other sizes are accepted")


def _symbolic_results(
    case: Case,
    symbols: _Symbols,
    returned: Any,
    real: Outcome,
    other: Mapping[int, int],
    named: str,
    call: Call,
) -> Iterator[Finding]:
    for (label, traced), result in zip(leaves(case.subject, returned), real.results):
        if result.described is None or not case.backend.is_tensor(traced):
            continue
        try:
            shape = tuple(symbols.at(size, other) for size in traced.shape)
            strides = tuple(symbols.at(step, other) for step in traced.stride())
        except (TypeError, ValueError):
            continue
        if shape != result.described.shape:
            yield case.finding(
                f"traced with symbols, {label} has shape {list(shape)} ({named}); "
                f"the kernel returns {list(result.described.shape)}",
                Run("traced", case.call),
                Run("with other sizes", call),
            )
            return
        described = replace(result.described, strides=strides)
        if significant(described) != significant(result.described):
            yield case.finding(
                f"traced with symbols, {label} has strides {list(strides)} ({named}); "
                f"the kernel returns {list(result.described.strides)}",
                Run("traced", case.call),
                Run("with other sizes", call),
            )
            return


def _other_sizes(sizes: list[int]) -> Iterator[dict[int, int]]:
    """Yield other sizes for each size: larger, smaller, with other remainders. Different sizes stay different."""
    yield {size: size + 3 + 2 * index for index, size in enumerate(sizes)}
    yield {size: 2 * size for size in sizes}
    yield {size: max(2, size - 1) for size in sizes}
    yield dict.fromkeys(sizes, 2)
    for first in (2, 3, 4, 5, 6, 8, 11, 16, 33, 64):
        yield {size: first + 3 * index for index, size in enumerate(sizes)}
        yield {size: first + 3 * (len(sizes) - 1 - index) for index, size in enumerate(sizes)}


def _unbacked(case: Case) -> Iterator[Finding]:
    if not sizes_of(case.call):
        raise NotTested("no size is above 1")
    symbols = _Symbols(case, backed=False)
    try:
        with symbols.mode:
            given = {n: symbols.value(case.backend, v) for n, v in case.call.items()}
            case.subject.call(given)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if "GuardOnDataDependent" in text or "Could not guard on data-dependent" in text:
            yield case.finding(f"asks about a size that depends on data: {first_line(error)}")
            return
        if "symbolic sizes" in text:
            yield case.finding(f"sizes cannot be symbols: {first_line(error)}")
            return
        if is_about_meta(error):
            raise NotApplicable("Meta cannot know the result") from None
        raise NotTested(f"Meta refuses it: {first_line(error)}") from None


def _fake(case: Case) -> Iterator[Finding]:
    if case.base.error is not None:
        raise NotTested("it refuses the call")
    fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
    mode = fake.FakeTensorMode(allow_non_fake_inputs=False)

    def value(value: Any) -> Any:
        if isinstance(value, TensorSpec):
            return mode.from_tensor(case.backend.fresh(value))
        if isinstance(value, list | tuple):
            return [value_(item) for item in value]
        return case.backend.other(value)

    value_: Callable[[Any], Any] = value
    try:
        with mode:
            returned = case.subject.call({n: value(v) for n, v in case.call.items()})
    except Exception as error:
        if is_about_meta(error):
            raise NotApplicable("a fake cannot know the result") from None
        yield case.finding(f"fake tensors are refused: {first_line(error)}")
        return
    for (label, item), real in zip(leaves(case.subject, returned), case.base.results):
        if real.described is None or not case.backend.is_tensor(item):
            continue
        described = case.backend.describe(item)
        for what, one, other in (
            ("shape", described.shape, real.described.shape),
            ("dtype", described.dtype, real.described.dtype),
            ("device", described.device, real.described.device),
        ):
            if one != other:
                yield case.finding(
                    f"{label} of a fake call has {what} {one}; the real one has {other}"
                )
                return
        if significant(described) != significant(real.described):
            yield case.finding(
                f"{label} of a fake call has strides {list(described.strides)}; "
                f"the real one has {list(real.described.strides)}"
            )
            return


__all__ = ["PROPERTIES", "at", "is_about_meta"]

_META = 'm.impl("f", f_meta);  // for the key Meta'
PROPERTIES = (
    Property(
        "V0130",
        _meta_shape,
        _returns_with_meta,
        quickly=5,
        enough=20,
        imports=META,
    ),
    Property(
        "V0131",
        _meta_strides,
        _returns_with_meta,
        quickly=4,
        enough=16,
        imports=META,
    ),
    Property(
        "V0132",
        _meta_dtype,
        _returns_with_meta,
        quickly=5,
        enough=20,
        imports=META,
    ),
    Property(
        "V0133",
        _meta_refuses,
        _plans_with_meta,
        quickly=10,
        enough=40,
        refused="also",
        imports=META,
    ),
    Property(
        "V0134",
        _symbolic,
        _is_traceable,
        quickly=2,
        enough=8,
        kinds=("torch",),
        cost=2,
        imports=TRACING,
    ),
    Property(
        "V0135",
        _unbacked,
        _is_traceable,
        quickly=1,
        enough=4,
        kinds=("torch",),
        cost=2,
        imports=TRACING,
    ),
    Property(
        "V0136",
        _fake,
        _is_traceable,
        quickly=2,
        enough=8,
        kinds=("torch",),
        imports=META,
    ),
)
