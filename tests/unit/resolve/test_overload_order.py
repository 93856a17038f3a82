"""The order in which overloads are registered with PyTorch."""

from __future__ import annotations

import pytest

from opgen.resolve.overload_order import in_order_of_registration
from support.inputs import registry_of


def order(*overloads: str) -> str:
    """Return the overloads of `custom::f`, such as "a(Tensor x)", in the order of registration."""
    rows = "\n  dispatch:\n    CompositeExplicitAutograd: k\n"
    entries = (
        f"- func: custom::f.{one} -> {'Tensor(a!)' if 'out' in one else 'Tensor'}{rows}"
        for one in overloads
    )
    functions = in_order_of_registration(registry_of("".join(entries)).functions)
    return " ".join(f.func.name.overload_name for f in functions)


CASES = {
    ("n(int x)", "t(Tensor x)"): "t n",
    ("t(Tensor x)", "n(int x)"): "t n",
    ("f(float x)", "n(int x)", "t(Tensor x)"): "t n f",
    # A second argument, which only some calls have.
    ("n(Tensor x, int y=0)", "t(Tensor x, Tensor y)"): "t n",
    # Types that no value is shared by: the order of the entries.
    ("s(str x)", "t(Tensor x)"): "s t",
    ("n(int x)", "t(Tensor x, Tensor y)"): "n t",
    # Only calls with `out` reach this one.
    ("o(float x, *, Tensor(a!) out)", "n(int x)"): "o n",
    ("o(float x, *, Tensor(a!) out)", "p(int x, *, Tensor(a!) out)"): "p o",
    # Lists: of tensors before numbers; one number stands for a list of a fixed length.
    ("n(int[] x)", "t(Tensor[] x)"): "t n",
    ("l(int[2] x)", "n(int x)"): "n l",
    # Each takes calls of the other: a tensor for an int, None for a tensor. Tensors come first.
    ("n(int? x)", "t(Tensor x)"): "t n",
    # Each takes calls of the other, and no order is better.
    ("b(bool x)", "n(int x)"): "b n",
    ("n(int x)", "b(bool x)"): "n b",
}


@pytest.mark.parametrize(("given", "expected"), CASES.items(), ids=str)
def test_no_overload_takes_the_calls_of_a_later_one(given: tuple[str, ...], expected: str) -> None:
    """Protects eager calls: with the number first, f(tensor(1.5)) answered from it, and compiled code did not."""
    assert order(*given) == expected


def test_other_operators_keep_their_places() -> None:
    """Protects generated files: only overloads of one operator change places with each other."""
    rows = " -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: k\n"
    names = ("f.n(int x)", "g(int x)", "f.t(Tensor x)", "h.t(Tensor x)", "h.n(int x)")
    registry = registry_of("".join(f"- func: custom::{name}{rows}" for name in names))
    found = [str(f.func.name) for f in in_order_of_registration(registry.functions)]
    assert found == ["f.t", "g", "f.n", "h.t", "h.n"]
