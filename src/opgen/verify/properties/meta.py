"""Meta kernels and fakes say what the real kernel does, also for sizes that are symbols."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from opgen.gradtest.backends import first_line
from opgen.model.types import BaseTy
from opgen.verify.backends.base import Described
from opgen.verify.caller import (
    Case,
    Finding,
    NotApplicable,
    NotTested,
    Outcome,
    Property,
    Result,
    leaves,
    place_text,
    significant,
)
from opgen.verify.calls import specs
from opgen.verify.calls.specs import Call, Place, TensorSpec, at, put, sizes_of, with_sizes
from opgen.verify.properties import common
from opgen.verify.properties.common import META, TRACING, has_tensors, program_of
from opgen.verify.subjects import HAS_META, RETURNS_TENSORS, TAKES_TENSORS, Need

# Messages that say that there is no Meta kernel, or that it would have to know elements.
_NO_META = (
    *("no fake impl", "no meta", "Meta", "UnsupportedOperator"),
    *("DataDependent", "data-dependent", "data dependent"),
    *("not implemented", "NotImplemented", "Cannot access data", "meta tensor", "is a stub"),
    *("DynamicOutputShape", "not written yet", "no kernel", "doesn't have storage"),
)
# Why a kernel may refuse what Meta accepts, by what it says. Meta serves all devices, which may have other dtypes.
_REFUSED_RIGHTLY = {
    (
        *("not implemented for", "not supported for", "is not implemented", "unsupported dtype"),
        "NotImplementedError",
    ): "the kernel does not have the dtype",
    ("pin_memory", "pinned memory"): "the machine has no accelerator",
    ("without overflow",): "a number does not fit into the dtype",
}


_RETURNS_WITH_META = (RETURNS_TENSORS, HAS_META)
_PLANS_WITH_META: tuple[Need, ...] = (
    (
        lambda s: not s.returns_tensors or not all(r.is_write for r in s.schema.returns),
        "it returns only what it writes: Meta has nothing to plan",
    ),
    (
        lambda s: not (s.returns_tensors and s.facts.is_composite),
        "it is composite: the operators that it calls check their arguments",
    ),
    *_RETURNS_WITH_META,
)
_TRACEABLE: tuple[Need, ...] = (
    TAKES_TENSORS,
    (
        lambda s: not (s.is_out or "inplace_view" in s.facts.tags),
        "programs are traced without it",
    ),
    HAS_META,
)


def is_about_meta(error: BaseException) -> bool:
    """Whether an exception says that Meta cannot know the result."""
    text = f"{type(error).__name__}: {error}"
    return isinstance(error, NotImplementedError) or any(words in text for words in _NO_META)


def _meta(case: Case, call: Mapping[str, Any]) -> tuple[Result, ...]:
    """Return what Meta says about a call."""
    found = case.run(call, "meta")
    if found.error is None:
        return found.results
    if is_about_meta(found.error):
        raise NotApplicable("Meta cannot know the result")
    raise NotTested(f"Meta refuses it: {found.message}")


# What two descriptions of a tensor say of it; strides count where a dimension has several elements.
_KINDS: Mapping[str, Callable[[Described], Any]] = {
    "shape": lambda d: d.shape,
    "dtype": lambda d: d.dtype,
    "device": lambda d: d.device,
    "strides": significant,
}


def _unlike(one: Described, other: Described, *kinds: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield in what two descriptions differ, and what they say."""
    for kind in kinds:
        if _KINDS[kind](one) != _KINDS[kind](other):
            a, b = getattr(one, kind), getattr(other, kind)
            yield (kind, list(a), list(b)) if isinstance(a, tuple) else (kind, a, b)


