"""Long lines of C++ are broken without a change of what they mean."""

from __future__ import annotations

import pytest

from opgen.emit.common.base import break_long_lines, number_lines

LONG = "argument_" + "x" * 40


def test_breaks_after_the_last_comma_that_fits() -> None:
    line = f"  void f(int {LONG}, int b, int {LONG}, std::map<int, {LONG}{LONG}> d) {{"
    assert break_long_lines(line).split("\n") == [
        f"  void f(int {LONG}, int b,",
        f"      int {LONG}, std::map<int,",
        f"      {LONG}{LONG}> d) {{",
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"#define f(a) \\\n  g({LONG}, {LONG}, {LONG}) \\\n  h({LONG}, {LONG}, {LONG})",
        f"  // {LONG}, {LONG}, {LONG}",
        'a = "' + "word, " * 30 + '";',
        f'a\n#line 3 "derivatives.yaml"\nf({LONG}, {LONG}, {LONG})\n#line 0 "own.cpp"',
        f"#include <{LONG}/{LONG}/{LONG}>",
    ],
)
def test_stays_whole(text: str) -> None:
    """Protects macros, comments, strings with commas, and the lines that compilers report in derivatives.yaml."""
    assert break_long_lines(text) == text


def test_compilers_and_debuggers_find_the_line_after_a_formula() -> None:
    text = 'a\n#line 7 "derivatives.yaml"\nb\n#line 0 "own.cpp"\nc\n#line 0 "own.cpp"\n'
    assert number_lines(text).split("\n")[3:6] == ['#line 5 "own.cpp"', "c", '#line 7 "own.cpp"']
