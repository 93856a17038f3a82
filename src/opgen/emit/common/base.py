"""The values that templates read: generated files, blocks by namespace, functions."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Generic, TypeVar

from msgspec import Struct

from opgen.data import runtime_dir

_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_LONG_LIST = 80


def listed(parameters: Sequence[str]) -> str:
    """Return a parameter list of C++: on one line, or with a line for each parameter if it is long."""
    text = ", ".join(parameters)
    return text if len(text) <= _LONG_LIST else ",\n    ".join(parameters)


def number_lines(text: str) -> str:
    """Give each `#line 0` the number of the line after it: there, the text is the file's own again."""
    if "\n#line 0 " not in text:
        return text
    lines = enumerate(text.split("\n"), 2)
    return "\n".join(re.sub("^#line 0 ", f"#line {following} ", line) for following, line in lines)


def sorted_includes(*headers: str) -> tuple[str, ...]:
    """Sort the headers of one block of `#include`s, each once. Names without quotes or angle brackets get the latter."""
    operands = {h if h.startswith(("<", '"')) else f"<{h}>" for h in headers}
    return tuple(sorted(operands, key=lambda o: (o.startswith('"'), not o.endswith(".h>"), o)))


def documentation_comment(text: str, *, indent: int = 0) -> str:
    """Return `text` as `///` lines, each after a line end; an empty string for none."""
    if not text:
        return ""
    lines = [f" {line}".rstrip(" ") for line in visible_directions(text).split("\n")]
    start = f"\n{' ' * indent}///"
    # Otherwise, the comment would continue on the next line.
    ends = (" //" if line.endswith(("\\", "??/")) else "" for line in lines)
    return "".join(f"{start}{line}{end}" for line, end in zip(lines, ends))


def visible_directions(text: str) -> str:
    """Replace characters that change the direction of text, which compilers warn about, and rare line ends by escapes."""
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Record(Struct, frozen=True, eq=False):
    """A value that templates read. Equality is identity: nothing compares records."""


class Item(SimpleNamespace):
    """A part of a file that only its template reads, by these attributes."""


class GeneratedFile(Record, frozen=True, dict=True):
    """One file: its path in the tree (posix) and the template that makes it.

    Its template reads further attributes: `str`, `bool`, `int`, records, items, and tuples of them. A template whose name does not
    end in `.j2` is a file of the runtime, by its path there, and is copied.
    """

    path: str
    template: str


def generated(path: str, template: str, **values: object) -> GeneratedFile:
    """Return the file that `template` makes of these values."""
    file = GeneratedFile(path, template)
    vars(file).update(values)
    return file


def copied_modules(source: str, folder: str) -> Iterator[GeneratedFile]:
    """Copy the Python modules in the folder `source` of the runtime to `folder`."""
    for path in sorted((runtime_dir() / source).glob("*.py")):
        yield GeneratedFile(f"{folder}/{path.name}", f"{source}/{path.name}")


class Block(Record, Generic[T], frozen=True):
    """Items of one C++ namespace, in the order in which they are written."""

    namespace: str
    items: tuple[T, ...]


class PublicFunction(Record, frozen=True):
    """A C++ function that passes its parameters on as `arguments`, in the forms that templates need.

    `parameters` have defaults, for declarations; `plain_parameters` have none, for definitions after a
    declaration. `text` is the schema or, for further functions of the same operator, how they differ from the first.
    `doc` is the author's documentation, or empty.
    """

    text: str
    returns: str
    name: str
    parameters: str
    plain_parameters: str
    arguments: str
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
    def head(self) -> str:
        """`Tensor add(const Tensor& self)`, with defaults."""
        return f"{self.returns} {self.name}({self.parameters})"


class Calls(Record, frozen=True):
    """All functions that call `callee`, which takes the dispatcher's arguments."""

    callee: str
    functions: tuple[PublicFunction, ...]


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


def shard_of(root: str, count: int) -> int:
    """Return the shard (0 to count - 1) of a root name: a stable hash, so that a new operator does not move others."""
    return int.from_bytes(hashlib.sha1(root.encode()).digest()[:8], "little") % count


def sharded(
    stem: str, items: Iterable[T], root: Callable[[T], str], count: int
) -> Iterator[tuple[str, tuple[T, ...]]]:
    """Yield file stems with their items: `stem` alone for one shard, else `stem_0`, `stem_1`, ..., without empty ones.

    `root` is the root name of an item's operator. All code of an operator is in one shard of each
    source, so an edit of the operator compiles only that shard.
    """
    if count == 1:
        yield stem, tuple(items)
        return
    for shard, members in sorted(group_by(items, lambda item: shard_of(root(item), count)).items()):
        yield f"{stem}_{shard}", tuple(members)