def _as_meta(case: Case, found: Outcome, kind: str, how: str = "") -> Iterator[Finding]:
    """Compare the tensors that a call returns with what Meta says about them."""
    case.need_accepted(found)
    meta = _meta(case, found.call)
    if len(meta) != len(found.results):
        return
    for one, other in zip(found.results, meta):
        a, b = one.described, other.described
        if a is None or b is None or (kind == "strides" and a.shape != b.shape):
            continue
        for what, real, said in _unlike(a, b, kind):
            text = f"{how}{one.label} has {what} {real}; Meta says {said}"
            yield case.finding(text, found)


def _meta_shape(case: Case) -> Iterator[Finding]:
    yield from _as_meta(case, case.base, "shape")
    count, said = len(case.base.results), len(_meta(case, case.call))
    if count != said:
        yield case.finding(f"returns {count} tensors; Meta returns {said}")


def _meta_dtype(case: Case) -> Iterator[Finding]:
    """For every dtype of the tensors that have the dtype of the first one."""
    dtypes = {place: spec.dtype for place, spec in case.tensors().items()}
    first = next(iter(dtypes.values()), "")
    same = [place for place, dtype in dtypes.items() if dtype == first]
    for dtype in (first, *(d for d in specs.DTYPES if d != first)):
        found = case.base
        if dtype != first:
            call = specs.changed(case.call, same, partial(specs.as_dtype, dtype=dtype))
            found = case.run(call)
        with contextlib.suppress(NotTested):
            yield from _as_meta(case, found, "dtype")
            case.is_tried = True
    case.need(case.is_tried, "Meta refuses every dtype")


def _meta_strides(case: Case) -> Iterator[Finding]:
    yield from _as_meta(case, case.base, "strides", "dense inputs: ")
    for name in common.names_of_layouts(case.read_only().values()):
        # A package may have no as_strided.
        with contextlib.suppress(NotImplementedError, NotTested):
            found = case.run(common.in_layout(case.call, case.inputs(), name))
            yield from _as_meta(case, found, "strides", f"inputs {name}: ")


def _other_elements(call: Call) -> Iterator[Call]:
    """Yield the call with other elements: what a kernel refuses for all of them, it does not refuse for elements."""
    yield specs.each_tensor(call, lambda spec: specs.filled_with(spec, 0))
    yield specs.each_tensor(call, lambda spec: specs.filled_with(spec, 1))
    yield specs.each_tensor(
        call,
        lambda spec: replace(spec, values=None, fill=replace(spec.fill, seed=spec.fill.seed + 1)),
    )


# Beyond 32 bits: kernels that store a number in fewer bits see another one, which they accept.
_LARGE = (2**31, 2**32, -(2**31) - 1)


def _large_numbers(case: Case) -> Iterator[Finding]:
    """Numbers that Meta refuses, the kernel refuses, too. Those that Meta accepts may take long, or all of the memory."""
    for name, value in case.call.items():
        if type(value) is int and case.subject.domain.arguments.get(name) is None:
            for number in dict.fromkeys((*(2**32 + value, value - 2**32), *_LARGE)):
                call = {**case.call, name: number}
                meta = case.run(call, "meta")
                if meta.error is None or is_about_meta(meta.error):
                    continue
                found = case.run(call)
                if found.error is None:
                    text = (
                        f"Meta refuses {name}={number}, and the kernel accepts it: {meta.message}"
                    )
                    yield case.finding(text, found)


def _meta_refuses(case: Case) -> Iterator[Finding]:
    if not case.refused:
        yield from _large_numbers(case)
    real = case.run()
    meta = case.run(how="meta")
    if real.error is None and meta.error is not None:
        if is_about_meta(meta.error):
            raise NotApplicable("Meta cannot know the result")
        yield case.finding(f"Meta refuses what the kernel accepts: {meta.message}")
    if real.error is None or meta.error is not None:
        return
    text = f"{type(real.error).__name__}: {real.error}"
    for words, why in _REFUSED_RIGHTLY.items():
        case.need(not any(word in text for word in words), why)
    is_made = case.subject.domain.make is not None
    has_indices = any(spec.is_integer for spec in specs.tensors(case.call))
    is_of_index = has_indices and (is_made or isinstance(real.error, IndexError))
    case.need(not is_of_index, "the kernel may refuse it for an index")
    for other in () if is_made else _other_elements(case.call):
        case.need(case.run(other).error, "the kernel refuses it for its elements")
    yield case.finding(f"Meta accepts what the kernel refuses: {real.message}")


