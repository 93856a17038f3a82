"""Parse pieces of C++ with tree-sitter. No other module imports it.

A piece is a call, an initializer or a declaration that was found by its brackets. Errors elsewhere in the file do not
affect it, and the time for one piece is bounded.
"""

from __future__ import annotations

import re
import time

import tree_sitter_cpp
from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Language, Node, Parser

from opgen.importing.cpp.text import MAX_PIECE, Excerpt

__all__ = ["Grammar", "Node", "Piece"]

# The time limit for a piece, in seconds. Valid C++ takes milliseconds; recovery from errors may take long.
_TIMEOUT = 2.0
_CHUNK = 65536
# The launch configuration of a CUDA kernel, `kernel<<<blocks, threads>>>(x)`, is removed before parsing.
_LAUNCH = re.compile(r"<<<(?:[^;<>]|<(?!<<)|>(?!>>))*>>>")
# Attributes of a declaration that do not change its type.
_ATTRIBUTE = re.compile(
    r"\[\[[\w\s:,]*\]\]|\b(?:__(?:global|device|host|forceinline|noinline|restrict|shared|constant|grid_constant)__"
    r"|__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)"
    r"|__(?:inline|restrict)\b"
    r"|C10_(?:ALWAYS_INLINE|NOINLINE|UNUSED|HOST|DEVICE|HOST_DEVICE|ALWAYS_INLINE_UNLESS_MOBILE)\b"
    r"|[A-Z][A-Z0-9_]*_(?:API|EXPORT|PUBLIC|HIDDEN|LOCAL|INLINE)\b(?!\s*\())"
)


# The default value of a parameter in braces, which the grammar does not have: `= {}`.
_BRACED_DEFAULT = re.compile(r"(=\s*)(\{[^{}]*\})(?=\s*[,)])")


class Piece(Struct, frozen=True):
    """A parsed excerpt. `shift` added to a node's offset is its offset in the source."""

    root: Node
    excerpt: Excerpt
    shift: int

    def start(self, node: Node) -> int:
        """Return the offset of the node in the source."""
        return int(node.start_byte) + self.shift

    def end(self, node: Node) -> int:
        """Return the offset after the node in the source."""
        return int(node.end_byte) + self.shift

    def code(self, node: Node) -> str:
        """Return the source of `node`, without comments, and with single spaces for white space."""
        return " ".join(self.excerpt.code_between(self.start(node), self.end(node)).split())


class Grammar:
    """A parser of C++, created once."""

    __slots__ = ("_parser",)

    def __init__(self) -> None:
        self._parser = Parser(Language(tree_sitter_cpp.language()))

    def parse_call(self, arguments: Excerpt, *, bare: bool = False) -> Piece | None:
        """Parse a call with these arguments, which include their brackets unless `bare`.

        None if the excerpt is empty, too long, or takes too much time.
        """
        before, after = (b"(", b")") if bare else (b"", b"")
        return self._parse(arguments, b"void f() {\n f.f" + before, after + b";\n}\n")

    def parse_declaration(self, excerpt: Excerpt) -> Piece | None:
        """Parse a declaration outside of functions, without its `;`. None as for `parse_call`."""
        plain = _BRACED_DEFAULT.sub(_with_zero, excerpt.code)
        return self._parse(replace(excerpt, code=plain), b"", b";\n")

    def _parse(self, excerpt: Excerpt, before: bytes, after: bytes) -> Piece | None:
        if not 0 < len(excerpt.code) <= MAX_PIECE:
            return None
        code = _LAUNCH.sub(_blank, _ATTRIBUTE.sub(_blank, excerpt.code))
        content = before + code.encode("ascii") + after
        deadline = time.monotonic() + _TIMEOUT
        try:
            tree = self._parser.parse(
                lambda offset, _: content[offset : offset + _CHUNK],
                progress_callback=lambda *_: time.monotonic() > deadline,
            )
        except ValueError:
            self._parser.reset()
            return None
        return Piece(tree.root_node, excerpt, excerpt.start - len(before))


def _with_zero(match: re.Match[str]) -> str:
    return match[1] + "0".ljust(len(match[2]))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
