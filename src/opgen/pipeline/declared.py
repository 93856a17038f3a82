"""Tags and dispatch keys, as the inputs declare them."""

from __future__ import annotations

from opgen.codes_files import E0908
from opgen.dataclasses import replace
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.tags import TagSet
from opgen.parse import (
    builtin_tags,
    decode_source,
    parse_tags,
)
from opgen.parse.names import did_you_mean
from opgen.pipeline.inputs import Inputs, tags_path
from opgen.reading import read_bytes


def declared_tags(inputs: Inputs) -> TagSet:
    """The tags that entries may have. What is wrong with their file, `inspect` reports."""
    return read_tags(inputs, Diagnostics())


def read_tags(inputs: Inputs, diagnostics: Diagnostics) -> TagSet:
    path = tags_path(inputs)
    if path is None:
        return builtin_tags()
    before = diagnostics.error_count
    text = read_bytes(path, diagnostics, inputs.overlay)
    if text is None:
        return replace(builtin_tags(), is_whole=False)
    tags = parse_tags(decode_source(str(path), text, diagnostics), diagnostics)
    return replace(tags, is_whole=diagnostics.error_count == before)


def ignored_keys(inputs: Inputs, diagnostics: Diagnostics) -> frozenset[DispatchKey]:
    ignored = {key for name in inputs.ignore_keys if (key := _key(name, diagnostics))}
    kept = {key for name in inputs.backends if (key := _key(name, diagnostics))}
    if inputs.backends:
        kept.update(COMPOSITE_DISPATCH_KEYS)
        ignored.update(key for key in SUPPORTED_DISPATCH_KEYS if key not in kept)
    return frozenset(ignored)


def _key(name: str, diagnostics: Diagnostics) -> DispatchKey | None:
    key = DispatchKey.__members__.get(name)
    if key is None:
        hint = did_you_mean(name, DispatchKey.__members__)
        diagnostics.error(E0908, f"there is no dispatch key '{name}'", None, hint=hint)
    return key
