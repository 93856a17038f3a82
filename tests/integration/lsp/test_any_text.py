"""Positions, outlines and edits of any text: what the server computes after every key stroke."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from opgen.diagnostics import Source, Span
from opgen.lsp.completion import complete, in_entry, new_items
from opgen.lsp.navigation import KernelIndex, find_functions
from opgen.lsp.outline import build_outline, find_word
from opgen.lsp.protocol import Positions, change

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
    """Every offset has its own position, except those within a line end."""
    source = Source("x", text)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] != "\r\n" or not offset:
        assert positions.offset(source, positions.position(source, offset)) == offset


@given(old=_TEXTS, new=_TEXTS)
def test_an_edit_makes_the_new_text(old: str, new: str) -> None:
    """Common text at both ends is kept, also in the middle of line ends."""
    source, positions = Source("x", old), Positions()
    made = old
    for edit in change(source, new, positions):
        start = positions.offset(source, edit.range.start)
        end = positions.offset(source, edit.range.end)
        made = old[:start] + edit.new_text + old[end:]
    assert made == new


@given(text=_TEXTS | _ENTRIES, data=st.data())
def test_any_text_has_an_outline(text: str, data: st.DataObject) -> None:
    """Spans are within the text, and questions about any position get an answer."""
    source = Source("x", text)
    outline = build_outline(source)
    offset = data.draw(st.integers(0, len(text)))
    for entry in outline.entries:
        spans = [entry.span, *(key.value for key in entry.keys), entry.name or source.start]
        assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    find_word(outline, offset)
    complete([outline], offset, None, new_items, in_entry, strict_torchgen=False)


def test_a_span_of_two_units() -> None:
    """A character beyond the first 65,536 counts as two in UTF-16, four in UTF-8, one in UTF-32."""
    source = Source("x", "a𝔘b")
    ends = [positions.range(Span(source, 1, 2)).end.character for positions in _ENCODINGS]
    names = [positions.encoding.value for positions in _ENCODINGS]
    assert dict(zip(names, ends)) == {"utf-8": 5, "utf-16": 3, "utf-32": 2}


_LONG = 60_000
_HEADS = ("", "- func: ", "- func: add(", "  dispatch: ", "    ", "  tags: [", "  autogen: ", "- ")
_PARTS = (
    " ",
    "a",
    "a,",
    "a, ",
    "a::",
    "::",
    "a.",
    "-",
    "'",
    "' ",
    "[",
    "(",
    "-> ",
    "\t",
    "|",
    ": ",
)


@pytest.mark.parametrize("head", _HEADS)
def test_one_long_line_is_read_quickly(head: str) -> None:
    """For any content and any end of the line: no pattern restarts at each character."""
    for part in _PARTS:
        for end in ("", "!", " x:"):
            line = head + part * (_LONG // len(part)) + end
            text = f"- func: add(Tensor self) -> Tensor\n{line}\n"
            started = time.process_time()
            outline = build_outline(Source("x", text))
            offset = len(text) - 1
            find_word(outline, offset)
            complete([outline], offset, None, new_items, in_entry, strict_torchgen=False)
            assert time.process_time() - started < 2, (part, end)


def test_a_long_line_of_a_source_is_read_quickly(tmp_path: Path) -> None:
    for part in _PARTS:
        (tmp_path / "a.cpp").write_text(
            f"int x;{part * (_LONG // len(part))}fn\nOPGEN_KERNEL(fn)\n"
        )
        started = time.process_time()
        find_functions([tmp_path], "fn")
        KernelIndex().definitions([tmp_path])
        assert time.process_time() - started < 2, part


def test_a_pipe_among_the_sources_is_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.cpp")
    assert find_functions([tmp_path], "fn") == []
