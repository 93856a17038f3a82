"""Long lines of C++ are broken without a change of what they mean."""

from __future__ import annotations

from opgen.emit.common.base import break_long_lines, number_lines

LONG = "argument_" + "x" * 40


def test_breaks_at_commas_outside_of_other_lists() -> None:
    """Protects readers: arguments stay whole, and what follows `=` goes to a line of its own."""
    line = f"  void f(std::map<int, {LONG}> a, std::map<int, {LONG}> b) {{"
    assert break_long_lines(line).split("\n") == [
        f"  void f(std::map<int, {LONG}> a,",
        f"      std::map<int, {LONG}> b) {{",
    ]
    assert break_long_lines(f"auto a = f<{LONG}, {LONG}>();").startswith("auto a =\n    f<")


def test_macros_continue_on_each_line() -> None:
    text = break_long_lines(
        f"#define f(a) \\\n  g({LONG}, {LONG}, {LONG}) \\\n  h({LONG}, {LONG}, {LONG})"
    )
    first, *middle, last = text.split("\n")
    assert all(line.endswith(" \\") and len(line) <= 100 for line in (first, *middle))
    assert not last.endswith("\\") and len(middle) > 1


def test_literals_and_the_lines_of_an_author_stay_whole() -> None:
    """Protects strings with commas, and the lines that compilers report in derivatives.yaml."""
    literal = '"' + "word, " * 30 + '\\" //' + '"'
    assert break_long_lines(f"a = {literal};  // {LONG}, {LONG}, {LONG}").split("\n") == [
        "a =",
        f"    {literal};  // {LONG}, {LONG}, {LONG}",
    ]
    author = f'#line 3 "derivatives.yaml"\nf({LONG}, {LONG}, {LONG})\n#line 0 "own.cpp"'
    assert break_long_lines(author) == author
    assert break_long_lines(f"#include <{LONG}/{LONG}/{LONG}>").count("\n") == 0


def test_compilers_and_debuggers_find_the_line_after_a_formula() -> None:
    text = 'a\n#line 7 "derivatives.yaml"\nb\n#line 0 "own.cpp"\nc\n#line 0 "own.cpp"\n'
    assert number_lines(text).split("\n")[3:6] == ['#line 5 "own.cpp"', "c", '#line 7 "own.cpp"']
