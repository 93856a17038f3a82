"""The word at a place into what is shown above it, as Markdown."""

from __future__ import annotations

from opgen import pipeline
from opgen.lsp.documents import Analysis
from opgen.lsp.type_texts import describe_type
from opgen.lsp.words import Kind, Word
from opgen.model.dispatch_key import DispatchKey
from opgen.older_pythons import assert_never
from opgen.parse.entry_keys import (
    CLASS_KEYS,
    ENTRY_KEYS,
    EXISTING_TEXT,
    FALLTHROUGH_TEXT,
    HEAD_KEYS,
    describe_dispatch_key,
)


def hover_text(word: Word, known: Analysis | None) -> str | None:
    """What is known of `word`; None if it is nothing. `known` is of this text or an older one."""
    match word.kind:
        case Kind.key:
            key = ENTRY_KEYS.get(word.text)
            return None if key is None else f"**{word.text}**: {key.description}"
        case Kind.operator:
            return _operator(word.operator, known)
        case Kind.kernel:
            operator = _operator(word.operator, known)
            head = f"Kernel `{word.text}` of `{word.operator}`"
            if word.is_existing:
                head = f"Function `::{word.text}` of `{word.operator}`: {EXISTING_TEXT}"
            return head if operator is None else f"{head}\n\n{operator}"
        case Kind.dispatch_key:
            found = DispatchKey.__members__.get(word.text)
            return None if found is None else f"**{word.text}**: {describe_dispatch_key(found)}"
        case Kind.tag:
            return _tag(word.text, known)
        case Kind.fallthrough:
            return f"**{word.text}**: {FALLTHROUGH_TEXT}"
        case Kind.head_key:
            text = HEAD_KEYS.get(word.text) or CLASS_KEYS.get(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case Kind.schema:
            text = describe_type(word.text)
            return None if text is None else f"**{word.text}**: {text}"
        case _:
            assert_never(word.kind)


def _operator(name: str, known: Analysis | None) -> str | None:
    function = None if known is None else known.registry.find_function(name)
    if known is None or function is None:
        return None
    return pipeline.summarize(known.registry, known.inputs, function)


def _tag(name: str, known: Analysis | None) -> str | None:
    if known is None:
        return None
    tags = pipeline.declared_tags(known.inputs).tags
    return next((f"**{name}**: {' '.join(t.desc.split())}" for t in tags if t.name == name), None)
