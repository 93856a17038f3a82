"""The tags that operators may have, and the rules that apply to them: torchgen's of some release, or PyTorch's runtime's."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto
from functools import cached_property

from msgspec import Struct

from opgen import data


class Tag(Struct, frozen=True):
    """A tag; `desc` describes it in one or more sentences."""

    name: str
    desc: str


class TagSet(Struct, frozen=True, dict=True):
    """All declared tags, each once, in the order of the file.

    `is_whole` is False if the file has errors: then there may be more tags than these.
    """

    tags: tuple[Tag, ...]
    is_whole: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names, computed once: every entry is checked against them."""
        return tuple(tag.name for tag in self.tags)

    def __contains__(self, name: object) -> bool:
        return name in self.names


# The namespace of PyTorch's own operators, whose C++ namespace is `at`.
ATEN = "aten"


def operator_namespace(namespace: str) -> str:
    """Return the C++ namespace of a schema namespace: `at` for `aten`, and the same name for any other."""
    return "at" if namespace == ATEN else namespace


class Profile(Enum):
    """The set of rules that applies to an entry.

    `torchgen`: those of PyTorch's own code generator, for namespace `aten` and under `--strict-torchgen`.
    `library`: those of PyTorch's runtime schema parser and of its registry, for every other namespace.
    """

    torchgen = auto()
    library = auto()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


_ROWS = {row[0]: row[1:] for row in data.read_rows("releases.txt")}
_TAGS_OF_PYTORCH = frozenset(_ROWS.pop("pytorch"))


class Rule(Enum):
    """A rule that older releases do not have. The values are rows of data/releases.txt."""

    RANDOM_BY_ARGUMENT_NAME = "random_by_argument_name"
    NO_CONST_REF_TO_OUTS = "no_const_ref_to_outs"
    VARIANTS_OF_CORE_COMPOSITES = "variants_of_core_composites"


def holds(rule: Rule, tags: Collection[str]) -> bool:
    """Return whether `rule` applies to a file with these declared tags.

    It does unless the tags are those of a PyTorch release before the rule.
    """
    _without, _with, tag = _ROWS[rule.value]
    names = frozenset(tags)
    return tag in names or not names.issuperset(_TAGS_OF_PYTORCH)
