"""Expand macros of the sources and the command line in registrations.

The sources are not preprocessed. Macros are expanded to find the namespace for which `CONCAT(TORCH_EXTENSION_NAME,
_cache_ops)` stands, the macro of PyTorch that a user's macro stands for, and the other macros whose bodies register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from opgen.diagnostics import Located
from opgen.importing.cpp.text import CppText

# The most nested expansions; it also ends the expansion of macros that refer to each other.
_MAX_DEPTH = 20
# The most definitions of one macro that are tried, and the most macros from a user's to one of PyTorch's.
_MOST_DEFINITIONS, _MOST_STEPS = 4, 6
# Longer texts are not expanded: a namespace is short.
_MAX_LENGTH = 2000
_DEFINE = re.compile(r"(\w+)(\(([^()]*)\))?\s*(.*)", re.DOTALL)
_CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
_TOKEN = re.compile(r"\s*(##|\w+|\S)")
_REGISTERS = re.compile(r"\bTORCH_LIBRARY\w*\s*\(|(?:\.|->)\s*(?:def|impl|fallback)\s*\(")
_PASTES = re.compile(r"(?i)\w*(?:concat|paste)\w*")
# Macros that builds define: PyTorch's own for extensions, and names that are usual in libraries.
_DEFINED_BY_BUILD = re.compile(r"TORCH_EXTENSION_NAME|[A-Z][A-Z0-9_]*_(?:NAME|NAMESPACE|NS)")
# PyTorch's macros, and variants that expand their arguments first, which many projects define.
_LIBRARY = re.compile(
    r"(?:STABLE_)?TORCH_LIBRARY(?:_EXPAND)?(?:_(FRAGMENT|IMPL))?(?:_EXPAND)?(?:_FRAGMENT|_IMPL)?"
)
DEF, FRAGMENT, IMPL = "DEF", "FRAGMENT", "IMPL"


class Define(Located, Struct, frozen=True):
    """`#define NAME body` or `#define NAME(parameters) body`. `parameters` is None for the first form."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    text: CppText
    offset: int

    _places = ("text", "offset")


class Expansion(Struct, frozen=True):
    """The result of an expansion, and the macros in it that only the build defines."""

    text: str
    unknown: tuple[str, ...] = ()


