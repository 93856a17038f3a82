"""Infer from the declared tags which rules the PyTorch release of a file has."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from opgen import data

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
