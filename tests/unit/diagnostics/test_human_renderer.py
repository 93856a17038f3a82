"""The text for people: carets mark the text that the message is about."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.diagnostics.rendering import render_human


def render(text: str, start: int, end: int, hint: str | None = None) -> list[str]:
    diagnostics = Diagnostics()
    diagnostics.error("E0307", "message", Span(Source("f.yaml", text), start, end), hint=hint)
    return render_human(diagnostics).splitlines()


def test_the_form_of_a_message() -> None:
    text = "\n" * 11 + "- func: add(Tensr self, Tensor other) -> Tensor\n"
    diagnostics = Diagnostics()
    source = Source("native_functions.yaml", text)
    span = Span(source, 23, 28)
    hint = "did you mean 'Tensor'?"
    diagnostics.error("E0307", "unknown type 'Tensr'", span, hint=hint)
    assert render_human(diagnostics) == (
        "error[E0307]: unknown type 'Tensr'\n"
        "  --> native_functions.yaml:12:13\n"
        "   |\n"
        "12 | - func: add(Tensr self, Tensor other) -> Tensor\n"
        "   |             ^^^^^ did you mean 'Tensor'?\n"
        "   = note: opgen explain E0307\n"
    )


def test_a_point_has_one_caret() -> None:
    assert render("abc", 1, 1)[4] == "  |  ^"


def test_a_point_at_the_end_of_the_file() -> None:
    lines = render("abc\n", 4, 4)
    assert lines[1] == " --> f.yaml:2:1"
    assert lines[3:5] == ["2 |", "  | ^"]


def test_a_span_over_two_lines_is_drawn_from_its_first_to_its_last_character() -> None:
    assert render("abc\ndef", 1, 6, "hint")[3:] == [
        "1 |   abc",
        "  |  __^",
        "2 | | def",
        "  | |__^ hint",
        "  = note: opgen explain E0307",
    ]


def test_a_span_from_the_first_word_of_a_line_is_drawn_without_a_corner() -> None:
    assert render("  abc\n  def\n  ghi\n", 2, 15)[3:-1] == [
        "1 | /   abc",
        "2 | |   def",
        "3 | |   ghi",
        "  | |___^",
    ]


def test_the_first_and_the_last_of_many_lines_are_shown() -> None:
    text = "x: [\n" + "a,\n" * 20 + "b]\n"
    assert render(text, 3, len(text), "not closed")[3:-1] == [
        " 1 |   x: [",
        "   |  ____^",
        "...  |",
        "22 | | b]",
        "   | |__^ not closed",
    ]


def test_lines_below_a_span_allow_for_tabs_and_wide_characters() -> None:
    assert render("\t表 a\n表\tb", 3, 8)[3:-1] == [
        "1 |    表 a",
        "  |  _____^",
        "2 | | 表 b",
        "  | |____^",
    ]


def test_line_ends_and_blanks_after_a_span_are_not_part_of_it() -> None:
    """The node of a block scalar extends to the beginning of the next node."""
    lines = render("a: |\r\n  b\r\n\r\n  \r\nc: d", 3, 17)
    assert lines[3:-1] == ["1 |   a: |", "  |  ____^", "2 | |   b", "  | |___^"]
    assert render("abc  \n\n", 0, 7)[3:5] == ["1 | abc", "  | ^^^"]


def test_labels_of_a_span_of_several_lines_are_shown_separately() -> None:
    diagnostics = Diagnostics()
    source = Source("f.yaml", "ab\ncd\nef")
    labels = [(Span(source, 3, 5), "here"), (Span(source, 1, 5), "all")]
    diagnostics.error("E0307", "message", Span(source, 0, 5), labels=labels)
    assert render_human(diagnostics).splitlines()[3:-1] == [
        "1 | / ab",
        "2 | | cd",
        "  | |__^",
        "  |",
        "2 | cd",
        "  | -- here",
        "  |",
        "1 |   ab",
        "  |  __-",
        "2 | | cd",
        "  | |__- all",
    ]


def test_escapes_in_a_file_name_do_not_reach_the_terminal() -> None:
    diagnostics = Diagnostics()
    bad, other = Source("a\x1b[31m.yaml", "x"), Source("b\x1b[2J\n.yaml", "y")
    labels = [(Span(other, 0, 1), "there")]
    diagnostics.error("E0307", "message", Span(bad, 0, 1), labels=labels)
    text = render_human(diagnostics)
    assert "\x1b" not in text
    assert " ::: b\ufffd[2J\ufffd.yaml:1:1\n" in text


def test_tabs_are_kept_and_wide_characters_count_twice() -> None:
    lines = render("\t表e\u0301x", 4, 5)
    assert lines[4] == "  | \t   ^"


def test_characters_that_cannot_be_shown_are_replaced() -> None:
    assert render("a\x00b", 0, 1)[3] == "1 | a\ufffdb"


def test_a_long_line_is_shown_in_part() -> None:
    lines = render("x" * 1000 + "HERE" + "y" * 1000, 1000, 1004)
    assert len(lines[3]) < 420
    assert lines[3][lines[4].index("^") :].startswith("HERE")


def test_labels_of_other_lines_and_files_follow() -> None:
    one, two = Source("a.yaml", "first\nsecond\n"), Source("b.yaml", "other\n")
    diagnostics = Diagnostics()
    diagnostics.warning(
        "W1001",
        "m",
        Span(one, 6, 12),
        labels=[
            (Span(one, 7, 8), "same line"),
            (Span(one, 0, 5), "before"),
            (Span(two, 0, 5), "elsewhere"),
        ],
        notes=["a note"],
    )
    assert render_human(diagnostics) == (
        "warning[W1001]: m\n"
        " --> a.yaml:2:1\n"
        "  |\n"
        "2 | second\n"
        "  | ^^^^^^\n"
        "  |  - same line\n"
        "  |\n"
        "1 | first\n"
        "  | ----- before\n"
        " ::: b.yaml:1:1\n"
        "  |\n"
        "1 | other\n"
        "  | ----- elsewhere\n"
        "  = note: a note\n"
        "  = note: opgen explain W1001\n"
    )


def test_a_problem_without_a_place() -> None:
    diagnostics = Diagnostics()
    diagnostics.error("E0901", "cannot read 'f'", None, hint="is it there?")
    assert render_human(diagnostics) == (
        "error[E0901]: cannot read 'f'\n"
        "  = help: is it there?\n"
        "  = note: opgen explain E0901\n"
    )


def test_two_problems_are_separated_by_an_empty_line() -> None:
    diagnostics = Diagnostics()
    diagnostics.error("E1", "a", None)
    diagnostics.error("E2", "b", None)
    assert "\n\nerror[E2]" in render_human(diagnostics)


def test_color_changes_nothing_but_escapes() -> None:
    diagnostics = Diagnostics()
    diagnostics.error("E1", "a", Span(Source("f", "abc"), 0, 1), hint="h")
    colored = render_human(diagnostics, color=True)
    assert "\x1b[1;31merror[E1]\x1b[0m" in colored
    plain = colored
    for escape in ("\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;34m"):
        plain = plain.replace(escape, "")
    assert plain == render_human(diagnostics)