# Symbols.


# Tensors with more elements take long.
_MOST_ELEMENTS = 4096
# What a trace that needs the value of an unbacked symbol says.
_ASKS = ("GuardOnDataDependent", "Could not guard on data-dependent", "data-dependent expression")


def _graphs(case: Case, calls: Sequence[Call], *, unbacked: bool = False) -> int:
    """Return how many graphs torch.compile makes for calls with dynamic sizes; it throws what the compiler throws.

    Each size above 1 is a symbol of its own: with `unbacked`, one without a value.
    """
    torch = case.backend.module
    shapes: Any = importlib.import_module("torch.fx.experimental._config")
    count = 0

    def backend(graph: Any, _: Any) -> Any:
        nonlocal count
        count += 1
        return graph

    torch._dynamo.reset()
    try:
        with (
            warnings.catch_warnings(),
            shapes.patch(use_duck_shape=False),
            torch._dynamo.config.patch(error_on_recompile=False),
        ):
            warnings.simplefilter("ignore")
            compiled = None
            for call in calls:
                program, inputs = program_of(case, call)
                if compiled is None:
                    compiled = torch.compile(program, backend=backend, fullgraph=True, dynamic=True)
                for value in specs.flat(inputs) if unbacked else ():
                    for dim, size in enumerate(getattr(value, "shape", ())):
                        if size > 1:
                            torch._dynamo.decorators.mark_unbacked(value, dim)
                case.caller.progress()
                compiled(*inputs)
    finally:
        torch._dynamo.reset()
    return count


def _is_specialized(case: Case, other: Call) -> bool:
    """Whether torch.compile makes a second graph for another call, or none at all."""
    try:
        return _graphs(case, [case.call, other]) > 1
    except Exception as error:
        return "symbolic" in str(error) or "specializ" in str(error)


def _is_asking(error: Exception) -> bool:
    return any(words in f"{type(error).__name__}: {error}" for words in _ASKS)


