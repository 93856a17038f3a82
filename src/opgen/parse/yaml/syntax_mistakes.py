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
_IN_QUOTES = "put the value in quotes"


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
    def is_code(self) -> bool:
        return bool(self.text) and not self.text.startswith("#")

    def mistake(
        self, message: str, hint: str, start: int = 0, end: int | None = None
    ) -> SyntaxMistake:
        """Return a mistake at the characters `start` to `end` of the line; by default, all of it."""
        stop = len(self.text) if end is None else end
        return SyntaxMistake(message, self.start + start, self.start + stop, hint)


def find_syntax_mistake(source: Source, problem: int, context: int | None) -> SyntaxMistake | None:
    """Return the cause of an error at the offset `problem`, in a node that began at `context`; None if unknown."""
    lines = _Lines(source)
    at = lines.number(problem)
    line, before = lines[at], lines[lines.before(at)]
    return (
        _tab(source, at)
        or _comment(line)
        or _comment(before)
        or _no_key(line)
        or _unclosed(source, context, problem)
        or _first_character(source, line, problem)
        or _two_colons(line, problem)
        or _no_dash(line, before, lines.owner(at))
        or _no_colon(lines, at, context)
        or _deeper(line, before, problem)
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

    def owner(self, number: int) -> _Line | None:
        """Return the line with the `- ` of the entry that `number` is in or after."""
        while number := self.before(number):
            if self[number].text.startswith("- "):
                return self[number]
        return None


def _tab(source: Source, number: int) -> SyntaxMistake | None:
    """Find a tab before the first character of a line."""
    if not 1 <= number <= len(source.line_starts()):
        return None
    text = source.line_text(number)
    blank = text[: len(text) - len(text.lstrip())]
    if "\t" not in blank:
        return None
    line = _Line(text, source.line_starts()[number - 1], 0)
    hint = "indent with spaces"
    return line.mistake("a tab indents this line", hint, blank.index("\t"), blank.rindex("\t") + 1)


def _comment(line: _Line) -> SyntaxMistake | None:
    """Find `// blurs`, a comment of C++ on a line of its own."""
    if not line.text.startswith(("//", "/*")):
        return None
    message = f"'{shorten(line.text)}' is a comment of C++"
    return line.mistake(message, "a comment of YAML begins with '#'")


def _no_key(line: _Line) -> SyntaxMistake | None:
    """Find `: value`."""
    if not line.text.startswith(":"):
        return None
    hint = "write one, as in 'dispatch:' or 'CPU: my_kernel'"
    return line.mistake("there is no key before ':'", hint, 0, 1)


def _unclosed(source: Source, context: int | None, problem: int) -> SyntaxMistake | None:
    """Find a quote or bracket that is not closed."""
    opening = "" if context is None else source.text[context : context + 1]
    if context is None or not opening or opening not in "'\"{[":
        return None
    message, hint = "the quote is not closed", f"write {opening} at the end"
    if opening in _CLOSING:
        message = f"'{opening}' is not closed"
        hint = f"write '{_CLOSING[opening]}' after the last item"
    elif problem < len(source.text.rstrip()):
        return None
    return SyntaxMistake(message, context, context + 1, hint)


def _two_colons(line: _Line, problem: int) -> SyntaxMistake | None:
    """Find a `: ` in a value: a row of a table in the line of its key, or an argument of Python."""
    match = _KEY.match(line.text)
    at = problem - line.start
    if match is None or not match["value"] or at < match.start("value"):
        return None
    key, begin = match["key"], match.start("value")
    if ": " not in f"{match['value']} ":
        return None
    if key == "func":
        quoted = next((m for m in _QUOTED.finditer(line.text) if m.start() < at < m.end()), None)
        if quoted is not None:
            message = f"a ': ' in the default {shorten(quoted[0])}"
            kind = "single" if quoted[0].startswith('"') else "double"
            return line.mistake(message, f"put the whole schema in {kind} quotes", *quoted.span())
        argument = next((a for a in _ARGUMENT.finditer(line.text) if a.end(1) == at), None)
        if argument is not None:
            message = f"'{shorten(argument[0])}' is an argument of Python"
            hint = f"write '{shorten(argument[2])} {shorten(argument[1])}'"
            return line.mistake(message, hint, *argument.span())
        if line.text[:at].rstrip().endswith(")"):
            hint = "write '->' before what the operator returns"
            return line.mistake("a schema has no ':'", hint, at, at + 1)
        if at == len(line.text) - 1:
            return line.mistake("a schema does not end in ':'", "remove it", at)
    is_table = key in _TABLES
    hint = "write this in a line of its own, indented deeper" if is_table else _IN_QUOTES
    return line.mistake(f"a second ': ' in the line of '{shorten(key)}'", hint, begin)


def _no_dash(line: _Line, before: _Line, owner: _Line | None) -> SyntaxMistake | None:
    """Find `func:` without `- ` before it, `-func:`, or a key of an entry at the margin."""
    for one in (line, before):
        if (dash := _DASH.match(one.text)) is not None:
            hint = f"write '- {shorten(dash[1])}'"
            return one.mistake("there is no space after '-'", hint, 0, one.text.index(":"))
    match, first = _KEY.match(line.text), _KEY.match(before.text)
    if match is not None and not match["dash"]:
        for one, key in ((line, match), (before, first)):
            if key is not None and key["key"] == "func" and not key["dash"]:
                return _without_dash(one, "func")
        if owner is not None and line.indent < owner.indent + 2:
            message = f"'{shorten(match['key'])}' is not indented as a key of its entry"
            return line.mistake(message, "indent it as far as 'func'", 0, len(match["key"]))
    # `namespace: mylib` before the first entry.
    if first is None or first["dash"] or before.indent or not line.text.startswith("- "):
        return None
    return _without_dash(before, first["key"])


def _without_dash(line: _Line, key: str) -> SyntaxMistake:
    message = f"there is no '- ' before '{shorten(key)}'"
    return line.mistake(message, f"write '- {shorten(line.text)}'", 0, len(key))


def _no_colon(lines: _Lines, number: int, context: int | None) -> SyntaxMistake | None:
    """Find a line without `: `, at the place at which the parser began to look for it."""
    started = number if context is None else lines.number(context)
    for candidate in (started, lines.before(number), number):
        line, before = lines[candidate], lines[lines.before(candidate)]
        if not line.is_code or _KEY.match(line.text) is not None:
            continue
        for pattern in (_TIGHT, _EQUALS, _LOOSE):
            match = pattern.match(line.text)
            if match is not None:
                written = shorten(f"{match['dash']}{match['key']}: {match['value']}")
                start = 0 if match["key"] == "func" else len(match["dash"])
                return line.mistake("there is no ': ' in this line", f"write '{written}'", start)
        alone = _ALONE.match(line.text)
        if alone is not None:
            hint = f"write '{shorten(alone['key'])}:'"
            return line.mistake("there is no ':' in this line", hint)
        head, func, schema = line.text.partition("func:")
        if func:
            hint = f"write '- func: {shorten(schema.strip())}'"
            return line.mistake("an entry begins with '- func: '", hint, 0, len(head + func))
        if line.text.startswith("- ") and "(" in line.text:
            schema = line.text[2:].lstrip()
            hint = f"write '- func: {shorten(schema)}'"
            start = len(line.text) - len(schema)
            return line.mistake("there is no key before this schema", hint, start)
        if before.text.count("(") > before.text.count(")"):
            comment = before.text.find(" #")
            if comment >= 0:
                hint = "move it above the entry, or write the schema after 'func: |-'"
                return before.mistake("this comment ends the schema", hint, comment + 1)
            message = "this line continues the schema, but is not indented deeper than 'func'"
            return line.mistake(message, "indent it deeper")
    return None


def _deeper(line: _Line, before: _Line, problem: int) -> SyntaxMistake | None:
    """Find a key that is indented deeper than the key before it, which has a value."""
    match, first = _KEY.match(line.text), _KEY.match(before.text)
    if match is None or first is None or not first["value"]:
        return None
    is_here = line.start + match.end("key") == problem
    if not is_here or line.indent <= before.indent + len(first["dash"]):
        return None
    message = f"'{shorten(match['key'])}' is indented deeper than '{first['key']}' above it"
    return line.mistake(message, f"indent it as far as '{first['key']}'", *match.span("key"))


def _first_character(source: Source, line: _Line, problem: int) -> SyntaxMistake | None:
    """Find a value that begins with a character that YAML reserves."""
    character, at = source.text[problem : problem + 1], problem - line.start
    if not character or character not in "@`%" or at >= len(line.text):
        return None
    return line.mistake(f"a value cannot begin with '{character}'", _IN_QUOTES, at, at + 1)
