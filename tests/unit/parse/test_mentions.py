"""Names of operators in registrations and traces: every form that programs print or write."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Source
from opgen.parse.operator_names import parse_registrations, parse_trace


def registered(text: str) -> list[str]:
    found = parse_registrations(Source("r", text))
    assert all(found_one.span.text and not found_one.any_overload for found_one in found)
    return [mention.name for mention in found]


def called(text: str) -> list[str]:
    """Return the names; those that mean any overload end in `*`."""
    found = parse_trace(Source("t", text))
    return [f"{m.name}*" if m.any_overload else m.name for m in found]


def test_a_source_of_registrations() -> None:
    """Protects the namespace of a block, rows with a namespace of their own, and comments that are not rows."""
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
    """An operator is written in two ways: as the dispatcher prints it, and as Python attributes."""
    own = "  %2 = aten::add.Tensor(%0, %1, alpha=1)  # Float(2)\n  %3 = aten::neg(%2)\n"
    assert called(own) == ["aten::add.Tensor", "aten::neg*"]
    exported = "torch.ops.aten.add.Tensor(x, 1); torch.ops.aten.neg.default(y); ops.own.f(z)"
    assert called(exported) == ["aten::add.Tensor", "aten::neg", "own::f*"]


def test_profiles() -> None:
    """Profiles name no overloads, and contain names that are not operators."""
    chrome = '{"traceEvents": [{"name": "aten::mm", "cat": "cpu_op"}, {"name": "ProfilerStep#1"}]}'
    assert called(chrome) == ["aten::mm*"]
    table = "   aten::mm    3.1 us\n at::native::f(int)  std::vector<int>::push  a::b::c\n"
    assert called(table) == ["aten::mm*", "std::vector*"]
