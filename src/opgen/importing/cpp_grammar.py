"""Parse pieces of C++ by its grammar: the only module that knows tree-sitter.

A piece is a call, an initializer or a declaration that was found by its brackets. So a mistake elsewhere in a file
takes nothing along, and the time that one piece can take is bounded.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Span
from opgen.importing.cpp_text import Excerpt

__all__ = ["Grammar", "Node", "Piece"]

# Of a piece that is longer, the grammar is not asked: a schema or a signature has some hundred characters.
_LONGEST = 200_000
# Seconds. Recovery from nonsense takes long, what is C++ takes milliseconds.
_MOST_TIME = 2.0
_CHUNK = 65536
# `kernel<<<blocks, threads>>>(x)` is CUDA: a call of `kernel`, as far as is asked here.
_LAUNCH = re.compile(r"<<<(?:[^;<>]|<(?!<<)|>(?!>>))*>>>")
# Words that stand before a declaration and say nothing of its type.
_ATTRIBUTE = re.compile(
    r"\b(?:__(?:global|device|host|forceinline|noinline|restrict|shared|constant|grid_constant)__"
    r"|__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)"
    r"|__(?:inline|restrict)\b"
    r"|C10_(?:ALWAYS_INLINE|NOINLINE|UNUSED|HOST|DEVICE|HOST_DEVICE|ALWAYS_INLINE_UNLESS_MOBILE)\b"
    r"|[A-Z][A-Z0-9_]*_(?:API|EXPORT|PUBLIC|HIDDEN|LOCAL|INLINE)\b(?!\s*\())"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A parsed excerpt. Nodes count from `shift`."""

    root: Node
    excerpt: Excerpt = field(repr=False)
    shift: int

    def start(self, node: Node) -> int:
        """Where the node begins in the source."""
        return int(node.start_byte) + self.shift

    def end(self, node: Node) -> int:
        return int(node.end_byte) + self.shift

    def words(self, node: Node) -> str:
        """What stands in the source at `node`, without comments and line ends."""
        return " ".join(self.excerpt.code_between(self.start(node), self.end(node)).split())

    def span(self, node: Node) -> Span:
        return self.excerpt.text.span(self.start(node), self.end(node))


class Grammar:
    """The grammar, made ready once."""

    __slots__ = ("_parser",)

    def __init__(self) -> None:
        self._parser = Parser(Language(tree_sitter_cpp.language()))

    def parse_call(self, arguments: Excerpt, *, bare: bool = False) -> Piece | None:
        """A call with these arguments in their brackets; with none around them if they are `bare`.

        None if there is nothing to read, or it takes too long.
        """
        before, after = (b"(", b")") if bare else (b"", b"")
        return self._parse(arguments, b"void f() {\n f.f" + before, after + b";\n}\n")

    def parse_declaration(self, excerpt: Excerpt) -> Piece | None:
        """A declaration outside of any function, which needs no `;`; None as above."""
        return self._parse(excerpt, b"", b";\n")

    def _parse(self, excerpt: Excerpt, before: bytes, after: bytes) -> Piece | None:
        if not 0 < len(excerpt.code) <= _LONGEST:
            return None
        words = _LAUNCH.sub(_blank, _ATTRIBUTE.sub(_blank, excerpt.code))
        content = before + words.encode("ascii") + after
        deadline = time.monotonic() + _MOST_TIME
        try:
            tree = self._parser.parse(
                lambda offset, _: content[offset : offset + _CHUNK],
                progress_callback=lambda *_: time.monotonic() > deadline,
            )
        except ValueError:
            self._parser.reset()
            return None
        return Piece(tree.root_node, excerpt, excerpt.start - len(before))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def descendants(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    left = [node]
    while left:
        now = left.pop()
        yield now
        left.extend(reversed(now.children))
