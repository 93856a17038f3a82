"""The span of a problem is exactly the offending word, however YAML writes the value.

A bad word in each kind of value is written in every style of scalar, with every kind of line end, and after text of
every width; the reported span must be that word of the source.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.diagnostics.rendering import render_human
from opgen.parse.files.native_functions import builtin_tags
from opgen.parse.yaml.nodes import decode_source
from support.entries import parse_native_functions

# The key, its value, the bad word in it, and the expected code.
VALUES = {
    "a type": (
        "func",
        "foo(Tensor self, Gizmo[2]? x, int y=1) -> (Tensor, Tensor)",
        "Gizmo",
        "E0307",
    ),
    "a return": (
        "func",
        "ns::foo(Tensor self, str s='it') -> (Tensor a, Gizmo b)",
        "Gizmo",
        "E0307",
    ),
    "a default": ("func", 'foo(Tensor self, str s="x=y", int n=2) -> Tensor', '"x=y"', "E0311"),
    "an argument": ("func", "foo(Tensor self, int gi-zmo, int n=2) -> Tensor", "gi-zmo", "E0320"),
    "a name": ("func", "1gizmo.out(Tensor self) -> Tensor", "1gizmo", "E0304"),
    "an annotation": ("func", "foo(Tensor(9!) self, Tensor b) -> Tensor", "9!", "E0312"),
    "a variant": ("variants", "function, gizmo, method", "gizmo", "E0204"),
    "a check": ("device_check", "Gizmo", "Gizmo", "E0205"),
    "a tag": ("tags", "gizmo", "gizmo", "E0208"),
    "a delegate": ("structured_delegate", "foo.gi-zmo", ".gi-zmo", "E0309"),
    "a namespace": ("structured_delegate", "gizmo::foo.out", "gizmo::", "E0206"),
    "a base class": ("structured_inherits", "9gizmo", "9gizmo", "E0207"),
    "autogen": ("autogen", "foo.out, foo.gi-zmo, foo_functional", ".gi-zmo", "E0309"),
    "an inner loop": ("ufunc_inner_loop", "foo (Bool, Gizmo, Int)", "Gizmo", "E0222"),
}


def plain(value: str, newline: str) -> str:
    return value


def plain_of_lines(value: str, newline: str) -> str:
    return value.replace(" ", f"{newline}    ")


def plain_with_empty_ends(value: str, newline: str) -> str:
    return value.replace(" ", f" \t{newline}\t  ".replace("\t  ", "    \t"))


def single(value: str, newline: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def single_of_lines(value: str, newline: str) -> str:
    return single(value, newline).replace(" ", f" {newline}      ")


def double(value: str, newline: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def double_of_lines(value: str, newline: str) -> str:
    return double(value, newline).replace(
        " ", f"\t{newline}{newline}   ".replace(newline * 2, newline)
    )


def double_with_escaped_ends(value: str, newline: str) -> str:
    return (
        double(value, newline)
        .replace(" ", f" \\{newline}   ")
        .replace("o", "o\\" + newline + "  ", 1)
    )


def double_with_escapes(value: str, newline: str) -> str:
    letters = {"e": "\\x65", "i": "\\u0069", "o": "\\U0000006f", "s": "\\x73", " ": "\\ "}
    return '"' + "".join(letters.get(c, f"\\{c}" if c in '\\"' else c) for c in value) + '"'


def block(header: str, margin: int, lines: bool) -> Callable[[str, str], str]:
    def write(value: str, newline: str) -> str:
        body = value.replace(" ", newline) if lines else value
        return header + newline + textwrap.indent(body, " " * margin) + newline

    return write


STYLES: dict[str, Callable[[str, str], str]] = {
    "plain": plain,
    "plain of several lines": plain_of_lines,
    "plain with tabs at line ends": plain_with_empty_ends,
    "single": single,
    "single of several lines": single_of_lines,
    "double": double,
    "double of several lines": double_of_lines,
    "double with escaped line ends": double_with_escaped_ends,
    "double with escapes": double_with_escapes,
    **{
        f"{header} of {'lines' if lines else 'one line'}": block(header, margin, lines)
        for header, margin, lines in (
            *((h, 4, False) for h in (">", ">-", ">+", "|", "|-", "|+", "|  # why", "|-  # why")),
            *((h, 4, False) for h in ("|2", ">2-", "|2+")),
            *((h, 9, False) for h in ("|", ">-")),
            *((h, 4, True) for h in (">", ">-", ">+", ">  # why")),
        )
    },
}
# Text before the entry: characters of zero, one and two columns, and of one to four bytes.
BEFORE = {
    "nothing": "",
    "text": "# é e\u0301 表 \U0001d54f \u200d\n",
    "tabs": "#\t\t\n\n",
    "an entry": "- func: ok(Tensor self) -> Tensor\n  python_module: é表\U0001d54f\n",
    "separators": "# \u2028 \u2029 \x85\n",
}


def written(key: str, value: str, style: str, newline: str, before: str) -> str:
    text = STYLES[style](value, newline)
    func = "" if key == "func" else f"func: fine(Tensor self) -> Tensor{newline}  "
    end = newline * (not text.endswith(newline))
    return f"{before.replace(chr(10), newline)}- {func}{key}: {text}{end}  category_override: z{newline}"


def spans_of(text: str, code: str, mark: bytes = b"") -> list[Span]:
    diagnostics = Diagnostics()
    source = decode_source("f.yaml", mark + text.encode(), diagnostics)
    assert source.text == text
    parse_native_functions([source], builtin_tags(), (), diagnostics)
    return [item.span for item in diagnostics if item.code == code and item.span is not None]


@pytest.mark.parametrize("what", VALUES)
@pytest.mark.parametrize("style", STYLES)
def test_the_place_is_the_word(what: str, style: str) -> None:
    key, value, word, code = VALUES[what]
    for newline in ("\n", "\r\n", "\r"):
        for name, before in BEFORE.items():
            text = written(key, value, style, newline, before)
            as_written = word
            if style == "double with escapes":
                as_written = double_with_escapes(word, newline)[1:-1]
            elif style.startswith("double"):
                as_written = word.replace('"', '\\"')
                if style == "double with escaped line ends" and as_written not in text:
                    # The escaped line end lies inside the word.
                    continue
            elif style.startswith("single"):
                as_written = word.replace("'", "''")
            assert text.count(as_written) == 1, text
            start = text.index(as_written)
            for mark in (b"", b"\xef\xbb\xbf"):
                (span,) = spans_of(text, code, mark)
                assert (span.start, span.text) == (start, as_written), (name, newline, text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_columns_are_counted_as_editors_do(newline: str) -> None:
    """Neither U+2028 nor U+0085 ends a line, and a character outside the BMP is one column."""
    text = written("func", VALUES["a type"][1], "plain", newline, BEFORE["separators"])
    (span,) = spans_of(text, "E0307")
    location = span.source.location(span.start)
    assert (location.line, location.column) == (2, text.splitlines()[-2].index("Gizmo") + 1)


@given(
    st.text(
        st.sampled_from("a\té\u0301表\U0001d54f\U0001f600ｱ\u1100\u200b\u05d0\u20dd \"'&"),
        max_size=20,
    ),
    st.text(st.sampled_from("xé\u0301表\U0001f600"), min_size=1, max_size=6),
)
def test_carets_stand_under_the_word(before: str, word: str) -> None:
    """In a terminal, with tabs and wide characters, the carets stand under the word."""
    # A combining character belongs to the character before it.
    word = f"w{word}"
    source = Source("f.yaml", f"{before}{word} after\n")
    diagnostics = Diagnostics()
    diagnostics.error("E0307", "m", Span(source, len(before), len(before) + len(word)))
    lines = render_human(diagnostics).splitlines()
    shown, carets = lines[3].removeprefix("1 | "), lines[4].removeprefix("  | ")
    assert columns(carets[: len(carets) - len(carets.lstrip())]) == columns(before)
    assert carets.count("^") == columns(before + word) - columns(before)
    assert shown == f"{before}{word} after".replace("\u200b", "\ufffd")


def columns(text: str) -> int:
    """Return the width of each character from a table of these few; tabs stop at every eighth column."""
    widths = {"\u0301": 0, "\u20dd": 0, "表": 2, "\U0001f600": 2, "ｱ": 1, "\u1100": 2}
    at = 0
    for c in text:
        at = at + 8 - at % 8 if c == "\t" else at + widths.get(c, 1)
    return at
