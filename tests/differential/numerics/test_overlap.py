"""Two views of the same memory, written and read: rejected where PyTorch rejects them, equal results where it does
not.

Outputs that share memory with an input or with one another must give right results or be rejected, also where
PyTorch's are wrong.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import opgen
from differential.numerics import exceptions
from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw, Refused
from differential.numerics.driver import Handle, Library, OperatorError, TensorResult
from differential.numerics.values import (
    FLOAT32,
    INT64,
    Array,
    TensorValue,
    Value,
    contiguous_strides,
)
from opgen.model.native_function import NativeFunction
from support.library import own_package

COUNT = 3000
PLACES = 24


def _view(random: np.random.Generator, sizes: tuple[int, ...]) -> tuple[list[int], int]:
    """Return strides and an offset within the memory; often those of a dense or transposed matrix."""
    while True:
        strides = [int(step) for step in random.choice((0, 1, 1, 2, 3, 4, 6), len(sizes))]
        offset = int(random.integers(0, 5))
        last = offset + sum((size - 1) * step for size, step in zip(sizes, strides))
        if last < PLACES:
            return strides, offset


def _touched(order: Array, sizes: tuple[int, ...], strides: list[int], offset: int) -> set[int]:
    steps = [step * order.itemsize for step in strides]
    return set(np.ndarray(sizes, order.dtype, order, offset * order.itemsize, steps).flat)


@pytest.mark.usefixtures("torch_installed")
def test_views_that_overlap_are_treated_as_in_pytorch(library: Library) -> None:
    """An operand that is overwritten before it is read gives wrong numbers without an error; one that only lies nearby
    must be accepted.
    """
    torch: Any = importlib.import_module("torch")
    random = np.random.default_rng(5)
    numbers = np.arange(PLACES, dtype=np.float32) + 1
    refused = compared = 0
    for _ in range(COUNT):
        sizes = ((6,), (2, 3), (3, 2), (2, 2, 2))[random.integers(4)]
        places = [_view(random, sizes) for _ in range(2)]
        if random.integers(4) == 0:
            places[1] = places[0]
        memory = torch.from_numpy(numbers.copy())
        to, by = (memory.as_strided(sizes, *place) for place in places)
        base = library.make(numbers.copy())
        ours, other = (library.view(base, sizes, tuple(s), o) for s, o in places)
        try:
            to.mul_(by)
            wanted = memory.numpy()
        except RuntimeError:
            wanted = None
            refused += 1
        what = (sizes, places)
        try:
            library.call_handles("aten::mul_.Tensor", {"self": ours, "other": other})
        except OperatorError as error:
            # PyTorch does not analyse views with gaps; its results are then silently wrong.
            order = np.arange(PLACES)
            written, read = (_touched(order, sizes, *place) for place in places)
            shared = written & read or len(written) < np.prod(sizes)
            assert wanted is None or shared, f"{what}: PyTorch takes it, ours says {error}"
            continue
        assert wanted is not None, f"{what}: PyTorch refuses it"
        # Neither library analyses views with gaps; if they overlap, the result depends on the order
        # of writing.
        order = np.arange(PLACES)
        written, read = (_touched(order, sizes, *place) for place in places)
        once = len(written) == np.prod(sizes)
        if once and (places[0] == places[1] or not written & read):
            compared += 1
            assert (library.tensor(base).array() == wanted).all(), what
    assert compared > COUNT // 20, f"{compared} of {COUNT} results were compared"
    assert COUNT // 10 < refused < COUNT * 9 // 10, f"{refused} of {COUNT} were refused"


# These are right if their first tensor is also the output, as PyTorch's are.
RIGHT = {
    "cumsum.out",
    "triu.out",
    "tril.out",
    "_softmax.out",
    "softmax.int_out",
    "sort.values_stable",
    "add.out",
}
RIGHT |= {"scatter.value_out", "index_add.out", "pow.Scalar_out", "abs.out", "neg.out"}
# Rejected if the sizes are right: PyTorch is silently wrong, or rejects it as well.
REFUSED = {"mm.out", "bmm.out", "cat.out", "gather.out", "amax.out", "sum.IntList_out", "mean.out"}

# Outputs of other sizes are not always resized, as in PyTorch.
KEEP_SIZES = {"linspace", "split_copy"}

INPUTS = 8


def _tensors(library: Library, handles: Mapping[str, Handle]) -> Iterator[tuple[str, Handle]]:
    """Return the tensors among arguments, including those in lists."""
    for name, handle in handles.items():
        for one in (*handle.items, handle) if handle.items else (handle,):
            try:
                library.tensor(one)
            except (AssertionError, OperatorError):
                continue
            yield name, one


def _aliases(library: Library, tensor: Handle, like: TensorResult) -> Iterator[tuple[str, Handle]]:
    """Return views on the storage of a tensor, in most cases with the sizes of a result."""
    yield "itself", tensor
    dense = contiguous_strides(like.sizes)
    for offset, step in ((0, 1), (1, 1), (0, 2), (1, 2)):
        strides = tuple(stride * step for stride in dense)
        try:
            yield f"from {offset} by {step}", library.view(tensor, like.sizes, strides, offset)
        except OperatorError:
            continue  # outside of the storage
    for sizes in ((0,), (1,)):
        try:
            yield f"of sizes {sizes}", library.view(tensor, sizes, (1,), 0)
        except OperatorError:
            continue


def _written(library: Library, handle: Handle) -> list[Array]:
    return [library.tensor(one).array() for one in handle.items or (handle,)]


def _fresh(library: Library, result: Any) -> Handle:
    """Return an output with the sizes and the dtype of a result, or a list of such outputs."""
    if isinstance(result, list):
        return library.make([_fresh(library, one) for one in result])
    sizes = result.sizes
    storage = bytes(int(np.prod(sizes)) * result.dtype.itemsize)
    return library.make(TensorValue(result.dtype, sizes, contiguous_strides(sizes), 0, storage))


class _Aliased:
    """One out= operator with its outputs in the memory of its inputs and of each other."""

    def __init__(self, library: Library, function: NativeFunction, functional: str) -> None:
        self.library = library
        self.name = f"aten::{function.func.name}"
        self.functional = f"aten::{functional}"
        self.outs = [out.name for out in function.func.arguments.out]
        self.keeps_sizes = str(function.func.name).partition(".")[0] in KEEP_SIZES
        self.counts: Counter[str] = Counter()
        self.itself: Counter[str] = Counter()
        self.failures: list[str] = []

    def check(self, arguments: Mapping[str, Value]) -> None:
        try:
            results = self.library.call(self.functional, arguments)
            if any(isinstance(result, list) and not result for result in results):
                return
            outs = {out: _fresh(self.library, r) for out, r in zip(self.outs, results)}
            inputs = {name: self.library.make(value) for name, value in arguments.items()}
            self.library.call_handles(self.name, {**inputs, **outs})
        except (OperatorError, AttributeError):
            return
        wanted = {out: _written(self.library, handle) for out, handle in outs.items()}
        for out in self.outs:
            self._alias_with_inputs(arguments, results, wanted, out)

    def _alias_with_inputs(
        self,
        arguments: Mapping[str, Value],
        results: list[Any],
        wanted: Mapping[str, list[Array]],
        out: str,
    ) -> None:
        like = results[self.outs.index(out)]
        if isinstance(like, list):
            like = like[0]
        made = {name: self.library.make(value) for name, value in arguments.items()}
        count = len(list(_tensors(self.library, made)))
        for number in range(count):
            for kind in range(len(list(self._choices(made, number, like)))):
                inputs = {name: self.library.make(value) for name, value in arguments.items()}
                label, shared = list(self._choices(inputs, number, like))[kind]
                self._call(inputs, results, wanted, out, (number, label), shared)

    def _choices(
        self, inputs: Mapping[str, Handle], number: int, like: TensorResult
    ) -> Iterator[tuple[str, Handle]]:
        return _aliases(self.library, list(_tensors(self.library, inputs))[number][1], like)

    def _call(
        self,
        inputs: Mapping[str, Handle],
        results: list[Any],
        wanted: Mapping[str, list[Array]],
        out: str,
        what: tuple[int, str],
        shared: Handle,
    ) -> None:
        outs = {o: _fresh(self.library, r) for o, r in zip(self.outs, results)}
        outs[out] = self.library.make([shared, *outs[out].items[1:]]) if outs[out].items else shared
        before = self.library.tensor(shared)
        touched = _touched(np.arange(before.storage_bytes), before.sizes, [*before.strides], 0)
        if len(touched) != np.prod(before.sizes):
            return  # Several elements share memory.
        bytes_before = before.storage()
        result = results[self.outs.index(out)]
        like = result[0] if isinstance(result, list) else result
        is_comparable = before.dtype is like.dtype
        try:
            self.library.call_handles(self.name, {**inputs, **outs})
        except OperatorError:
            self.counts["refused"] += 1
            after = self.library.tensor(shared)
            if (after.sizes, after.storage()) != (before.sizes, bytes_before):
                self.failures.append(f"{self.name}, {out} = {what}: refused, and changed")
            if what == (0, "itself") and is_comparable:
                self.itself["refused"] += before.sizes == like.sizes
            return
        if not is_comparable:
            return  # Elements that were rounded.
        self.counts["right"] += 1
        self.itself["right"] += what == (0, "itself")
        for name, arrays in wanted.items():
            for mine, other in zip(_written(self.library, outs[name]), arrays):
                if mine.dtype != other.dtype or (self.keeps_sizes and mine.shape != other.shape):
                    continue
                if not np.array_equal(mine, other, equal_nan=mine.dtype.kind in "fc"):
                    text = f"{mine!r} instead of {other!r}".replace("\n", "")
                    self.failures.append(f"{self.name}, {name} = {what}: {text}")


def _out_overloads(registry: opgen.Registry) -> Iterator[tuple[NativeFunction, str]]:
    for function in registry.functions:
        group = registry.group_of(function)
        if group is None or function is not group.out:
            continue
        if "nondeterministic_seeded" in function.tags | group.functional.tags:
            continue
        functional = group.functional.func.name
        if str(functional).partition(".")[0] not in exceptions.UNSPECIFIED | exceptions.EMPTY_ONLY:
            yield function, str(functional)


@pytest.mark.slow
@pytest.mark.whole_library
def test_aliased_outputs(library: Library, registry: opgen.Registry) -> None:
    """Protects memory and numbers: `cat([a, b], out=a)` wrote out of bounds, `mm(a, b, out=a)` read what it had
    written.

    Every operator with out=, with each output in the memory of each tensor argument: the result is right, or the call
    is rejected and has changed nothing.
    """
    counts: Counter[str] = Counter()
    itself: dict[str, Counter[str]] = {}
    failures: list[str] = []
    for function, functional in _out_overloads(registry):
        aliased = _Aliased(library, function, functional)
        for dtype in (FLOAT32, INT64):
            for seed in range(INPUTS):
                try:
                    arguments = Draw(function.func, dtype, seed, CONSTRAINTS).all()
                except Refused:
                    continue
                aliased.check(arguments)
        counts += aliased.counts
        itself[str(function.func.name)] = aliased.itself
        failures += aliased.failures
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:40])
    assert min(counts["right"], counts["refused"]) > 2000, counts
    for name in RIGHT:
        assert itself[name]["right"] and not itself[name]["refused"], (name, itself[name])
    assert not [name for name in REFUSED if itself[name]["right"]], itself
    assert sum(itself[name]["refused"] for name in REFUSED) > 10, itself


# These once wrote out of bounds, or gave wrong numbers without an error. Arguments, the one that is
# the output, and the error message; None: right.
SEEN = {
    "cat": ("[v, w]", 0, "would be resized"),
    "stack": ("[v, w]", 0, "would be resized"),
    "index_select": ("v, 0, order", 0, None),
    "take": ("v, order", 0, None),
    "sort": ("v", 0, None),
    "cumsum": ("v, 0", 0, None),
    "softmax": ("v, 0", 0, None),
    "tril": ("m", 0, None),
    "triu": ("m", 0, None),
    "mm": ("m, n", 0, "shares memory with self"),
    "bmm": ("m.view(1, 3, 3), n.view(1, 3, 3)", 1, "shares memory with mat2"),
    "addmm": ("n, m, m", 1, "shares memory with mat1"),
    "gather": ("v, 0, order", 0, "shares memory with self"),
    "amax": ("m, [0], True", 0, "would be resized"),
    "sum": ("m, [0], True", 0, "would be resized"),
    "var": ("m, [0]", 0, "would be resized"),
    "avg_pool2d": ("m.view(1, 3, 3), 2", 0, "would be resized"),
    "add": ("w, v", 1, None),
}


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("name", list(SEEN))
def test_outputs_that_were_inputs(name: str) -> None:
    """Protects calls from Python that once went wrong."""
    aten = own_package()
    arguments, written, refusal = SEEN[name]

    def given() -> tuple[Any, ...]:
        m = aten.tensor([[3.0, 1, 2], [6, 5, 4], [9, 8, 9.5]])
        names = {"m": m, "n": m.add(1), "v": m[0].clone(), "w": m[1].clone()}
        names["order"] = aten.tensor([2, 0, 1])
        values = eval(f"({arguments},)", names)
        return values if not isinstance(values[0], list) else (values[0], *values[1:])

    def output(values: tuple[Any, ...]) -> Any:
        first = values[0]
        return first[written] if isinstance(first, list) else values[written]

    function = getattr(aten, name, None) or getattr(aten.nn, name)
    values = given()
    out = output(values)
    before = out.tolist(), out.shape
    if refusal is not None:
        with pytest.raises(RuntimeError, match=refusal):
            function(*values, out=out)
        assert (out.tolist(), out.shape) == before
        return
    wanted = function(*given())
    if name == "sort":
        function(*values, out=(out, aten.zeros(3, dtype=aten.int64)))
        wanted = wanted[0]
    else:
        function(*values, out=out)
    assert out.tolist() == wanted.tolist()


@pytest.mark.slow
@pytest.mark.whole_library
def test_written_places_and_masks() -> None:
    """Protects in-place operators whose other arguments lie in the memory that they write."""
    aten = own_package()
    places = aten.tensor([2, 0, 1, 1])
    places.index_put_([places], aten.tensor([0, 1, 2, 3]))
    assert places.tolist() == [1, 3, 0, 1]
    memory = aten.tensor([True, False, False, True])
    memory[1:].masked_fill_(memory[:3], True)
    assert memory.tolist() == [True, True, False, True]
