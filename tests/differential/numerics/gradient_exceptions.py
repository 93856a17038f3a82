"""Gradients that are not compared with PyTorch's, each with its reason. All are checked by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from differential.numerics.values import (
    FLOAT32,
    Dtype,
    TensorValue,
    Value,
    contiguous_strides,
    from_numbers,
)

Arguments = Mapping[str, Value]

# Operators of which PyTorch has no gradient, or none to compare.
WITHOUT: Mapping[str, str] = {
    "copy": "its functional form of copy_ has no formula",
    "remainder.Scalar_Tensor": "it has no formula",
    **dict.fromkeys(("acosh_", "asinh_", "atanh_"), "the in-place form has no formula"),
    "silu_backward": "it has no formula",
    "native_group_norm": "see CALLS; differences show it",
}

# Operators whose gradient is zero everywhere, or undefined.
ZERO: frozenset[str] = frozenset(
    {
        *("fill.Scalar", "fill_.Scalar", "zero", "zero_", "normal_", "uniform", "uniform_"),
        *("bernoulli", "bernoulli.Tensor", "bernoulli_.Tensor"),
        *("bernoulli_.float", "ceil", "floor", "round", "round.decimals", "trunc", "sign"),
        *("ceil_", "floor_", "round_", "round_.decimals", "trunc_", "sign_", "fix", "fix_"),
        *(
            f"{name}_.{form}"
            for name in (
                *("eq", "ne", "lt", "le", "gt", "ge", "not_equal"),
                *("less", "less_equal", "greater", "greater_equal"),
            )
            for form in ("Scalar", "Tensor")
        ),
    }
)

# Operators whose gradients neither PyTorch nor differences show.
BY_ANOTHER: Mapping[str, str] = {
    "native_group_norm_backward": "PyTorch has no formula, and the statistics follow the input; second gradients of group_norm show it",
}

# Random results, which the gradient depends on.
RANDOM: frozenset[str] = frozenset({"dropout", "dropout_", "native_dropout"})

# Operators, without overloads, whose results are drawn: a finite difference compares two draws.
DRAWN: frozenset[str] = frozenset({"bernoulli", "normal", "normal_functional", "uniform"})


def _mixes(*names: str) -> Callable[[Arguments], bool]:
    """Whether tensors among these arguments have several dtypes."""

    def mixes(arguments: Arguments) -> bool:
        given = [arguments.get(name) for name in names]
        return len({value.dtype.name for value in given if isinstance(value, TensorValue)}) > 1

    return mixes


def _has_no_dims(arguments: Arguments) -> bool:
    return arguments.get("dim") == ()


def _alpha_is_complex(arguments: Arguments) -> bool:
    return isinstance(arguments.get("alpha"), complex)


def _scales(arguments: Arguments) -> bool:
    return bool(arguments.get("scale_grad_by_freq"))


def _is_constant(arguments: Arguments) -> bool:
    """Whether the elements are equal, or more of them are subtracted from their count than there are."""
    tensor, dims = arguments["self"], arguments.get("dim")
    assert isinstance(tensor, TensorValue)
    rank = max(1, len(tensor.sizes))
    reduced = range(rank) if dims is None else {d % rank for d in dims}
    count = 1
    for d in reduced:
        count *= tensor.sizes[d] if tensor.sizes else 1
    correction = arguments.get("correction")
    spread = tensor.array().astype(np.complex128).std(tuple(reduced) if tensor.sizes else None)
    is_even = bool(spread.size and np.min(np.abs(spread)) < 1e-6)
    return is_even or count <= (1 if correction is None else correction)


def _has_zero_exponents(arguments: Arguments) -> bool:
    exponent = arguments["exponent"]
    return isinstance(exponent, TensorValue) and not exponent.array().all()


def _is_complex_power(arguments: Arguments) -> bool:
    exponent = arguments["exponent"]
    return (
        isinstance(arguments["self"], complex)
        and isinstance(exponent, TensorValue)
        and exponent.dtype.kind != "complex"
    )


def _is_complex(name: str) -> Callable[[Arguments], bool]:
    """Whether this tensor is complex."""

    def is_complex(arguments: Arguments) -> bool:
        value = arguments[name]
        return isinstance(value, TensorValue) and value.dtype.kind == "complex"

    return is_complex


def _is_integer(name: str) -> Callable[[Arguments], bool]:
    """Whether this tensor has an integer dtype."""

    def is_integer(arguments: Arguments) -> bool:
        value = arguments[name]
        return isinstance(value, TensorValue) and value.dtype.kind == "int"

    return is_integer


def _has_zeros(arguments: Arguments) -> bool:
    tensor = arguments["self"]
    return isinstance(tensor, TensorValue) and not tensor.array().all()


def _is_no_probability(arguments: Arguments) -> bool:
    """Whether some elements have no logit."""
    tensor = arguments["self"]
    assert isinstance(tensor, TensorValue)
    numbers = tensor.array().astype(np.float64)
    return bool(((numbers < 0) | (numbers > 1)).any())


def _sizes(value: Value) -> tuple[int, ...] | None:
    return value.sizes if isinstance(value, TensorValue) else None


def _becomes_real(arguments: Arguments) -> bool:
    tensor, dtype = arguments["self"], arguments.get("dtype")
    assert isinstance(tensor, TensorValue)
    return tensor.dtype.kind == "complex" and isinstance(dtype, Dtype) and dtype.kind != "complex"


def _is_empty(arguments: Arguments) -> bool:
    return 0 in (_sizes(arguments["self"]) or ())


def _are_broadcast(arguments: Arguments) -> bool:
    return _sizes(arguments["self"]) != _sizes(arguments["target"])


def _are_equal_somewhere(arguments: Arguments) -> bool:
    one, other = arguments["self"], arguments["other"]
    assert isinstance(one, TensorValue) and isinstance(other, TensorValue)
    return bool(np.any(one.array() == other.array()))


def _has_negative_slope(arguments: Arguments) -> bool:
    slope = arguments.get("negative_slope", 0.01)
    return isinstance(slope, int | float) and slope < 0


def _has_bool_exponent(arguments: Arguments) -> bool:
    exponent = arguments.get("exponent")
    return isinstance(exponent, TensorValue) and exponent.dtype.kind == "bool"


def _divides_by_little(arguments: Arguments) -> bool:
    other = arguments["other"]
    return isinstance(other, TensorValue) and bool(np.any(np.abs(other.array()) < 0.2))


def _is_double(name: str) -> Callable[[Arguments], bool]:
    """Whether this tensor is of double."""

    def is_double(arguments: Arguments) -> bool:
        value = arguments[name]
        return isinstance(value, TensorValue) and value.dtype.name == "float64"

    return is_double


def _is_half(arguments: Arguments) -> bool:
    return any(
        isinstance(value, TensorValue) and value.dtype.name in ("float16", "bfloat16")
        for value in arguments.values()
    )


def _wants_bias_only(arguments: Arguments) -> bool:
    return arguments["output_mask"] == (False, False, True)


def _weight_is_strided(arguments: Arguments) -> bool:
    weight = arguments.get("weight")
    return isinstance(weight, TensorValue) and weight.strides != contiguous_strides(weight.sizes)


def _has_equal_elements(arguments: Arguments) -> bool:
    value = arguments["self"]
    assert isinstance(value, TensorValue)
    return len(np.unique(value.array())) < value.array().size


def _is_ambiguous(arguments: Arguments) -> bool:
    """Whether an image with a size of 1 is not contiguous."""
    value = arguments["input"]
    assert isinstance(value, TensorValue)
    contiguous = value.strides == contiguous_strides(value.sizes)
    return len(value.sizes) >= 4 and 1 in value.sizes and not contiguous


def _has_zeros(arguments: Arguments) -> bool:
    value = arguments["self"]
    return isinstance(value, TensorValue) and not value.array().all()


def _is_dilated(arguments: Arguments) -> bool:
    return any(step != 1 for step in arguments.get("dilation") or ())


_OF_MAX_POOL = (
    (
        "all",
        _is_dilated,
        "PyTorch writes to an index outside of the plane if a window is all padding",
    ),
)

# Operators whose exceptions keep PyTorch from writing outside of a tensor.
WRITES_OUTSIDE: frozenset[str] = frozenset({"max_pool2d", "max_pool2d_with_indices"})

# By operator: the part that is not compared, the calls, the reason. "all" stands for every part.
CALLS: Mapping[str, tuple[tuple[str, Callable[[Arguments], bool], str], ...]] = {
    "convolution_backward": (
        (
            "requires_grad",
            lambda a: True,
            "PyTorch's is one operator: with any argument all its results require a gradient",
        ),
    ),
    "ldexp": (
        (
            "all",
            _is_integer("other"),
            "PyTorch computes 2 ** other in integers: 0 for negative ones",
        ),
    ),
    "logit": (
        (
            "second gradient",
            _is_no_probability,
            "where the gradient is NaN, PyTorch's second one is 0",
        ),
    ),
    "scatter_reduce": (
        ("tangent", lambda a: a["reduce"] == "prod", "PyTorch has no tangent of products"),
        (
            "gradient",
            lambda a: _sizes(a["src"]) != _sizes(a["index"]),
            "PyTorch gives elements of src without an index a gradient",
        ),
    ),
    **dict.fromkeys(
        ("logical_and_", "logical_or_", "logical_xor_", "logical_not_"),
        (("all", lambda _: True, "PyTorch passes on the gradient of what was there before"),),
    ),
    "sinc": (("second gradient", _has_zeros, "PyTorch's is NaN at 0"),),
    **dict.fromkeys(
        ("median", "nanmedian"),
        (("tangent", _is_empty, "PyTorch's tangent of nothing is 0, not NaN"),),
    ),
    "addcmul": (
        (
            "all",
            _mixes("self", "tensor1", "tensor2"),
            "PyTorch multiplies value in an integer dtype, which overflows",
        ),
    ),
    "pow": (
        (
            "tangent",
            _mixes("self", "exponent"),
            "PyTorch drops the imaginary part for real exponents",
        ),
        ("tangent", _is_complex_power, "as above"),
        (
            "second gradient",
            _has_zero_exponents,
            "PyTorch's is 0 for exponents of 0; the derivative of e x^(e-1) is 1/x",
        ),
    ),
    "float_power": (("second gradient", _has_zero_exponents, "as pow"),),
    "std": (
        (
            "all",
            _has_no_dims,
            "PyTorch reduces no dimension in the gradient, and all of them in the result",
        ),
        ("all", _is_constant, "it divides by nearly 0"),
    ),
    "var": (("all", _has_no_dims, "as std"), ("all", _is_constant, "it divides by nearly 0")),
    **dict.fromkeys(
        ("var_mean", "std_mean"),
        (("all", _has_no_dims, "as std"), ("all", _is_constant, "it divides by nearly 0")),
    ),
    "cumprod": (
        (
            "all",
            _becomes_real,
            "PyTorch multiplies complex numbers in the gradient, and their real parts in the result",
        ),
    ),
    "fmax": (
        (
            "tangent",
            _are_equal_somewhere,
            "PyTorch takes the tangent of other where both are equal, but gives self the gradient",
        ),
    ),
    "logsumexp": (("tangent", _is_empty, "PyTorch's is NaN where there is nothing to sum"),),
    **dict.fromkeys(
        ("mse_loss", "smooth_l1_loss"),
        (
            (
                "all",
                _are_broadcast,
                "PyTorch divides by the number of an argument's elements, and the result has more",
            ),
        ),
    ),
    "batch_norm": (
        (
            "all",
            _is_ambiguous,
            "PyTorch reads the gradient in another order if sizes of 1 make that of the input ambiguous",
        ),
        ("all", _weight_is_strided, "PyTorch reads the weight as contiguous in the gradient"),
        (
            "second gradient",
            _is_half,
            "differences of nearly equal numbers, each rounded to half",
        ),
    ),
    "native_batch_norm": (("all", _weight_is_strided, "as batch_norm"),),
    "huber_loss": (
        (
            "all",
            _are_broadcast,
            "PyTorch divides by the number of an argument's elements, and the result has more",
        ),
    ),
    "hardsigmoid": (("all", _is_double("self"), "PyTorch multiplies by a sixth in float"),),
    **dict.fromkeys(
        ("prelu", "_prelu_kernel"),
        (
            (
                "second gradient",
                _has_zeros,
                "PyTorch takes self of 0 as positive here, and as negative in the gradient",
            ),
        ),
    ),
    "native_batch_norm_backward": (
        ("tangent", lambda _: True, "there is no forward formula"),
        ("second gradient", lambda _: True, "PyTorch takes the statistics as constants"),
        ("all", _wants_bias_only, "PyTorch gives none if the statistics are constants"),
    ),
    "native_group_norm": (
        ("all", lambda _: True, "PyTorch's mean and rstd require a gradient, and pass none on"),
    ),
    "cosine_embedding_loss": (
        ("second gradient", _is_half, "differences of nearly equal numbers, each rounded to half"),
    ),
    "index_add": (("all", _alpha_is_complex, "PyTorch's gradient misses the conjugate of alpha"),),
    **dict.fromkeys(
        ("embedding_backward", "embedding_dense_backward"),
        (("all", _scales, "PyTorch's gradient ignores scale_grad_by_freq"),),
    ),
    "silu_": (("all", _is_complex("self"), "PyTorch's fails its own gradcheck"),),
    "bernoulli_.float": (("all", _is_complex("self"), "the operator takes no complex numbers"),),
    "max_pool2d": _OF_MAX_POOL,
    "max_pool2d_with_indices": _OF_MAX_POOL,
    "as_strided_": (
        ("tangent", lambda _: True, "PyTorch's tangent does not have the sizes of its tensor"),
    ),
    "native_layer_norm_backward": (
        ("all", _is_complex("input"), "the operator takes no complex numbers"),
        ("tangent", lambda _: True, "there is no forward formula"),
        ("second gradient", lambda _: True, "PyTorch takes the statistics as constants"),
    ),
}


def leaves_out(name: str, part: str, arguments: Arguments) -> bool:
    """Return whether a part of a call is not compared. CALLS has operators by name, or without `_` and overload."""
    base = name.partition(".")[0].removesuffix("_")
    rules = (*CALLS.get(base, ()), *(CALLS.get(name, ()) if name != base else ()))
    return any(named in ("all", part) and applies(arguments) for named, applies, _ in rules)


# Calls that finite differences say nothing about, by operator: the calls, the reason.
DIFFERENCES: Mapping[str, tuple[tuple[Callable[[Arguments], bool], str], ...]] = {
    **dict.fromkeys(
        ("cummax", "cummin", "norm"),
        ((_has_equal_elements, "there is a kink where elements are equal"),),
    ),
    "embedding": (
        (lambda a: a.get("padding_idx", -1) != -1, "the row of padding_idx has no gradient"),
    ),
    "leaky_relu": ((_has_negative_slope, "as in PyTorch, in place it has no gradient"),),
    **dict.fromkeys(
        ("logical_and", "logical_or", "logical_xor", "logical_not"),
        ((lambda _: True, "in place they refuse a gradient"),),
    ),
    "pow": ((_has_bool_exponent, "as in PyTorch, 1 is not subtracted from a bool"),),
    "max_pool1d": ((_has_equal_elements, "there is a kink where elements are equal"),),
    "native_batch_norm_backward": (
        (
            lambda a: bool(a["train"]),
            "the statistics are those of the input, which a difference changes alone",
        ),
    ),
    "native_group_norm_backward": ((lambda _: True, "as native_batch_norm_backward, always"),),
    "native_layer_norm_backward": (
        (lambda _: True, "the statistics are those of the input, which a difference changes alone"),
    ),
    "remainder": ((_divides_by_little, "a small divisor is near a jump"),),
    "scatter": (
        (
            lambda a: _sizes(a.get("src")) != _sizes(a["index"]),
            "as in PyTorch, src must have the sizes of index in the gradient",
        ),
    ),
    "slice_inverse": ((lambda _: True, "it reads elements beyond those of self"),),
    **dict.fromkeys(
        ("std", "var", "var_mean", "std_mean"), ((_is_constant, "the deviation has a kink near 0"),)
    ),
}


def differs_rightly(operator: str, arguments: Arguments) -> bool:
    """Return whether finite differences say nothing about a call."""
    return any(applies(arguments) for applies, _ in DIFFERENCES.get(operator, ()))


def consistent(operator: str, arguments: dict[str, Value]) -> dict[str, Value]:
    """Replace arguments that are results of another operator by such: gradients hold for these alone."""
    if operator in ("native_batch_norm_backward", "native_group_norm_backward"):
        return _with_statistics(operator, arguments)
    if operator == "native_layer_norm_backward":
        tensor = arguments["input"]
        assert isinstance(tensor, TensorValue)
        count = len(arguments["normalized_shape"])
        axes = tuple(range(len(tensor.sizes) - count, len(tensor.sizes)))
        numbers = tensor.array().astype(np.float64)
        if numbers.size:
            mean = numbers.mean(axes, keepdims=True)
            rstd = 1 / np.sqrt(numbers.var(axes, keepdims=True) + 1e-3)
            arguments = {
                **arguments,
                "mean": _tensor(mean, arguments["mean"].dtype),
                "rstd": _tensor(rstd, arguments["rstd"].dtype),
            }
    return arguments


def _with_statistics(operator: str, arguments: dict[str, Value]) -> dict[str, Value]:
    """Replace the mean and the reciprocal of the deviation by those of the input."""
    tensor = arguments["input"]
    assert isinstance(tensor, TensorValue)
    numbers = tensor.array().astype(np.float64)
    if operator == "native_batch_norm_backward":
        if not arguments["train"]:
            return arguments
        names = ("save_mean", "save_invstd")
        rows = np.moveaxis(numbers, 1, 0).reshape(numbers.shape[1], -1)
        shape: tuple[int, ...] = (numbers.shape[1],)
    else:
        names = ("mean", "rstd")
        shape = (arguments["N"], arguments["group"])
        rows = numbers.reshape(shape[0] * shape[1], -1)
    found = rows.mean(1), 1 / np.sqrt(rows.var(1) + 1e-3)
    made = {
        name: _tensor(each.reshape(shape), arguments[name].dtype)
        for name, each in zip(names, found)
    }
    return {**arguments, **made}


def _tensor(numbers: np.ndarray, dtype: Dtype = FLOAT32) -> TensorValue:
    made = from_numbers(dtype, numbers)
    return TensorValue(dtype, numbers.shape, contiguous_strides(numbers.shape), 0, made.tobytes())
