"""Macros of the sources and of the command line: what a name in a registration stands for.

Nothing is preprocessed as a whole. What is asked: which namespace `CONCAT(TORCH_EXTENSION_NAME, _cache_ops)` is, which
of PyTorch's macros a macro of the user's own stands for, and which of those that remain hide registrations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from opgen.dataclasses import dataclass, field
from opgen.importing.cpp_text import CppText

# Macros of macros of macros: deeper than anybody goes, and no name expands for ever.
_DEEPEST = 20
# So many definitions of one macro, in branches of `#if` or in files, are looked at; so many steps from one to the next.
_MOST_DEFINITIONS, _MOST_STEPS = 4, 6
# A namespace of a library is no text.
_LONGEST = 2000
_DEFINE = re.compile(r"(\w+)(\(([^()]*)\))?\s*(.*)", re.DOTALL)
_CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
_TOKEN = re.compile(r"\s*(##|\w+|\S)")
_REGISTERS = re.compile(r"\bTORCH_LIBRARY\w*\s*\(|(?:\.|->)\s*(?:def|impl|fallback)\s*\(")
_PASTES = re.compile(r"(?i)\w*(?:concat|paste)\w*")
# Names that builds define: PyTorch's own for its extensions, and such as libraries call theirs.
_GIVEN_BY_BUILD = re.compile(r"TORCH_EXTENSION_NAME|[A-Z][A-Z0-9_]*_(?:NAME|NAMESPACE|NS)")
# PyTorch's macros, and those that expand their arguments first, which projects define for themselves.
_LIBRARY = re.compile(
    r"(?:STABLE_)?TORCH_LIBRARY(?:_EXPAND)?(?:_(FRAGMENT|IMPL))?(?:_EXPAND)?(?:_FRAGMENT|_IMPL)?"
)
DEF, FRAGMENT, IMPL = "DEF", "FRAGMENT", "IMPL"


@dataclass(frozen=True, slots=True)
class Define:
    """`#define NAME body`, with its parameters if it has some; `parameters` is None if it takes no arguments."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    text: CppText = field(repr=False, compare=False)
    offset: int = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a text stands for, and the names in it that only the build knows."""

    text: str
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Macros:
    """`given` are those of the command line, which win; `defines` those of the sources by name."""

    given: Mapping[str, str]
    defines: Mapping[str, tuple[Define, ...]]

    def named(self, name: str, text: CppText) -> tuple[Define, ...]:
        """The definitions of a name: those of the file itself, else those of others."""
        found = self.defines.get(name, ())
        return tuple(define for define in found if define.text is text) or found

    def expand(self, words: str, text: CppText) -> Expansion:
        """What `words`, which stand in `text`, are in the end."""
        return _Expander(self, text).expand(words, _DEEPEST)

    # Macros that register

    def find_library(
        self, name: str, arguments: Sequence[str], text: CppText, depth: int = _MOST_STEPS
    ) -> Library | None:
        """The library that a macro opens, be it PyTorch's own or one that stands for it; None if it opens none."""
        for define in self.named(name, text)[:_MOST_DEFINITIONS] if depth else ():
            if define.parameters is None or len(define.parameters) != len(arguments):
                continue
            call = _CALL.fullmatch(define.body.strip())
            if call is not None and _closes_at_end(call[2]) and call[1] != name:
                values = dict(zip(define.parameters, arguments))
                inner = [_substituted(one, values) for one in split_arguments(call[2])]
                found = self.find_library(call[1], inner, text, depth - 1)
                if found is not None:
                    return found
        return _pytorchs_library(name, arguments)

    def substituted(self, define: Define, arguments: Sequence[str]) -> str | None:
        """The body of a macro that takes so many arguments; None if it takes others, or joins words."""
        parameters = define.parameters
        if parameters is None or len(parameters) != len(arguments) or "#" in define.body:
            return None
        return _substituted(define.body, dict(zip(parameters, arguments)))

    def opening(self) -> frozenset[str]:
        """The names of the user's own macros that open a library, and do nothing else."""
        found = (
            define.name
            for defines in self.defines.values()
            for define in defines
            if define.parameters is not None
            and self.find_library(define.name, define.parameters, define.text) is not None
        )
        return frozenset(found)

    def registering(self) -> frozenset[str]:
        """The names of the user's own macros in which registrations are hidden, step by step."""
        bodies = {
            name: [d.body for d in found if d.parameters is not None]
            for name, found in self.defines.items()
        }
        found = {name for name, texts in bodies.items() if any(map(_REGISTERS.search, texts))}
        for _ in range(_DEEPEST if found else 0):
            calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(found)))})\s*\(")
            more = {n for n, texts in bodies.items() if any(map(calls.search, texts))} - found
            if not more:
                break
            found |= more
        return frozenset(found - self.opening())


@dataclass(slots=True)
class _Expander:
    """Expands what stands in one file. Each text is looked at once, whatever names itself again and again."""

    macros: Macros
    text: CppText
    seen: dict[str, Expansion] = field(default_factory=dict)

    def expand(self, words: str, depth: int) -> Expansion:
        words = words.strip()
        if words not in self.seen:
            self.seen[words] = Expansion(words)
            if depth and len(words) <= _LONGEST:
                self.seen[words] = self._expanded(words, depth - 1)
        return self.seen[words]

    def _expanded(self, words: str, depth: int) -> Expansion:
        if re.fullmatch(r"\w+", words):
            return self._name(words, depth)
        call = _CALL.fullmatch(words)
        if call is not None and _closes_at_end(call[2]):
            return self._call(call[1], split_arguments(call[2]), depth)
        parts = words.split("##")
        if len(parts) == 1:
            return Expansion(words)
        return _joined([self.expand(part, depth) for part in parts])

    def _name(self, name: str, depth: int) -> Expansion:
        if name in self.macros.given:
            return Expansion(self.macros.given[name].strip().strip('"'))
        defines = self.macros.named(name, self.text)
        plain = {define.body for define in defines if define.parameters is None}
        if len(plain) == 1:
            return self.expand(plain.pop(), depth)
        is_unknown = _GIVEN_BY_BUILD.fullmatch(name) is not None or len(plain) > 1
        return Expansion(name, (name,) if is_unknown else ())

    def _call(self, name: str, arguments: Sequence[str], depth: int) -> Expansion:
        for define in self.macros.named(name, self.text):
            if define.parameters is not None and len(define.parameters) == len(arguments):
                return self._body(define, dict(zip(define.parameters, arguments)), depth)
        if _PASTES.fullmatch(name):
            return _joined([self.expand(argument, depth) for argument in arguments])
        return Expansion(f"{name}({', '.join(arguments)})")

    def _body(self, define: Define, arguments: Mapping[str, str], depth: int) -> Expansion:
        """The body with arguments in the place of parameters: those beside `##` as they are, others expanded."""
        unknown: list[str] = []
        words: list[str] = []
        tokens = _TOKEN.findall(define.body[:_LONGEST])
        for place, token in enumerate(tokens):
            if token not in arguments:
                words.append(token)
            elif "##" in tokens[max(0, place - 1) : place + 2]:
                words.append(arguments[token])
            else:
                found = self.expand(arguments[token], depth)
                unknown += found.unknown
                words.append(found.text)
        found = self.expand(_without_pastes(words), depth)
        return Expansion(found.text, tuple(dict.fromkeys((*unknown, *found.unknown))))


@dataclass(frozen=True, slots=True)
class Library:
    """The arguments of a macro that opens a library, not expanded; `key` is empty but for IMPL."""

    kind: str
    namespace: str
    key: str
    variable: str


def read_macros(texts: Iterable[CppText], given: Mapping[str, str]) -> Macros:
    """All macros that the sources define, in any branch."""
    defines: dict[str, list[Define]] = {}
    for text in texts:
        for directive in text.directives:
            found = _DEFINE.fullmatch(directive.text) if directive.word == "define" else None
            if found is None:
                continue
            # `#define A (x)` takes no arguments: the bracket does not follow at once, and is in the body then.
            parameters = None
            if found[2] is not None:
                parameters = tuple(p.strip() for p in found[3].split(",") if p.strip())
            define = Define(found[1], parameters, found[4], text, directive.start)
            defines.setdefault(found[1], []).append(define)
    return Macros(given, {name: tuple(found) for name, found in defines.items()})


def split_arguments(words: str) -> list[str]:
    """The parts between the commas that stand in no brackets; none of an empty text."""
    return [words[start:end] for start, end in split_ranges(words)]


def split_ranges(words: str) -> list[tuple[int, int]]:
    """Where those parts begin and end, without blanks around."""
    commas, depth = [-1], 0
    for found in re.finditer(r"[()\[\]{},]", words):
        if found[0] != ",":
            depth += 1 if found[0] in "([{" else -1
        elif depth == 0:
            commas.append(found.start())
    if len(commas) == 1 and not words.strip():
        return []
    return [_stripped(words, a + 1, b) for a, b in zip(commas, [*commas[1:], len(words)])]


def _stripped(words: str, start: int, end: int) -> tuple[int, int]:
    part = words[start:end]
    return end - len(part.lstrip()), start + len(part.rstrip())


def is_library_macro(name: str) -> bool:
    """Whether a macro is one of PyTorch's, or called as projects call theirs."""
    return _LIBRARY.fullmatch(name) is not None


def _pytorchs_library(name: str, arguments: Sequence[str]) -> Library | None:
    found = _LIBRARY.fullmatch(name)
    if found is None:
        return None
    kind = IMPL if "_IMPL" in name else FRAGMENT if "_FRAGMENT" in name else DEF
    if len(arguments) != (3 if kind == IMPL else 2):
        return None
    key = arguments[1] if kind == IMPL else ""
    return Library(kind, arguments[0], key, arguments[-1])


def _substituted(words: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda found: values.get(found[0], found[0]), words)


def _without_pastes(words: Sequence[str]) -> str:
    return " ".join(words).replace(" ## ", "").replace(" ( ", "(").replace(" )", ")")


def _joined(parts: Sequence[Expansion]) -> Expansion:
    unknown = dict.fromkeys(name for part in parts for name in part.unknown)
    return Expansion("".join(part.text for part in parts)[: _LONGEST + 1], tuple(unknown))


def _closes_at_end(inside: str) -> bool:
    """Whether no bracket of the text closes one that was opened before it."""
    depth = 0
    for found in re.finditer(r"[()]", inside):
        depth += 1 if found[0] == "(" else -1
        if depth < 0:
            return False
    return depth == 0
