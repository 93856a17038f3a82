"""The functions that generated code declares for formulas, on both targets (`opgen::autograd::formulas`)."""

from __future__ import annotations

from collections.abc import Mapping

# What each function does, as an editor shows it.
HELPERS: Mapping[str, str] = {
    "not_implemented": "an error that names the derivative, and optionally the reason: there is no formula yet",
    "not_implemented_list": "as not_implemented, for a list of tensors",
    "wrap_opt_if": "an optional tensor that has the value if the condition holds",
    "handle_r_to_c": "the real part of a gradient, for an input that is not complex",
    "to_args_sizes": "the sizes of each tensor of a list; saved in place of the tensors",
    "to_args_sizes_symint": "the symbolic sizes of each tensor of a list; saved in place of the tensors",
    "to_args_scalartypes": "the element type of each tensor of a list; saved in place of the tensors",
    "strides_or_error": "the strides of a tensor, or an error if it has none",
    "toNonOptTensor": "the tensor of an optional one, or an undefined tensor",
    "toNonOptFwGrad": "the tangent of an optional tensor",
    "toNonOptPrimal": "the value of an optional tensor without its tangent",
    "isFwGradDefined": "whether a tensor has a tangent",
    "zeros_like": "zeros of the same size and type; saved in place of the tensor",
    "TensorGeometry": "sizes and strides of a tensor; saved in place of the tensor",
    "isDifferentiableType": "whether tensors of this dtype can have gradients",
    "conj": "the complex conjugate",
    "real": "the real part of a complex tensor, or the tensor itself",
    "where": "elements of one tensor or number where a condition holds, and of another elsewhere",
    "sum_to": "the sum over what was broadcast from these sizes",
}
