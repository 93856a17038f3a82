"""Arguments are drawn from schemas: of every type, distinct, and by plans that an operator accepts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from opgen.gradtest import Domain, away_from, between, gradients, one_of, positive
from opgen.gradtest.drawing import Draw, GradientDrawer, Undrawable
from opgen.model.function_schema import FunctionSchema


class Lists:
    """Tensors as tuples of their shape, dtype and elements."""

    dtypes = ("float64", "complex128")

    def tensor(self, values: Any, shape: Any, dtype: str, layout: str) -> Any:
        return tuple(shape), dtype, tuple(values)


def schema_of(text: str, folder: Any) -> FunctionSchema:
    file = folder / "native_functions.yaml"
    file.write_text(f"- func: lib::{text}\n  dispatch:\n    CPU: kernel\n")
    name = text.partition("(")[0]
    (folder / "derivatives.yaml").write_text(f"- name: lib::{name}\n  self: grad\n")
    (found,) = gradients(file)
    return found.schema


def drawer(
    text: str, folder: Any, domain: Domain | None = None, dtype: str = "float64"
) -> GradientDrawer:
    schema = schema_of(text, folder)
    tensors: Any = Lists()
    arguments = schema.arguments.flat_all
    return GradientDrawer(arguments, ["self"], tensors, dtype, domain or Domain(), "0")


def test_every_type(tmp_path: Any) -> None:
    text = (
        "f(Tensor self, Tensor? a, Tensor[] b, int c, SymInt[] d, float e, bool f, Scalar g, bool[2] h, "
        "int[2] i, float? j, str k='x', *, ScalarType? dtype=None) -> Tensor"
    )
    one = drawer(text, tmp_path)
    calls = [one.draw()[0] for _ in range(200)]
    assert one.narrowings() == ("k: its default, 'x'", "dtype: its default, None")
    assert {len(call["h"]) for call in calls} == {2}
    assert {type(call["f"]) for call in calls} == {bool}
    assert all(call["self"][1] == "float64" for call in calls)
    assert Counter(call["a"] is None for call in calls)[True] > 0


def test_elements_are_distinct_and_away_from_zero() -> None:
    """Drawn calls do not hit kinks where elements are equal or zero."""
    tensors: Any = Lists()
    draw = Draw(tensors, "float64", random.Random(0))
    found = [abs(x) for _ in range(4) for x in draw.tensor(3, 4)[2]]
    values = sorted(x for _ in range(4) for x in draw.tensor(3, 4)[2])
    assert min(found) > 0.009
    assert min(b - a for a, b in pairwise(values)) > 0.009


def test_what_is_accepted_is_drawn_again(tmp_path: Any) -> None:
    """An operator that accepts one in a hundred calls at first accepts most of the later ones."""
    one = drawer("f(Tensor self, Tensor index, Tensor row) -> Tensor", tmp_path)
    taken = []
    for _ in range(4000):
        call, plan = one.draw()
        sizes, index, row = call["self"][0], call["index"], call["row"][0]
        fits = len(sizes) == 2 and index[:2] == (sizes[:1], "int64") and row == sizes[1:]
        taken.append(fits)
        if fits:
            one.accepted.append(plan)
    assert sum(taken[-100:]) > 40 > sum(taken[:100])


def test_domains(tmp_path: Any) -> None:
    def make(draw: Draw) -> dict[str, Any]:
        return {"self": draw.tensor(7), "other": draw.integers(7, below=3)}

    domain = Domain(make=make, mode=one_of("a", "b"), size=between(5, 9), weight=positive)
    text = "f(Tensor self, Tensor other, str mode, int size, Tensor weight) -> Tensor"
    one = drawer(text, tmp_path, domain)
    for _ in range(50):
        call, _ = one.draw()
        assert call["self"][0] == call["other"][0] == (7,)
        assert call["mode"] in ("a", "b") and 5 <= call["size"] <= 9
        weight = call["weight"]
        assert weight[1] == "bool" or all(0 <= x <= 2.1 for x in weight[2])
    assert domain.narrowings()[-1] == "arguments by make()"


def test_values_away_from_kinks() -> None:
    values = away_from(0.0, 1.0, by=0.25)
    tensors: Any = Lists()
    found = Draw(tensors, "float64", random.Random(0)).tensor(4, 4, values=values)[2]
    assert all(values.contains(x) for x in found)
    assert str(values) == "from -2.0 to 2.0, not within 0.25 of 0.0, 1.0"


def test_unknown_types(tmp_path: Any) -> None:
    """The author must supply values for a type that has no obvious ones: the message has the line to write."""
    one = drawer("f(Tensor self, str mode) -> Tensor", tmp_path)
    with pytest.raises(Undrawable, match=r"'mode': name some, Domain\(mode=one_of\(...\)\)"):
        one.draw()
