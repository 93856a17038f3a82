"""Sets of variants into groups: a functional and an out variant, with the others if there are any."""

from __future__ import annotations

from opgen.model.function_schema import SchemaKind
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup
from opgen.resolve.variants import Variants


def find_group(variants: Variants) -> NativeFunctionsGroup | None:
    """The group of `variants`. An operator without an out variant is in none."""
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
    """The group of `variants` if the functional one is structured and there is no out variant."""
    functional = variants.find(SchemaKind.functional)
    if functional is None or not functional.structured or variants.find(SchemaKind.out) is not None:
        return None
    return OutlessGroup(functional, variants.find(SchemaKind.inplace))
