"""The fixes of diagnostics, and the usual layout, as edits of an open document."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from opgen import pipeline
from opgen.dataclasses import replace
from opgen.diagnostics import Diagnostic, Diagnostics, Edit, Source, Span
from opgen.diagnostics.suggestions import shorten
from opgen.edits import apply_edits, fix_all, format_all
from opgen.lsp.positions import Positions
from opgen.pipeline import Inputs
from opgen.reading import Overlay

FIX_ALL = "source.fixAll.opgen"


def title(edit: Edit) -> str:
    """What a fix does, in a line."""
    old, new = shorten(edit.span.text.strip()), shorten(edit.replacement.strip())
    if not old and not new:
        return "Mend the white space"
    if not old:
        return f"Insert '{new}'"
    return f"Replace '{old}' by '{new}'" if new else f"Remove '{old}'"


def text_edit(edit: Edit, positions: Positions) -> types.TextEdit:
    return types.TextEdit(positions.range(edit.span), edit.replacement)


def once(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with every fix that the diagnostics bring for it."""
    fixes = [d.fix for d in diagnostics if d.fix and d.fix.span.source.path == source.path]
    return apply_edits(source.text, fixes)[0]


def fixed_text(path: Path, text: str, inputs: Inputs) -> str:
    """The text with every certain fix, and those that come up by them."""

    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        diagnostics = Diagnostics()
        pipeline.inspect(replace(inputs, overlay={**inputs.overlay, **contents}), diagnostics)
        return diagnostics, None

    fixed = fix_all({path: text.encode("utf-8", "replace")}, check)
    return _decode(fixed.contents.get(path), text)


def formatted_text(path: Path, text: str, inputs: Inputs) -> str:
    """The text as `opgen format` has it; the same if the files have errors."""

    def check_blanks(contents: Overlay) -> tuple[Diagnostics, Diagnostics]:
        return pipeline.misplaced_blanks(replace(inputs, overlay={**inputs.overlay, **contents}))

    changed, _ = format_all({path: text.encode("utf-8", "replace")}, check_blanks)
    return _decode(changed.get(path), text)


def change(source: Source, new: str, positions: Positions) -> list[types.TextEdit]:
    """The least edit that makes `new` of the text: what is between the ends that both share."""
    old = source.text
    if old == new:
        return []
    start = _shared(old, new)
    tail = _shared(old[start:][::-1], new[start:][::-1])
    # A position cannot be between the two characters of one line end.
    start -= old[start - 1 : start] == "\r"
    tail -= old[len(old) - tail - 1 : len(old) - tail + 1] == "\r\n"
    span = Span(source, start, len(old) - tail)
    return [types.TextEdit(positions.range(span), new[start : len(new) - tail])]


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _decode(content: bytes | None, text: str) -> str:
    # What the editor has and UTF-8 has not (a lone surrogate) would be lost on the way back.
    if content is None or text.encode("utf-8", "replace").decode() != text:
        return text
    return content.decode("utf-8")
