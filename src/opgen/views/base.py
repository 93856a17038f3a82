"""What every view is made of: files, blocks by namespace, functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from opgen.dataclasses import dataclass, field
from opgen.older_pythons import dataclass_transform

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def view(cls: type[T]) -> type[T]:
    """A dataclass of what a template reads: frozen, and compared by nobody."""
    return dataclass(frozen=True, slots=True, eq=False)(cls)


@view
class FileView:
    """One file: its path in the tree (posix) and the template that makes it.

    A subclass adds the fields that its template reads: `str`, `bool`, `int`, and tuples of views.
    """

    path: str
    template: str


@view
class Block(Generic[T]):
    """Items of one C++ namespace, in the order in which they are written."""

    namespace: str
    items: tuple[T, ...]


@view
class FunctionView:
    """A C++ function, `returns name(parameters) { return body; }`, under its schema.

    Declarations have `parameters`, with defaults; definitions of what was declared before have
    `plain_parameters`, without.
    """

    schema: str
    returns: str
    name: str
    parameters: str
    plain_parameters: str
    body: str


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by key, keys in order of first appearance, items in the order given."""
    grouped: dict[K, list[T]] = {}
    for item in items:
        grouped.setdefault(key(item), []).append(item)
    return grouped


def blocks(pairs: Iterable[tuple[str, T]]) -> tuple[Block[T], ...]:
    """(namespace, item) pairs as one block per namespace, in order of first appearance."""
    grouped = group_by(pairs, lambda pair: pair[0])
    return tuple(
        Block(namespace, tuple(item for _, item in members))
        for namespace, members in grouped.items()
    )


def unique(items: Iterable[T]) -> Iterator[T]:
    """Items without repetition, in order of first appearance."""
    return iter(dict.fromkeys(items))


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def cpp_string(text: str) -> str:
    """The inside of a C++ string literal that means `text`."""
    return text.translate(_ESCAPES)
