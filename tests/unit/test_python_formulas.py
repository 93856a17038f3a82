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
    ("not (n > 1 and n == 2)", "(not ((n > 1) and (n == 2)))"),
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
    (r'foo("a\x41\101\?\'\n" "\0")', 'aten_foo("aAA?\'\\n\\u0000")'),
    ('foo("a\\\nb")', 'aten_foo("ab")'),
    ('foo("é\U0001f600\x7f")', 'aten_foo("é\U0001f600\x7f")'),
    ("n + 010 + 00 + 0 + 09.5", "((((n + 0o10) + 0o0) + 0) + 09.5)"),
    ("(" * 60 + "grad" + ")" * 60, "grad"),
)


@pytest.mark.parametrize(("formula", "text"), WRITTEN, ids=[w[0][:30] for w in WRITTEN])
def test_a_form(formula: str, text: str) -> None:
    found = as_python(formula, NAMES).text
    assert found == text
    compile(found, "formula", "eval")


DEEP = 250
REFUSED = (
    ("(" * DEEP + "grad" + ")" * DEEP, 0, 2 * DEEP + 4),
    ("-" * DEEP + "grad", 0, DEEP + 4),
    ("+".join(["grad"] * DEEP), 0, 5 * DEEP - 1),
    ("grad" + ".neg()" * DEEP, 0, 6 * DEEP + 4),
    ("{" * DEEP + "}" * DEEP, 0, 2 * DEEP),
    ("n + 0x10", 4, 8),
    ("n + 089", 4, 7),
    ("n + " + "9" * 5000, 4, 5004),
    ('foo("a\nb")', 4, 5),
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


@pytest.mark.parametrize(("formula", "start", "end"), REFUSED, ids=[r[0][:30] for r in REFUSED])
def test_what_python_cannot_write_has_a_place(formula: str, start: int, end: int) -> None:
    with pytest.raises(NotPython) as raised:
        as_python(formula, NAMES)
    assert (raised.value.start, raised.value.end) == (start, end), raised.value


def test_keywords_and_taken_names() -> None:
    assert python_name("lambda", frozenset()) == "lambda_"
    assert python_name("call", frozenset({"call"})) == "call_"
    assert python_name("self", frozenset({"call"})) == "self"
