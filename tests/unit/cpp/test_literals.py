"""Defaults of schemas as C++ default arguments."""

from __future__ import annotations

import pytest
from operators import SPELLING, operator

from opgen.cpp.literals import BadDefault, default_expression


def default(declaration: str, *, symint: bool = False) -> str:
    a = operator(f"foo({declaration}) -> ()").func.arguments.flat_all[0]
    assert a.default is not None
    return default_expression(a.default, a.type, SPELLING, symint=symint)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("bool x=True", "true"),
        ("bool x=False", "false"),
        ("int? x=None", "::std::nullopt"),
        ("Tensor? x=None", "{}"),
        ("int x=Mean", "at::Reduction::Mean"),
        ("MemoryFormat x=contiguous_format", "c10::MemoryFormat::Contiguous"),
        ("MemoryFormat? x=contiguous_format", "c10::MemoryFormat::Contiguous"),
        ("ScalarType x=long", "at::kLong"),
        ("int[] x=[]", "{}"),
        ("int[] x=[0,1]", "{0, 1}"),
        ("int[2]? x=[-2,-1]", "{-2, -1}"),
        ("int[2] x=1", "1"),
        ("float x=1e-05", "1e-05"),
        ("str x='a'", '"a"'),
        ('str x="a"', '"a"'),
        ("str? x='a'", '"a"'),
    ],
)
def test_defaults(declaration: str, expected: str) -> None:
    assert default(declaration) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"""'it\'s'""", '''"it's"'''),
        (r"""'say "hi"'""", r'''"say \"hi\""'''),
        (r"""'a\\b\n'""", r'''"a\\b\n"'''),
        (r'''"\"'\\"''', r'''"\"'\\"'''),
    ],
)
def test_strings_keep_their_meaning_in_double_quotes(written: str, expected: str) -> None:
    assert default(f"str x={written}") == expected


def test_a_number_for_a_list_of_symints_is_one_symint() -> None:
    """Otherwise the number would be converted to a pointer to an array."""
    assert default("SymInt[2] x=1", symint=True) == "c10::SymInt(1)"
    assert default("SymInt[] x=1", symint=True) == "c10::SymInt(1)"
    assert default("SymInt[2] x=1", symint=False) == "1"


def test_a_single_number_for_a_list_needs_a_size() -> None:
    with pytest.raises(BadDefault):
        default("int[] x=1")
