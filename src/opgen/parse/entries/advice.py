"""Give advice on a key or value that does not exist: a word of another tool, or a key that is indented too little.

Only messages use this. Each function returns an `Advice`, or None if it knows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from msgspec import Struct

from opgen.diagnostics.suggestions import meant, shorten
from opgen.model.cpp_words import is_identifier
from opgen.model.dispatch_key import find_library_key
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

# Words of other tools for keys, and what they are here.
_KEYS = {
    **dict.fromkeys(("op", "operator", "operation", "schema", "function", "signature"), "func"),
    **dict.fromkeys(("kernel", "kernels", "impl", "impls", "backend", "backends"), "dispatch"),
    **dict.fromkeys(("implementation", "implementations", "dispatcher"), "dispatch"),
    **dict.fromkeys(("delegate", "delegates_to"), "structured_delegate"),
    **dict.fromkeys(("inherits", "base", "base_class"), "structured_inherits"),
    **dict.fromkeys(("method", "methods"), "variants"),
}
_DOCS = frozenset(("doc", "docs", "description", "desc", "docstring", "comment", "summary"))
# Words for dispatch keys.
_EVERY = frozenset(("default", "all", "any", "*", "generic", "composite", "always", "backend"))
_FOR_EVERY_BACKEND = (
    "write CompositeExplicitAutograd for a kernel that serves every backend, or CompositeImplicitAutograd if it only "
    "calls operators"
)
_DEVICES = {"gpu": "CUDA", "rocm": "CUDA", "hip": "CUDA", "nvidia": "CUDA", "metal": "MPS"}
_BETWEEN = re.compile(r"[\s,;/|&+]+")
_FUNCTION = re.compile(r"(?:[\w:<>&*]+\s+)?([A-Za-z_][\w:]*)\s*\([^()]*\)\s*;?")
_MAX_LISTED = 40


class Advice(Struct, frozen=True):
    """Advice on what to write. `fix` replaces the word, if that is certain; `meant` is the known name, if it is one."""

    hint: str
    fix: str | None = None
    meant: str | None = None


def advise_on_key(key: str, node: MappingNode, unused: Collection[str]) -> Advice | None:
    """Return advice on an unknown key of an entry that lacks the keys `unused`."""
    value = node.get(key)
    if find_library_key(key) is not None:
        return Advice("this is a row of the dispatch table: indent it under dispatch")
    if key == "namespace" and isinstance(value, ScalarNode):
        name = shorten(value.value)
        return Advice(f"write it before the operator's name, as in '{name}::f', or in a first item")
    known = _KEYS.get(key.lower())
    if known in unused and known is not None:
        is_schema = isinstance(value, ScalarNode) and "(" in value.value
        is_certain = known == "func" and is_schema
        return Advice(f"did you mean '{known}'?", known if is_certain else None, known)
    if key.lower() in _DOCS and "doc" in unused:
        return Advice("did you mean 'doc'?", "doc", "doc")
    hint, near = meant(key, tuple(unused))
    if hint is None and "func" in unused and isinstance(value, ScalarNode) and "->" in value.value:
        return Advice("did you mean 'func'?", None, "func")
    return None if hint is None else Advice(hint, near, near or hint.split("'")[1])


def advise_on_dispatch_key(word: str, candidates: Collection[str]) -> Advice | None:
    """Return advice on an unknown dispatch key."""
    parts = [part for part in _BETWEEN.split(word) if part]
    if len(parts) > 1 and all(find_library_key(part) is not None for part in parts):
        listed = ", ".join(parts)
        return Advice(f"not separated by ', ': write '{listed}'", listed)
    if word.lower() in _EVERY:
        return Advice(_FOR_EVERY_BACKEND)
    device = _DEVICES.get(word.lower())
    if device is not None:
        return Advice(f"each kind of device has its own key: '{device}', 'XPU', 'MPS', …")
    hint, near = meant(word, tuple(candidates))
    if hint is None and word.lower().startswith("composite"):
        return Advice(_FOR_EVERY_BACKEND)
    return None if hint is None else Advice(hint, near)


def advise_on_list(word: str, known: Collection[str], brackets: str = "") -> Advice | None:
    """Return how to separate words that are all `known`; `brackets` are those around a list of them."""
    parts = [part for part in _BETWEEN.split(word) if part]
    if len(parts) < 2 or not all(part in known for part in parts):
        return None
    listed = ", ".join(parts)
    listed = f"{brackets[0]}{listed}{brackets[1]}" if brackets else listed
    return Advice(f"write '{shorten(listed)}'", listed)


def advise_on_kernel(text: str) -> Advice | None:
    """Return the name of a kernel that is written like a call, a declaration or a file."""
    match = _FUNCTION.fullmatch(text) or re.fullmatch(r"([A-Za-z_][\w:]*);", text)
    if match is not None:
        is_certain = " " not in text
        return Advice(f"write '{shorten(match[1])}'", match[1] if is_certain else None)
    if re.fullmatch(r"[\w./-]+\.(?:cpp|cc|cu|h|hpp)", text):
        return Advice("write the name of the function, not of its file")
    if is_identifier(text):
        return Advice(f"'{shorten(text)}' is a keyword or a macro of C++: choose another name")
    if re.fullmatch(r"[\w-]+", text) and not text[0].isdigit():
        return Advice(
            f"a name has letters, digits and '_', as in '{shorten(text.replace('-', '_'))}'"
        )
    return None


def advise_on_table(value: Node) -> str | None:
    """Return how to write a dispatch table that is a string or a list."""
    if isinstance(value, SequenceNode):
        if any(isinstance(item, MappingNode) for item in value.items):
            return "write its rows without '- '"
        return "write a row for each key, as in 'CPU: my_kernel'"
    if not isinstance(value, ScalarNode):
        return None
    row = re.fullmatch(r"(\w+)(?:\s*[=:;,.]\s*|\s+)([\w:]+)", value.value)
    if row is not None and find_library_key(row[1]) is not None:
        return f"write '{shorten(f'{row[1]}: {row[2]}')}', with a space after ':'"
    if re.fullmatch(r"[A-Za-z_][\w:]*", value.value):
        return f"write 'CPU: {shorten(value.value)}' in a line of its own, indented deeper"
    return None


def advise_on_string(value: Node) -> str | None:
    """Return how to write a list as a string with commas."""
    if not isinstance(value, SequenceNode) or not value.items:
        return None
    words = [item.value for item in value.items if isinstance(item, ScalarNode)]
    if len(words) < len(value.items):
        return None
    return f"write '{shorten(', '.join(words))}'"


def list_names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return a note with all names, for the message about an unknown one; none if there are too many to read."""
    listed = sorted(names)
    return () if not listed or len(listed) > _MAX_LISTED else (f"{what} are: {', '.join(listed)}",)
