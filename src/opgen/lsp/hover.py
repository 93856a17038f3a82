"""Describe the word under the cursor, in Markdown."""

from __future__ import annotations

from opgen._compat import assert_never
from opgen.lsp.cursor import Kind, Word
from opgen.lsp.documents import Analysis
from opgen.lsp.type_descriptions import describe_type
from opgen.model.dispatch_key import DispatchKey
from opgen.parse.entries.keys import (
    CLASS_KEYS,
    EXISTING_DESCRIPTION,
    FALLTHROUGH_DESCRIPTION,
    HEADER_KEYS,
    KEYS,
    describe_dispatch_key,
)
from opgen.pipeline import queries
from opgen.pipeline.tags import declared_tags


def hover_text(word: Word, known: Analysis | None) -> str | None:
    """Return the description of `word`; None if there is none. `known` may be the analysis of an older text."""
    match word.kind:
        case Kind.key:
            key = KEYS.get(word.text)
            return None if key is None else f"**{word.text}**: {key.description}"
        case Kind.operator:
            return _operator(word.operator, known)
        case Kind.kernel:
            operator = _operator(word.operator, known)
            head = f"Kernel `{word.text}` of `{word.operator}`"
            if word.is_existing:
                head = f"Function `::{word.text}` of `{word.operator}`: {EXISTING_DESCRIPTION}"
            return head if operator is None else f"{head}\n\n{operator}"
        case Kind.dispatch_key:
            dispatch_key = DispatchKey.__members__.get(word.text)
            if dispatch_key is None:
                return None
            return f"**{word.text}**: {describe_dispatch_key(dispatch_key)}"
        case Kind.tag:
            return _tag(word.text, known)
        case Kind.fallthrough:
            return f"**{word.text}**: {FALLTHROUGH_DESCRIPTION}"
        case Kind.header_key:
            text = HEADER_KEYS.get(word.text) or CLASS_KEYS.get(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case Kind.formula_key | Kind.formula:
            return None
        case Kind.schema:
            text = describe_type(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case _:
            assert_never(word.kind)


def _operator(name: str, known: Analysis | None) -> str | None:
    function = None if known is None else known.registry.find_function(name)
    if known is None or function is None:
        return None
    return queries.summarize(known.registry, known.inputs, function)


def _tag(name: str, known: Analysis | None) -> str | None:
    if known is None:
        return None
    tags = declared_tags(known.inputs).tags
    return next((f"**{name}**: {' '.join(t.desc.split())}" for t in tags if t.name == name), None)
