"""Suggestions for completion, as values."""

from __future__ import annotations

from enum import Enum

from lsprotocol.types import CompletionItemKind
from msgspec import Struct


class CompletionKind(Enum):
    """The kind of a suggestion, for which editors show an icon."""

    key = CompletionItemKind.Property
    dispatch_key = CompletionItemKind.EnumMember
    value = CompletionItemKind.Value
    tag = CompletionItemKind.Keyword
    operator = CompletionItemKind.Function
    kernel = CompletionItemKind.Method
    type = CompletionItemKind.Class


class Suggestion(Struct, frozen=True):
    """A suggestion. Editors insert `insert`, or `label` if it is empty, and sort by `sort`, then by label.

    `description` is Markdown.
    """

    label: str
    kind: CompletionKind
    description: str = ""
    sort: str = ""
    insert: str = ""
