"""Known differences from PyTorch, and results that cannot be compared, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from differential.numerics.draw import functional_name
from differential.numerics.values import Array, TensorValue, Value
from opgen.model.native_function import NativeFunction

# Operators that are not called.
EXEMPT: dict[str, str] = {
    f"_{name}_helper": f"PyTorch checks none of its arguments; {name} calls it with right ones"
    for name in ("cummax", "cummin")
}

# Operators that only call the operator of their first name with the same arguments: fewer inputs are enough.
SECOND_NAMES = frozenset(
    {
        *("absolute", "argwhere", "broadcast_to", "clip", "concat", "concatenate", "divide", "fix"),
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ger", "greater"),
        *("greater_equal", "less", "less_equal", "moveaxis", "multiply", "negative", "not_equal"),
        *("row_stack", "subtract", "swapaxes", "swapdims", "trapz", "true_divide"),
    }
)

# The memory that these return has no defined values.
UNSPECIFIED = frozenset(
    {"empty", "empty_strided", "empty_like", "new_empty", "resize", "resize_as"}
)

# Operators whose results never have elements.
EMPTY_ONLY = frozenset({"set", "set_", "set.out"})

_CONVOLUTIONS = (
    *(f"conv{n}d" for n in (1, 2, 3)),
    *("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"),
    *("convolution", "convolution.out", "convolution_backward"),
)

# Operators that accept some calls that PyTorch rejects; this is not a failure.
LENIENT: dict[str, str] = {
    "linear": "PyTorch takes a one-dimensional weight only without a bias",
    "abs.out": "PyTorch takes an out argument of a wider complex dtype only for some shapes",
    "absolute.out": "as abs.out",
    "std.out": "PyTorch computes half and bfloat16 only into an out argument of the same dtype",
    "std.correction_out": "as std.out",
    "var.out": "as std.out",
    "var.correction_out": "as std.out",
    "pad": "PyTorch mirrors and repeats elements of some dtypes only",
    "scaled_dot_product_attention": "PyTorch refuses a mask of fewer than two dimensions with tensors of four",
    **dict.fromkeys(_CONVOLUTIONS, "PyTorch convolves integers only in some cases"),
    "pixel_shuffle": "PyTorch takes no five-dimensional images whose channels are adjacent",
    "pixel_unshuffle": "as pixel_shuffle",
    **{
        f"{loss}.out": "PyTorch computes into an out argument of another dtype only without a reduction"
        for loss in ("huber_loss", "soft_margin_loss", "binary_cross_entropy")
    },
    "isin": "PyTorch refuses some test_elements that are not contiguous",
    **dict.fromkeys(("ldexp", "ldexp_"), "PyTorch refuses exponents of bool"),
    "kron": "PyTorch refuses factors whose product is permuted",
    "diff": "PyTorch refuses a dimension without elements for some orders",
    **dict.fromkeys(("nansum", "nanmean"), "PyTorch sums no complex numbers, also if dtype asks"),
    "repeat_interleave": "PyTorch refuses a dimension for a tensor that has none",
    "tensordot": "PyTorch multiplies tensors of bool for other shapes",
    "inner": "PyTorch multiplies tensors of bool without elements for other shapes",
    "inner.out": "as inner",
    "logsumexp": "PyTorch refuses an empty list of dimensions for tensors that have some",
    "native_layer_norm_backward.out": "PyTorch rejects every output_mask except all true",
    "native_batch_norm_backward.out": "as native_layer_norm_backward.out",
    "native_group_norm_backward.out": "as native_layer_norm_backward.out",
}

# Operators that reject some calls that PyTorch accepts.
STRICT: dict[str, str] = {
    "logsumexp.out": "PyTorch drops the imaginary part of the sum for a real out argument",
    "inner": "PyTorch multiplies tensors of bool",
    "inner.out": "as inner",
    "tensordot": "as inner, for some shapes",
    "tensordot.out": "as tensordot",
    "baddbmm_": "PyTorch writes to elements that share memory",
    "addmv_": "as baddbmm_",
    "index_fill_.int_Tensor": "as baddbmm_",
    "addbmm.out": "PyTorch does not look at the dtype of out if there is nothing to multiply",
    "mean.out": "PyTorch drops the imaginary part for a real out argument",
}

# The elements of PyTorch's out form differ from those of its functional form, which are right; ours
# agrees with the latter.
OUT_IS_WRONG: dict[str, str] = {
    "huber_loss.out": "the losses of all places are left behind their mean or sum",
    "soft_margin_loss.out": "as huber_loss.out",
    "binary_cross_entropy.out": "an out argument of another shape is not resized",
    "native_batch_norm.out": "out arguments that are not contiguous get wrong elements",
    "tril.out": "elements of out arguments that are not contiguous are left as they were",
    "triu.out": "as tril.out",
    "gelu.out": "bfloat16 elements of out arguments that are not contiguous are left as they were",
    "linear.out": "an out argument that is not contiguous gets other strides, and memory outside of it is written",
    "matmul.out": "as linear.out; or an out argument of the right shape is rejected, because batches are folded",
    "_softmax_backward_data.out": "elements are written outside of an out argument that is not contiguous",
    "_log_softmax.out": "elements are written outside of an out argument that is not contiguous",
    "_softmax.out": "half and bfloat16 elements are written outside of an out argument that is not contiguous",
}

# Strides that differ on purpose.
OTHER_STRIDES: dict[str, str] = {
    "abs.out": "for complex tensors, PyTorch computes into a contiguous tensor first, and a new output takes its strides",
    "absolute.out": "as abs.out",
    **dict.fromkeys(
        (*_CONVOLUTIONS, *(f"conv{n}d.padding" for n in (1, 2, 3))),
        "PyTorch keeps the order of dimensions in memory of some inputs",
    ),
    "adaptive_avg_pool2d.out": "PyTorch changes the strides of an out argument to the order of self",
    **dict.fromkeys(
        (
            "binary_cross_entropy.out",
            "native_batch_norm.out",
            "huber_loss.out",
            "soft_margin_loss.out",
        ),
        "compared with PyTorch's functional form, which keeps the order of dimensions in memory",
    ),
    "ldexp.Tensor": "PyTorch takes the order of dimensions in memory from the exponent, ours from the power",
    "einsum": "PyTorch multiplies some operands in the other order",
    "inner.out": "PyTorch gives a new output the strides of a transposed product",
    "addr": "PyTorch transposes the result in memory for some self",
    "addr.out": "as addr",
    "diff.out": "PyTorch gives a new output the order of dimensions in memory of self",
    "scaled_dot_product_attention": "PyTorch's fused kernel returns the order of dimensions in memory of query",
    "pad": "PyTorch repeats elements in the order of dimensions in memory of some inputs",
    "smooth_l1_loss.out": "as mse_loss.out",
    "mse_loss.out": "PyTorch gives a new output the strides of the difference, also if they are permuted",
}

# Arguments that an operator writes although its schema does not say so.
ALSO_WRITES: dict[str, frozenset[str]] = dict.fromkeys(
    ("native_batch_norm", "batch_norm", "instance_norm"), frozenset({"running_mean", "running_var"})
)

# Integer results that are rounded from fractions: the last bit of the fraction may decide.
OFF_BY_ONE = frozenset({"linspace", "logspace", "upsample_bilinear2d"})

# From an overload, or "overload:dtype", to the reason why ours is expected to fail.
KNOWN: dict[str, str] = {}

# Operators whose result depends on the elements of a tensor, which Meta does not have; those with a
# tag need no row.
NEEDS_DATA = frozenset(
    {
        "is_nonzero",
        "narrow.Tensor",
        "nonzero_numpy",
        "linspace.Scalar_Tensor",
        "linspace.Tensor_Scalar",
        "linspace.Tensor_Tensor",
        "logspace.Scalar_Tensor",
        "logspace.Tensor_Scalar",
        "logspace.Tensor_Tensor",
        "repeat_interleave.Tensor",
        "repeat_interleave.self_Tensor",
        "tensor_split.tensor_indices_or_sections",
        "unique_consecutive",
        "unique_dim",
        "where",
    }
)
_DATA_TAGS = frozenset({"data_dependent_output", "dynamic_output_shape"})


def is_second_name(overload: str) -> bool:
    """Return whether all that `overload` does is to call another operator."""
    return overload.partition(".")[0].removesuffix("_") in SECOND_NAMES


def refusal_counts(name: str) -> bool:
    """Return whether it is a failure of operator `name` to accept what PyTorch rejects."""
    return name not in LENIENT and name.partition(".")[0] not in LENIENT


def may_refuse(name: str) -> bool:
    """Return whether ours may reject what PyTorch accepts."""
    return name in STRICT


def off_by_one(name: str, ours: Array, theirs: Array) -> bool:
    """Return whether integers differ by at most one, and operator `name` may differ by one."""
    if name.partition(".")[0] not in OFF_BY_ONE or ours.dtype.kind not in "ui":
        return False
    return bool((np.abs(ours.astype(np.int64) - theirs.astype(np.int64)) <= 1).all())


def needs_data(function: NativeFunction, arguments: Mapping[str, Value]) -> bool:
    """Return whether this call cannot be made on Meta."""
    if _DATA_TAGS & set(function.tags):
        return True
    # Masks become as many indices as they have true elements.
    for index in (
        arguments.get("indices") or () if isinstance(arguments.get("indices"), tuple) else ()
    ):
        if isinstance(index, TensorValue) and index.dtype.name in ("bool", "uint8"):
            return True
    return functional_name(function.func) in NEEDS_DATA