class _Symbols:
    """Fake tensors whose sizes are symbols, one for each size above 1 of a call, and one for each SymInt above 1."""

    def __init__(self, case: Case, *, backed: bool) -> None:
        shapes: Any = importlib.import_module("torch.fx.experimental.symbolic_shapes")
        fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
        self.env = shapes.ShapeEnv()
        self.mode = fake.FakeTensorMode(shape_env=self.env, allow_non_fake_inputs=False)
        self.torch = case.backend.module
        self.sympy: Any = importlib.import_module("sympy")
        self.symbols: dict[int, Any] = {}
        self.numbers: dict[Place, Any] = {}
        source: Any = importlib.import_module("torch._dynamo.source").ConstantSource

        def symbol(name: str, value: int) -> Any:
            made = self.env.create_symbol(
                value,
                source(name),
                shapes.DimDynamic.DYNAMIC,
                constraint_dim=None,
            )
            return self.env.create_symintnode(made, hint=value, source=source(name))

        for size in sizes_of(case.call) if backed else ():
            self.symbols[size] = symbol(f"size_{size}", size)
        for place, number in _numbers(case) if backed else ():
            self.numbers[place] = symbol(f"{place[0]}_{place[1]}", number)
        self.backed = backed

    def call(self, case: Case) -> Any:
        """Call the operator with symbols. Raises what it throws, but NotApplicable or NotTested if Meta cannot do it."""
        given = {n: case.backend.made(v, self.tensor) for n, v in case.call.items()}
        for place, symint in self.numbers.items():
            given = put(given, place, symint)
        # As torch.compile does: what PyTorch decomposes in Python is decomposed.
        dispatch: Any = importlib.import_module("torch._dispatch.python")
        try:
            with self.mode, dispatch.enable_python_dispatcher():
                return case.subject.call(given)
        except Exception as error:
            if _is_asking(error) or "symbolic sizes" in str(error):
                raise
            if is_about_meta(error):
                raise NotApplicable("Meta cannot know the result") from None
            raise NotTested(f"Meta refuses it: {first_line(error)}") from None

    def _size(self, size: int) -> Any:
        if self.backed or size < 2:
            return self.symbols.get(size, size)
        if size not in self.symbols:
            self.symbols[size] = self.env.create_unbacked_symint()
            self.torch._check(self.symbols[size] >= 0)
        # Equal sizes are one symbol: an operator may ask whether two tensors have the same shape.
        return self.symbols[size]

    def tensor(self, spec: TensorSpec) -> Any:
        shape, dtype = map(self._size, spec.shape), getattr(self.torch, spec.dtype)
        with self.mode:
            return self.torch.empty(list(shape), dtype=dtype, device="cpu")

    def at(self, number: Any, values: Mapping[Any, Any]) -> Any:
        """Return the value of an expression for other values of the symbols."""
        if isinstance(number, int):
            return number
        node = getattr(number, "node", None)
        expression = node.expr if node is not None else number
        return int(expression.xreplace(values))

    def values(self, call: Call, sizes: Mapping[int, int]) -> dict[Any, Any]:
        """Return the values of the symbols in a call with other sizes and numbers."""
        found = {s.node._expr: sizes.get(size, size) for size, s in self.symbols.items()}
        found |= {s.node._expr: at(call, place) for place, s in self.numbers.items()}
        return {symbol: self.sympy.Integer(value) for symbol, value in found.items()}


def _numbers(case: Case) -> Iterator[tuple[Place, int]]:
    """Yield the numbers above 1 that are SymInts, and where they are."""
    for argument in case.subject.arguments:
        if not argument.type.is_base_ty_like(BaseTy.SymInt) or argument.name not in case.call:
            continue
        value = case.call[argument.name]
        each = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, number in each:
            if isinstance(number, int) and number > 1:
                yield (argument.name, index), number


def _roomy(case: Case) -> Case:
    """Return the case with larger sizes and numbers, where the kernel accepts them.

    What is one less than 2 is 1, which is another graph. A number that equals a size by chance is drawn apart.
    """
    case.need_accepted(case.base)
    sizes = sizes_of(case.call)
    grown = {size: size + 5 for size in sizes if size < 6}
    case = _first_accepted(
        case,
        (
            with_sizes(case.call, other)
            for other in (grown, *({size: to} for size, to in grown.items()))
            if other and not set(other.values()) & (set(sizes) - set(other))
        ),
    )
    for argument in case.subject.arguments:
        name, number = argument.name, case.call.get(argument.name)
        if argument.type.is_base_ty_like(BaseTy.SymInt) and isinstance(number, int) and number < 12:
            case = _first_accepted(case, ({**case.call, name: other} for other in (12, 3)))
    return case


def _first_accepted(case: Case, calls: Iterable[Call]) -> Case:
    """Return the case with the first call that the kernel accepts; as it is if there is none."""
    made = (Case(case.caller, case.subject, call, mode=case.mode) for call in calls)
    return next((each for each in made if each.base.error is None), case)


