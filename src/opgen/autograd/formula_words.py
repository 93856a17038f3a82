"""Describe the words of formulas, as an editor shows them: values, forms of formulas, and keys of entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opgen.model.native_function import NativeFunction

# The functions that generated code declares for formulas, on both targets (`opgen::autograd::formulas`).
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
# The keys of an entry besides the names of arguments and outputs.
FORMULA_KEYS: Mapping[str, str] = {
    "name": "The operator that the formulas are for: its schema, or outside of `aten` its name alone.",
    "output_differentiability": "For each output whether it has a gradient; or for a single one, a C++ condition in quotes. "
    "Default: all tensors have one.",
    "dispatch": "Formulas for each key: `Default`, or the Autograd key of a backend.",
}
FORMULA_HEADER_KEYS: Mapping[str, str] = {
    "namespace": "The namespace of the operators that are named without one.",
    "include": "A header that declares functions that formulas call, or a list of headers.",
}
# Formulas that are a word of their own.
BACKWARD_FORMS: Mapping[str, str] = {
    "non_differentiable": "The argument has no gradient.",
}
FORWARD_FORMS: Mapping[str, str] = {
    "auto_linear": "The operator is linear: it is called with the tangents of its arguments.",
    "auto_element_wise": "Each element depends on one element: the formula follows from the backward formula.",
}
_GRADIENTS: Mapping[str, str] = {
    "grad": "The gradient of the output; of the first one, if there are several.",
    "grads": "The gradients of the outputs that have one: `grads[0]` is that of the first.",
    "grad_input_mask": "For each name of the key whether its gradient is needed: `grad_input_mask[0]`.",
    "retain_variables": "Whether the graph is kept for another backward pass.",
}
_NUMBERED = re.compile(r"result(\d+)")


def describe_word(name: str, f: NativeFunction) -> str | None:
    """Return what a word means in the formulas of `f`, in Markdown; None for words of C++ and of other libraries."""
    if name in BACKWARD_FORMS or name in FORWARD_FORMS:
        return BACKWARD_FORMS.get(name) or FORWARD_FORMS.get(name)
    described = dict(backward_values(f))
    described.update(forward_values(f))
    if name in described:
        return described[name]
    return HELPERS[name].capitalize() + "." if name in HELPERS else None


def describe_key(name: str, f: NativeFunction | None) -> str | None:
    """Return what a key of an entry for `f` means; None if it is neither an argument nor an output."""
    if name in FORMULA_KEYS:
        return FORMULA_KEYS[name]
    if f is None:
        return None
    for argument in f.func.arguments.flat_all:
        if argument.name == name:
            return f"The gradient of the argument `{argument}`."
    if name in dict(_outputs(f)):
        return f"The tangent of the output `{name}`."
    return None


def backward_values(f: NativeFunction) -> Iterator[tuple[str, str]]:
    """Yield the values that a backward formula can use, with a description of each."""
    for argument in f.func.arguments.flat_all:
        yield argument.name, f"The argument `{argument}` of `{f.full_name}`, as it was in the call."
    yield from _outputs(f)
    yield from _GRADIENTS.items()
    for value in f.func.returns:
        if value.name is not None:
            yield f"grad_{value.name}", f"The gradient of the output `{value.name}`."


def forward_values(f: NativeFunction) -> Iterator[tuple[str, str]]:
    """Yield the values that a forward formula can use, with a description of each."""
    for argument in f.func.arguments.flat_all:
        if argument.type.is_tensor_like():
            yield f"{argument.name}_p", f"The value of the argument `{argument.name}`."
            yield f"{argument.name}_t", f"The tangent of the argument `{argument.name}`: zeros if it has none."
        else:
            yield argument.name, f"The argument `{argument}` of `{f.full_name}`."
    yield from _outputs(f)


def _outputs(f: NativeFunction) -> Iterator[tuple[str, str]]:
    returns = f.func.returns
    for index, value in enumerate(returns):
        name = value.name or ("result" if len(returns) == 1 else f"result{index}")
        yield name, f"The output `{name}` of `{f.full_name}`."
