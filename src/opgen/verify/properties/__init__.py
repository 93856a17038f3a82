"""All properties, one module for each family."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.verify.caller import Property
from opgen.verify.properties import (
    dtypes,
    gradients,
    inputs,
    memory,
    meta,
    process,
    repetition,
    transforms,
    variants,
)

_FAMILIES = (
    *(variants, memory, inputs, meta, dtypes),
    *(repetition, gradients, transforms, process),
)
PROPERTIES: tuple[Property, ...] = tuple(p for family in _FAMILIES for p in family.PROPERTIES)
BY_NAME: Mapping[str, Property] = {p.name: p for p in PROPERTIES}
