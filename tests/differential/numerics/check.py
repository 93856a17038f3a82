"""Compare one operator on many inputs: ours with PyTorch, and ours on the Meta device with ours on the CPU.

`Checker.check` draws inputs until enough of them were accepted by PyTorch and compared. For each input, ours must
accept what PyTorch accepts and reject what it rejects; results must agree in dtype, sizes, strides and values, and
alias the arguments that PyTorch's results alias; written arguments must hold the same bytes in all of their storage;
and no other argument may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from differential.numerics import exceptions, reference
from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw, Refused, operator_base
from differential.numerics.driver import Handle, Library, OperatorError, TensorResult
from differential.numerics.reference import ReferenceTensor
from differential.numerics.tolerances import close, tolerance
from differential.numerics.values import (
    BY_NAME,
    BY_NUMBER,
    FLOAT32,
    INT64,
    Device,
    Dtype,
    TensorValue,
    Value,
    contiguous_strides,
    elements,
    to_numbers,
)
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry

# Give up after this many drawn inputs per wanted input: PyTorch rejects some of them.
_DRAWS_PER_INPUT = 60
# After this many rejections in a row from the start, PyTorch does not support the dtype.
_PROBES = 24


class Mismatch(Exception):
    """Ours differs from PyTorch; `category` groups such findings."""

    def __init__(self, category: str, text: str) -> None:
        super().__init__(text)
        self.category = category


@dataclass(frozen=True, slots=True)
class Failure:
    """One input on which ours differs, and the command to reproduce it."""

    operator: str
    dtype: str
    seed: int
    category: str
    text: str
    arguments: Mapping[str, Value]

    def __str__(self) -> str:
        rows = [f"  {name} = {_shortened(value)}" for name, value in self.arguments.items()]
        command = f"python tests/differential/numerics {self.operator} --dtype {self.dtype} --seed {self.seed}"
        return "\n".join(
            [f"{self.operator} [{self.category}] {self.text}", *rows, f"  again: {command}"]
        )


@dataclass(slots=True)
class Report:
    """The outcome for one overload and dtype."""

    compared: int = 0
    refused: int = 0
    meta: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def supported(self) -> bool:
        return self.compared > 0 or bool(self.failures)


class Checker:
    """Compares the operators of `registry`, loaded in `library`, with PyTorch's."""

    def __init__(self, library: Library, registry: Registry) -> None:
        self.library = library
        self.functions = {str(function.func.name): function for function in registry.functions}
        self._functionals = {
            str(group.out.func.name): str(group.functional.func.name)
            for group in registry.groups
            if group.out is not None and group.functional is not None
        }

    def check(self, name: str, dtype: Dtype, count: int, *, most_failures: int = 3) -> Report:
        """Compare `count` inputs of one overload."""
        report = Report()
        if not self.supports(name, dtype):
            return report
        seed = 0
        while report.compared < count and seed < count * _DRAWS_PER_INPUT:
            self.check_seed(name, dtype, seed, report)
            seed += 1
            if len(report.failures) >= most_failures:
                break
        return report

    def supports(self, name: str, dtype: Dtype) -> bool:
        """Return whether PyTorch accepts an input with elements; without elements it does not check the dtype."""
        operator = reference.find(name)
        for seed in range(_PROBES):
            try:
                arguments = self.arguments(name, dtype, seed)
                results = reference.call(
                    operator, {k: reference.make(x) for k, x in arguments.items()}
                )
            except Exception:
                continue
            shapes = [x.sizes for each in arguments.values() for x in _values(each)]
            shapes += [x.sizes for x in _flat(results) if isinstance(x, ReferenceTensor)]
            if all(0 not in shape for shape in shapes) or name in exceptions.EMPTY_ONLY:
                return True
        return False

    def arguments(
        self, name: str, dtype: Dtype, seed: int, source: Random | None = None
    ) -> dict[str, Value]:
        """Return the input of a seed, or of `source` with the out arguments of the seed; raise Refused if there is
        none.
        """
        function = self.functions[name]
        draw = Draw(function.func, dtype, seed, CONSTRAINTS, source)
        arguments = draw.all()
        if function.func.kind() == SchemaKind.out:
            arguments |= self._outs(function, draw, arguments, seed)
        return arguments

    def check_seed(
        self, name: str, dtype: Dtype, seed: int, report: Report, source: Random | None = None
    ) -> None:
        """Compare one input and count it in `report`."""
        function = self.functions[name]
        operator = reference.find(name)
        try:
            arguments = self.arguments(name, dtype, seed, source)
        except Refused:
            return
        theirs_in = {key: reference.make(value) for key, value in arguments.items()}
        theirs: list[Any] | None
        try:
            theirs = self._reference(name, operator, theirs_in)
        except Exception as refused:
            theirs, reason = None, refused
        try:
            if theirs is None and "ComplexHalf" in str(reason):
                return  # A dtype that the runtime does not have.
            if theirs is None:
                report.refused += 1
                if exceptions.refusal_counts(name):
                    self._expect_refusal(name, arguments, reason)
                return
            if _has_foreign_dtype(function, theirs):
                return
            try:
                run = _Run(self.library, function, arguments)
            except Mismatch:
                if exceptions.may_refuse(name):
                    return
                if _without_elements(theirs):
                    return  # PyTorch checks dtypes where it reads elements; here it read none.
                raise
            run.compare(theirs, theirs_in)
            report.compared += 1
            report.meta += run.compare_meta()
        except Mismatch as found:
            text = " ".join(str(found).split("\n"))
            report.failures.append(Failure(name, dtype.name, seed, found.category, text, arguments))

    def _reference(self, name: str, operator: Any, arguments: dict[str, Any]) -> list[Any]:
        if name not in exceptions.OUT_IS_WRONG:
            return reference.call(operator, arguments)
        outs = [each.name for each in self.functions[name].func.arguments.out]
        given = {key: value for key, value in arguments.items() if key not in outs}
        functional = reference.find(self._functionals[name])
        assert functional is not None
        right = functional(**given)
        every = right if isinstance(right, list | tuple) else [right]
        return [
            reference.read(reference.assign(arguments[out], each)) for out, each in zip(outs, every)
        ]

    def _expect_refusal(self, name: str, arguments: Mapping[str, Value], reason: Exception) -> None:
        try:
            results = self.library.call(f"aten::{name}", arguments)
        except OperatorError:
            return
        said = str(reason).split("\n")[0][:200]
        raise Mismatch("accepted", f"PyTorch refuses ({said}), ours returns {_described(results)}")

    def _outs(
        self, function: NativeFunction, draw: Draw, arguments: Mapping[str, Value], seed: int
    ) -> dict[str, Value]:
        """Return out arguments of every kind: new, of the right shape with any strides, of a wrong shape, of another
        dtype.
        """
        name = str(function.func.name)
        expected = self._expected(name, draw, arguments)
        mode = ("fresh", "right", "strided", "strided", "wrong", "other dtype")[seed % 6]
        made: dict[str, Value] = {}
        for argument, like in zip(function.func.arguments.out, expected):
            if isinstance(like, list):
                made[argument.name] = tuple(_out(draw, each, mode) for each in like)
            else:
                made[argument.name] = _out(draw, like, mode)
        return made

    def _expected(self, name: str, draw: Draw, arguments: Mapping[str, Value]) -> list[Any]:
        """Return shapes and dtypes of the results of PyTorch's functional form; otherwise of its out form, with outs
        of the first dtype that it accepts.
        """
        functional = self._functionals.get(name)
        given = {key: reference.make(value) for key, value in arguments.items()}
        if functional is not None:
            try:
                returned = reference.call(reference.find(functional), given)
            except Exception as refused:
                raise Refused from refused
            return [like if like is not None else _empty(draw.dtype) for like in returned]
        outs = self.functions[name].func.arguments.out
        for dtype in (draw.dtype, INT64, FLOAT32, BY_NAME["bool"]):
            fresh = {out.name: reference.make(_empty(dtype)) for out in outs}
            try:
                reference.call(reference.find(name), {**given, **fresh})
            except Exception:
                continue
            return [reference.read(fresh[out.name]) for out in outs]
        raise Refused


