"""`opgen explain` describes the dispatcher's tables for our operators correctly: every cell of every table."""

from __future__ import annotations

import opgen
from differential.numerics.driver import Library
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, find_key
from opgen.resolve.computed_table import RUNTIME_KEYS, Cell, _cell, _registered, computed_table
from support.library import WHOLE

pytestmark = list(WHOLE)


def _served_by(cell: Cell) -> str:
    """Return the result in the dispatcher's words; "" where nothing serves the key."""
    if cell.registration is None:
        return ""
    key = cell.registration.key
    return key.name if key in COMPOSITE_DISPATCH_KEYS else "kernel"


def test_explain_and_the_dispatcher_agree(registry: opgen.Registry, library: Library) -> None:
    """For each key: a kernel registered for it, an alias key, or nothing."""
    compared = 0
    for function in registry.functions:
        said = {cell.key.name: _served_by(cell) for cell in computed_table(registry, function)}
        found = library.computed_table(function.full_name)
        is_so = {key: found.get(key, "") for key in said}
        assert said == is_so, function.full_name
        # An operator without a kernel anywhere cannot be compared.
        compared += sum(1 for reason in said.values() if reason)
    assert compared > 2 * len(registry.functions) > 500


def test_they_agree_for_every_key(registry: opgen.Registry, library: Library) -> None:
    """Compare all keys of calls, including those that `explain` does not print: autograd's, and those above it.

    What no entry of the file registers is left out: fallbacks of the runtime, hand-written kernels for autograd, and
    keys that only PyTorch's runtime has.
    """
    composite = {key.name for key in COMPOSITE_DISPATCH_KEYS}
    served = 0
    for function in registry.functions:
        registered = _registered(registry, function)
        table = tuple(_cell(function, key, registered) for key in RUNTIME_KEYS)
        assert len(table) > 110
        found = library.computed_table(function.full_name)
        for cell in table:
            if find_key(cell.key.name) is None:
                continue
            said, is_so = _served_by(cell), found.get(cell.key.name, "")
            if is_so in ("fallback", "fallthrough") or is_so.startswith("ambiguous"):
                is_so = ""
            if not said and is_so == "Autograd":
                continue  # What derivatives.yaml registers.
            if not said and (function.full_name, cell.key.name) == (
                "aten::detach",
                "ADInplaceOrView",
            ):
                continue  # Written by hand: the result is a view without a history.
            if not said and cell.key.name.startswith("Autocast"):
                # Another test in this process may have entered a scope of autocast, which registers
                # wrappers.
                continue
            assert said == is_so, (function.full_name, cell.key)
            served += is_so in composite
    assert served > 10_000
