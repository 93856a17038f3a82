"""What may be written at a place, as a value."""

from __future__ import annotations

from enum import Enum

from lsprotocol.types import CompletionItemKind

from opgen.dataclasses import dataclass


class What(Enum):
    """What a suggestion is, as editors show it."""

    key = CompletionItemKind.Property
    dispatch_key = CompletionItemKind.EnumMember
    value = CompletionItemKind.Value
    tag = CompletionItemKind.Keyword
    operator = CompletionItemKind.Function
    kernel = CompletionItemKind.Method
    type = CompletionItemKind.Class


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`insert` is what is written, `label` if it is empty. Sorted by `sort`, then by label."""

    label: str
    what: What
    text: str = ""
    sort: str = ""
    insert: str = ""
