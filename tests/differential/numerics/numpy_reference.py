"""NumPy's results for the most important operators: a second reference, and the only one where torch is not installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from differential.numerics.draw import Draw, Refused
from differential.numerics.driver import Library, OperatorError, TensorResult
from differential.numerics.tolerances import tolerance
from differential.numerics.values import Array, Dtype, TensorValue, Value


def _axis(dim: Any) -> Any:
    return tuple(dim) if dim else None


def _variance(a: Mapping[str, Any]) -> Array:
    correction = 1 if a["correction"] is None else a["correction"]
    x, axis = a["self"], _axis(a["dim"])
    mean = x.mean(axis=axis, keepdims=True)
    count = x.size if axis is None else np.prod([x.shape[d] for d in axis])
    total = (abs(x - mean) ** 2).sum(axis=axis, keepdims=a["keepdim"])
    return total / max(0.0, count - correction)


def _softmax(a: Mapping[str, Any]) -> Array:
    x, axis = a["self"], a["dim"]
    if x.ndim == 0:
        return np.ones_like(x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _layer_norm(a: Mapping[str, Any]) -> Array:
    x = a["input"]
    axis = tuple(range(x.ndim - len(a["normalized_shape"]), x.ndim))
    y = (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(x.var(axis=axis, keepdims=True) + a["eps"])
    y = y if a["weight"] is None else y * a["weight"]
    return y if a["bias"] is None else y + a["bias"]


def _slice(a: Mapping[str, Any]) -> Array:
    dim = a["dim"] % a["self"].ndim
    return a["self"][(slice(None),) * dim + (slice(a["start"], a["end"], a["step"]),)]


def _gather(a: Mapping[str, Any]) -> Array:
    x, index, dim = a["self"], a["index"], a["dim"]
    if x.ndim == 0:
        return x
    dim %= x.ndim
    places = list(np.indices(index.shape))
    places[dim] = index
    return x[tuple(places)]


def _upsample(a: Mapping[str, Any]) -> Array:
    x, size = a["self"], a["output_size"][0]
    scale = 1 / a["scales"] if a["scales"] else x.shape[-1] / size
    source = np.minimum(np.floor(np.arange(size) * np.float32(scale)).astype(int), x.shape[-1] - 1)
    return x[..., source]


def _dims(function: Callable[..., Array]) -> Callable[[Mapping[str, Any]], Array]:
    return lambda a: function(a["self"], axis=_axis(a["dim"]), keepdims=a["keepdim"])


def _dim(function: Callable[..., Array]) -> Callable[[Mapping[str, Any]], Array]:
    """Reduce along one dimension; a number has one of size 1."""

    def expected(a: Mapping[str, Any]) -> Array:
        if a["self"].ndim == 0:
            return function(a["self"].reshape(1), axis=0)
        return function(a["self"], axis=a["dim"], keepdims=a["keepdim"])

    return expected


def _of_self(function: Callable[[Array], Array]) -> Callable[[Mapping[str, Any]], Array]:
    return lambda a: function(a["self"])


def _of_two(function: Callable[[Array, Array], Array]) -> Callable[[Mapping[str, Any]], Array]:
    return lambda a: function(a["self"], a["other"])


REAL, FLOATING = ("float32", "float64", "int64"), ("float32", "float64")
ALL = (*REAL, "bool", "complex128")

# For each operator the dtypes, and the result from the arguments by name; absent arguments have the
# schema's defaults.
EXPECTED: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Array]]] = {
    "add.Tensor": ((*REAL, "complex128"), lambda a: a["self"] + a["alpha"] * a["other"]),
    "sub.Tensor": ((*REAL, "complex128"), lambda a: a["self"] - a["alpha"] * a["other"]),
    "mul.Tensor": (ALL, _of_two(np.multiply)),
    "div.Tensor": ((*FLOATING, "int64"), _of_two(np.true_divide)),
    "maximum": ((*REAL, "bool"), _of_two(np.maximum)),
    "minimum": ((*REAL, "bool"), _of_two(np.minimum)),
    "pow.Tensor_Tensor": (FLOATING, lambda a: np.power(a["self"], a["exponent"])),
    **{
        f"{name}.Tensor": (REAL, _of_two(function))
        for name, function in {
            "eq": np.equal,
            "ne": np.not_equal,
            "lt": np.less,
            "le": np.less_equal,
            "gt": np.greater,
            "ge": np.greater_equal,
        }.items()
    },
    **{
        name: (REAL, _of_self(function))
        for name, function in {
            "neg": np.negative,
            "abs": np.abs,
            "square": np.square,
            "sign": lambda x: np.nan_to_num(np.sign(x)),
            "floor": np.floor,
            "ceil": np.ceil,
            "trunc": np.trunc,
            "round": np.round,
            "exp": np.exp,
            "sqrt": np.sqrt,
            "log": np.log,
            "log1p": np.log1p,
            "sin": np.sin,
            "cos": np.cos,
            "atan": np.arctan,
            "tanh": np.tanh,
            "sigmoid": lambda x: 1 / (1 + np.exp(-1.0 * x)),
            "isnan": np.isnan,
            "isfinite": np.isfinite,
        }.items()
    },
    "reciprocal": (FLOATING, _of_self(lambda x: 1 / x)),
    "rsqrt": (FLOATING, _of_self(lambda x: 1 / np.sqrt(x))),
    "relu": (FLOATING, _of_self(lambda x: np.where(x < 0, 0, x))),
    "logical_not": (ALL, _of_self(np.logical_not)),
    "logical_and": (ALL, _of_two(np.logical_and)),
    "logical_or": (ALL, _of_two(np.logical_or)),
    "bitwise_and.Tensor": (("int64", "bool"), _of_two(np.bitwise_and)),
    "bitwise_xor.Tensor": (("int64", "bool"), _of_two(np.bitwise_xor)),
    "where.self": (ALL, lambda a: np.where(a["condition"], a["self"], a["other"])),
    "sum.dim_IntList": ((*REAL, "complex128"), _dims(np.sum)),
    "sum": ((*REAL, "complex128"), _of_self(np.sum)),
    "mean.dim": (FLOATING, _dims(np.mean)),
    "prod.dim_int": (REAL, _dim(np.prod)),
    "amax": (REAL, _dims(np.max)),
    "amin": (REAL, _dims(np.min)),
    "any.dim": (ALL, _dim(np.any)),
    "all.dim": (ALL, _dim(np.all)),
    "var.correction": (FLOATING, _variance),
    "std.correction": (FLOATING, lambda a: np.sqrt(_variance(a))),
    "cumsum": (REAL, lambda a: np.cumsum(a["self"], a["dim"]) if a["self"].ndim else a["self"]),
    "softmax.int": (FLOATING, _softmax),
    "mm": ((*REAL, "complex128"), lambda a: a["self"] @ a["mat2"]),
    "bmm": ((*REAL, "complex128"), lambda a: a["self"] @ a["mat2"]),
    "matmul": ((*REAL, "complex128"), _of_two(np.matmul)),
    "outer": (REAL, lambda a: np.outer(a["self"], a["vec2"])),
    "addmm": (FLOATING, lambda a: a["beta"] * a["self"] + a["alpha"] * (a["mat1"] @ a["mat2"])),
    "layer_norm": (FLOATING, _layer_norm),
    "upsample_nearest1d": (FLOATING, _upsample),
    "transpose.int": (
        ALL,
        lambda a: np.swapaxes(a["self"], a["dim0"], a["dim1"]) if a["self"].ndim else a["self"],
    ),
    "permute": (ALL, lambda a: np.transpose(a["self"], a["dims"])),
    "unsqueeze": (ALL, lambda a: np.expand_dims(a["self"], a["dim"])),
    "select.int": (ALL, lambda a: np.take(a["self"], a["index"], a["dim"])),
    "slice.Tensor": (ALL, _slice),
    "diagonal": (ALL, lambda a: np.diagonal(a["self"], a["offset"], a["dim1"], a["dim2"])),
    "flip": (ALL, lambda a: np.flip(a["self"], tuple(a["dims"]))),
    "clone": (ALL, _of_self(np.array)),
    "reshape": (ALL, lambda a: np.reshape(a["self"], a["shape"])),
    "gather": (ALL, _gather),
    "take": (ALL, lambda a: np.take(a["self"], a["index"])),
    "triu": (ALL, lambda a: np.triu(a["self"], a["diagonal"])),
    "tril": (ALL, lambda a: np.tril(a["self"], a["diagonal"])),
    "nonzero": (ALL, lambda a: np.argwhere(a["self"])),
    "masked_select": (
        ALL,
        lambda a: np.broadcast_to(a["self"], np.broadcast_shapes(a["self"].shape, a["mask"].shape))[
            np.broadcast_to(a["mask"], np.broadcast_shapes(a["self"].shape, a["mask"].shape))
        ],
    ),
    "zeros": (ALL, lambda a: np.zeros(a["size"])),
    "ones": (ALL, lambda a: np.ones(a["size"])),
    "full": (FLOATING, lambda a: np.full(a["size"], a["fill_value"], float)),
}


def _numbers(value: Value) -> Any:
    if not isinstance(value, TensorValue):
        return value
    array = value.array()
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _arguments(draw: Draw) -> tuple[dict[str, Value], dict[str, Any]]:
    """Return the arguments for the operator, and the same for NumPy."""
    draw.mixed = False
    given = {argument.name: draw[argument.name] for argument in draw.schema.arguments.flat_non_out}
    if "dtype" in given and any(isinstance(value, TensorValue) for value in given.values()):
        given["dtype"] = None
    return given, {name: _numbers(value) for name, value in given.items()}


def compare(
    library: Library, overload: str, draw: Draw, expected: Callable[[Mapping[str, Any]], Array]
) -> bool:
    """Compare the results; return False if there is nothing to compare because NumPy or ours rejects the input."""
    try:
        given, numbers = _arguments(draw)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # "Mean of empty slice"
            wanted = np.asarray(expected(numbers))
        (ours,) = library.call(f"aten::{overload}", given)
    except (Refused, OperatorError, ValueError, IndexError):
        return False
    assert isinstance(ours, TensorResult)
    assert ours.sizes == wanted.shape, f"{given}: sizes {ours.sizes}, not {wanted.shape}"
    _assert_close(ours.array(), wanted, ours.dtype, overload, given)
    return True


def _assert_close(
    ours: Array, wanted: Array, dtype: Dtype, overload: str, given: Mapping[str, Value]
) -> None:
    relative, absolute = tolerance(dtype, overload.partition(".")[0])
    # NumPy computes numbers of these dtypes in float64, with other roundings.
    close = np.isclose(ours, wanted, relative, absolute + 1e-12, equal_nan=True)
    assert close.all(), f"{overload}({given}): {ours.tolist()}, not {wanted.tolist()}"