class _Run:
    """One accepted input: our call, its comparison with PyTorch's, and the same call on Meta."""

    def __init__(
        self, library: Library, function: NativeFunction, arguments: Mapping[str, Value]
    ) -> None:
        self.library = library
        self.function = function
        self.name = str(function.func.name)
        self.arguments = arguments
        self.handles = {key: library.make(value) for key, value in arguments.items()}
        self.written = {
            *function.func.arguments.mutable_arg_names,
            *exceptions.ALSO_WRITES.get(self.name.partition(".")[0], ()),
        }
        self.values = not _unspecified(function)
        try:
            self.results = library.call_handles(f"aten::{self.name}", self.handles)
        except OperatorError as refused:
            category = "missing" if refused.kind == "NotImplementedError" else "refused"
            raise Mismatch(category, f"PyTorch accepts, ours raises {refused}") from refused

    def compare(self, theirs: list[Any], theirs_in: Mapping[str, Any]) -> None:
        ours, wanted = list(_flat(self.results)), list(_flat(theirs))
        if len(ours) != len(wanted):
            raise Mismatch("count", f"{len(ours)} results, not {len(wanted)}")
        # Read after the call: in-place operators may change sizes, too.
        mine = {key: list(self._tensors(key)) for key in self.arguments}
        their = {key: _their_tensors(theirs_in[key]) for key in self.arguments}
        for number, (result, like) in enumerate(zip(ours, wanted)):
            self._compare_one(f"result {number}" if len(ours) > 1 else "the result", result, like)
            if isinstance(result, TensorResult):
                self._compare_aliases(number, result, like, mine, their)
        for key, value in self.arguments.items():
            for before, now, like in zip(_values(value), mine[key], their[key]):
                if key in self.written:
                    self._compare_one(f"argument {key} after the call", now, like)
                    self._compare_storage(key, before, now, like)
                elif now.storage() != before.storage:
                    raise Mismatch("written", f"argument {key} was changed")

    def compare_meta(self) -> int:
        """Return 1 if the call on Meta gave tensors like those on the CPU, 0 if the operator needs data."""
        if exceptions.needs_data(self.function, self.arguments):
            return 0
        arguments = {
            key: Device("meta") if isinstance(value, Device) else value
            for key, value in self.arguments.items()
        }
        has_tensor = any(True for value in arguments.values() for _ in _values(value))
        if not has_tensor and self.function.func.arguments.tensor_options is not None:
            arguments["device"] = Device("meta")
        try:
            handles = {key: self.library.make(value, "meta") for key, value in arguments.items()}
            results = self.library.call_handles(f"aten::{self.name}", handles)
        except OperatorError as refused:
            raise Mismatch("meta", f"on Meta: {refused}") from refused
        on_meta, on_cpu = list(_flat(results)), list(_flat(self.results))
        if _facts(on_meta) != _facts(on_cpu) and _facts(on_meta) != self._meta_facts(arguments):
            raise Mismatch(
                "meta", f"{_described(on_meta)} on Meta, {_described(on_cpu)} on the CPU"
            )
        return 1

    def _meta_facts(self, arguments: Mapping[str, Value]) -> Any:
        """Return the result of PyTorch's own Meta kernel. Where dtypes are promoted, it may differ from PyTorch on the
        CPU, which copies an operand to the common dtype, and thus to other strides, before it computes strides.
        """
        given = {key: reference.make_meta(value) for key, value in arguments.items()}
        try:
            return _facts(list(_flat(reference.call(reference.find(self.name), given))))
        except Exception:
            return None

    def _compare_one(self, what: str, ours: Any, theirs: Any) -> None:
        if isinstance(theirs, ReferenceTensor):
            if not isinstance(ours, TensorResult):
                raise Mismatch("type", f"{what} is {_described(ours)}, not {_described(theirs)}")
            self._compare_tensors(what, ours, theirs)
        elif isinstance(theirs, int | float | complex) and isinstance(ours, int | float | complex):
            same_kind = type(ours) is type(theirs)
            if not same_kind or not (
                np.isclose(ours, theirs, 1e-6, equal_nan=True) or not self.values
            ):
                raise Mismatch("values", f"{what} is {ours!r}, not {theirs!r}")
        elif ours != theirs:
            raise Mismatch("type", f"{what} is {_described(ours)}, not {_described(theirs)}")

    def _compare_tensors(self, what: str, ours: TensorResult, theirs: ReferenceTensor) -> None:
        if ours.dtype != theirs.dtype:
            raise Mismatch("dtype", f"{what} has dtype {ours.dtype}, not {theirs.dtype}")
        if ours.sizes != theirs.sizes:
            raise Mismatch("shape", f"{what} has sizes {ours.sizes}, not {theirs.sizes}")
        if steps(ours) != steps(theirs) and self.name not in exceptions.OTHER_STRIDES:
            text = f"{what} of sizes {ours.sizes} has strides {ours.strides}, not {theirs.strides}"
            raise Mismatch("strides", text)
        if self.values and 0 not in ours.sizes:
            self._compare_values(what, ours.dtype, ours.carried(), theirs.carried())

    def _compare_values(self, what: str, dtype: Dtype, ours: Any, theirs: Any) -> None:
        relative, absolute = tolerance(self._precision(dtype), operator_base(self.function.func))
        text = differing(dtype, ours, theirs, relative, absolute)
        if text and not exceptions.off_by_one(
            self.name, to_numbers(dtype, ours), to_numbers(dtype, theirs)
        ):
            raise Mismatch("values", f"{what} {text}")

    def _precision(self, dtype: Dtype) -> Dtype:
        """Return the dtype whose rounding shows in results of `dtype`: an out argument may be wider than the
        computation.
        """
        if self.function.func.kind() != SchemaKind.out or dtype.kind not in ("float", "complex"):
            return dtype
        inputs = [
            tensor.dtype
            for key, value in self.arguments.items()
            if key not in self.written
            for tensor in _values(value)
        ]
        floating = [each for each in inputs if each.kind in ("float", "complex")]
        return max([dtype, *(floating or [FLOAT32])], key=lambda each: tolerance(each, "")[0])

    def _compare_aliases(
        self, number: int, ours: TensorResult, theirs: ReferenceTensor, mine: Any, their: Any
    ) -> None:
        for key in self.arguments:
            for now, like in zip(mine[key], their[key]):
                same = ours.identity == now.identity
                if same != (theirs.keep is like.keep):
                    text = f"result {number} is {'' if same else 'not '}argument {key} itself"
                    raise Mismatch("alias", text)
                if not ours.storage_identity or not now.storage_identity:
                    continue  # Python cannot read a storage without bytes.
                shared = ours.storage_identity == now.storage_identity
                if shared != (
                    theirs.keep.untyped_storage()._cdata == like.keep.untyped_storage()._cdata
                ):
                    text = f"result {number} {'shares' if shared else 'does not share'} memory with {key}"
                    raise Mismatch("alias", text)
                if shared and ours.offset != theirs.offset:
                    text = f"result {number} has storage offset {ours.offset}, not {theirs.offset}"
                    raise Mismatch("alias", text)

    def _compare_storage(
        self, key: str, before: TensorValue, now: TensorResult, like: ReferenceTensor
    ) -> None:
        """The storage around a view that was written must not change."""
        size = len(before.storage)
        if self.name in exceptions.OUT_IS_WRONG or not self.values:
            return
        if steps(now) != steps(like):
            return
        if not size or now.storage_bytes != size or like.storage_bytes != size:
            return
        ours, theirs = now.storage(), like.storage()
        if ours != theirs:
            carrier = now.dtype.carrier
            self._compare_values(
                f"all memory of argument {key}",
                now.dtype,
                np.frombuffer(ours, carrier),
                np.frombuffer(theirs, carrier),
            )

    def _tensors(self, key: str) -> Iterator[TensorResult]:
        for value, handle in _with_handles(self.arguments[key], self.handles[key]):
            if isinstance(value, TensorValue):
                yield self.library.tensor(handle)


