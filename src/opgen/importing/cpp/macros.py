"""Expand macros of the sources and the command line, as the preprocessor does.

The sources are not preprocessed. Macros are expanded in arguments of registrations and of libraries, and where their
expansions register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from opgen.diagnostics import Located
from opgen.importing.cpp.text import LITERAL, CppText

# The most nested expansions, the most macros that are expanded for one text, and the most characters of the result.
_MAX_DEPTH = 40
_MOST_STEPS = 5000
_MAX_LENGTH = 200_000
_DEFINE = re.compile(r"(\w+)(\(([^()]*)\))?\s*(.*)", re.DOTALL)
_TOKEN = re.compile(rf"(?P<text>{LITERAL})|(?P<word>\w+)", re.DOTALL)
# In the body of a macro: an operand of `#`, the `##` between two operands, a literal, a word.
_IN_BODY = re.compile(
    rf"(?<!#)#(?!#)\s*(?P<quoted>\w+)|(?P<paste>\s*##\s*)|(?P<text>{LITERAL})|(?P<word>\w+)",
    re.DOTALL,
)
_BEFORE_PASTE, _AFTER_PASTE = re.compile(r"\s*##"), re.compile(r"##\s*$")
_PASTE = re.compile(r"\s*##\s*")
_OPENING = re.compile(r"\s*\(")
_CLOSING = re.compile(rf"(?P<text>{LITERAL})|[()]", re.DOTALL)
_SEPARATOR = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|[()\[\]{},]", re.DOTALL)
_REST = "__VA_ARGS__"
_REGISTERS = re.compile(
    r"\bTORCH_LIBRARY\w*\s*\(|\bRegisterOperators\b|(?:\.|->)\s*(?:def|impl|fallback)\s*\("
)
_OPENS = re.compile(r"\b(?:STABLE_)?TORCH_LIBRARY|\bLibrary\s*::")
_PASTES = re.compile(r"(?i)\w*(?:concat|paste)\w*")
# Macros that builds define: PyTorch's own for extensions, and names that are usual in libraries.
_DEFINED_BY_BUILD = re.compile(r"TORCH_EXTENSION_NAME|[A-Z][A-Z0-9_]*_(?:NAME|NAMESPACE|NS)")
# PyTorch's macros, and variants that expand their arguments first, which many projects define.
_LIBRARY = re.compile(
    r"(?:STABLE_)?TORCH_LIBRARY(?:_EXPAND)?(?:_(FRAGMENT|IMPL))?(?:_EXPAND)?(?:_FRAGMENT|_IMPL)?"
)
# What a copy of PyTorch's macros contains, and the variable of the function that it begins.
_INITIALIZER = re.compile(
    r"\bLibrary\s*::\s*(DEF|FRAGMENT|IMPL)\s*,[^\"]*\"(\w+)\"\s*,[^;]*?"
    r"(?:\bDispatchKey\s*::\s*(\w+)[^;]*)?;.*\(\s*(?:\w+\s*::\s*)*Library\s*&\s*(\w+)\s*\)\s*$",
    re.DOTALL,
)
_PYTORCHS = frozenset(
    f"{stable}TORCH_LIBRARY{kind}"
    for stable in ("", "STABLE_")
    for kind in ("", "_FRAGMENT", "_IMPL")
)
DEF, FRAGMENT, IMPL = "DEF", "FRAGMENT", "IMPL"


class Define(Located, Struct, frozen=True):
    """`#define NAME body` or `#define NAME(parameters) body`. `parameters` is None for the first form.

    `end` is where an `#undef` or the end of the file ends the definition.
    """

    name: str
    parameters: tuple[str, ...] | None
    body: str
    text: CppText
    offset: int
    end: int

    _places = ("text", "offset", "end")

    def bind(self, arguments: Sequence[str]) -> Mapping[str, str] | None:
        """Return the arguments by parameter; None if their number is wrong. The last parameter may take all others."""
        names = self.parameters or ()
        if names and names[-1].endswith("..."):
            name, count = names[-1].removesuffix("...").strip() or _REST, len(names) - 1
            rest = ", ".join(arguments[count:])
            return (
                None
                if len(arguments) < count
                else {**dict(zip(names[:count], arguments)), name: rest}
            )
        arguments = arguments or [""] * len(names)
        return dict(zip(names, arguments)) if len(names) == len(arguments) else None


class Expansion(Struct, frozen=True):
    """The result of an expansion, and the macros in it that only the build defines."""

    text: str
    unknown: tuple[str, ...] = ()


class Macros(Struct, frozen=True):
    """`command_line` are the macros of the command line, which have priority; `defines` those of the sources."""

    command_line: Mapping[str, str]
    defines: Mapping[str, tuple[Define, ...]]

    def definitions(
        self, name: str, text: CppText, offset: int | None = None
    ) -> tuple[Define, ...]:
        """Return the definitions of a macro in the file itself that hold at `offset`; without any, those elsewhere."""
        defines = self.defines.get(name, ())
        own = tuple(define for define in defines if define.text is text)
        if offset is not None and own:
            own = tuple(one for one in own if one.offset <= offset < one.end) or own
        return own or defines

    def expand(self, code: str, text: CppText) -> Expansion:
        """Expand the macros in a namespace or key, `code`, which is a part of `text`."""
        expander = _Expander(self, text, None)
        expanded = expander.expand(code.strip())
        if expanded is None:
            return Expansion(code)
        if not expander.unknown:
            expanded = _PASTE.sub("", expanded)
        return Expansion(expanded.strip().strip('"'), tuple(expander.unknown))

    def preprocess(self, code: str, text: CppText, offset: int) -> str | None:
        """Expand all macros in `code`, which is a part of `text` at `offset`.

        None if it is too long, or if it makes a name from one that only the build knows.
        """
        expanded = _Expander(self, text, offset).expand(code)
        return None if expanded is None or "##" in _TOKEN.sub("", expanded) else expanded

    # Macros that register

    def find_library(self, code: str, text: CppText, offset: int) -> Library | None:
        """Return the library that a macro, with its arguments, opens; None if it opens none."""
        expanded = (_Expander(self, text, offset, _PYTORCHS).expand(code) or "").strip()
        name, opening, inside = expanded.partition("(")
        if opening and _find_closing(expanded, len(name)) == len(expanded) - 1:
            return _pytorchs_library(name.rstrip(), split_arguments(inside[:-1]))
        copy = _INITIALIZER.search(expanded)
        return None if copy is None else Library(copy[1], copy[2], copy[3] or "", copy[4])

    def opening(self) -> frozenset[str]:
        """Return the names of the sources' macros that open a library, and do nothing else."""
        return frozenset(
            name for name in self._leading_to(_OPENS) for d in self.defines[name] if self._opens(d)
        )

    def _opens(self, define: Define) -> bool:
        """Return whether a macro opens a library, or is another name of a macro that does."""
        use = define.name
        if define.parameters is not None:
            use += f"({', '.join(define.parameters)})"
        elif is_library_macro(define.body):
            return True
        return self.find_library(use, define.text, define.offset) is not None

    def registering(self) -> frozenset[str]:
        """Return the names of the sources' macros whose bodies register, directly or through other macros."""
        return self._leading_to(_REGISTERS) - self.opening()

    def _leading_to(self, pattern: re.Pattern[str]) -> frozenset[str]:
        """Return the names of macros whose bodies have the pattern, or the name of another such macro."""
        bodies = {name: [d.body for d in defines] for name, defines in self.defines.items()}
        names = {name for name, own in bodies.items() if any(map(pattern.search, own))}
        for _ in range(_MAX_DEPTH if names else 0):
            uses = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
            more = {name for name, own in bodies.items() if any(map(uses.search, own))} - names
            if not more:
                break
            names |= more
        return frozenset(names)

    def may_register(
        self, name: str, code: str, text: CppText, offset: int, hiding: frozenset[str]
    ) -> bool:
        """Return whether a use of a macro, `code`, registers, or is not understood, or is one of `hiding`, which register."""
        expanded = self.preprocess(code, text, offset)
        if expanded is None or re.match(rf"{re.escape(name)}\b", expanded):
            return True
        words = re.findall(r"\w+", expanded)
        return _REGISTERS.search(expanded) is not None or not hiding.isdisjoint(words)

    def calling(self) -> frozenset[str]:
        """Return the names of the sources' macros with parameters: they may call one, as `#define FOR_ALL(_) _(a) _(b)`."""
        every = (define for defines in self.defines.values() for define in defines)
        return frozenset(define.name for define in every if define.parameters)