class Macros(Struct, frozen=True):
    """`command_line` are the macros of the command line, which have priority; `defines` those of the sources."""

    command_line: Mapping[str, str]
    defines: Mapping[str, tuple[Define, ...]]

    def definitions(self, name: str, text: CppText) -> tuple[Define, ...]:
        """Return the definitions of a macro in the file itself; without any, those in other files."""
        defines = self.defines.get(name, ())
        return tuple(define for define in defines if define.text is text) or defines

    def expand(self, code: str, text: CppText) -> Expansion:
        """Expand the macros in `code`, which is a part of `text`."""
        return _Expander(self, text).expand(code, _MAX_DEPTH)

    # Macros that register

    def find_library(
        self, name: str, arguments: Sequence[str], text: CppText, depth: int = _MOST_STEPS
    ) -> Library | None:
        """Return the library that a call of a macro opens, directly or through PyTorch's macro; None if it opens none.

        `depth` is the most macros that are expanded one after the other.
        """
        for define in self.definitions(name, text)[:_MOST_DEFINITIONS] if depth else ():
            if define.parameters is None or len(define.parameters) != len(arguments):
                continue
            call = _CALL.fullmatch(define.body.strip())
            if call is not None and _closes_at_end(call[2]) and call[1] != name:
                values = dict(zip(define.parameters, arguments))
                inner = [_substitute(argument, values) for argument in split_arguments(call[2])]
                library = self.find_library(call[1], inner, text, depth - 1)
                if library is not None:
                    return library
        return _pytorchs_library(name, arguments)

    def substitute(self, define: Define, arguments: Sequence[str]) -> str | None:
        """Return the body of a macro with these arguments; None if their number is wrong, or the body has a `#`."""
        parameters = define.parameters
        if parameters is None or len(parameters) != len(arguments) or "#" in define.body:
            return None
        return _substitute(define.body, dict(zip(parameters, arguments)))

    def expand_call(self, name: str, arguments: Sequence[str], text: CppText) -> str | None:
        """Return the body of a macro with these arguments, as the preprocessor replaces the call.

        None if there are several such bodies, or if their number of arguments differs.
        """
        bodies = {
            _preprocessed(define.body, dict(zip(define.parameters, arguments)))
            for define in self.definitions(name, text)
            if define.parameters is not None and len(define.parameters) == len(arguments)
        }
        return bodies.pop() if len(bodies) == 1 else None

    def opening(self) -> frozenset[str]:
        """Return the names of the sources' macros that open a library, and do nothing else."""
        names = (
            define.name
            for defines in self.defines.values()
            for define in defines
            if define.parameters is not None
            and self.find_library(define.name, define.parameters, define.text) is not None
        )
        return frozenset(names)

    def registering(self) -> frozenset[str]:
        """Return the names of the sources' macros whose bodies register, directly or through other macros."""
        bodies = {
            name: [d.body for d in defines if d.parameters is not None]
            for name, defines in self.defines.items()
        }
        names = {name for name, own in bodies.items() if any(map(_REGISTERS.search, own))}
        for _ in range(_MAX_DEPTH if names else 0):
            calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\s*\(")
            more = {name for name, own in bodies.items() if any(map(calls.search, own))} - names
            if not more:
                break
            names |= more
        return frozenset(names - self.opening())

    def registering_names(self) -> frozenset[str]:
        """Return the names of the macros without parameters whose bodies register: `#define OPS m.def(...)`."""
        return frozenset(
            define.name
            for defines in self.defines.values()
            for define in defines
            if define.parameters is None and _REGISTERS.search(define.body)
        )


class _Expander(Struct):
    """Expands macros in one file. Each text is expanded once, so that recursive macros end."""

    macros: Macros
    text: CppText
    expanded: dict[str, Expansion] = field(default_factory=dict)

    def expand(self, code: str, depth: int) -> Expansion:
        code = code.strip()
        if code not in self.expanded:
            self.expanded[code] = Expansion(code)
            if depth and len(code) <= _MAX_LENGTH:
                self.expanded[code] = self._expand(code, depth - 1)
        return self.expanded[code]

    def _expand(self, code: str, depth: int) -> Expansion:
        if re.fullmatch(r"\w+", code):
            return self._name(code, depth)
        call = _CALL.fullmatch(code)
        if call is not None and _closes_at_end(call[2]):
            return self._call(call[1], split_arguments(call[2]), depth)
        parts = code.split("##")
        if len(parts) == 1:
            return Expansion(code)
        return _join([self.expand(part, depth) for part in parts])

    def _name(self, name: str, depth: int) -> Expansion:
        if name in self.macros.command_line:
            return Expansion(self.macros.command_line[name].strip().strip('"'))
        defines = self.macros.definitions(name, self.text)
        bodies = {define.body for define in defines if define.parameters is None}
        if len(bodies) == 1:
            return self.expand(bodies.pop(), depth)
        is_unknown = _DEFINED_BY_BUILD.fullmatch(name) is not None or len(bodies) > 1
        return Expansion(name, (name,) if is_unknown else ())

    def _call(self, name: str, arguments: Sequence[str], depth: int) -> Expansion:
        for define in self.macros.definitions(name, self.text):
            if define.parameters is not None and len(define.parameters) == len(arguments):
                return self._body(define, dict(zip(define.parameters, arguments)), depth)
        if _PASTES.fullmatch(name):
            return _join([self.expand(argument, depth) for argument in arguments])
        return Expansion(f"{name}({', '.join(arguments)})")

    def _body(self, define: Define, arguments: Mapping[str, str], depth: int) -> Expansion:
        """Substitute arguments in the body: those next to `##` unchanged, others expanded; then expand the result."""
        unknown: list[str] = []
        parts: list[str] = []
        tokens = _TOKEN.findall(define.body[:_MAX_LENGTH])
        for index, token in enumerate(tokens):
            if token not in arguments:
                parts.append(token)
            elif "##" in tokens[max(0, index - 1) : index + 2]:
                parts.append(arguments[token])
            else:
                argument = self.expand(arguments[token], depth)
                unknown += argument.unknown
                parts.append(argument.text)
        body = self.expand(_without_pastes(parts), depth)
        return Expansion(body.text, tuple(dict.fromkeys((*unknown, *body.unknown))))


class Library(Struct, frozen=True):
    """The arguments of a macro that opens a library, not expanded. Only IMPL has a `key`."""

    kind: str
    namespace: str
    key: str
    variable: str


def read_macros(texts: Iterable[CppText], command_line: Mapping[str, str]) -> Macros:
    """Collect the macros that the sources define, in any branch of an `#if`."""
    defines: dict[str, list[Define]] = {}
    for text in texts:
        for directive in text.directives:
            match = _DEFINE.fullmatch(directive.text) if directive.word == "define" else None
            if match is None:
                continue
            # `#define A (x)` has no parameters: a bracket after white space is a part of the body.
            parameters = None
            if match[2] is not None:
                parameters = tuple(p.strip() for p in match[3].split(",") if p.strip())
            define = Define(match[1], parameters, match[4], text, directive.start)
            defines.setdefault(match[1], []).append(define)
    return Macros(command_line, {name: tuple(own) for name, own in defines.items()})


def split_arguments(code: str) -> list[str]:
    """Split `code` at commas outside of brackets, without white space around the parts; [] if it is blank."""
    return [code[start:end] for start, end in split_ranges(code)]


def split_ranges(code: str) -> list[tuple[int, int]]:
    """Return the ranges of the parts of `split_arguments`."""
    commas, depth = [-1], 0
    for mark in re.finditer(r"[()\[\]{},]", code):
        if mark[0] != ",":
            depth += 1 if mark[0] in "([{" else -1
        elif depth == 0:
            commas.append(mark.start())
    if len(commas) == 1 and not code.strip():
        return []
    return [_strip(code, a + 1, b) for a, b in zip(commas, [*commas[1:], len(code)])]


def _strip(code: str, start: int, end: int) -> tuple[int, int]:
    part = code[start:end]
    return end - len(part.lstrip()), start + len(part.rstrip())


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


def _substitute(code: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda word: values.get(word[0], word[0]), code)


# An operand of `#`, two operands of `##`, a literal, a word.
_REPLACED = re.compile(r"(?<!#)#\s*(\w+)|\s*##\s*|\"(?:[^\"\\]|\\.)*\"|\w+")


def _preprocessed(body: str, values: Mapping[str, str]) -> str:
    def replaced(match: re.Match[str]) -> str:
        if match[1] is not None:
            text = values.get(match[1], match[1]).replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'
        return "" if match[0].strip() == "##" else values.get(match[0], match[0])

    return _REPLACED.sub(replaced, body)


def _without_pastes(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace(" ## ", "").replace(" ( ", "(").replace(" )", ")")


def _join(parts: Sequence[Expansion]) -> Expansion:
    unknown = dict.fromkeys(name for part in parts for name in part.unknown)
    return Expansion("".join(part.text for part in parts)[: _MAX_LENGTH + 1], tuple(unknown))


def _closes_at_end(inside: str) -> bool:
    """Return whether the brackets of `inside` are balanced: none closes the bracket around it."""
    depth = 0
    for bracket in re.finditer(r"[()]", inside):
        depth += 1 if bracket[0] == "(" else -1
        if depth < 0:
            return False
    return depth == 0
