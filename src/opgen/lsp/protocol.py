"""Convert positions, diagnostics and fixes to the values of the language server protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace
from pygls.workspace import PositionCodec

from opgen.diagnostics import Diagnostic, Diagnostics, Edit, Severity, Source, Span
from opgen.diagnostics.suggestions import shorten
from opgen.edits import apply_edits, fix_all, format_all
from opgen.pipeline import checking, loading
from opgen.pipeline.inputs import Inputs, Overlay


class Positions(Struct, frozen=True):
    """Converts positions in the code units of one encoding."""

    encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16

    def position(self, source: Source, offset: int) -> types.Position:
        offset = min(max(offset, 0), len(source.text))
        location = source.location(offset)
        before = source.line_text(location.line)[: location.column - 1]
        return types.Position(location.line - 1, self._units(before))

    def range(self, span: Span) -> types.Range:
        return types.Range(
            self.position(span.source, span.start), self.position(span.source, span.end)
        )

    def offset(self, source: Source, position: types.Position) -> int:
        """Return the offset of the character at `position`, or of the nearest existing one."""
        starts = source.line_starts()
        if position.line >= len(starts):
            return len(source.text)
        line = source.line_text(position.line + 1)
        return starts[position.line] + self._characters(line, position.character)

    def whole(self, source: Source) -> types.Range:
        return self.range(Span(source, 0, len(source.text)))

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return int(PositionCodec(self.encoding).client_num_units(text))

    def _characters(self, line: str, units: int) -> int:
        if line.isascii():
            return min(units, len(line))
        counted = 0
        for index, character in enumerate(line):
            counted += self._units(character)
            if counted > units:
                return index
        return len(line)


ToUri = Callable[[Source], str]


def by_uri(
    diagnostics: Iterable[Diagnostic], positions: Positions, uri_of: ToUri, default: str
) -> dict[str, list[types.Diagnostic]]:
    """Return the diagnostics of each document. Those without a span belong to the document `default`."""
    grouped: dict[str, list[types.Diagnostic]] = {}
    for item in diagnostics:
        uri = default if item.span is None else uri_of(item.span.source)
        grouped.setdefault(uri, []).append(to_protocol(item, positions, uri_of))
    return grouped


def to_protocol(item: Diagnostic, positions: Positions, uri_of: ToUri) -> types.Diagnostic:
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(span.source), positions.range(span)), text or "here"
        )
        for span, text in item.labels
    ]
    return types.Diagnostic(
        range=nowhere if item.span is None else positions.range(item.span),
        severity=_SEVERITIES[item.severity],
        code=item.code,
        source="opgen",
        message="\n".join((item.message, *((item.hint,) if item.hint else ()), *item.notes)),
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if _is_unnecessary(item) else None,
    )


_SEVERITIES = {
    Severity.error: types.DiagnosticSeverity.Error,
    Severity.warning: types.DiagnosticSeverity.Warning,
}


def _is_unnecessary(item: Diagnostic) -> bool:
    """Return whether the fix removes the whole span of the diagnostic."""
    fix, span = item.fix, item.span
    return (
        fix is not None
        and span is not None
        and not fix.replacement.strip()
        and fix.span.start <= span.start < span.end <= fix.span.end
    )


FIX_ALL = "source.fixAll.opgen"


def title(edit: Edit) -> str:
    """Return the title of a fix, such as "Replace 'x' by 'y'"."""
    old, new = shorten(edit.span.text.strip()), shorten(edit.replacement.strip())
    if not old and not new:
        return "Fix the white space"
    if not old:
        return f"Insert '{new}'"
    return f"Replace '{old}' by '{new}'" if new else f"Remove '{old}'"


def once(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """Return the text of `source` with those fixes of `diagnostics` that are for it."""
    fixes = [d.fix for d in diagnostics if d.fix and d.fix.span.source.path == source.path]
    return apply_edits(source.text, fixes)[0]


def fixed_text(path: Path, text: str, inputs: Inputs) -> str:
    """Return the text with all certain fixes applied, and those of errors that appear after the first fixes."""

    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        diagnostics = Diagnostics()
        checking.inspect(replace(inputs, overlay={**inputs.overlay, **contents}), diagnostics)
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