class _TooLong(Exception):
    """An expansion that has too many steps, or whose result has too many characters."""


class _Expander(Struct):
    """Expands macros as they are at `offset` of `text`; None stands for any place.

    `unknown` are the names that only the build defines. `##` next to one of them is kept.
    """

    macros: Macros
    text: CppText
    offset: int | None
    kept: frozenset[str] = frozenset()
    unknown: dict[str, None] = field(default_factory=dict)
    steps: int = 0

    def expand(self, code: str) -> str | None:
        try:
            return self._expand(code, self.kept)
        except _TooLong:
            return None

    def _expand(self, code: str, hidden: frozenset[str]) -> str:
        """Expand all macros in `code`, except `hidden`, which are being expanded."""
        parts: list[str] = []
        position = 0
        while (token := _TOKEN.search(code, position)) is not None:
            parts.append(code[position : token.start()])
            name, position = token["word"], token.end()
            expanded = None
            if name is not None and name not in hidden and self._is_macro(name):
                closing = _find_closing(code, position)
                expanded, position = self._macro(name, code, position, closing, hidden)
            parts.append(token[0] if expanded is None else expanded)
        result = "".join((*parts, code[position:]))
        self.steps += 1
        if self.steps > _MOST_STEPS or len(result) > _MAX_LENGTH or len(hidden) > _MAX_DEPTH:
            raise _TooLong
        return result

    def _macro(
        self, name: str, code: str, position: int, closing: int | None, hidden: frozenset[str]
    ) -> tuple[str | None, int]:
        """Expand a macro whose name ends at `position`; return the result, None if it is kept, and where it ends."""
        if name in self.macros.command_line:
            return self.macros.command_line[name].strip(), position
        defines = self.macros.definitions(name, self.text, self.offset)
        inner = hidden | {name}
        if closing is not None:
            arguments = split_arguments(code[code.index("(", position) + 1 : closing])
            bound = [(d, d.bind(arguments)) for d in defines if d.parameters is not None]
            bodies = {self._body(d, values, hidden) for d, values in bound if values is not None}
            if len(bodies) == 1:
                return self._expand(bodies.pop(), inner), closing + 1
            if not defines and _PASTES.fullmatch(name):
                return self._paste([self._expand(part, hidden) for part in arguments]), closing + 1
        bodies = {define.body for define in defines if define.parameters is None}
        if len(bodies) == 1:
            body = self._expand(_PASTE.sub("", bodies.pop()), inner)
            if closing is None or not self._is_macro(body) or body in inner:
                return body, position
            # Another name of a macro with parameters.
            expanded, end = self._macro(body, code, position, closing, inner)
            return (body if expanded is None else expanded), end
        if len(bodies) > 1 or (closing is None and _DEFINED_BY_BUILD.fullmatch(name)):
            self.unknown[name] = None
        return None, position

    def _is_macro(self, name: str) -> bool:
        is_known = name in self.macros.command_line or name in self.macros.defines
        return (
            is_known
            or _PASTES.fullmatch(name) is not None
            or _DEFINED_BY_BUILD.fullmatch(name) is not None
        )

    def _body(self, define: Define, values: Mapping[str, str], hidden: frozenset[str]) -> str:
        """Return the body with its arguments: expanded, except those next to `#` and `##`."""
        body = define.body

        def replaced(match: re.Match[str]) -> str:
            if match["quoted"] is not None:
                text = values.get(match["quoted"], match["quoted"])
                return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
            if match["word"] not in values:
                return match[0]
            argument = values[match["word"]]
            pasted = _BEFORE_PASTE.match(body, match.end()) or _AFTER_PASTE.search(
                body[: match.start()]
            )
            return argument if pasted else self._expand(argument, hidden)

        parts, last = [""], 0
        for match in _IN_BODY.finditer(body):
            parts[-1] += body[last : match.start()]
            if match["paste"] is not None:
                parts.append("")
            else:
                parts[-1] += replaced(match)
            last = match.end()
        parts[-1] += body[last:]
        return self._paste(parts)

    def _paste(self, parts: Sequence[str]) -> str:
        """Join the parts; keep a `##` next to a name that only the build knows."""
        result = "".join(parts[:1])
        for part in parts[1:]:
            names = (re.search(r"\w*$", result), re.match(r"\w*", part))
            words = [name[0] for name in names if name is not None]
            result += ("##" if any(map(self._is_of_build, words)) else "") + part
        return result

    def _is_of_build(self, name: str) -> bool:
        is_known = name in self.macros.command_line or name in self.macros.defines
        return not is_known and _DEFINED_BY_BUILD.fullmatch(name) is not None