def _symbolic(case: Case) -> Iterator[Finding]:
    case = _roomy(case)
    sizes = sizes_of(case.call)
    symbols = _Symbols(case, backed=True)
    case.need(symbols.symbols or symbols.numbers, "no size and no SymInt is above 1")
    try:
        returned = symbols.call(case)
    except (NotApplicable, NotTested):
        raise
    except Exception as error:
        if "symbolic sizes" not in str(error):
            raise NotApplicable("Meta cannot know the result") from None
        if _is_specialized(case, case.call):
            yield case.finding(f"sizes cannot be symbols: {first_line(error)}")
        return
    numbers: list[tuple[Any, str, int, Callable[[int], Call]]] = [
        (symint, f"size {size}", size, lambda n, size=size: with_sizes(case.call, {size: n}))  # type: ignore[misc]
        for size, symint in symbols.symbols.items()
    ]
    numbers += [
        (symint, place_text(p), at(case.call, p), partial(put, case.call, p))
        for p, symint in symbols.numbers.items()
    ]
    fixed = 0
    for symint, what, number, make in numbers:
        found = symbols.env.replacements.get(symint.node._expr)
        if found is None or not found.is_number:
            continue
        fixed += 1
        # A box may have 4 numbers, and no others.
        others = [n for n in (number + 1, number + 2, number - 1, 2 * number) if n > 1]
        accepted = (call for call in map(make, others) if case.run(call).error is None)
        changed = next(accepted, None)
        if changed is not None and _is_specialized(case, changed):
            yield case.finding(
                f"{what} is specialized: a graph for {found} works for no other number",
                changed,
                case.call,
            )
    case.need_to_apply(fixed < len(numbers), "it takes no other sizes")
    tried = 0
    for other, call in _others(case, symbols):
        values = symbols.values(call, other)
        broken = [g.expr for g in symbols.env.guards if not bool(g.expr.xreplace(values))]
        if 2 in other.values():
            broken = [e for e in broken if not (e.is_Relational and e.rhs in (0, 1))]
        if len(set(other.values())) < len(other):
            # Sizes that were different are equal: a comparison of two sizes is another graph, rightly.
            sympy = symbols.sympy
            broken = [
                expr
                for expr in broken
                if len(expr.free_symbols) < 2 or not isinstance(expr, sympy.Eq | sympy.Ne)
            ]
        if not broken and other and tried >= (2 if case.mode == "quick" else 4):
            continue
        real = case.run(call)
        if real.error is not None or len(real.results) != len(case.base.results):
            # The number of results follows from the sizes: each number is another graph, rightly.
            continue
        tried += 1
        if broken and not _is_specialized(case, call):
            # The compiler guards less than this trace does; each compilation takes long.
            return
        named = ", ".join(
            [f"{a} becomes {b}" for a, b in other.items()]
            or [f"{place_text(p)} becomes {at(call, p)}" for p in symbols.numbers]
        )
        if broken:
            yield case.finding(
                f"a graph for sizes {sizes} does not work for others ({named}): it is specialized by {broken[0]}",
                real,
                case.call,
            )
        yield from _symbolic_results(case, symbols, returned, real, values, named)
    case.need(tried, "no other sizes are accepted")


def _others(case: Case, symbols: _Symbols) -> Iterator[tuple[Mapping[int, int], Call]]:
    """Yield other sizes with the call that has them, and calls with other numbers."""
    for place in symbols.numbers:
        for add in (1, 6):
            yield {}, put(case.call, place, at(case.call, place) + add)
    for other in _other_sizes(list(symbols.symbols)) if symbols.symbols else ():
        call = with_sizes(case.call, other)
        if all(spec.count <= _MOST_ELEMENTS for spec in specs.tensors(call)):
            yield other, call


def _symbolic_results(
    case: Case,
    symbols: _Symbols,
    returned: Any,
    real: Outcome,
    values: Mapping[Any, Any],
    named: str,
) -> Iterator[Finding]:
    for (label, traced), result in zip(leaves(case.subject, returned), real.results):
        known = result.described
        if known is None or not case.backend.is_tensor(traced):
            continue
        try:
            shape = tuple(symbols.at(size, values) for size in traced.shape)
            strides = tuple(symbols.at(step, values) for step in traced.stride())
        except (TypeError, ValueError):
            continue
        pairs = [("shape", shape, known.shape)] if shape != known.shape else []
        if significant(replace(known, strides=strides)) != significant(known):
            pairs.append(("strides", strides, known.strides))
        for what, found, expected in pairs:
            yield case.finding(
                f"traced with symbols, {label} has {what} {list(found)} ({named}); "
                f"the kernel returns {list(expected)}",
                real,
                case.call,
            )


