"""Codes E1210 to E1246: problems in derivatives.yaml that depend on the operators.

The examples are read together with the operators of tests/golden/errors/fixtures/differentiable.yaml.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example
from opgen.model.derivatives import DERIVATIVES_YAML

_NEG = "- name: neg(Tensor self) -> Tensor\n"
_SCALE = "- name: scale(Tensor self, float factor) -> Tensor\n"
_MUL = "- name: mul(Tensor self, Tensor other) -> Tensor\n"
_EXP = "- name: exp_(Tensor(a!) self) -> Tensor(a!)\n"
_MINMAX = "- name: minmax(Tensor self) -> (Tensor lowest, Tensor highest)\n"
_TWIN = "- name: twin(Tensor self) -> (Tensor, Tensor)\n"
_GOOD = _NEG + "  self: grad.neg()\n"
_GOOD_MUL = _MUL + "  self: grad * other\n  other: grad * self\n"


def _code(
    name: str, title: str, explanation: str, example: Example, facts: tuple[str, ...]
) -> Code:
    return Code(name, title, explanation, example, facts, DERIVATIVES_YAML)


E1210 = _code(
    "E1210",
    "formulas for an unknown schema",
    "'name' is the schema of an operator, with the types, names and defaults of all arguments, exactly as in its "
    "entry of native_functions.yaml. The schema of a generated operator is possible, too.",
    Example("- name: neg(Tensor x) -> Tensor\n  x: grad.neg()\n", _GOOD),
    ("D01", "D02"),
)
E1211 = _code(
    "E1211",
    "two entries for one operator",
    "An operator has one entry of formulas. The variants of an operator share one: the in-place variant uses the "
    "formulas of the functional one. torchgen would use the last entry.",
    Example(_GOOD + _GOOD, _GOOD),
    ("DA1",),
)
E1212 = _code(
    "E1212",
    "an argument whose name formulas use for something else",
    "In formulas, 'result' is the output of the operator, and 'grad_input_mask' says for each gradient whether it is "
    "needed. An argument of such a name would be hidden.",
    Example("- name: masked(Tensor self, Tensor grad_input_mask) -> Tensor\n  self: grad\n", _GOOD),
    ("D09",),
)
E1213 = _code(
    "E1213",
    "output_differentiability of the wrong length",
    "'output_differentiability' has an item for each output of the operator.",
    Example(
        _NEG + "  output_differentiability: [True, False]\n  self: grad.neg()\n",
        _NEG + "  output_differentiability: [True]\n  self: grad.neg()\n",
    ),
    ("D20",),
)
E1214 = _code(
    "E1214",
    "an in-place operator whose output has no gradient",
    "An in-place operator returns the argument that it writes. If that had no gradient, a use of its old value in "
    "another formula would not be noticed.",
    Example(
        _EXP + "  output_differentiability: [False]\n  self: grad * result\n",
        _EXP + "  self: grad * result\n",
    ),
    ("D22",),
)
E1215 = _code(
    "E1215",
    "an unknown key of formulas",
    "A key of 'dispatch' is Default, or an Autograd key of a backend, such as AutogradCUDA. Its formulas are used for "
    "tensors of that backend, and those of Default for all others.",
    Example(
        _NEG + "  dispatch:\n    CUDA:\n      self: grad.neg()\n",
        _NEG + "  dispatch:\n    AutogradCUDA:\n      self: grad.neg()\n",
    ),
    ("D08",),
)
E1216 = _code(
    "E1216",
    "an argument and an output of the same name",
    "A formula for this name could be that of a gradient or of a tangent. Name the output otherwise in the schema.",
    Example(
        "- name: same(Tensor x) -> (Tensor x, Tensor y)\n  x: grads[0] + grads[1]\n",
        _MINMAX + "  self: grads[0] + grads[1]\n",
    ),
    ("D10",),
)
E1217 = _code(
    "E1217",
    "the gradient of an output that does not exist",
    "'grads[i]' is the gradient of output i, counted from 0.",
    Example(_MINMAX + "  self: grads[1] + grads[2]\n", _MINMAX + "  self: grads[0] + grads[1]\n"),
    ("D03",),
)
E1218 = _code(
    "E1218",
    "sizes as plain numbers in a formula",
    "Formulas are also run where sizes are symbols, as in torch.compile. '.sizes()', '.size(i)' and '.strides()' would "
    "make them plain numbers. Use 'sym_sizes()', 'sym_size(i)' and 'sym_strides()'. They are saved in place of the "
    "tensor.",
    Example(
        _NEG + "  self: grad.neg().expand(self.sizes())\n",
        _NEG + "  self: grad.neg().expand_symint(self.sym_sizes())\n",
    ),
    ("D15",),
)
E1219 = _code(
    "E1219",
    "strides that cannot be saved",
    "A tensor may have no strides, so they are saved only if its own gradient is needed: the strides of 'x' can be used "
    "in the formula of 'x' alone, and not if the operator writes 'x'.",
    Example(
        _MUL + "  self: grad * other\n  other: f(grad, self.sym_strides())\n",
        _MUL + "  self: f(grad * other, self.sym_strides())\n  other: grad * self\n",
    ),
    ("D16",),
)
E1220 = _code(
    "E1220",
    "an argument with a formula that is marked non_differentiable",
    "The formula of an argument is a C++ expression, or 'non_differentiable' if the argument has no gradient.",
    Example(
        _MUL + "  self: grad * other\n  self, other: non_differentiable\n",
        _MUL + "  self: grad * other\n  other: non_differentiable\n",
    ),
    ("D07",),
)
E1221 = _code(
    "E1221",
    "formulas that mix ways to name gradients",
    "The formulas of an operator use 'grad', the gradient of its only differentiable output; or 'grads[i]'; or "
    "'grad_NAME' with the names of its outputs. A mixture compiles, but is wrong where only some of the outputs have a "
    "gradient, for example in a double backward.",
    Example(_TWIN + "  self: grad + grads[1]\n", _TWIN + "  self: grads[0] + grads[1]\n"),
    ("D04", "D06"),
)
E1222 = _code(
    "E1222",
    "formulas that use grads[0] alone",
    "If the first output is the only one with a gradient, 'grad' says so. Otherwise, the gradients of the other outputs "
    "are missing from the formulas.",
    Example(_TWIN + "  self: grads[0]\n", _TWIN + "  self: grad\n"),
    ("D05",),
)
E1223 = _code(
    "E1223",
    "a formula for neither an argument nor an output",
    "A key names arguments, for the formula of their gradients; or outputs, for that of their tangents: 'result', "
    "'result0', 'result1', ... or the names that the schema has for them.",
    Example(_NEG + "  slef: grad.neg()\n", _GOOD),
    ("D18", "DC5"),
)
E1224 = _code(
    "E1224",
    "an argument in a forward formula",
    "In a forward formula, 'x_p' is the value of the argument 'x', and 'x_t' is its tangent.",
    Example(
        _SCALE + "  self: grad * factor\n  result: self * factor\n",
        _SCALE + "  self: grad * factor\n  result: self_t * factor\n",
    ),
    ("D11",),
)
E1225 = _code(
    "E1225",
    "auto_element_wise where no formula follows from it",
    "'auto_element_wise' makes the forward formula from the backward formula of an operator that computes each element of "
    "its output from the same element of its input. The operator has one argument with a backward formula, one output, "
    "and a functional variant.",
    Example(
        _MUL + "  self: grad * other\n  other: grad * self\n  result: auto_element_wise\n",
        _MUL
        + "  self: grad * other\n  other: grad * self\n  result: self_t * other_p + other_t * self_p\n",
    ),
    ("D12",),
)
E1226 = _code(
    "E1226",
    "auto_linear where no formula follows from it",
    "'auto_linear' makes the forward formula of a linear operator: a call of the operator with the tangents. It has one "
    "output, and an argument with a backward formula.",
    Example(
        _SCALE + "  result: auto_linear\n",
        _SCALE + "  self: grad * factor\n  result: auto_linear\n",
    ),
    ("D13", "D14"),
)
E1227 = _code(
    "E1227",
    "a forward formula that uses a value that was overwritten",
    "The forward formula of an in-place operator runs after it. 'self_p' would be the new value, which is 'result'; the "
    "old one is 'original_self_p', a copy that is made before.",
    Example(
        _EXP + "  self: grad * result\n  result: self_t * self_p.exp()\n",
        _EXP + "  self: grad * result\n  result: self_t * result\n",
    ),
    (),
)
E1228 = _code(
    "E1228",
    "formulas of an operator that writes arguments, for its functional form",
    "A generated functional form has the formulas of the operator that it is generated from. If they save 'self', that "
    "is another value there. Add an entry for the functional form.",
    Example("- name: track(Tensor self, Tensor(a!) mean) -> Tensor\n  self: grad * self\n", _GOOD),
    ("D23",),
)
E1229 = _code(
    "E1229",
    "formulas for an operator that is made of others",
    "An operator with a CompositeImplicitAutograd kernel, or without a dispatch table, has the gradients of the operators "
    "that it calls. Give it a kernel for a backend, or for CompositeExplicitAutograd, to use formulas of its own.",
    Example("- name: composed(Tensor self) -> Tensor\n  self: grad.neg()\n", _GOOD),
    ("D19",),
)
E1230 = _code(
    "E1230",
    "a wrong number of forward formulas",
    "If an operator has a forward formula, each of its differentiable outputs has one, and no other does.",
    Example(
        _MINMAX + "  self: grad_lowest + grad_highest\n  lowest: f(self_t, lowest)\n",
        _MINMAX
        + "  self: grad_lowest + grad_highest\n  lowest: f(self_t, lowest)\n  highest: f(self_t, highest)\n",
    ),
    ("D21",),
)

E1231 = _code(
    "E1231",
    "a misspelt name in a formula",
    "A backward formula can use the arguments, the outputs and the gradients of the outputs; a forward formula the values "
    "('x_p') and tangents ('x_t') of the arguments, and the outputs. opgen reports a name that is none of these and "
    "resembles one; torchgen leaves it to the C++ compiler.",
    Example(_MUL + "  self: grad * otehr\n  other: grad * self\n", _GOOD_MUL),
    (),
)

E1232 = _code(
    "E1232",
    "a key that names something besides arguments",
    "A key with several names has one formula for the gradients of all of these arguments, or for the tangents of all of "
    "these outputs. torchgen ignores other names after the first.",
    Example(
        _MUL + "  self, ohter: f(grad, self, other)\n",
        _MUL + "  self, other: f(grad, self, other)\n",
    ),
    ("DA4",),
)
E1233 = _code(
    "E1233",
    "the gradient of an argument that is not a tensor",
    "Tensors, and optional tensors and lists of them, have gradients. Numbers and other values have none, and need no row. "
    "torchgen leaves it to the C++ compiler.",
    Example(
        _SCALE + "  self: grad * factor\n  factor: (grad * self).sum()\n",
        _SCALE + "  self: grad * factor\n",
    ),
    ("DA5",),
)
E1234 = _code(
    "E1234",
    "two formulas for one gradient or tangent",
    "An argument has one formula for its gradient, alone or together with others, and an output has one for its tangent. "
    "torchgen would compute both.",
    Example(
        _MUL + "  self: grad * other\n  self, other: f(grad, self, other)\n",
        _GOOD_MUL,
    ),
    ("DA6",),
)
E1235 = _code(
    "E1235",
    "a formula with the wrong number of gradients",
    "The formula of a key with several names is a std::tuple with a gradient for each, such as "
    "'std::make_tuple(grad * other, grad * self)' or a call of an operator with as many outputs; that of a key with one "
    "name is a single value. torchgen leaves it to the C++ compiler.",
    Example(
        _MUL + "  self, other: std::make_tuple(grad, grad, grad)\n",
        _MUL + "  self, other: std::make_tuple(grad * other, grad * self)\n",
    ),
    ("DA7",),
)
E1236 = _code(
    "E1236",
    "the gradient of an output that has none",
    "'output_differentiability' says which outputs have a gradient. Formulas see the gradients of these alone: 'grads[0]' "
    "is that of the first output that has one, and 'grad_NAME' exists for no other. torchgen leaves it to the C++ compiler.",
    Example(
        _MINMAX + "  output_differentiability: [False, True]\n  self: f(grad_lowest, self)\n",
        _MINMAX + "  output_differentiability: [False, True]\n  self: f(grad_highest, self)\n",
    ),
    ("DA8",),
)
E1237 = _code(
    "E1237",
    "formulas in addition to a kernel for the same autograd key",
    "opgen registers the kernel that records an operator with formulas at Autograd, or at the key of 'dispatch' in "
    "derivatives.yaml. The entry of the operator cannot have a row for that key, too.",
    Example(
        "- name: mylib::recorded\n  x: grad\n",
        "- name: mylib::recorded\n  dispatch:\n    AutogradCUDA:\n      x: grad\n",
    ),
    (),
)
E1238 = _code(
    "E1238",
    "formulas for what has no gradient",
    "A formula computes with the gradients of results. A number has none, nor has a result with False in "
    "'output_differentiability', or one of an 'out=' variant, which uses no formula. Of lists, only 'Tensor[]' "
    "has gradients. torchgen would never use such formulas. (E1236 reports single gradients of this kind.)",
    Example(
        "- name: mylib::count\n  x: grad\n",
        "- name: mylib::count\n  x: non_differentiable\n",
    ),
    (),
)
E1239 = _code(
    "E1239",
    "an item of grad_input_mask that does not exist",
    "'grad_input_mask[i]' says whether the gradient of the argument with number i in the key is needed, counted from 0. "
    "torchgen's output would read memory after the array.",
    Example(
        _MUL + "  self, other: f(grad, grad_input_mask[0], grad_input_mask[2])\n",
        _MUL + "  self, other: f(grad, grad_input_mask[0], grad_input_mask[1])\n",
    ),
    ("DA9",),
)
W1240 = _code(
    "W1240",
    "a tensor without a formula",
    "If an operator has formulas, each tensor among its arguments has one, or is marked 'non_differentiable'. "
    "Otherwise, a call with one that requires a gradient is an error. Operators of 'aten' follow torchgen, which takes no formula for "
    "'non_differentiable'.",
    Example(
        "- name: mylib::blend\n  x: grad * weight\n",
        "- name: mylib::blend\n  x: grad * weight\n  y: non_differentiable\n",
    ),
    (),
)
W1241 = _code(
    "W1241",
    "a variant without formulas",
    "The in-place variant of an operator uses the formulas of the functional one, but no other variant or overload uses "
    "those of another. Without formulas, a backward pass through it is an error. Write an entry for it; one with "
    "'non_differentiable' for each tensor says that it has no gradient.",
    Example(
        "- name: mylib::shift.Tensor\n  x: grad\n  by: grad\n",
        "- name: mylib::shift.Tensor\n  x: grad\n  by: grad\n- name: mylib::shift.Scalar\n  x: grad\n",
    ),
    (),
)
W1243 = _code(
    "W1243",
    "a function in a formula that nothing declares",
    "A formula can call operators, by their names in C++; the functions that opgen declares for formulas, such as "
    "'not_implemented' (docs/reference/derivatives.md); functions of the target's own headers; and functions that the "
    "author declares in a header. Its name belongs in the first item of the file: '- include: my_formulas.h'. "
    "opgen looks for the name in that header, and in those that it includes. The same holds for methods, as in "
    "'grad.times(x)': those of the target's classes, and on target runtime operators with 'variants: method'. "
    "`opgen lint` and `opgen build` report it.",
    Example(
        "- name: mylib::blend\n  x: blend_gradient(grad, weight)\n  y: grad\n",
        "- name: mylib::blend\n  x: grad * weight\n  y: grad\n",
    ),
    (),
)

E1244 = _code(
    "E1244",
    "a single gradient where the results have several",
    "'grad' is the gradient of one tensor. If the results of an operator have more, the formulas use 'grads[i]' or "
    "'grad_NAME' for each, or 'output_differentiability' says that all others have none. A list has as many gradients as "
    "tensors: 'grads' is the list of all gradients, in the order of the tensors. For a tensor that was not used, it "
    "contains zeros. In operators of 'aten', 'grad' is the gradient of the first of several results, as for torchgen.",
    Example(
        "- name: mylib::split(Tensor x) -> (Tensor low, Tensor high)\n  x: grad\n",
        "- name: mylib::split(Tensor x) -> (Tensor low, Tensor high)\n  x: grad_low + grad_high\n",
    ),
    (),
)
E1245 = _code(
    "E1245",
    "the gradient of an argument that is written and not returned",
    "The gradient of a written argument is that of its new value, which is a result. If the operator does not return the "
    "argument, nothing would record that it changed. Return it, or mark it as non_differentiable: it is then an error to "
    "call the operator with one that requires a gradient. (An operator whose name ends with '_', which writes its first "
    "argument alone and returns nothing, needs no result.)",
    Example(
        "- name: mylib::push\n  acc: grad\n  x: grad\n",
        "- name: mylib::push\n  acc: non_differentiable\n  x: grad\n",
    ),
    (),
)
E1246 = _code(
    "E1246",
    "a formula that is not an expression of C++",
    "A formula is one C++ expression for every target, also where opgen translates it to Python. It has no ';', a "
    "choice is 'condition ? a : b', and a power is 'pow(x, 2)'. Only formulas of libraries are checked.",
    Example(
        "- name: mylib::blend\n  x: grad ** 2\n  y: grad\n",
        "- name: mylib::blend\n  x: grad * grad\n  y: grad\n",
    ),
    (),
)

CODES = (
    *(E1210, E1211, E1212, E1213, E1214, E1215, E1216, E1217, E1218, E1219, E1220),
    *(E1221, E1222, E1223, E1224, E1225, E1226, E1227, E1228, E1229, E1230, E1231),
    *(E1232, E1233, E1234, E1235, E1236, E1237, E1238, E1239, W1240, W1241),
    *(W1243, E1244, E1245, E1246),
)
