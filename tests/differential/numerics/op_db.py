"""PyTorch's own test inputs, called in PyTorch and in our package: sample, reference and error inputs of
torch.testing's op_db.

    python -m differential.numerics.op_db PACKAGES aten 3 17 29 [--whole]

compares the operators at these positions in op_db. It prints one line of JSON per operator, and before it a line that
the operator begins, so that a crash can be attributed. Importing this module needs torch and expecttest.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import itertools
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from differential.numerics import exceptions, functional, reference
from differential.numerics.check import Mismatch, differing, steps
from differential.numerics.driver import view_memory
from differential.numerics.functional import Untranslatable
from differential.numerics.tolerances import tolerance
from differential.numerics.values import BY_NAME, DTYPES, Dtype

# The number of calls for each operator, dtype and source of inputs, unless all are made.
FEW = 3
# The limit for the bytes of a tensor; calls with larger ones are made only by the whole run.
LITTLE = 4096
# PyTorch's functions whose name differs from that of their operator. Those whose arguments differ, too, are in
# functional.py.
_SPELT: dict[str, str] = {
    "nn.functional.relu": "relu",
    "nn.functional.layer_norm": "layer_norm",
    "nn.functional.leaky_relu": "nn.leaky_relu",
    "nn.functional.elu": "nn.elu",
    "nn.functional.hardtanh": "nn.hardtanh",
    "nn.functional.hardswish": "nn.hardswish",
    "nn.functional.mish": "nn.mish",
    "nn.functional.softplus": "nn.softplus",
    "nn.functional.one_hot": "nn.one_hot",
    "nn.functional.avg_pool2d": "nn.avg_pool2d",
    "nn.functional.max_pool2d": "max_pool2d",
    "nn.functional.linear": "nn.linear",
    "nn.functional.silu": "nn.silu",
    "nn.functional.gelu": "nn.gelu",
    "nn.functional.dropout": "dropout",
    "nn.functional.embedding": "embedding",
    "nn.functional.conv1d": "conv1d",
    "nn.functional.conv2d": "conv2d",
    "nn.functional.conv3d": "conv3d",
    "nn.functional.pad": "nn.pad",
    "nn.functional.rms_norm": "rms_norm",
    "nn.functional.softshrink": "nn.softshrink",
    "nn.functional.hardshrink": "hardshrink",
    "nn.functional.logsigmoid": "nn.log_sigmoid",
    "nn.functional.prelu": "prelu",
    "nn.functional.cosine_similarity": "cosine_similarity",
    "nn.functional.pairwise_distance": "pairwise_distance",
    "nn.functional.pixel_shuffle": "pixel_shuffle",
    "nn.functional.pixel_unshuffle": "pixel_unshuffle",
    "nn.functional.channel_shuffle": "channel_shuffle",
    "nn.functional.avg_pool1d": "avg_pool1d",
    "nn.functional.max_pool1d": "max_pool1d",
    "nn.functional.adaptive_avg_pool1d": "adaptive_avg_pool1d",
    "nn.functional.conv_transpose1d": "conv_transpose1d",
    "nn.functional.conv_transpose2d": "conv_transpose2d",
    "nn.functional.conv_transpose3d": "conv_transpose3d",
    **{
        f"{space}.{name}": f"{space}.{space}_{name}"
        for space, names in {
            "linalg": ("cross", "vector_norm"),
            "special": ("entr", "i1"),
        }.items()
        for name in names
    },
}
# Inputs for a part of an operator that ours lacks: the nuclear norm needs singular values.
_MISSING_PARTS = frozenset({"norm/nuc"})
# Attributes, which PyTorch's tests read with a function that works for our tensors, too.
_ATTRIBUTES = frozenset({"T", "H", "mT", "mH"})


def _of_all(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of several tensors of an operator that takes a list."""

    def call(*tensors: Any, **keywords: Any) -> Any:
        listed = len(tensors) == 1 and isinstance(tensors[0], list | tuple)
        return operator(list(tensors[0] if listed else tensors), **keywords)

    return call