class Library(Struct, frozen=True):
    """The arguments of a macro that opens a library. Only IMPL has a `key`."""

    kind: str
    namespace: str
    key: str
    variable: str


def read_macros(texts: Iterable[CppText], command_line: Mapping[str, str]) -> Macros:
    """Collect the macros that the sources define, in any branch of an `#if`."""
    defines: dict[str, list[Define]] = {}
    for text in texts:
        ends: dict[str, int] = {}
        own: list[Define] = []
        for directive in reversed(text.directives):
            match = _DEFINE.fullmatch(directive.text)
            if match is None or directive.word not in ("define", "undef"):
                continue
            if directive.word == "undef":
                ends[match[1]] = directive.start
                continue
            # `#define A (x)` has no parameters: a bracket after white space is a part of the body.
            parameters = None
            if match[2] is not None:
                parameters = tuple(p.strip() for p in match[3].split(",") if p.strip())
            end = ends.get(match[1], len(text.code))
            own.append(Define(match[1], parameters, match[4], text, directive.start, end))
        for define in reversed(own):
            defines.setdefault(define.name, []).append(define)
    return Macros(command_line, {name: tuple(own) for name, own in defines.items()})


def split_arguments(code: str) -> list[str]:
    """Split `code` at commas outside of brackets, without white space around the parts; [] if it is blank."""
    return [code[start:end] for start, end in split_ranges(code)]


