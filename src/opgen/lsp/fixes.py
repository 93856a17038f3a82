"""Convert the fixes of diagnostics, and the canonical layout, to edits of an open document."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from msgspec.structs import replace

from opgen.diagnostics import Diagnostic, Diagnostics, Edit, Source, Span
from opgen.diagnostics.suggestions import shorten
from opgen.edits import apply_edits, fix_all, format_all
from opgen.lsp.positions import Positions
from opgen.pipeline import linting, loading
from opgen.pipeline.inputs import Inputs, Overlay

FIX_ALL = "source.fixAll.opgen"


def title(edit: Edit) -> str:
    """Return the title of a fix, such as "Replace 'x' by 'y'"."""
    old, new = shorten(edit.span.text.strip()), shorten(edit.replacement.strip())
    if not old and not new:
        return "Fix the white space"
    if not old:
        return f"Insert '{new}'"
    return f"Replace '{old}' by '{new}'" if new else f"Remove '{old}'"


def text_edit(edit: Edit, positions: Positions) -> types.TextEdit:
    return types.TextEdit(positions.range(edit.span), edit.replacement)


def once(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """Return the text of `source` with those fixes of `diagnostics` that are for it."""
    fixes = [d.fix for d in diagnostics if d.fix and d.fix.span.source.path == source.path]
    return apply_edits(source.text, fixes)[0]


def fixed_text(path: Path, text: str, inputs: Inputs) -> str:
    """Return the text with all certain fixes applied, and those of errors that appear after the first fixes."""

    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        diagnostics = Diagnostics()
        linting.inspect(replace(inputs, overlay={**inputs.overlay, **contents}), diagnostics)
        return diagnostics, None

    fixed = fix_all({path: text.encode("utf-8", "replace")}, check)
    return _decode(fixed.contents.get(path), text)


def formatted_text(path: Path, text: str, inputs: Inputs) -> str:
    """Return the text as `opgen format` writes it; unchanged if the files have errors."""

    def check_blanks(contents: Overlay) -> tuple[Diagnostics, Diagnostics]:
        return loading.misplaced_blanks(replace(inputs, overlay={**inputs.overlay, **contents}))

    changed, _ = format_all({path: text.encode("utf-8", "replace")}, check_blanks)
    return _decode(changed.get(path), text)


def change(source: Source, new: str, positions: Positions) -> list[types.TextEdit]:
    """Return the smallest single edit from the source's text to `new`: the part between their common ends."""
    old = source.text
    if old == new:
        return []
    start = _common_prefix(old, new)
    tail = _common_prefix(old[start:][::-1], new[start:][::-1])
    # A position cannot be between the two characters of one line end.
    start -= old[start - 1 : start] == "\r"
    tail -= old[len(old) - tail - 1 : len(old) - tail + 1] == "\r\n"
    span = Span(source, start, len(old) - tail)
    return [types.TextEdit(positions.range(span), new[start : len(new) - tail])]


def _common_prefix(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(one, other))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _decode(content: bytes | None, text: str) -> str:
    # A text with a lone surrogate cannot be encoded in UTF-8, and would change.
    if content is None or text.encode("utf-8", "replace").decode() != text:
        return text
    return content.decode("utf-8")
