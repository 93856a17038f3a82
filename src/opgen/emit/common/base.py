"""The values that templates read: generated files, blocks by namespace, functions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct

from opgen.emit.common.layout import documentation_comment, visible_directions
from opgen.io.resources import runtime_dir

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Record(Struct, frozen=True, eq=False):
    """A value that templates read. Equality is identity: nothing compares records."""


class GeneratedFile(Record, frozen=True):
    """One file: its path in the tree (posix) and the template that makes it.

    A subclass adds the fields that its template reads: `str`, `bool`, `int`, and tuples of records. A template whose name
    does not end in `.j2` is a file of the runtime, by its path there, and is copied.
    """

    path: str
    template: str


def copied_modules(source: str, folder: str) -> Iterator[GeneratedFile]:
    """Copy the Python modules in the folder `source` of the runtime to `folder`."""
    for path in sorted((runtime_dir() / source).glob("*.py")):
        yield GeneratedFile(f"{folder}/{path.name}", f"{source}/{path.name}")


class Block(Record, Generic[T], frozen=True):
    """Items of one C++ namespace, in the order in which they are written."""

    namespace: str
    items: tuple[T, ...]


class PublicFunction(Record, frozen=True):
    """A C++ function that returns `callee(arguments)`, in the forms that templates need.

    `given` are the parameters with defaults, for declarations; `given_plainly` those without, for definitions after a
    declaration. `text` is the schema or, for further functions of the same operator, how they differ from the first.
    `doc` is the author's documentation, or empty.
    """

    text: str
    returns: str
    name: str
    given: tuple[str, ...]
    given_plainly: tuple[str, ...]
    callee: str
    arguments: tuple[str, ...]
    doc: str = ""

    @property
    def documentation(self) -> str:
        """The author's documentation as lines of a comment, each after a line end."""
        return documentation_comment(self.doc)

    @property
    def member_documentation(self) -> str:
        """The author's documentation as lines of a comment in a class, each after a line end."""
        return documentation_comment(self.doc, indent=2)

    @property
    def parameters(self) -> str:
        return ", ".join(self.given)

    @property
    def body(self) -> str:
        return f"{self.callee}({', '.join(self.arguments)})"

    @property
    def head(self) -> str:
        """`Tensor add(const Tensor& self)`, with defaults."""
        return f"{self.returns} {self.name}({self.parameters})"

    @property
    def plain_parameters(self) -> str:
        return ", ".join(self.given_plainly)


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by key: keys in order of first appearance, items in the given order."""
    grouped = defaultdict[K, list[T]](list)
    for item in items:
        grouped[key(item)].append(item)
    return grouped


def blocks(pairs: Iterable[tuple[str, T]]) -> tuple[Block[T], ...]:
    """Group (namespace, item) pairs into one block per namespace, in order of first appearance."""
    grouped = group_by(pairs, lambda pair: pair[0])
    return tuple(
        Block(namespace, tuple(item for _, item in members))
        for namespace, members in grouped.items()
    )


def unique(items: Iterable[T]) -> Iterator[T]:
    """Return the items without repetition, in order of first appearance."""
    return iter(dict.fromkeys(items))


_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"))
# The second character of a trigraph, which compilers warn about.
_TRIGRAPH = re.compile(r"(?<=\?)\?")


def cpp_string(text: str) -> str:
    """Return the contents of a C++ string literal for `text`, with escapes."""
    for character, escaped in _ESCAPES:
        text = text.replace(character, escaped)
    return visible_directions(_TRIGRAPH.sub(r"\\?", text) if "??" in text else text)