def split_ranges(code: str) -> list[tuple[int, int]]:
    """Return the ranges of the parts of `split_arguments`."""
    commas, depth = [-1], 0
    for mark in _SEPARATOR.finditer(code):
        if mark[0] in "()[]{}":
            depth += 1 if mark[0] in "([{" else -1
        elif mark[0] == "," and depth == 0:
            commas.append(mark.start())
    if len(commas) == 1 and not code.strip():
        return []
    bounds = [(a + 1, b) for a, b in zip(commas, [*commas[1:], len(code)])]
    return [(b - len(code[a:b].lstrip()), a + len(code[a:b].rstrip())) for a, b in bounds]


def is_library_macro(name: str) -> bool:
    """Return whether a macro is one of PyTorch's, or has a name that is usual for variants of them."""
    return _LIBRARY.fullmatch(name) is not None


def _pytorchs_library(name: str, arguments: Sequence[str]) -> Library | None:
    if not is_library_macro(name):
        return None
    kind = IMPL if "_IMPL" in name else FRAGMENT if "_FRAGMENT" in name else DEF
    if len(arguments) != (3 if kind == IMPL else 2):
        return None
    key = arguments[1] if kind == IMPL else ""
    return Library(kind, arguments[0], key, arguments[-1])


def _find_closing(code: str, position: int) -> int | None:
    """Return the offset of the bracket that closes the one after `position`; None if there is none."""
    opening = _OPENING.match(code, position)
    depth = 0
    for mark in _CLOSING.finditer(code, position) if opening is not None else ():
        if mark["text"] is None:
            depth += 1 if mark[0] == "(" else -1
            if depth == 0:
                return mark.start()
    return None