def steps(tensor: Any) -> tuple[int, ...]:
    """Return the strides of dimensions with more than one element.

    Those of dimensions of size 1, and of empty tensors, have no effect. PyTorch's own CPU and Meta kernels differ in
    them: where dtypes are promoted, the CPU copies the operand first, and the copy has other strides there.
    """
    if 0 in tensor.sizes:
        return ()
    return tuple(stride for size, stride in zip(tensor.sizes, tensor.strides) if size > 1)


def differing(dtype: Dtype, ours: Any, theirs: Any, relative: float, absolute: float) -> str:
    """Describe how two arrays of `dtype.carrier` differ by more than the tolerance; empty if they do not."""
    if np.array_equal(ours, theirs):
        return ""
    a, b = to_numbers(dtype, ours), to_numbers(dtype, theirs)
    with np.errstate(all="ignore"):
        bad = ~close(a, b, relative, absolute)
    if not bad.any():
        return ""
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    return (
        f"{dtype.name}{list(a.shape)} differs in {int(bad.sum())} of {bad.size} elements, first at"
        f" {list(where)}: {a[where]!r}, not {b[where]!r}"
    )


def _has_foreign_dtype(function: NativeFunction, results: list[Any]) -> bool:
    """Return whether PyTorch's result is complex32, which the runtime does not have."""
    if str(function.func.returns[0].type if function.func.returns else "") == "ScalarType":
        return results[0] not in BY_NUMBER
    return any(isinstance(x, ReferenceTensor) and isinstance(x.dtype, str) for x in _flat(results))


