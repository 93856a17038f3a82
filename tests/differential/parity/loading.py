"""Load a folder with native_functions.yaml and tags.yaml by torchgen's rules."""

from __future__ import annotations

from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load


def load_registry(folder: Path, ignored: frozenset[DispatchKey] = frozenset()) -> Registry:
    """Return the registry of the two files; fail if a problem is reported."""
    diagnostics = Diagnostics()
    inputs = Inputs(
        (folder / "native_functions.yaml",),
        tags=folder / "tags.yaml",
        ignore_keys=tuple(key.name for key in ignored),
        strict_torchgen=True,
    )
    registry = load(inputs, diagnostics)
    assert registry is not None, "\n".join(d.message for d in diagnostics)
    return registry
