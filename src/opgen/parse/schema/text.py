"""The text of a schema: its tokens and parts, and reports of errors in it by offset."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from opgen.diagnostics import Diagnostics, Edit, Source, Span

# Maps a range of the schema's text to a span of its source.
Locate = Callable[[int, int], Span]

_QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
_TOKEN = re.compile(
    rf"""
      \s+
    | (?P<word>
          __torch__(?:\s*\.\s*[A-Za-z0-9_]+)+
        | [A-Za-z_][A-Za-z0-9_]*
        | (?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?j?
        | {_QUOTED}
      )
    | (?P<sign>->|\.\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_MARK = re.compile(rf"{_QUOTED}|->|[()\[\]<>,]", re.DOTALL)
# A part without a comma whose brackets are closed.
_PLAIN = re.compile(r"(?:[^,()\[\]<>\"']|\([^,()\[\]<>\"']*\)|\[[0-9]*\])*")
_IGNORED = re.compile(rf"({_QUOTED})|\#[^\n]*|\\\r?\n", re.DOTALL)
_CLOSING = {")": "(", "]": "[", ">": "<"}


class Token(NamedTuple):
    """A word, number, quoted string or sign. `is_word` is whether another word must not touch it."""

    text: str
    start: int
    end: int
    is_word: bool


class SchemaText:
    """A text that is parsed as a schema, or a part of one. White space may be between all tokens."""

    def __init__(self, text: str, diagnostics: Diagnostics, locate: Locate | None = None) -> None:
        """Report errors to `diagnostics`. Without `locate`, they are in a source named `<schema>` that holds `text`."""
        if locate is None:
            source = Source("<schema>", text)
            locate = lambda start, end: Span(source, start, end)  # noqa: E731
        self.text = text
        self.failed = False
        self._diagnostics = diagnostics
        self._locate = locate

    def report(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        labels: Iterable[tuple[int, int, str]] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
        replacement: str | None = None,
    ) -> None:
        """Report an error in the characters `start` to `end`. `labels` are ranges with a text each.

        `replacement` is the correct text for these characters. It becomes a fix if the source has the same characters at this
        place; white space may differ.
        """
        span = self._locate(start, end)
        located = [(self._locate(begin, stop), text) for begin, stop, text in labels]
        text = self.text[start:end]
        is_blank = (span.text + text).isspace()
        # The last line end of a block scalar is not between two words.
        is_last = end == len(self.text) and "\n" in text
        is_sure = (span.text == text or is_blank) and not is_last
        fix = Edit(span, replacement) if replacement is not None and is_sure else None
        self.failed = True
        self._diagnostics.error(
            code, message, span, labels=located, notes=notes, hint=hint, fix=fix
        )

    @cached_property
    def _marks(self) -> tuple[dict[int, int], list[int]]:
        """The closing bracket of each opening one that is closed, and all commas outside of quotes."""
        pairs: dict[int, int] = {}
        commas: list[int] = []
        opened: list[int] = []
        counts = dict.fromkeys("([<", 0)
        for match in _MARK.finditer(self.text):
            sign, at = match[0], match.start()
            if sign == ",":
                commas.append(at)
            elif sign in counts:
                opened.append(at)
                counts[sign] += 1
            elif sign in _CLOSING and counts[_CLOSING[sign]]:
                # Brackets inside of a pair that are not closed are no brackets.
                while True:
                    opening = opened.pop()
                    counts[self.text[opening]] -= 1
                    if self.text[opening] == _CLOSING[sign]:
                        break
                pairs[opening] = at
        return pairs, commas

    def closing(self, opening: int) -> int:
        """Return the position of the bracket that closes the one at `opening`; -1 if there is none."""
        return self._marks[0].get(opening, -1)

    def pieces(self, start: int, end: int, known: Container[str] = ()) -> Iterator[tuple[int, int]]:
        """Yield the ranges between commas that are not inside of brackets or quotes, without white space around them.

        Texts that are `known` have all their brackets and quotes.
        """
        start, end = self.trimmed(start, end)
        if start == end:
            return
        while True:
            comma = self.text.find(", ", start, end)
            stop = end if comma < 0 else comma
            is_known = self.text[start:stop] in known
            if not is_known and _PLAIN.fullmatch(self.text, start, stop) is None:
                break
            yield self.trimmed(start, stop)
            if stop == end:
                return
            start = stop + 2
        for comma in self._commas(start, end):
            yield self.trimmed(start, comma)
            start = comma + 1
        yield self.trimmed(start, end)

    def _commas(self, start: int, end: int) -> Iterator[int]:
        pairs, commas = self._marks
        closed = sorted(pair for pair in pairs.items() if pair[0] >= start and pair[1] < end)
        at, skipped = 0, start
        for comma in commas:
            while at < len(closed) and closed[at][0] < comma:
                skipped = max(skipped, closed[at][1])
                at += 1
            if skipped <= comma < end:
                yield comma

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Return the range without white space at its ends."""
        text = self.text[start:end]
        stripped = text.strip()
        if len(stripped) == len(text):
            return start, end
        first = start + (text.find(stripped) if stripped else len(text))
        return first, first + len(stripped)

    def tokens(self, start: int, end: int) -> list[Token]:
        return [
            Token(match[0], match.start(), match.end(), match.lastgroup == "word")
            for match in _TOKEN.finditer(self.text, start, end)
            if match.lastgroup is not None
        ]


def joined(tokens: Iterable[Token]) -> str:
    """Return the text of tokens without white space, except between two words."""
    parts: list[str] = []
    before: Token | None = None
    for token in tokens:
        is_apart = before is not None and before.end < token.start
        if is_apart and before is not None and _is_value(before) and _is_value(token):
            parts.append(" ")
        parts.append(token.text)
        before = token
    return "".join(parts)


def _is_value(token: Token) -> bool:
    """Return whether the token is a value, or a part of a number."""
    return token.is_word or token.text == "."


def without_comments(text: str) -> str:
    """Return `text` with spaces instead of what PyTorch's parser skips: comments, and line ends after a backslash."""
    if "#" not in text and "\\" not in text:
        return text
    return _IGNORED.sub(lambda match: match[1] or " " * len(match[0]), text)


def align(canonical: str, written: str) -> list[int]:
    """Return the place in `written` of each character of `canonical`, and of its end.

    `written` has the same characters, and others between them: white space, comments and marks without a meaning. A space
    that is not written is where the next character is.
    """
    written = without_comments(written)
    places = []
    at = 0
    for character in canonical:
        if character != " ":
            at = max(written.find(character, at), at)
        places.append(at)
        at += written[at : at + 1] == character
    places.append(at)
    return places


def misplaced_blanks(canonical: str, written: str) -> list[tuple[int, int, str]]:
    """Return each white space of `written` that differs from `canonical`: start, end, and the right white space.

    Inside of a list both `[0, 1]` and `[0,1]` are usual.
    """
    blanks = []
    before, gap, last, brackets = 0, "", "", 0
    for character, place in zip((*canonical, ""), (*align(canonical, written)[:-1], len(written))):
        if character == " ":
            gap += " "
            continue
        given = written[before:place]
        if given != gap and not given.strip() and not brackets:
            blanks.append((before, place, gap))
        if character == "[" and (brackets or last == "="):
            brackets += 1
        elif character == "]" and brackets:
            brackets -= 1
        before, gap, last = place + 1, "", character
    return blanks
