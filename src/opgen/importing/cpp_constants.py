"""Texts, dispatch keys and tags that arguments of a registration stand for, through constants and macros."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Source
from opgen.importing.cpp_calls import Argument, argument_of, callee, named_children
from opgen.importing.cpp_grammar import Grammar, Node, Piece
from opgen.importing.cpp_lexing import read_cpp
from opgen.importing.cpp_literals import LITERAL, find_text
from opgen.importing.cpp_macros import Macros
from opgen.importing.cpp_text import CppText, excerpt

# Constants of constants, calls in calls: deeper than anybody writes.
_DEEPEST = 12
# Functions and macros that give back the text that they are given.
_TEXT_CALLS = frozenset(
    {
        *("schema", "parseSchema", "string", "string_view", "c_str", "data", "move"),
        *("TORCH_SELECTIVE_SCHEMA", "TORCH_SELECTIVE_NAME"),
    }
)
# Other names of keys. Source: the end of `enum class DispatchKey` in c10/core/DispatchKey.h.
_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "CatchAll": "CompositeImplicitAutograd",
        "Undefined": "CompositeImplicitAutograd",
        "DefaultBackend": "CompositeExplicitAutograd",
        "CPUTensorId": "CPU",
        "CUDATensorId": "CUDA",
        "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
        "PrivateUse2_PreAutograd": "AutogradPrivateUse2",
        "PrivateUse3_PreAutograd": "AutogradPrivateUse3",
        "Autocast": "AutocastCUDA",
    }
)
_WORD_OR_TEXT = re.compile(rf"\s*(?:(?P<text>{LITERAL})|(?P<name>[A-Za-z_]\w*))\s*", re.DOTALL)
# Source of the devices: `dispatch` in torch/library.h.
_KEY = re.compile(
    r"(?:\w+::)*(?:DispatchKey|DeviceType)::(\w+)"
    r"|(?:\w+::)*k(CPU|CUDA|IPU|XLA|Lazy|XPU|MPS|Meta|HIP|MAIA|HPU|MTIA|PrivateUse1)"
)
_TAG = re.compile(r"\bTag\s*::\s*(\w+)")
_TAGS_ALONE = re.compile(r"[\w:<>\s]*\{[\w:,\s]*\}|(?:\w+\s*::\s*)*Tag\s*::\s*\w+")
_PATH = re.compile(r"[\w:]+")
# `name = value`, `name[] = value`, `name{value}`.
_ASSIGNED = re.compile(r"(?<![\w.>:])([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)?(=(?!=)|\{)")
# What stands before the name in a definition, and what does not.
_DECLARES = re.compile(r"(?<!\breturn)[\w*&>\]]\s*$")
_OPENS = re.compile(r"\b(?:class|struct|union|enum|namespace|return|case|else)\s*$")


def canonical_key(name: str) -> str:
    """The name under which PyTorch lists a dispatch key."""
    return _KEYS.get(name, name)


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants and macros are looked for in the file where they are used, then in the others."""

    texts: Sequence[CppText]
    macros: Macros
    grammar: Grammar
    _found: dict[tuple[str, int], list[Argument]] = field(default_factory=dict, repr=False)
    _indexes: dict[int, Mapping[str, Sequence[re.Match[str]]]] = field(
        default_factory=dict, repr=False
    )

    def find_text(self, argument: Argument) -> str | None:
        """The text that an argument stands for; None if it is not known before the program runs."""
        return self._text(argument, _DEEPEST)

    def find_key(self, argument: Argument) -> str | None:
        """The dispatch key of `torch::kCUDA`, `c10::DispatchKey::CPU`, or of a constant that is one."""
        return self._key(argument.code, argument.excerpt.text, _DEEPEST)

    def find_tags(self, argument: Argument) -> tuple[str, ...] | None:
        """The tags that an argument lists; None if it lists none."""
        words = " ".join(argument.code.split())
        if _TAGS_ALONE.fullmatch(words) is not None:
            return tuple(dict.fromkeys(_TAG.findall(words)))
        if _PATH.fullmatch(words) is None:
            return None
        values = self.initializers(_last_name(words), argument.excerpt.text)
        codes = {" ".join(value.code.split()) for value in values}
        code = codes.pop() if len(codes) == 1 else ""
        code = code if code.endswith("}") else f"{{{code}}}"
        is_tags = _TAGS_ALONE.fullmatch(code) is not None and _TAG.search(code) is not None
        return tuple(dict.fromkeys(_TAG.findall(code))) if is_tags else None

    # Definitions of names

    def initializers(self, name: str, text: CppText) -> list[Argument]:
        """What a constant or a macro is defined as, in the file itself, or else in the others."""
        key = (name, id(text))
        if key not in self._found:
            plain = [d for d in self.macros.named(name, text) if d.parameters is None]
            values = [self.written_out(define.body, text) for define in plain]
            values += self._assigned(name, text)
            others = [] if values else [other for other in self.texts if other is not text]
            values += (value for other in others for value in self._assigned(name, other))
            self._found[key] = values
        return self._found[key]

    def written_out(self, body: str, text: CppText) -> Argument:
        """The body of a macro as an argument of its own."""
        made = read_cpp(Source(text.source.path, body))
        return argument_of(excerpt(made, 0, len(body)), self.grammar)

    def _assigned(self, name: str, text: CppText) -> Iterator[Argument]:
        for found in self._assignments(text).get(name, ()):
            before = text.masked[max(0, found.start() - 60) : found.start()]
            if _DECLARES.search(before) is None or _OPENS.search(before) is not None:
                continue
            if text.is_dead(found.start()):
                continue
            start = found.end()
            in_braces = found[2] == "{"
            end = text.find_closing(start - 1) if in_braces else text.find_statement_end(start)
            if end is not None:
                yield argument_of(excerpt(text, start, end), self.grammar)

    def _assignments(self, text: CppText) -> Mapping[str, Sequence[re.Match[str]]]:
        """Where something like `name = value` stands in a file, by name."""
        if id(text) not in self._indexes:
            found: dict[str, list[re.Match[str]]] = {}
            for match in _ASSIGNED.finditer(text.masked):
                found.setdefault(match[1], []).append(match)
            self._indexes[id(text)] = found
        return self._indexes[id(text)]

    # Texts

    def _text(self, argument: Argument, depth: int) -> str | None:
        parts = _literals_and_names(argument)
        if parts is not None:
            source = argument.excerpt.text
            found = [
                find_text(words) if is_literal else self._constant(words, source, depth - 1)
                for words, is_literal in parts
            ]
        elif argument.piece is not None and argument.node is not None and depth > 0:
            found = [self._text_of(argument.piece, argument.node, depth - 1)]
        else:
            return None
        return _all_joined(found)

    def _constant(self, name: str, text: CppText, depth: int) -> str | None:
        """The one text that all definitions of a name agree on."""
        if depth <= 0:
            return None
        found = {self._text(value, depth) for value in self.initializers(name, text)}
        return found.pop() if len(found) == 1 else None

    def _text_of(self, piece: Piece, node: Node, depth: int) -> str | None:
        match node.type:
            case "parenthesized_expression" | "initializer_list":
                inner = named_children(node)
                return self._node_text(piece, inner[0], depth) if len(inner) == 1 else None
            case "qualified_identifier":
                return self._constant(_last_name(piece.words(node)), piece.excerpt.text, depth)
            case "compound_literal_expression":
                value = node.child_by_field_name("value")
                return None if value is None else self._node_text(piece, value, depth)
            case "binary_expression":
                return self._sum(piece, node, depth)
            case "call_expression":
                name, of, arguments = callee(piece, node)
                given = of if of is not None else next(iter(arguments), None)
                is_known = name in _TEXT_CALLS and given is not None
                return self._node_text(piece, given, depth) if is_known and given else None
            case _:
                return None

    def _node_text(self, piece: Piece, node: Node, depth: int) -> str | None:
        argument = Argument(piece.excerpt, piece.start(node), piece.end(node), piece, node)
        return self._text(argument, depth)

    def _sum(self, piece: Piece, node: Node, depth: int) -> str | None:
        operator = node.child_by_field_name("operator")
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        if operator is None or operator.type != "+":
            return None
        return _all_joined(
            [None if side is None else self._node_text(piece, side, depth) for side in sides]
        )

    # Keys

    def _key(self, words: str, text: CppText, depth: int) -> str | None:
        words = "".join(words.split()).strip("{}")
        found = _KEY.fullmatch(words)
        if found is not None:
            return canonical_key(found[1] or found[2])
        if depth <= 0 or _PATH.fullmatch(words) is None:
            return None
        values = self.initializers(_last_name(words), text)
        keys = {self._key(value.code, value.excerpt.text, depth - 1) for value in values}
        return keys.pop() if len(keys) == 1 else None


def _last_name(path: str) -> str:
    return path.rpartition("::")[2].strip()


def _all_joined(parts: Sequence[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return "".join(known) if len(known) == len(parts) else None


def _literals_and_names(argument: Argument) -> list[tuple[str, bool]] | None:
    """The literals (True) and names (False) of which an argument consists; None if there is anything else."""
    here = argument.excerpt
    position, end = argument.start - here.start, argument.end - here.start
    found: list[tuple[str, bool]] = []
    while position < end:
        match = _WORD_OR_TEXT.match(here.code, position, end)
        if match is None:
            return None
        position = match.end()
        if match["name"] is not None:
            found.append((match["name"], False))
        else:
            first, last = (here.start + offset for offset in match.span("text"))
            found.append((here.text.source.text[first:last], True))
    return found or None