def _without_elements(results: list[Any]) -> bool:
    tensors = [each for each in _flat(results) if isinstance(each, ReferenceTensor)]
    return bool(tensors) and all(0 in each.sizes for each in tensors)


def _facts(results: list[Any]) -> list[Any]:
    """Return the properties of results that Meta can know."""
    return [
        (
            (each.dtype, each.sizes, steps(each))
            if isinstance(each, TensorResult | ReferenceTensor)
            else type(each)
        )
        for each in results
    ]


def _with_handles(value: Value, handle: Handle) -> Iterator[tuple[Value, Handle]]:
    if isinstance(value, tuple):
        yield from zip(value, handle.items)
    else:
        yield value, handle


def _values(value: Value) -> list[TensorValue]:
    found = value if isinstance(value, tuple) else (value,)
    return [item for item in found if isinstance(item, TensorValue)]


def _their_tensors(value: Any) -> list[ReferenceTensor]:
    found = value if isinstance(value, list) else [value]
    return [each for each in map(reference.read, found) if isinstance(each, ReferenceTensor)]


def _flat(results: list[Any]) -> Iterator[Any]:
    for result in results:
        if isinstance(result, list):
            yield len(result)
            yield from _flat(result)
        else:
            yield result


def _empty(dtype: Dtype) -> TensorValue:
    return TensorValue(dtype, (0,), (1,), 0, b"")


