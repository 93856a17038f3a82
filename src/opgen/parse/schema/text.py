"""The text of a schema: its tokens and parts, the names in it, and reports of errors in it by offset."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.model.cpp_words import (
    C_FUNCTIONS,
    MAX_NAME,
    RESERVED_NAMESPACES,
    RESERVED_PREFIX,
    is_cpp_name,
    is_identifier,
    is_macro,
)
from opgen.model.function_schema import AUGMENTED_ASSIGNMENT_NAMES, BaseOperatorName
from opgen.model.profile import Profile
from opgen.model.types import BaseTy

# The code for missing or superfluous white space in a schema.
SPACING = "E0302"
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
        self.errors = 0
        self._diagnostics = diagnostics
        self._locate = locate

    @property
    def failed(self) -> bool:
        return self.errors > 0

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
        self.errors += 1
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


# Words that PyTorch's schema parser reserves: they cannot be names in a schema of a library.
# Source: `torch._C.parse_schema` of PyTorch 2.13, tried with each keyword of Python and each name of a type.
KEYWORDS = frozenset(
    (
        *("False", "None", "NoneType", "True", "and", "as", "assert", "break", "class"),
        *("continue", "def"),
        *("del", "elif", "else", "for", "global", "if", "import", "in", "is", "not"),
        *("or", "pass", "raise", "return", "while", "with"),
    )
)
# C++ functions with these names would hide types that signatures use.
_TAKEN_NAMES = frozenset(
    (
        *(t.name for t in BaseTy if t.name[0].isupper() and t is not BaseTy.Any),
        *("int64_t", "ArrayRef", "IntArrayRef", "SymIntArrayRef", "OptionalArrayRef"),
        *("OptionalIntArrayRef", "OptionalSymIntArrayRef", "TensorList", "ITensorListRef"),
        *("DimnameList", "TensorOptions"),
    )
)
_OVERLOAD = re.compile(r"[A-Za-z0-9_]+")
_DUNDER = re.compile(r"__([^_]+)__")


def is_operator_name(at: SchemaText, text: str, start: int, profile: Profile) -> bool:
    """Return whether files and C++ functions can have the name `text`, which is at `start`; report it if not."""
    end = start + len(text)
    if not is_identifier(text):
        message = f"bad operator name '{shorten(text)}'" if text else "no operator name"
        hint = _identifier_hint(text) if text else "write one before '('"
        at.report("E0304", message, start, end, hint=hint)
    elif len(text) > MAX_NAME:
        message = f"an operator's name has at most {MAX_NAME} characters: it names files"
        at.report("E0304", message, start, end)
    elif text.startswith(RESERVED_PREFIX):
        _report_prefix(at, text, start)
    elif profile is Profile.library and text in KEYWORDS:
        _report_keyword(at, text, start)
    elif text in _TAKEN_NAMES or is_macro(text):
        at.report("E0342", f"'{text}' is already a name in C++", start, end)
    elif profile is Profile.library and not text.strip("_"):
        at.report("E0304", f"'{text}' cannot be the name of an operator", start, end)
    else:
        return True
    return False


def marked_name(
    at: SchemaText, text: str, start: int, *, allow_out: bool
) -> BaseOperatorName | None:
    """Return a name by torchgen's rules, where its prefix and suffix alone say what the operator does.

    `allow_out` is whether the name may end with `_out`. None if an error was reported.
    """
    end = start + len(text)
    if text.endswith("_out") and not allow_out:
        hint = f"did you mean '{shorten(text)[: -len('_out')]}.out'?"
        at.report("E0305", "an operator name cannot end in '_out'", start, end, hint=hint)
        return None
    dunder = _DUNDER.fullmatch(text)
    if dunder is not None:
        return _dunder(at, dunder[1], start, end)
    inplace = text.endswith("_")
    base = text[:-1] if inplace else text
    functional = base.endswith("_functional")
    if functional and inplace:
        message = f"'{shorten(text)}' is marked as functional and as in-place"
        at.report("E0308", message, start, end)
        return None
    base = base.removesuffix("_functional")
    if not base:
        message = f"'{text}' has no name besides its prefix or suffix"
        at.report("E0304", message, start, end)
        return None
    return BaseOperatorName(base, inplace, False, functional)


def _dunder(at: SchemaText, base: str, start: int, end: int) -> BaseOperatorName | None:
    if not base.startswith("i"):
        return BaseOperatorName(base, inplace=False, dunder_method=True)
    if base[1:] in AUGMENTED_ASSIGNMENT_NAMES:
        return BaseOperatorName(base[1:], inplace=True, dunder_method=True)
    message = f"'__{shorten(base)}__' is not the name of an augmented assignment"
    candidates = [f"i{name}" for name in AUGMENTED_ASSIGNMENT_NAMES]
    at.report("E0306", message, start, end, hint=did_you_mean(base, candidates))
    return None


def is_overload(at: SchemaText, text: str, dot: int, end: int, profile: Profile) -> bool:
    """Return whether `text`, which is between the `.` at `dot` and `end`, can be an overload; report it if not."""
    is_library = profile is Profile.library
    if len(text) > MAX_NAME:
        at.report("E0309", f"an overload name has at most {MAX_NAME} characters", dot, end)
    elif not text:
        at.report("E0309", "no overload after '.'", dot, end)
    elif not (is_identifier(text) if is_library else _OVERLOAD.fullmatch(text)):
        hint = "'::' follows a namespace, '.' an operator" if is_library and "." in text else None
        at.report("E0309", f"bad overload name '{shorten(text)}'", dot, end, hint=hint)
    elif is_library and (text == "default" or text.startswith("__")):
        at.report("E0309", f"PyTorch reserves the overload name '{shorten(text)}'", dot, end)
    elif is_library and text in KEYWORDS:
        _report_keyword(at, text, dot + 1)
    else:
        return True
    return False


def is_name(at: SchemaText, name: str, start: int, code: str, what: str, profile: Profile) -> bool:
    """Return whether an argument or return (`what`) can have the name at `start`; if not, report it, perhaps by `code`."""
    end = start + len(name)
    is_library = profile is Profile.library
    if not is_identifier(name):
        at.report(code, f"bad {what} name '{shorten(name)}'", start, end)
    elif is_library and len(name) > MAX_NAME:
        at.report(code, f"{what} names have at most {MAX_NAME} characters", start, end)
    elif is_library and name in KEYWORDS:
        _report_keyword(at, name, start)
    elif name.startswith(RESERVED_PREFIX):
        _report_prefix(at, name, start)
    elif not is_library and is_macro(name):
        at.report("E0342", f"'{name}' is a macro of C++", start, end)
    else:
        return True
    return False


def is_namespace(at: SchemaText, namespace: str, start: int) -> bool:
    """Return whether operators may be in `namespace`, which is at `start` of the text; report it if not."""
    end = start + len(namespace)
    if len(namespace) > MAX_NAME:
        at.report("E0303", f"a namespace has at most {MAX_NAME} characters", start, end)
    elif not namespace:
        at.report("E0303", "no namespace before '::'", start, start + 2)
    elif not is_cpp_name(namespace):
        message = f"bad namespace '{shorten(namespace)}'"
        at.report("E0303", message, start, end, hint=_identifier_hint(namespace))
    elif namespace in RESERVED_NAMESPACES or namespace.startswith(RESERVED_PREFIX):
        at.report("E0342", f"the namespace '{namespace}' is reserved", start, end)
    elif namespace in C_FUNCTIONS:
        message = f"'{namespace}' is a function of the C library, so it cannot be a namespace"
        at.report("E0342", message, start, end, hint="choose another name")
    elif namespace in KEYWORDS:
        _report_keyword(at, namespace, start)
    else:
        return True
    return False


def _report_keyword(at: SchemaText, word: str, start: int) -> None:
    message = f"'{word}' is a keyword of PyTorch's schema parser"
    at.report("E0327", message, start, start + len(word), hint="choose another name")


def _report_prefix(at: SchemaText, name: str, start: int) -> None:
    message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
    at.report("E0342", message, start, start + len(name))


def _identifier_hint(text: str) -> str | None:
    """Return a hint for a name that has other characters than an identifier."""
    namespace, colon, name = text.partition(":")
    if colon and is_identifier(namespace) and is_identifier(name):
        return f"did you mean '{shorten(namespace)}::{shorten(name)}'?"
    words = re.sub(r"[-. ]", "_", text)
    return f"did you mean '{shorten(words)}'?" if words != text and is_identifier(words) else None
