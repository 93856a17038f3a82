"""Registrations and traces into names: every form that programs print or write."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Source
from opgen.parse.mentions import parse_registrations, parse_trace


def registered(text: str) -> list[str]:
    found = parse_registrations(Source("r", text))
    assert all(found_one.span.text and not found_one.any_overload for found_one in found)
    return [mention.name for mention in found]


def called(text: str) -> list[str]:
    """Names; those of which any overload may be meant with a `*`."""
    found = parse_trace(Source("t", text))
    return [f"{m.name}*" if m.any_overload else m.name for m in found]


def test_a_source_of_registrations() -> None:
    """Protects the namespace of a block, rows with one of their own, and comments that are no rows."""
    text = """
    TORCH_LIBRARY_IMPL(aten, XLA, m) {
      m.impl("add.Tensor", TORCH_FN(add));   // m.impl("sub.Tensor", TORCH_FN(sub));
      m.impl("neg", &neg);  /* m.impl("abs", &abs); */
      m.impl(TORCH_SELECTIVE_NAME("quantized::mul"), &mul);
      m.impl( "add.Tensor" , TORCH_FN(again));
      say("http://x"); m.impl("relu", f);
    }
    OPGEN_LIBRARY_FRAGMENT(own, m) {
      m.def("twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
    }
    TORCH_LIBRARY_IMPL(_, XLA, m) { m.impl("nowhere", f); m.fallback(g); }
    """
    expected = ["aten::add.Tensor", "aten::neg", "quantized::mul", "aten::relu", "own::twice.out"]
    assert registered(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "aten::add.Tensor\naten::neg\n",
        "['aten::add.Tensor', 'aten::neg']",
        '[{"key": "CPU", "name": "aten::add.Tensor"}, {"key": "CPU", "name": "aten::neg"}]',
    ],
)
def test_a_list_of_registrations(text: str) -> None:
    assert registered(text) == ["aten::add.Tensor", "aten::neg"]


def test_graphs() -> None:
    """Protects the two ways to write an operator: the dispatcher's, and Python's attributes."""
    own = "  %2 = aten::add.Tensor(%0, %1, alpha=1)  # Float(2)\n  %3 = aten::neg(%2)\n"
    assert called(own) == ["aten::add.Tensor", "aten::neg*"]
    exported = "torch.ops.aten.add.Tensor(x, 1); torch.ops.aten.neg.default(y); ops.own.f(z)"
    assert called(exported) == ["aten::add.Tensor", "aten::neg", "own::f*"]


def test_profiles() -> None:
    """Protects profiles, which tell no overload, and the names in them that are no operators'."""
    chrome = '{"traceEvents": [{"name": "aten::mm", "cat": "cpu_op"}, {"name": "ProfilerStep#1"}]}'
    assert called(chrome) == ["aten::mm*"]
    table = "   aten::mm    3.1 us\n at::native::f(int)  std::vector<int>::push  a::b::c\n"
    assert called(table) == ["aten::mm*", "std::vector*"]
