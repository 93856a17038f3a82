"""Codes E1201 to E1206: errors in derivatives.yaml that need no knowledge of the operators.

The examples are read together with the operators of tests/golden/errors.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example
from opgen.model.derivatives import DERIVATIVES_YAML

_NAME = "- name: neg(Tensor self) -> Tensor\n"
GOOD = _NAME + "  self: grad.neg()\n"

E1201 = Code(
    "E1201",
    "a file of derivatives is not a list",
    "derivatives.yaml is a list. Each entry has 'name', the schema of an operator, and for each argument the formula "
    "of its gradient.",
    Example("neg:\n  self: grad.neg()\n", GOOD),
    ("DC4",),
    DERIVATIVES_YAML,
)
E1202 = Code(
    "E1202",
    "an entry of derivatives without a name",
    "'name' is the schema of the operator that the formulas belong to, exactly as in its entry.",
    Example("- self: grad.neg()\n", GOOD),
    ("DC1",),
    DERIVATIVES_YAML,
)
E1203 = Code(
    "E1203",
    "a value of the wrong type in a file of derivatives",
    "A formula is a C++ expression, 'output_differentiability' is a list, and 'dispatch' maps keys to formulas. YAML "
    "reads an unquoted number as a number; put it in quotes if it is a formula. The header of the file, its first item, "
    "has 'namespace', that of the operators without one, and 'include', a header or a list of headers that declare "
    "functions of formulas.",
    Example(_NAME + "  self: 0\n", _NAME + "  self: at::zeros_like(grad)\n"),
    ("DC2", "DC3"),
    DERIVATIVES_YAML,
)
E1204 = Code(
    "E1204",
    "a formula outside of 'dispatch'",
    "With 'dispatch', each key of the table has formulas of its own. A formula outside of the table would be ignored.",
    Example(
        _NAME
        + "  self: grad.neg()\n  dispatch:\n    AutogradNestedTensor:\n      self: grad.neg()\n",
        _NAME
        + "  dispatch:\n    Default:\n      self: grad.neg()\n    AutogradNestedTensor:\n      self: grad.neg()\n",
    ),
    (),
    DERIVATIVES_YAML,
)
E1205 = Code(
    "E1205",
    "a condition among several outputs",
    "An item of 'output_differentiability' is true or false. A C++ condition, which is evaluated when the operator "
    "runs, is possible only for an operator with a single output.",
    Example(
        "- name: minmax(Tensor self) -> (Tensor lowest, Tensor highest)\n"
        '  output_differentiability: ["lowest.is_floating_point()", True]\n'
        "  self: grad_lowest + grad_highest\n",
        "- name: minmax(Tensor self) -> (Tensor lowest, Tensor highest)\n"
        "  output_differentiability: [True, True]\n"
        "  self: grad_lowest + grad_highest\n",
    ),
    ("D17",),
    DERIVATIVES_YAML,
)

E1206 = Code(
    "E1206",
    "a formula that is not closed",
    "Brackets, quotes and comments of a formula, which is a C++ expression, end in it. torchgen writes the formula into "
    "its C++ files as it is.",
    Example(_NAME + "  self: (grad.neg()\n", GOOD),
    (),
    DERIVATIVES_YAML,
)

CODES = (E1201, E1202, E1203, E1204, E1205, E1206)
