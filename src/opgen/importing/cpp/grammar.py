"""Parse pieces of C++ with tree-sitter. No other module imports it.

A piece is a call, an initializer or a declaration that was found by its brackets. Errors elsewhere in the file do not
affect it, and the time for one piece is bounded.
"""

from __future__ import annotations

import re
import time

import tree_sitter
import tree_sitter_cpp
from msgspec import Struct
from msgspec.structs import replace

from opgen.diagnostics import Span
from opgen.importing.cpp.text import MAX_PIECE, Excerpt

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


class Node(Struct, frozen=True):
    """A node of a parsed excerpt, or the whole of one that cannot be parsed, which has no `inner`.

    Offsets are those in the source.
    """

    excerpt: Excerpt
    start: int
    end: int
    inner: tree_sitter.Node | None

    @property
    def type(self) -> str:
        """The type in the grammar; empty for what cannot be parsed."""
        return "" if self.inner is None else str(self.inner.type)

    @property
    def written(self) -> str:
        """The source, without comments."""
        return self.excerpt.code_between(self.start, self.end)

    @property
    def code(self) -> str:
        """The source, without comments, and with single spaces for white space."""
        return " ".join(self.written.split())

    @property
    def span(self) -> Span:
        return self.excerpt.text.span(self.start, self.end)

    @property
    def is_error(self) -> bool:
        """Whether the node stands for what the grammar did not expect, or did not find."""
        return self.inner is None or bool(self.inner.is_error or self.inner.is_missing)

    @property
    def has_error(self) -> bool:
        """Whether there is an error in the node."""
        return self.inner is None or bool(self.inner.has_error)

    @property
    def children(self) -> list[Node]:
        return [] if self.inner is None else [self._of(child) for child in self.inner.children]

    @property
    def named(self) -> list[Node]:
        """The children that are neither signs nor comments."""
        children = () if self.inner is None else self.inner.named_children
        return [self._of(child) for child in children if child.type != "comment"]

    def field(self, name: str) -> Node | None:
        """Return the child that the grammar calls `name`; None if there is none."""
        child = None if self.inner is None else self.inner.child_by_field_name(name)
        return None if child is None else self._of(child)

    def _of(self, child: tree_sitter.Node) -> Node:
        assert self.inner is not None
        shift = self.start - int(self.inner.start_byte)
        return Node(self.excerpt, child.start_byte + shift, child.end_byte + shift, child)


class Grammar:
    """A parser of C++, created once."""

    __slots__ = ("_parser",)

    def __init__(self) -> None:
        self._parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

    def parse_call(self, arguments: Excerpt, *, bare: bool = False) -> Node | None:
        """Parse a call with these arguments, which include their brackets unless `bare`.

        None if the excerpt is empty, too long, or takes too much time.
        """
        before, after = (b"(", b")") if bare else (b"", b"")
        return self._parse(arguments, b"void f() {\n f.f" + before, after + b";\n}\n")

    def parse_declaration(self, excerpt: Excerpt) -> Node | None:
        """Parse a declaration outside of functions, without its `;`. None as for `parse_call`."""
        plain = _BRACED_DEFAULT.sub(lambda m: m[1] + "0".ljust(len(m[2])), excerpt.code)
        return self._parse(replace(excerpt, code=plain), b"", b";\n")

    def _parse(self, excerpt: Excerpt, before: bytes, after: bytes) -> Node | None:
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
        root, shift = tree.root_node, excerpt.start - len(before)
        return Node(excerpt, root.start_byte + shift, root.end_byte + shift, root)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
