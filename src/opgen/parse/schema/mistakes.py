"""Recognise what an author typed instead of a schema: a declaration of C++ or Python, a comma that is missing.

A parser reports where it could not continue. These functions read the same text again, after it was rejected, and find
the cause. Each returns one Mistake or None; the text is that of `func`, as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from opgen.diagnostics.suggestions import shorten
from opgen.parse.schema.foreign_types import SCHEMA_NAMES, foreign_type


class Mistake(Struct, frozen=True):
    """A cause of errors at the characters `start` to `end`; `labels` are further places of the same kind.

    `replacement` is the correct text for these characters, if that is certain. `explained` are the ranges whose errors are
    consequences of this cause; None if all are.
    """

    code: str
    message: str
    start: int
    end: int
    hint: str
    replacement: str | None = None
    labels: tuple[tuple[int, int, str], ...] = ()
    explained: tuple[tuple[int, int], ...] | None = None


_Range = tuple[int, int]
_QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1)[^\\])*(?P<end>\1|\\?\Z)""", re.DOTALL)
# `;` at the end, `:` at the end of a `def`.
_LAST_SIGN = re.compile(r"\s*;\s*\Z")
_DEF = re.compile(r"def\s+(?=[A-Za-z_])")
_DECLARATION = re.compile(
    r"((?:[\w:<>,&* ]|\.(?=\w))*?[\w>&*])\s+([A-Za-z_][\w.]*(?:::[\w.]+)*)\s*\("
)
_ARROW = re.compile(r"=>|- >|–>|—>|→|⇒|\)\s*(=(?=\s))")
_NAME = r"[A-Za-z_]\w*"
_SUFFIXES = r"(?:\([^()]*\))?(?:\?|\[\d*\])*"
_TYPE = rf"(?:__torch__\.[\w.]+|[A-Za-z_][\w.:]*){_SUFFIXES}"
_TWO = re.compile(
    rf"\s*({_TYPE})\s+({_NAME})\s*([,.:]?\s+)({_TYPE})\s+({_NAME})\s*(?:=.*)?", re.DOTALL
)
_SWAPPED = re.compile(rf"\s*({_NAME})\s+({_TYPE})\s*(?:=.*)?", re.DOTALL)
_WORD = re.compile(rf"\s*({_TYPE})\s*(?:=.*)?", re.DOTALL)
_PYTHON_ARGUMENT = re.compile(rf"\s*({_NAME})\s*:\s*([^=]+?)\s*(?:=.*)?", re.DOTALL)
_STARS = re.compile(rf"\s*(\*\*?\s*{_NAME})\s*")


def find_mistake(text: str) -> Mistake | None:
    """Return the first mistake that explains why `text` is not a schema; None if none does."""
    found = (find(text) for find in _FINDERS)
    return next((mistake for mistake in found if mistake is not None), None)


def _comment(text: str) -> Mistake | None:
    """Find `// blurs`, a comment of C++."""
    found = re.search(r"//|/\*", _without_quoted(text))
    if found is None:
        return None
    at = found.start()
    stop = len(text.rstrip())
    message = f"'{shorten(text[at:stop])}' is a comment of C++"
    return Mistake("E0301", message, at, stop, "a comment of YAML begins with '#'")


def _semicolon(text: str) -> Mistake | None:
    """Find `;` at the end, or between arguments."""
    last = _LAST_SIGN.search(text)
    at = text.find(";", last.start()) if last else _without_quoted(text).find(";")
    if at < 0:
        return None
    message, hint = (
        ("a schema does not end in ';'", "remove it") if last else ("unexpected ';'", "write ','")
    )
    return Mistake("E0301", message, at, at + 1, hint, "" if last else ",")


def _definition(text: str) -> Mistake | None:
    """Find `def f(...)`."""
    match = _DEF.match(text)
    if match is None:
        return None
    message = "a schema begins with the operator's name, not with 'def'"
    translated = _translated(text[match.end() :].rstrip(": "))
    if translated is not None and translated != text[match.end() :]:
        return Mistake("E0301", message, 0, match.end(), f"write '{shorten(translated)}'")
    return Mistake("E0301", message, 0, match.end(), "write it without 'def'", "")


