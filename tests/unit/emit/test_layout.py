"""The layout of generated C++."""

from __future__ import annotations

from opgen.emit.common.base import listed, number_lines


def test_long_lists_of_parameters_have_a_line_for_each() -> None:
    """Protects readers of headers from long lines."""
    long = [f"const Tensor& {name * 24}" for name in "abc"]
    assert listed(long).split("\n") == [f"{long[0]},", f"    {long[1]},", f"    {long[2]}"]
    assert listed(long[:2]) == f"{long[0]}, {long[1]}"
    assert listed([]) == ""


def test_compilers_and_debuggers_find_the_line_after_a_formula() -> None:
    text = 'a\n#line 7 "derivatives.yaml"\nb\n#line 0 "own.cpp"\nc\n#line 0 "own.cpp"\n'
    assert number_lines(text).split("\n")[3:6] == ['#line 5 "own.cpp"', "c", '#line 7 "own.cpp"']
