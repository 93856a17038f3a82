"""Find the cause of a YAML error: the parser says where it could not continue, which is often another line.

The text is read again around that place, line by line. Nothing here depends on the wording of a YAML library.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from msgspec import Struct

from opgen.diagnostics import Source
from opgen.diagnostics.suggestions import shorten

_KEY = re.compile(r"(?P<dash>-?\s*)(?P<key>[A-Za-z_]\w*):(?:\s+(?P<value>.*))?$")
_TIGHT = re.compile(r"(?P<dash>(?:-\s+)?)(?P<key>[A-Za-z_]\w*):(?P<value>[^:\s].*)$")
_EQUALS = re.compile(r"(?P<dash>(?:-\s+)?)(?P<key>[A-Za-z_]\w*)\s*=\s*(?P<value>.+)$")
_LOOSE = re.compile(r"(?P<dash>(?:-\s+)?)(?P<key>[a-z_]+)[;.,)<]?\s+(?P<value>[\w.][^()]*|\[.*)$")
_ALONE = re.compile(r"(?P<key>[a-z_]+)[;.,)<]?$")
_ARGUMENT = re.compile(r"([A-Za-z_]\w*): ([A-Za-z_][\w.\[\]]*)")
# A default of type str: `="a: b"`.
_QUOTED = re.compile(r"""(?<==)(?:"[^"]*"|'[^']*')""")
_DASH = re.compile(r"-([A-Za-z_]\w*:.*)$")
# Keys whose value is a mapping.
_TABLES = ("dispatch", "ufunc_inner_loop")
_CLOSING = {"{": "}", "[": "]"}


class SyntaxMistake(Struct, frozen=True):
    """The cause of a YAML error at the characters `start` to `end`."""

    message: str
    start: int
    end: int
    hint: str


class _Line(Struct, frozen=True):
    """A line without white space around it, and the offset at which that begins."""

    text: str
    start: int
    indent: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_code(self) -> bool:
        return bool(self.text) and not self.text.startswith("#")


def find_syntax_mistake(source: Source, problem: int, context: int | None) -> SyntaxMistake | None:
    """Return the cause of an error at the offset `problem`, in a node that began at `context`; None if unknown."""
    lines = _Lines(source)
    at = lines.number(problem)
    return (
        _tab(source, at)
        or _comment(lines, (at, lines.before(at)))
        or _no_key(lines[at])
        or _unclosed(source, context, problem)
        or _first_character(source, lines[at], problem)
        or _two_colons(lines[at], problem)
        or _no_dash(lines, at)
        or _no_colon(lines, at, context)
        or _deeper(lines, at, problem)
    )