def _declaration(text: str) -> Mistake | None:
    """Find `Tensor f(...)`."""
    match = _DECLARATION.match(text)
    if match is None or not _is_type(match[1], is_return=True):
        return None
    name = match[2]
    message = f"the type that '{shorten(name)}' returns stands before its name"
    if "->" in _without_quoted(text):
        return Mistake("E0301", message, *match.span(1), "write it after '->' only")
    returned = _schema_type(match[1], is_return=True)
    hint = f"write it after '->': '-> {shorten(returned)}'"
    translated = _translated(f"{text[match.start(2) :].rstrip('; ')} -> {returned}")
    if translated is not None:
        hint = f"write '{shorten(translated)}'"
    return Mistake("E0301", message, *match.span(1), hint)


def _translated(text: str) -> str | None:
    """Return `f(const Tensor& self, int64_t n) -> Tensor` as a schema; None if it cannot be one."""
    name, opening, _ = text.partition("(")
    _, arrow, returned = text.rpartition("->")
    if not opening or not arrow:
        return None
    arguments = []
    for start, end in _arguments(text):
        words, equals, default = text[start:end].strip().partition("=")
        first, colon, second = words.partition(":") if ": " in words else words.rpartition(" ")
        type_, name_ = (second, first) if colon == ":" else (first, second)
        if not _is_type(type_.strip()) or not name_.strip().isidentifier():
            return None
        value = f"={default.strip()}" if equals else ""
        arguments.append(f"{_schema_type(type_.strip())} {name_.strip()}{value}")
    return f"{name.strip()}({', '.join(arguments)}) -> {_schema_type(returned.strip(), is_return=True)}"


def _schema_type(text: str, *, is_return: bool = False) -> str:
    """Return the schema's type for one of C++ or Python; any other text unchanged."""
    foreign = foreign_type(text, is_return=is_return)
    return text if foreign is None or foreign.schema is None else foreign.schema


def _arrow(text: str) -> Mistake | None:
    """Find another sign instead of `->`."""
    opening = text.find("(")
    match = _ARROW.search(text, max(opening, 0)) if opening >= 0 else None
    if match is None or _without_quoted(text)[match.start()] == " ":
        return None
    start, end = match.span(1) if match[1] else match.span()
    return Mistake("E0301", f"'{text[start:end]}' is not an arrow", start, end, "write '->'", "->")


def _unclosed(text: str) -> Mistake | None:
    """Find an argument list that is not closed."""
    opening = text.find("(")
    # An open quote or bracket is reported as such.
    if opening < 0 or _is_open(f"={text[opening:]}"):
        return None
    depth = 0
    for sign in _without_quoted(text, opening)[opening:]:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0:
            return None
    arrow = text.rfind("->")
    end = len(text[:arrow].rstrip()) if arrow > opening else len(text.rstrip())
    if text[opening + 1 : end].count("("):
        return None
    message = "the '(' of the argument list is not closed"
    start = text.rfind(",", opening, end) + 1 or opening + 1
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return Mistake("E0301", message, start, max(end, start), "write ')' after the last argument")


def _no_returns(text: str) -> Mistake | None:
    """Find an argument list without `->` after it."""
    end = len(text.rstrip())
    if "->" in text or not text[:end].endswith(")") or "(" not in text:
        return None
    message = "a schema ends with ') -> ' and what the operator returns"
    return Mistake(
        "E0301", message, end, end, "write '-> Tensor', or '-> ()' if it returns nothing"
    )


def _missing_comma(text: str) -> Mistake | None:
    """Find `int top int left`."""
    for start, end in _arguments(text):
        match = _TWO.fullmatch(text[start:end])
        if match is None or not (_is_type(match[1]) and _is_type(match[4])):
            continue
        first, second = f"{match[1]} {match[2]}", f"{match[4]} {match[5]}"
        message = f"a comma is missing between '{shorten(first)}' and '{shorten(second)}'"
        at, stop = start + match.start(3), start + match.end(3)
        return Mistake("E0310", message, at, stop, "write ', '", ", ", explained=((start, end),))
    return None


def _python_argument(match: re.Match[str]) -> tuple[str, str, int] | None:
    """Find `self: Tensor`."""
    if match[2].startswith(":"):
        return None
    type_ = _schema_type(match[2])
    message = f"'{shorten(match[0].strip())}' is an argument of Python"
    return message, f"write '{shorten(f'{type_} {match[1]}')}'", 0


def _swapped(match: re.Match[str]) -> tuple[str, str, int] | None:
    """Find `self Tensor`."""
    if _is_type(match[1]) or not _is_type(match[2]):
        return None
    written = f"{match[2]} {match[1]}"
    return (
        f"the name '{shorten(match[1])}' stands before its type",
        f"write '{shorten(written)}'",
        0,
    )


