"""Check before a build that the target's package is installed. Runs that only generate need no such package."""

from __future__ import annotations

import os
import sys

from opgen.diagnostics import Diagnostics
from opgen.pipeline.inputs import Inputs
from opgen.targets import TARGETS
from opgen.targets.releases import report_required_package


def check_required_package(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report if nothing can be compiled for the target with this Python.

    If the environment has Package_DIR (Torch_DIR), CMake uses the package in that folder, and checks it itself.
    """
    required = TARGETS[inputs.target].required_package
    if required is not None and not os.environ.get(f"{required.package.capitalize()}_DIR"):
        report_required_package(required, sys.executable, diagnostics)
