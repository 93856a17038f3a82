"""Diagnostic codes made up for tests."""

from __future__ import annotations

from opgen.diagnostics import Code


def code(name: str) -> Code:
    """Return a code that has no example."""
    return Code(name, f"title of {name}", "explanation")