def _one_word(match: re.Match[str]) -> tuple[str, str, int] | None:
    """Find `self` without a type, or `Tensor` without a name."""
    word = match[1]
    if _is_type(word):
        name = "self" if word.startswith("Tensor") else "x"
        example = shorten(f"{_schema_type(word)} {name}")
        message = "the name of this argument is missing"
        return message, f"write a type and a name, as in '{example}'", 1
    if not word.isidentifier():
        return None
    return (
        f"the type of '{shorten(word)}' is missing",
        f"write a type and a name, as in 'Tensor {word}'",
        1,
    )


def _stars(match: re.Match[str]) -> tuple[str, str, int] | None:
    """Find `*args` or `**kwargs`."""
    message = "an operator cannot have a variable number of arguments"
    return message, "write a list, as in 'Tensor[] tensors'", 1


_Judge = Callable[[re.Match[str]], tuple[str, str, int] | None]


def _of_arguments(text: str, pattern: re.Pattern[str], judge: _Judge) -> Mistake | None:
    """Return a mistake for the first argument that `pattern` and `judge` find, with labels at the others.

    `judge` returns the message, the hint and the group of the match to mark (0: the argument without white space).
    """
    found: list[tuple[int, int, str, str]] = []
    explained: list[_Range] = []
    for start, end in _arguments(text):
        match = pattern.fullmatch(text[start:end])
        judged = None if match is None else judge(match)
        if match is None or judged is None:
            continue
        message, hint, group = judged
        begin, stop = match.span(group)
        begin += len(match[group]) - len(match[group].lstrip())
        stop -= len(match[group]) - len(match[group].rstrip())
        found.append((start + begin, start + stop, message, hint))
        explained.append((start, end))
    if not found:
        return None
    start, end, message, hint = found[0]
    labels = tuple((begin, stop, other) for begin, stop, _, other in found[1:])
    return Mistake("E0310", message, start, end, hint, None, labels, tuple(explained))


def _is_type(text: str, *, is_return: bool = False) -> bool:
    """Return whether `text` is a type of the schema language, of C++ or of Python."""
    base = re.match(r"\w+", text)
    if base is not None and base[0] in SCHEMA_NAMES | {"Dict"}:
        return True
    return foreign_type(text, is_return=is_return) is not None


def _arguments(text: str) -> Iterator[_Range]:
    """Yield the ranges of the arguments: the parts between commas in the first pair of parentheses."""
    opening = text.find("(")
    if opening < 0:
        return
    depth, begin = 1, opening + 1
    for at, character in enumerate(_without_quoted(text, begin)[begin:], begin):
        is_arrow = character == ">" and text[at - 1] == "-"
        depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1}.get(character, 0)
        depth -= character == ">" and not is_arrow
        if (depth <= 1 and character == ",") or depth <= 0:
            if text[begin:at].strip():
                yield begin, at
            begin = at + 1
        if depth <= 0:
            return


def _without_quoted(text: str, start: int = 0) -> str:
    """Return the text with blanks in place of what is inside quotes, or of all after a quote that is not closed."""
    return text[:start] + _QUOTED.sub(lambda match: " " * len(match[0]), text[start:])


def _is_open(text: str) -> bool:
    """Return whether parentheses of an argument, or quotes or brackets of its default, are not closed."""
    declaration, _, default = text.partition("=")
    # '<' opens a list of types in C++, '[' one in Python. They are reported as such.
    if any(declaration.count(a) > declaration.count(b) for a, b in ("()", "[]", "<>")):
        return True
    if any(match["end"] not in ("'", '"') for match in _QUOTED.finditer(default)):
        return True
    plain = _without_quoted(default)
    return plain.count("[") > plain.count("]")


_FINDERS: tuple[Callable[[str], Mistake | None], ...] = (
    _comment,
    _definition,
    _declaration,
    _semicolon,
    _arrow,
    _unclosed,
    _no_returns,
    partial(_of_arguments, pattern=_PYTHON_ARGUMENT, judge=_python_argument),
    partial(_of_arguments, pattern=_STARS, judge=_stars),
    _missing_comma,
    partial(_of_arguments, pattern=_SWAPPED, judge=_swapped),
    partial(_of_arguments, pattern=_WORD, judge=_one_word),
)