def _out(draw: Draw, like: Any, mode: str) -> TensorValue:
    if isinstance(like, TensorValue) or like is None or not isinstance(like.dtype, Dtype):
        return like if isinstance(like, TensorValue) else _empty(draw.dtype)
    dtype, sizes = like.dtype, like.sizes
    match mode:
        case "fresh":
            return _empty(dtype)
        case "right":
            garbage = draw.make((elements(sizes),), dtype, dense=True).storage
            count = elements(sizes) * dtype.itemsize
            return TensorValue(dtype, sizes, contiguous_strides(sizes), 0, garbage[:count])
        case "strided":
            return draw.make(sizes, dtype, dense=True)
        case "wrong":
            return draw.make(draw.shape(), dtype, dense=True)
        case _:
            others = ("float64", "complex128", "int64", "float32", "int32")
            return draw.make(sizes, BY_NAME[draw.choose(*others)], dense=True)


def _unspecified(function: NativeFunction) -> bool:
    """Return whether values cannot be compared: uninitialised memory, or random numbers."""
    return (
        "nondeterministic_seeded" in function.tags
        or operator_base(function.func) in exceptions.UNSPECIFIED
    )


def _described(value: Any) -> str:
    if isinstance(value, TensorResult | ReferenceTensor):
        return f"{value.dtype}{list(value.sizes)} with strides {list(value.strides)}"
    if isinstance(value, list):
        return f"[{', '.join(map(_described, value))}]"
    return repr(value)


def _shortened(value: Value) -> str:
    text = repr(value)
    return text if len(text) < 1500 else f"{text[:1500]}…"
