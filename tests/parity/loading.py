"""A folder with native_functions.yaml and tags.yaml into a Registry, as the parity tests want it."""

from __future__ import annotations

from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.parse import decode_source, parse_entries, parse_tags
from opgen.resolve import resolve


def load_registry(folder: Path, ignored: frozenset[DispatchKey] = frozenset()) -> Registry:
    """The registry of the two files. Anything that is reported about them is a failure."""
    diagnostics = Diagnostics()
    native, tags = folder / "native_functions.yaml", folder / "tags.yaml"
    declared = parse_tags(decode_source("tags.yaml", tags.read_bytes(), diagnostics), diagnostics)
    source = decode_source("native_functions.yaml", native.read_bytes(), diagnostics)
    parsed = parse_entries([source], declared, ignored, diagnostics, strict_torchgen=True)
    registry = resolve(parsed.functions, diagnostics, declared.names)
    assert not diagnostics.has_errors, "\n".join(d.message for d in diagnostics)
    return registry
