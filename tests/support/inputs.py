"""Inputs and registries of files in PyTorch's own language: names without a namespace are in `aten`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opgen import data
from opgen.diagnostics import Diagnostics
from opgen.model.registry import Registry
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import read_registry

_TAGS = Path("opgen/data/tags.yaml")


def aten_inputs(*given: Any, **named: Any) -> Inputs:
    """Make `Inputs` whose names without a namespace are in `aten`."""
    return Inputs(*given, **{"namespace": "aten", **named})


def text_inputs(*texts: str, tags: str | None = None, **named: Any) -> Inputs:
    """Make inputs of files with these texts, without writing them to disk; `tags` is the text of tags.yaml
    (PyTorch's by default). The files are in a folder without a derivatives.yaml, unlike the current one.
    """
    files = {Path("texts", f"{number}.yaml"): text.encode() for number, text in enumerate(texts)}
    tags = data.read_text("tags.yaml") if tags is None else tags
    return aten_inputs(tuple(files), tags=_TAGS, overlay={**files, _TAGS: tags.encode()}, **named)


def registry_of(*texts: str, **named: Any) -> Registry:
    """Return the registry of files with these texts; fail if any problem is reported."""
    diagnostics = Diagnostics()
    registry = read_registry(text_inputs(*texts, **named), diagnostics)
    assert [item.message for item in diagnostics] == []
    return registry
