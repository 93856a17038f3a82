"""Whether a build for a target can succeed here; a run that only generates asks nothing of the sort."""

from __future__ import annotations

import os
import sys

from opgen.diagnostics import Diagnostics
from opgen.pipeline.inputs import Inputs
from opgen.targets import TARGETS
from opgen.targets.installed import report_world


def check_world(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report if nothing can be compiled for the target with this Python.

    Where the environment says Package_DIR, which CMake follows, there is another one, and CMake looks at it.
    """
    world = TARGETS[inputs.target].world
    if world is not None and not os.environ.get(f"{world.package.capitalize()}_DIR"):
        report_world(world, sys.executable, diagnostics)
