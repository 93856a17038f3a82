"""Positions, outlines and edits of texts of any kind: what the server does with every key typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from opgen.diagnostics import Source, Span
from opgen.lsp.completion import complete
from opgen.lsp.mending import change
from opgen.lsp.outline import build_outline
from opgen.lsp.positions import Positions
from opgen.lsp.words import find_word

_TEXTS = st.text(st.sampled_from("ab-: \t\n\r,.([#'\"é𝔘\u2028\x0c")) | st.text()
_ENTRIES = st.lists(
    st.sampled_from(
        [
            "- func: ",
            "add.out(",
            "Tensor",
            "\n",
            "  dispatch:",
            "    CPU: x",
            "tags: [",
            " ",
            "->",
            "-",
        ]
    )
).map("".join)
_ENCODINGS = [Positions(encoding) for encoding in types.PositionEncodingKind]


@given(text=_TEXTS, data=st.data())
@pytest.mark.parametrize("positions", _ENCODINGS)
def test_positions_and_back(positions: Positions, text: str, data: st.DataObject) -> None:
    """Every offset has a position of its own, but for those within a line end."""
    source = Source("x", text)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] != "\r\n" or not offset:
        assert positions.offset(source, positions.position(source, offset)) == offset


@given(old=_TEXTS, new=_TEXTS)
def test_an_edit_makes_the_new_text(old: str, new: str) -> None:
    """Whatever both share at their ends stays, also in the middle of line ends."""
    source, positions = Source("x", old), Positions()
    made = old
    for edit in change(source, new, positions):
        start = positions.offset(source, edit.range.start)
        end = positions.offset(source, edit.range.end)
        made = old[:start] + edit.new_text + old[end:]
    assert made == new


@given(text=_TEXTS | _ENTRIES, data=st.data())
def test_any_text_has_an_outline(text: str, data: st.DataObject) -> None:
    """Spans are within the text, and questions about any place have an answer."""
    source = Source("x", text)
    outline = build_outline(source)
    offset = data.draw(st.integers(0, len(text)))
    for entry in outline.entries:
        spans = [entry.span, *(key.value for key in entry.keys), entry.name or source.start]
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    find_word(outline, offset)
    complete([outline], offset, None, ())


def test_a_span_of_two_units() -> None:
    """A character beyond the first 65,536 counts as two in UTF-16, four in UTF-8, one in UTF-32."""
    source = Source("x", "a𝔘b")
    ends = [positions.range(Span(source, 1, 2)).end.character for positions in _ENCODINGS]
    names = [positions.encoding.value for positions in _ENCODINGS]
    assert dict(zip(names, ends)) == {"utf-8": 5, "utf-16": 3, "utf-32": 2}
