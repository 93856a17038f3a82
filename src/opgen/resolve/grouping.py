"""Form groups from sets of variants: a functional and an out variant, and the others if there are any."""

from __future__ import annotations

from opgen.model.function_schema import SchemaKind
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup
from opgen.resolve.variants import Variants


def find_group(variants: Variants) -> NativeFunctionsGroup | None:
    """Return the group of `variants`; None for an operator without an out variant."""
    functional = variants.find(SchemaKind.functional)
    out = variants.find(SchemaKind.out)
    if functional is None or out is None:
        return None
    return NativeFunctionsGroup(
        functional=functional,
        out=out,
        inplace=variants.find(SchemaKind.inplace),
        mutable=variants.find(SchemaKind.mutable),
    )


def find_outless_group(variants: Variants) -> OutlessGroup | None:
    """Return the group of `variants` if the functional one is structured and there is no out variant; else None."""
    functional = variants.find(SchemaKind.functional)
    if functional is None or not functional.structured or variants.find(SchemaKind.out) is not None:
        return None
    return OutlessGroup(functional, variants.find(SchemaKind.inplace))
