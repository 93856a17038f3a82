"""What `opgen explain` says of our operators is what the dispatcher does: every cell of every table."""

from __future__ import annotations

import pytest

import opgen
from numerics.driver import Library
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, find_key
from opgen.resolve.computed_table import Cell, computed_table, whole_table

pytestmark = pytest.mark.slow


def _served_by(cell: Cell) -> str:
    """In the dispatcher's words; "" where nothing serves the key."""
    if cell.registration is None:
        return ""
    key = cell.registration.key
    return key.name if key in COMPOSITE_DISPATCH_KEYS else "kernel"


def test_explain_and_the_dispatcher_agree(registry: opgen.Registry, library: Library) -> None:
    """Key by key: a kernel of its own, an alias key, or nothing."""
    compared = 0
    for function in registry.functions:
        said = {cell.key.name: _served_by(cell) for cell in computed_table(registry, function)}
        found = library.computed_table(function.full_name)
        is_so = {key: found.get(key, "") for key in said}
        assert said == is_so, function.full_name
        # An operator without a kernel anywhere is not compared with anything.
        compared += sum(1 for reason in said.values() if reason)
    assert compared > 2 * len(registry.functions) > 500


def test_they_agree_for_every_key(registry: opgen.Registry, library: Library) -> None:
    """All keys that a call can have, also those that `explain` does not print: autograd's, and what is above it.

    What no entry of the file is registered for is left out: fallbacks of the runtime, kernels by hand for
    autograd, and keys that PyTorch's runtime has and ours has not.
    """
    composite = {key.name for key in COMPOSITE_DISPATCH_KEYS}
    served = 0
    for function in registry.functions:
        table = whole_table(registry, function)
        assert len(table) > 110
        found = library.computed_table(function.full_name)
        for cell in table:
            if find_key(cell.key.name) is None:
                continue
            said, is_so = _served_by(cell), found.get(cell.key.name, "")
            if is_so in ("fallback", "fallthrough") or is_so.startswith("ambiguous"):
                is_so = ""
            if not said and cell.key.name.startswith("Autocast"):
                # Another test of this process may have entered a scope of autocast, which registers wrappers.
                continue
            assert said == is_so, (function.full_name, cell.key)
            served += is_so in composite
    assert served > 10_000