def _other_sizes(sizes: list[int]) -> Iterator[dict[int, int]]:
    """Yield other sizes for each size: larger, smaller, with other remainders. Different sizes mostly stay different.

    Only the last ones are as small as 2: what is one less is 1, and the graph another one, rightly.
    """
    yield {size: size + 3 + 2 * index for index, size in enumerate(sizes)}
    yield {size: 2 * size for size in sizes}
    yield {size: max(3, size - 1) for size in sizes}
    yield dict.fromkeys(sizes, 3)
    for first in (3, 4, 5, 6, 8, 11, 16, 33, 64):
        yield {size: first + 3 * index for index, size in enumerate(sizes)}
        yield {size: first + 3 * (len(sizes) - 1 - index) for index, size in enumerate(sizes)}
    yield dict.fromkeys(sizes, 2)


def _unbacked(case: Case) -> Iterator[Finding]:
    case = _roomy(case)
    case.need(sizes_of(case.call), "no size is above 1")
    try:
        _Symbols(case, backed=False).call(case)
    except (NotApplicable, NotTested):
        raise
    except Exception as error:
        try:
            _graphs(case, [case.call], unbacked=True)
        except Exception as refusal:
            # The compiler refuses sizes without a value, too.
            if _is_asking(refusal) or "symbolic" in f"{type(refusal).__name__}: {refusal}":
                asks = "asks about a size that depends on data"
                why = asks if _is_asking(error) else "sizes cannot be symbols"
                yield case.finding(f"{why}: {first_line(error)}")


def _fake(case: Case) -> Iterator[Finding]:
    case.need_accepted(case.base)
    fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
    mode = fake.FakeTensorMode(allow_non_fake_inputs=False)

    backend = case.backend
    given = {
        name: backend.made(value, lambda spec: mode.from_tensor(backend.fresh(spec)))
        for name, value in case.call.items()
    }
    try:
        with mode:
            returned = case.subject.call(given)
    except Exception as error:
        if is_about_meta(error):
            raise NotApplicable("a fake cannot know the result") from None
        yield case.finding(f"fake tensors are refused: {first_line(error)}")
    for result in case.run(how="meta").results if has_tensors(case.call) else ():
        if result.described is not None and (device := result.described.device) != "meta":
            yield case.finding(f"{result.label} of a call on device meta is on device {device}")
    for (label, item), real in zip(leaves(case.subject, returned), case.base.results):
        if real.described is None or not case.backend.is_tensor(item):
            continue
        described = case.backend.describe(item)
        for what, one, other in _unlike(described, real.described, *_KINDS):
            yield case.finding(f"{label} of a fake call has {what} {one}; the real one has {other}")


_of_meta = partial(Property, needs=_RETURNS_WITH_META, imports=META)
_of_symbols = partial(Property, needs=_TRACEABLE, kinds=("torch",), cost=10, imports=TRACING)
PROPERTIES = (
    _of_meta("V0130", _meta_shape, quickly=5, enough=20),
    _of_meta("V0131", _meta_strides, quickly=4, enough=16),
    _of_meta("V0132", _meta_dtype, quickly=5, enough=20),
    _of_meta("V0133", _meta_refuses, needs=_PLANS_WITH_META, quickly=10, enough=40, refused="also"),
    _of_symbols("V0134", _symbolic, quickly=2, enough=8),
    _of_symbols("V0135", _unbacked, quickly=1, enough=4),
    _of_symbols("V0136", _fake, quickly=2, enough=8, cost=1, imports=META),
)
