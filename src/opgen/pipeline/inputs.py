"""What is to be read, and how: the options that all commands share."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from opgen.codes_files import E0908
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.tags import TagSet
from opgen.parse import (
    builtin_tags,
    decode_source,
    parse_tags,
)
from opgen.parse.names import did_you_mean
from opgen.reading import Overlay, read_bytes


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be read, and how: the options common to all commands."""

    yaml: tuple[Path, ...]
    tags: Path | None = None
    target: str = "runtime"
    backends: tuple[str, ...] = ()
    ignore_keys: tuple[str, ...] = ()
    extends: Path | None = None
    name: str | None = None
    select: tuple[Path, ...] = ()
    backend_yaml: Path | None = None
    impl_path: Path | None = None
    # Refuse opgen's extensions of the language.
    strict_torchgen: bool = False
    # Not an option: what is read instead of these files.
    overlay: Overlay = field(default_factory=dict)


def input_files(inputs: Inputs) -> tuple[Path, ...]:
    """Every file that a run with these inputs reads, but for opgen's own."""
    tags = tags_path(inputs)
    given = (inputs.extends, *inputs.select, inputs.backend_yaml, inputs.impl_path)
    return tuple(p for p in (*inputs.yaml, tags, *given) if p is not None)


def schema_files(inputs: Inputs) -> tuple[Path, ...]:
    """The files that people write for opgen, of those that a run with these inputs reads."""
    given = (*inputs.yaml, tags_path(inputs), *inputs.select, inputs.backend_yaml)
    return tuple(dict.fromkeys(p for p in given if p is not None))


def tags_path(inputs: Inputs) -> Path | None:
    if inputs.tags is not None:
        return inputs.tags
    return next((p for y in inputs.yaml if os.path.isfile(p := y.parent / "tags.yaml")), None)


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
