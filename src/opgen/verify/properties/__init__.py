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

PROPERTIES: tuple[Property, ...] = (
    *variants.PROPERTIES,
    *memory.PROPERTIES,
    *inputs.PROPERTIES,
    *meta.PROPERTIES,
    *dtypes.PROPERTIES,
    *repetition.PROPERTIES,
    *gradients.PROPERTIES,
    *transforms.PROPERTIES,
    *process.PROPERTIES,
)
BY_NAME: Mapping[str, Property] = {p.name: p for p in PROPERTIES}
