"""Inputs of runs whose files are written in PyTorch's own language: names without a namespace are in `aten`."""

from __future__ import annotations

from typing import Any

from opgen.pipeline import Inputs


def aten_inputs(*given: Any, **named: Any) -> Inputs:
    """As `Inputs`; what is written without a namespace is in `aten`."""
    return Inputs(*given, **{"namespace": "aten", **named})
