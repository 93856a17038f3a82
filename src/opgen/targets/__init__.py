"""The targets that opgen generates for, by name."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.targets.base import Target
from opgen.targets.runtime import RUNTIME
from opgen.targets.torch import TORCH, TORCH_STABLE

TARGETS: Mapping[str, Target] = {target.name: target for target in (RUNTIME, TORCH, TORCH_STABLE)}

__all__ = ["TARGETS", "Target"]
