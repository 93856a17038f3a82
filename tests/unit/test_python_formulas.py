"""Formulas in Python: each form of a C++ expression, and what is refused with its place."""

from __future__ import annotations

import pytest

from opgen.autograd.python_formulas import Names, NotPython, as_python, python_name

VALUES = {
    "grad": "grad",
    "grads": "call.grads",
    "self": "self",
    "n": "n",
    "from": "from_",
}
NAMES = Names("mylib", VALUES, frozenset({"mix", "mix_backward"}), frozenset({("mylib", "own")}))

WRITTEN = (
    ("grad * 2.0f - self", "((grad * 2.0) - self)"),
    ("-grad + ~self", "((-grad) + (~self))"),
    ("grad - self - 1", "((grad - self) - 1)"),
    ("grad - (self - 1)", "(grad - (self - 1))"),
    (
        "n > 1 && !self.defined() || n == 2",
        "(((n > 1) and (not (self is not None))) or (n == 2))",
    ),
    ("n > 0 ? grad : -self", "(grad if (n > 0) else (-self))"),
    ("grad / n", "_gradients.divide(grad, n)"),
    ("grad / 2.5", "(grad / 2.5)"),
    ("grads[0].conj()", "aten_conj(call.grads[0])"),
    ("at::sum_symint(grad, {0, -1}, true)", "aten_sum(grad, [0, -1], True)"),
    ("mix_backward(grad, self, ::std::nullopt)", "mylib_mix_backward(grad, self, None)"),
    ("mylib::mix(grad)", "mylib_mix(grad)"),
    ("self.sym_size(-1) * self.numel()", "(self.size(-1) * self.numel())"),
    ("self.sym_sizes()", "self.shape"),
    ("std::tuple<Tensor, Tensor>(grad, Tensor())", "(grad, None)"),
    ("std::get<1>(mix(self))", "mylib_mix(self)[1]"),
    ("wrap_opt_if(self, n > 0)", "(self if (n > 0) else None)"),
    ("static_cast<double>(n) * std::sqrt(2.0)", "(float(n) * math.sqrt(2.0))"),
    ('not_implemented("mix", "why")', '_gradients.not_implemented("mix", "why")'),
    ("grad.to(at::kDouble)", "aten_to(grad, torch.float64)"),
    ("from * 1 /* comment */", "(from_ * 1)"),
)


@pytest.mark.parametrize(("formula", "text"), WRITTEN, ids=[w[0] for w in WRITTEN])
def test_a_form(formula: str, text: str) -> None:
    found = as_python(formula, NAMES).text
    assert found == text
    compile(found, "formula", "eval")


REFUSED = (
    ("[&] { return grad; }()", 0, 1),
    ("grad * own(self)", 7, 10),
    ("grad * unknown", 7, 14),
    ("grad * self.options()", 12, 19),
    ("foo::bar(grad)", 0, 3),
    ("grad * (self", 11, 12),
    ("grad self", 5, 9),
    ("grad = self", 5, 6),
    ("grad # self", 5, 6),
)


@pytest.mark.parametrize(("formula", "start", "end"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_python_cannot_write_has_a_place(formula: str, start: int, end: int) -> None:
    with pytest.raises(NotPython) as raised:
        as_python(formula, NAMES)
    assert (raised.value.start, raised.value.end) == (start, end), raised.value


def test_keywords_and_taken_names() -> None:
    assert python_name("lambda", frozenset()) == "lambda_"
    assert python_name("call", frozenset({"call"})) == "call_"
    assert python_name("self", frozenset({"call"})) == "self"
