"""The targets that opgen generates for, by name."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.targets.base import Target
from opgen.targets.runtime import RUNTIME
from opgen.targets.torch import TORCH

TARGETS: Mapping[str, Target] = {target.name: target for target in (RUNTIME, TORCH)}

__all__ = ["TARGETS", "Target"]
