"""Which operators are bound in Python, and how overloads are distinguished."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, Source
from opgen.model.native_function import NativeFunction
from opgen.parse.files.native_functions import builtin_tags
from opgen.python.check import check_python, is_bound
from opgen.python.signatures import Spellings
from opgen.targets import TARGETS
from support.entries import parse_native_functions

_TORCH = TARGETS["torch"]
_FOO = "- func: foo(Tensor self) -> Tensor\n"


def _operators(text: str) -> tuple[NativeFunction, ...]:
    diagnostics = Diagnostics()
    functions = parse_native_functions([Source("f.yaml", text)], builtin_tags(), (), diagnostics)
    if diagnostics.has_errors:
        raise AssertionError([d.message for d in diagnostics])
    return functions


def _codes(text: str) -> list[str]:
    diagnostics = Diagnostics()
    spellings = Spellings(_TORCH.cpp.spelling, _TORCH.python)
    check_python(_operators(text), spellings, diagnostics)
    return [d.code for d in diagnostics]


def _is_bound(schema: str, *keys: str) -> bool:
    lines = [f"- func: {schema}", *(f"  {key}" for key in keys)]
    return is_bound(_operators("\n".join(lines) + "\n")[0])


def test_bound_operators() -> None:
    assert _is_bound("foo(Tensor self) -> Tensor")
    assert not _is_bound("foo_backward(Tensor self) -> Tensor")
    assert _is_bound("custom::foo_backward(Tensor self) -> Tensor")
    assert not _is_bound("requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)")
    assert not _is_bound("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
    assert not _is_bound("foo(Tensor self) -> Tensor", "tags: generated")
    assert _is_bound("custom::foo(Tensor self) -> Tensor", "tags: generated")


def test_an_out_variant_needs_an_operator_with_equal_arguments() -> None:
    out = "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
    assert _codes(_FOO + out) == []
    assert _codes(out) == ["E0764"]
    assert _codes(_FOO + out.replace("self, ", "self, int n, ")) == ["E0764"]


def test_functions_of_a_module_are_separate() -> None:
    text = "- func: foo.{0}(Tensor {0}self) -> Tensor\n  python_module: {1}\n"
    same = "- func: foo.{0}(Tensor self) -> Tensor\n  python_module: {1}\n"
    assert _codes(same.format("a", "nn") + same.format("b", "special")) == []
    assert _codes(same.format("a", "nn") + same.format("b", "nn")) == ["E0765"]
    assert _codes(text.format("a", "nn") + text.format("b", "nn")) == []


def test_a_method_and_a_function_are_separate() -> None:
    text = "- func: foo.{}(Tensor self) -> Tensor\n  variants: {}\n"
    assert _codes(text.format("a", "method") + text.format("b", "function")) == []
    assert _codes(text.format("a", "function, method") + text.format("b", "method")) == ["E0765"]


def test_lists_of_bools_have_a_length() -> None:
    """Protects masks of gradients: a kernel gets `bool[3]` as an array, and there is no other list of bools."""
    text = "- func: foo(Tensor self, {} mask) -> Tensor\n"
    assert _codes(text.format("bool[3]")) == []
    assert _codes(text.format("bool[]")) == ["E0763"]


def test_unsound_operators_are_not_compared() -> None:
    text = "- func: foo.{}(Tensor self, QScheme x) -> Tensor\n"
    assert _codes(text.format("a") + text.format("b")) == ["E0763", "E0763"]
    assert _codes("- func: foo(Tensor self, int[] x=1) -> Tensor\n") == []