class _Lines:
    """The lines of a file, by number from 1."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._starts = source.line_starts()

    def number(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def __getitem__(self, number: int) -> _Line:
        if not 1 <= number <= len(self._starts):
            return _Line("", 0, 0)
        text = self._source.line_text(number)
        stripped = text.strip()
        indent = len(text) - len(text.lstrip())
        return _Line(stripped, self._starts[number - 1] + indent, indent)

    def before(self, number: int) -> int:
        """Return the number of the nearest line before `number` that is neither empty nor a comment; 0 if none."""
        return next((n for n in range(number - 1, 0, -1) if self[n].is_code), 0)


def _tab(source: Source, number: int) -> SyntaxMistake | None:
    """Find a tab before the first character of a line."""
    if not 1 <= number <= len(source.line_starts()):
        return None
    text, start = source.line_text(number), source.line_starts()[number - 1]
    blank = text[: len(text) - len(text.lstrip())]
    if "\t" not in blank:
        return None
    at, stop = blank.index("\t"), blank.rindex("\t") + 1
    message = "a tab indents this line"
    return SyntaxMistake(message, start + at, start + stop, "indent with spaces")


def _comment(lines: _Lines, numbers: tuple[int, ...]) -> SyntaxMistake | None:
    """Find `// blurs`, a comment of C++ on a line of its own."""
    for number in numbers:
        line = lines[number]
        if line.text.startswith(("//", "/*")):
            message = f"'{shorten(line.text)}' is a comment of C++"
            return SyntaxMistake(message, line.start, line.end, "a comment of YAML begins with '#'")
    return None


def _no_key(line: _Line) -> SyntaxMistake | None:
    """Find `: value`."""
    if not line.text.startswith(":"):
        return None
    message = "there is no key before ':'"
    hint = "write one, as in 'dispatch:' or 'CPU: my_kernel'"
    return SyntaxMistake(message, line.start, line.start + 1, hint)


def _unclosed(source: Source, context: int | None, problem: int) -> SyntaxMistake | None:
    """Find a quote or bracket that is not closed."""
    opening = "" if context is None else source.text[context : context + 1]
    if context is None or opening not in ("'", '"', "{", "[") or not opening:
        return None
    if opening in _CLOSING:
        message = f"'{opening}' is not closed"
        return SyntaxMistake(
            message, context, context + 1, f"write '{_CLOSING[opening]}' after the last item"
        )
    if problem < len(source.text.rstrip()):
        return None
    return SyntaxMistake(
        "the quote is not closed", context, context + 1, f"write {opening} at the end"
    )


def _two_colons(line: _Line, problem: int) -> SyntaxMistake | None:
    """Find a `: ` in a value: a row of a table in the line of its key, or an argument of Python."""
    match = _KEY.match(line.text)
    if match is None or not match["value"] or problem < line.start + match.start("value"):
        return None
    key, value = match["key"], match["value"]
    if ": " not in f"{value} ":
        return None
    begin = line.start + match.start("value")
    at = problem - line.start
    quoted = next((m for m in _QUOTED.finditer(line.text) if m.start() < at < m.end()), None)
    if key == "func" and quoted is not None:
        message = f"a ': ' in the default {shorten(quoted[0])}"
        kind = "single" if quoted[0].startswith('"') else "double"
        hint = f"put the whole schema in {kind} quotes"
        return SyntaxMistake(message, line.start + quoted.start(), line.start + quoted.end(), hint)
    argument = next((a for a in _ARGUMENT.finditer(line.text) if a.end(1) == at), None)
    if key == "func" and argument is not None:
        message = f"'{shorten(argument[0])}' is an argument of Python"
        hint = f"write '{shorten(argument[2])} {shorten(argument[1])}'"
        return SyntaxMistake(
            message, line.start + argument.start(), line.start + argument.end(), hint
        )
    if key == "func" and line.text[:at].rstrip().endswith(")"):
        hint = "write '->' before what the operator returns"
        return SyntaxMistake("a schema has no ':'", line.start + at, line.start + at + 1, hint)
    if key == "func" and at == len(line.text) - 1:
        return SyntaxMistake("a schema does not end in ':'", line.start + at, line.end, "remove it")
    message = f"a second ': ' in the line of '{shorten(key)}'"
    if key in _TABLES:
        return SyntaxMistake(
            message, begin, line.end, "write this in a line of its own, indented deeper"
        )
    return SyntaxMistake(message, begin, line.end, "put the value in quotes")


def _no_dash(lines: _Lines, number: int) -> SyntaxMistake | None:
    """Find `func:` without `- ` before it, `-func:`, or a key of an entry at the margin."""
    for line in (lines[number], lines[lines.before(number)]):
        if (dash := _DASH.match(line.text)) is not None:
            end = line.start + line.text.index(":")
            message = "there is no space after '-'"
            return SyntaxMistake(message, line.start, end, f"write '- {shorten(dash[1])}'")
    line, before = lines[number], lines[lines.before(number)]
    match = _KEY.match(line.text)
    if match is None:
        return _mapping_before_list(line, before)
    end = line.start + len(match["key"])
    if not match["dash"] and match["key"] == "func":
        message = "there is no '- ' before 'func'"
        return SyntaxMistake(message, line.start, end, f"write '- {shorten(line.text)}'")
    first = _KEY.match(before.text)
    if not match["dash"] and first is not None and first["key"] == "func" and not first["dash"]:
        message = "there is no '- ' before 'func'"
        stop = before.start + len("func")
        return SyntaxMistake(message, before.start, stop, f"write '- {shorten(before.text)}'")
    owner = _owner(lines, number)
    if not match["dash"] and owner is not None and line.indent < owner.indent + 2:
        message = f"'{shorten(match['key'])}' is not indented as a key of its entry"
        return SyntaxMistake(message, line.start, end, "indent it as far as 'func'")
    return _mapping_before_list(line, before)


def _mapping_before_list(line: _Line, before: _Line) -> SyntaxMistake | None:
    """Find `namespace: mylib` before the first entry."""
    match = _KEY.match(before.text)
    if match is None or match["dash"] or before.indent or not line.text.startswith("- "):
        return None
    message = f"there is no '- ' before '{shorten(match['key'])}'"
    stop = before.start + len(match["key"])
    return SyntaxMistake(message, before.start, stop, f"write '- {shorten(before.text)}'")


def _owner(lines: _Lines, number: int) -> _Line | None:
    """Return the line with the `- ` of the entry that `number` is in or after."""
    while number := lines.before(number):
        if lines[number].text.startswith("- "):
            return lines[number]
    return None


def _no_colon(lines: _Lines, number: int, context: int | None) -> SyntaxMistake | None:
    """Find a line without `: `, at the place at which the parser began to look for it."""
    started = number if context is None else lines.number(context)
    for candidate in (started, lines.before(number), number):
        line = lines[candidate]
        if not line.is_code or _KEY.match(line.text) is not None:
            continue
        for pattern in (_TIGHT, _EQUALS, _LOOSE):
            match = pattern.match(line.text)
            if match is not None:
                written = f"{match['dash']}{match['key']}: {match['value']}"
                start = line.start + (0 if match["key"] == "func" else len(match["dash"]))
                return SyntaxMistake(
                    "there is no ': ' in this line", start, line.end, f"write '{shorten(written)}'"
                )
        alone = _ALONE.match(line.text)
        if alone is not None:
            hint = f"write '{shorten(alone['key'])}:'"
            return SyntaxMistake("there is no ':' in this line", line.start, line.end, hint)
        if "func:" in line.text:
            message = "an entry begins with '- func: '"
            stop = line.start + line.text.index("func:") + len("func:")
            hint = f"write '- func: {shorten(line.text.partition('func:')[2].strip())}'"
            return SyntaxMistake(message, line.start, stop, hint)
        if line.text.startswith("- ") and "(" in line.text:
            schema = line.text[2:].lstrip()
            message = "there is no key before this schema"
            hint = f"write '- func: {shorten(schema)}'"
            return SyntaxMistake(message, line.end - len(schema), line.end, hint)
        before = lines[lines.before(candidate)]
        if before.text.count("(") > before.text.count(")"):
            hash_at = before.text.find(" #")
            if hash_at >= 0:
                message = "this comment ends the schema"
                hint = "move it above the entry, or write the schema after 'func: |-'"
                return SyntaxMistake(message, before.start + hash_at + 1, before.end, hint)
            message = "this line continues the schema, but is not indented deeper than 'func'"
            return SyntaxMistake(message, line.start, line.end, "indent it deeper")
    return None


def _deeper(lines: _Lines, number: int, problem: int) -> SyntaxMistake | None:
    """Find a key that is indented deeper than the key before it, which has a value."""
    line, before = lines[number], lines[lines.before(number)]
    match, first = _KEY.match(line.text), _KEY.match(before.text)
    if (
        match is None
        or first is None
        or not first["value"]
        or line.start + match.end("key") != problem
    ):
        return None
    column = before.indent + len(first["dash"])
    if line.indent <= column:
        return None
    message = f"'{shorten(match['key'])}' is indented deeper than '{first['key']}' above it"
    start = line.start + match.start("key")
    hint = f"indent it as far as '{first['key']}'"
    return SyntaxMistake(message, start, start + len(match["key"]), hint)


def _first_character(source: Source, line: _Line, problem: int) -> SyntaxMistake | None:
    """Find a value that begins with a character that YAML reserves."""
    character = source.text[problem : problem + 1]
    if character not in ("@", "`", "%") or not character or problem >= line.end:
        return None
    message = f"a value cannot begin with '{character}'"
    return SyntaxMistake(message, problem, problem + 1, "put the value in quotes")