def _of_one_or_all(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The same; but a single tensor is passed alone, and the results are a tuple, as PyTorch's."""

    def call(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 else list(tensors)
        result = operator(given)
        return tuple(result) if isinstance(result, list) else result

    return call


def _unique(module: Any, name: str) -> Callable[..., Any]:
    """torch.unique and torch.unique_consecutive return only what is asked for."""

    def call(
        tensor: Any,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        if name == "unique_consecutive":
            made = module.unique_consecutive(tensor, return_inverse, return_counts, dim)
        elif dim is None:
            made = module._unique2(tensor, sorted, return_inverse, return_counts)
        else:
            made = module.unique_dim(tensor, dim, sorted, return_inverse, return_counts)
        asked = zip(made, (True, return_inverse, return_counts))
        results = tuple(each for each, wanted in asked if wanted)
        return results if len(results) > 1 else results[0]

    return call


def _norm(operator: Callable[..., Any]) -> Callable[..., Any]:
    """torch.norm names the Frobenius norm, and does not require the dimensions."""

    def call(
        tensor: Any,
        p: Any = "fro",
        dim: Any = None,
        keepdim: bool = False,
        dtype: Any = None,
        out: Any = None,
    ) -> Any:
        given = {} if dtype is None else {"dtype": dtype}
        given |= {} if out is None else {"out": out}
        order = 2 if p in ("fro", None) else p
        dims = () if dim is None else dim
        return operator(tensor, order, dims, keepdim, **given)

    return call


def _tensordot(operator: Callable[..., Any]) -> Callable[..., Any]:
    """torch.tensordot takes a number of dimensions, too."""

    def call(a: Any, b: Any, dims: Any = 2, **keywords: Any) -> Any:
        if isinstance(dims, int):
            dims = list(range(-dims, 0)), list(range(dims))
        return operator(a, b, *dims, **keywords)

    return call


# What PyTorch's functions that are written in Python do before they call the operator.
_IN_PYTHON: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "einsum": lambda module: lambda tensors, equation: module.einsum(equation, tensors),
    "tensordot": lambda module: _tensordot(module.tensordot),
    "norm": lambda module: _norm(module.norm),
    "unique": lambda module: _unique(module, "unique"),
    "unique_consecutive": lambda module: _unique(module, "unique_consecutive"),
    **{
        name: lambda module, name=name: _of_all(getattr(module, name))
        for name in ("meshgrid", "block_diag", "cartesian_prod")
    },
    **{
        name: lambda module, name=name: _of_one_or_all(getattr(module, name))
        for name in ("atleast_1d", "atleast_2d", "atleast_3d")
    },
}
# Random results, or memory without values.
_UNSPECIFIED = exceptions.UNSPECIFIED | {
    "bernoulli",
    "dropout",
    "nn.functional.dropout",
    "normal",
    "rand",
    "randint",
    "randn",
    "rand_like",
    "randn_like",
    "randperm",
    "resize_",
    "resize_as_",
    "uniform",
}


@dataclass(slots=True)
class Found:
    """How often one kind of mismatch occurred, and the first of them."""

    count: int = 0
    example: str = ""


@dataclass(slots=True)
class Comparison:
    """The outcome for one entry of op_db."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    # "form:kind:dtype"
    mismatches: dict[str, Found] = field(default_factory=dict)

    def record(self, form: str, kind: str, dtype: str, text: str) -> None:
        found = self.mismatches.setdefault(f"{form}:{kind}:{dtype}", Found())
        found.count += 1
        found.example = found.example or " ".join(text.split())[:600]


def name_of(info: Any) -> str:
    """Return the name of an entry of op_db, such as "div/trunc_rounding"."""
    return f"{info.name}/{info.variant_test_name}" if info.variant_test_name else str(info.name)


def comparable(module: ModuleType) -> list[int]:
    """Return the positions in op_db of the operators that `module` has under the same name."""
    return [place for place, info in enumerate(op_db) if any(_forms(module, info))]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call an operator in both libraries."""

    name: str  # function, method, in-place or out
    theirs: Callable[..., Any]
    ours: Callable[..., Any]


def _forms(module: Any, info: Any) -> Iterator[Form]:
    if info.name in _ATTRIBUTES:
        if hasattr(module.Tensor, info.name):
            yield Form("function", info.op, info.op)
        return
    function = _functional(module, info) or _ours(module, info.op, info.name)
    if name_of(info) in _MISSING_PARTS:
        return
    if info.name in _IN_PYTHON:
        has = hasattr(module, "_unique2" if info.name == "unique" else info.name)
        function = _IN_PYTHON[info.name](module) if has else None
    if function is not None:
        yield Form("function", info.op, function)
    method = info.method_variant if info.name not in _IN_PYTHON else None
    if method is not None and method is not info.op:
        own = _ours(module, method, info.name)
        if own is not None:
            yield Form("method", method, own)
    inplace = info.inplace_variant
    if inplace is not None:
        own = _ours(module, inplace, info.name)
        if own is not None:
            yield Form("in-place", inplace, own)
    if info.supports_out and function is not None:
        yield Form("out", info.op, function)


def _functional(module: Any, info: Any) -> Callable[..., Any] | None:
    """Return the counterpart of a function of torch.nn.functional that calls an operator with other arguments."""
    found = functional.FUNCTIONS.get(name_of(info)) or functional.FUNCTIONS.get(info.name)
    if found is None or not (found.seeded or info.op is _at(torch, info.name)):
        return None
    operator = _at(module, found.operator)
    return found.bind(operator) if operator is not None else None


def _ours(module: Any, theirs: Any, name: str) -> Callable[..., Any] | None:
    """Return the counterpart in `module` of PyTorch's function or method; None if there is none, or if PyTorch's
    exists only for the test.
    """
    if name in _SPELT:
        return _at(module, _SPELT[name]) if theirs is _at(torch, name) else None
    if theirs is _at(torch, name):
        return _at(module, name)
    method = getattr(theirs, "__name__", "")
    if method and theirs is getattr(torch.Tensor, method, None):
        return getattr(module.Tensor, method, None)
    return None


def _at(place: Any, path: str) -> Any:
    for part in path.split("."):
        place = getattr(place, part, None)
    return place


class Comparer:
    """Calls entries of op_db in PyTorch and in `module`, a package of our operators."""

    def __init__(self, module: ModuleType, whole: bool) -> None:
        self.module: Any = module
        self.whole = whole

    def compare(self, info: Any) -> Comparison:
        result = Comparison(name_of(info))
        forms = list(_forms(self.module, info))
        for dtype in DTYPES:
            for number, sample in enumerate(self._samples(info, dtype, result)):
                for form in forms:
                    self._compare_one(info, form, dtype.name, sample, number, result)
        for dtype_name, sample in self._error_samples(info, result):
            for form in forms[:1]:
                self._compare_one(info, form, dtype_name, sample, 0, result, must_raise=True)
        return result

    def _samples(self, info: Any, dtype: Dtype, result: Comparison) -> Iterator[Any]:
        theirs = getattr(torch, dtype.name)
        sources = [info.sample_inputs]
        if info.reference_inputs_func is not None:
            sources.append(info.reference_inputs)
        for source in sources:
            try:
                torch.manual_seed(0)
                samples = source("cpu", theirs, requires_grad=False)
                if self.whole:
                    for sample in samples:
                        yield sample
                        yield sample.noncontiguous()
                else:
                    yield from itertools.islice(filter(_is_small, samples), FEW)
            except Exception:
                # PyTorch's generator of inputs does not support the dtype.
                result.counts["sources without inputs"] += 1

    def _error_samples(self, info: Any, result: Comparison) -> Iterator[tuple[str, Any]]:
        if info.error_inputs_func is None:
            return
        for error in info.error_inputs("cpu"):
            given = error.sample_input.input
            dtype = given.dtype if isinstance(given, torch.Tensor) else torch.float32
            result.counts["error inputs"] += 1
            yield str(dtype).removeprefix("torch."), error.sample_input

    def _compare_one(
        self,
        info: Any,
        form: Form,
        dtype: str,
        sample: Any,
        number: int,
        result: Comparison,
        must_raise: bool = False,
    ) -> None:
        try:
            call = _Call(self.module, info, form, sample, number)
            result.counts["calls"] += 1
            outcome = call.compare(must_raise)
            result.counts[outcome] += 1
        except Untranslatable:
            result.counts["untranslatable"] += 1
        except _NoOut:
            pass
        except Mismatch as found:
            result.record(form.name, found.category, dtype, f"{call.described()}: {found}")


def _is_small(sample: Any) -> bool:
    tensors: list[torch.Tensor] = []
    _mapped((sample.input, sample.args), tensors.append)
    return all(tensor.untyped_storage().nbytes() <= LITTLE for tensor in tensors)


class _NoOut(Exception):
    """The call has no result that an out argument could hold."""


class _Call:
    """One input in one form: made twice, called twice, compared."""

    def __init__(self, module: Any, info: Any, form: Form, sample: Any, number: int) -> None:
        self.module, self.info, self.form, self.sample = module, info, form, sample
        self.tensors: dict[int, tuple[torch.Tensor, Any]] = {}
        args, keywords = (sample.input, *sample.args), dict(sample.kwargs)
        if form.name == "out":
            keywords["out"] = self._outs(args, keywords, number)
        # PyTorch's arguments are copies, because they may be written; ours are made from the
        # originals.
        self.ours_given = self._ours(args), self._ours(keywords)
        self.theirs_given = self._theirs(args), self._theirs(keywords)

    def described(self) -> str:
        parts = [_described(each) for each in (self.sample.input, *self.sample.args)]
        parts += [f"{key}={_described(value)}" for key, value in self.theirs_given[1].items()]
        return f"{self.info.name}({', '.join(parts)})"

    def compare(self, must_raise: bool) -> str:
        """Return the counter to which the call belongs; raises Mismatch."""
        theirs, refusal, their_warnings = _called(self.form.theirs, *self.theirs_given)
        ours, our_refusal, our_warnings = _called(self.form.ours, *self.ours_given)
        if refusal is not None:
            if our_refusal is None:
                raise Mismatch("accepted", f"PyTorch refuses: {str(refusal)[:200]}")
            if isinstance(our_refusal, SystemError | MemoryError):
                raise Mismatch("refusal", f"ours raises {our_refusal!r}")
            return "refused by both"
        if must_raise:
            return "error inputs that PyTorch takes"
        if our_refusal is not None:
            kind = "missing" if "it has no argument" in str(our_refusal) else "refused"
            raise Mismatch(kind, f"{type(our_refusal).__name__}: {str(our_refusal)[:300]}")
        self._compare(ours, theirs, "the result")
        for before, mine in self.tensors.values():
            self._compare(mine, before, "an argument after the call")
        if ("resized" in our_warnings) != ("resized" in their_warnings):
            raise Mismatch("warning", f"PyTorch warns {their_warnings!r}, ours {our_warnings!r}")
        return "compared"

    def _compare(self, ours: Any, theirs: Any, what: str) -> None:
        if isinstance(theirs, torch.Tensor):
            self._compare_tensors(ours, theirs, what)
        elif isinstance(theirs, list | tuple):
            if not isinstance(ours, list | tuple) or len(ours) != len(theirs):
                raise Mismatch("count", f"{what} is {_described(ours)}, not {_described(theirs)}")
            for number, (one, like) in enumerate(zip(ours, theirs)):
                self._compare(one, like, f"{what}[{number}]")
        elif isinstance(theirs, torch.dtype):
            if str(ours).removeprefix("torch.") != str(theirs).removeprefix("torch."):
                raise Mismatch("dtype", f"{what} is {ours}, not {theirs}")
        elif theirs is None and self.form.name == "out":
            pass  # The out arguments are compared as arguments.
        elif type(ours) is not type(theirs):
            raise Mismatch("type", f"{what} is {ours!r}, not {theirs!r}")
        elif isinstance(theirs, int | float | complex):
            if self._has_values() and not np.isclose(ours, theirs, 1e-6, equal_nan=True):
                raise Mismatch("values", f"{what} is {ours!r}, not {theirs!r}")
        elif ours != theirs:
            raise Mismatch("type", f"{what} is {ours!r}, not {theirs!r}")

    def _compare_tensors(self, ours: Any, theirs: torch.Tensor, what: str) -> None:
        if not isinstance(ours, self.module.Tensor):
            raise Mismatch("type", f"{what} is {ours!r}, not a tensor")
        # The memory of a conjugate view has the numbers that are not conjugated.
        theirs = theirs.resolve_conj()
        name = str(theirs.dtype).removeprefix("torch.")
        if name not in BY_NAME:
            raise Untranslatable  # complex32 does not exist in the runtime.
        if str(ours.dtype).rpartition(".")[2] != name:
            raise Mismatch("dtype", f"{what} has dtype {ours.dtype}, not {name}")
        if tuple(ours.shape) != tuple(theirs.shape):
            raise Mismatch(
                "shape", f"{what} has sizes {tuple(ours.shape)}, not {tuple(theirs.shape)}"
            )
        if theirs.numel() == 0 or not self._has_values():
            return
        dtype = BY_NAME[name]
        relative, absolute = tolerance(self._precision(dtype), self.info.name.rpartition(".")[2])
        text = differing(dtype, _carried(ours, dtype), _carried(theirs, dtype), relative, absolute)
        if text:
            raise Mismatch("values", f"{what} {text}")
        if steps(_Strides(ours)) != steps(_Strides(theirs)):
            raise Mismatch("strides", f"{what} has {tuple(ours.stride())}, not {theirs.stride()}")

    def _has_values(self) -> bool:
        return self.info.name not in _UNSPECIFIED

    def _precision(self, dtype: Dtype) -> Dtype:
        """Return the coarsest floating dtype involved: an out argument may be wider than the computation."""
        taking = [dtype]
        for before, _ in self.tensors.values():
            taking.append(BY_NAME[str(before.dtype).removeprefix("torch.")])
        floating = [each for each in taking if each.kind in ("float", "complex")]
        return max(floating, key=lambda each: tolerance(each, "")[0]) if floating else dtype

    def _outs(self, args: Any, keywords: Mapping[str, Any], number: int) -> Any:
        """Return out arguments of every kind: new, strided, of another shape, of another dtype."""
        given = {key: value for key, value in keywords.items() if key != "out"}
        result, refusal, _ = _called(self.form.theirs, self._copied(args), self._copied(given))
        if refusal is not None:
            raise _NoOut
        return self._outs_like(result, number)

    def _outs_like(self, result: Any, number: int) -> Any:
        if isinstance(result, torch.Tensor):
            return _out(result, number)
        if isinstance(result, list | tuple) and result:
            return tuple(self._outs_like(each, number) for each in result)
        raise _NoOut

    def _copied(self, value: Any) -> Any:
        return _mapped(value, lambda tensor: _copy(tensor))

    def _theirs(self, value: Any) -> Any:
        return _mapped(value, lambda tensor: self._pair(tensor)[0])

    def _ours(self, value: Any) -> Any:
        return _mapped(value, lambda tensor: self._pair(tensor)[1], self._translated)

    def _pair(self, tensor: torch.Tensor) -> tuple[torch.Tensor, Any]:
        if id(tensor) not in self.tensors:
            theirs = _copy(tensor)
            self.tensors[id(tensor)] = theirs, self._tensor(theirs)
        return self.tensors[id(tensor)]

    def _tensor(self, tensor: torch.Tensor) -> Any:
        """Make our tensor with the same strides, and a copy of the whole storage."""
        name = str(tensor.dtype).removeprefix("torch.")
        if name not in BY_NAME or tensor.layout != torch.strided or tensor.device.type != "cpu":
            raise Untranslatable
        value = reference.read(tensor)
        count = value.storage_bytes // value.dtype.itemsize
        base = self.module.empty((count,), dtype=getattr(self.module, name))
        if count:
            ctypes.memmove(base.data_ptr(), value.storage_data, count * value.dtype.itemsize)
        return base.as_strided(value.sizes, value.strides, value.offset)

    def _translated(self, value: Any) -> Any:
        match value:
            case torch.dtype():
                name = str(value).removeprefix("torch.")
                if name not in BY_NAME:
                    raise Untranslatable
                return getattr(self.module, name)
            case torch.device():
                if value.type not in ("cpu", "meta"):
                    raise Untranslatable
                return self.module.device(value.type)
            case torch.layout() | torch.memory_format():
                own = getattr(self.module, str(value).removeprefix("torch."), None)
                if own is None:
                    raise Untranslatable
                return own
            case torch.Generator() | torch.Storage() | torch.UntypedStorage():
                raise Untranslatable
            case torch.Size():
                return tuple(value)
            case _:
                return value


class _Strides:
    """The sizes and strides of a tensor, ours or PyTorch's, with the field names of a result."""

    def __init__(self, tensor: Any) -> None:
        self.sizes, self.strides = tuple(tensor.shape), tuple(tensor.stride())


def _called(
    function: Callable[..., Any], args: Any, keywords: Any
) -> tuple[Any, Exception | None, str]:
    """Return the result or the exception, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, refusal = function(*args, **keywords), None
        except Untranslatable:
            raise
        except Exception as error:
            result, refusal = None, error
    return result, refusal, "; ".join(str(each.message).split("(")[0] for each in caught)


def _mapped(value: Any, tensor: Callable[[torch.Tensor], Any], other: Any = None) -> Any:
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, dict):
        return {key: _mapped(each, tensor, other) for key, each in value.items()}
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return type(value)([_mapped(each, tensor, other) for each in value])
    return other(value) if other is not None else value


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with the same strides, on a storage of its own."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu":
        raise Untranslatable
    if tensor.is_conj() or tensor.is_neg() or tensor.is_quantized:
        raise Untranslatable
    storage = tensor.untyped_storage().clone()
    made = torch.empty(0, dtype=tensor.dtype)
    return made.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())


def _out(like: torch.Tensor, number: int) -> torch.Tensor:
    match number % 5:
        case 0 | 1:
            return torch.empty(0, dtype=like.dtype)
        case 2:
            shape = (*reversed(like.shape), 2)
            return torch.ones(shape, dtype=like.dtype)[..., 0].permute(
                tuple(reversed(range(like.dim())))
            )
        case 3:
            return torch.ones(3, 2, dtype=like.dtype)
        case _:
            wider = torch.complex128 if number % 2 else torch.float64
            return torch.ones(like.shape, dtype=wider)


def _carried(tensor: Any, dtype: Dtype) -> Any:
    """Return the elements of a tensor, ours or PyTorch's, without a copy."""
    return view_memory(
        tensor.data_ptr(), dtype.carrier, tuple(tensor.shape), tuple(tensor.stride())
    )


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        shape = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        return shape if value.numel() > 8 else f"{shape} {value.tolist()}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_described, value))}]"
    return repr(value)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("packages")
    parser.add_argument("module")
    parser.add_argument("places", type=int, nargs="*")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    sys.path.insert(0, asked.packages)
    module = importlib.import_module(asked.module)
    if asked.list:
        print(json.dumps({place: name_of(op_db[place]) for place in comparable(module)}))
        return
    comparer = Comparer(module, asked.whole)
    for place in asked.places:
        info = op_db[place]
        print(json.dumps({"begins": place, "name": name_of(info)}), flush=True)
        result = comparer.compare(info)
        mismatches = {key: [found.count, found.example] for key, found in result.mismatches.items()}
        line = {"ended": place, "counts": result.counts, "mismatches": mismatches}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
