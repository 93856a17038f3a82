"""Packages that the tests have built, called from a Python of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def run_python(lines: str, *folders: Path, python: Path | str = sys.executable) -> str:
    """Runs `lines`, which may import what lies in `folders`; what they print.

    An exception, a word on standard error and a signal at the end are failures, with Python's own
    development mode on.
    """
    done = subprocess.run(
        [str(python), "-X", "dev", "-c", textwrap.dedent(lines)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": os.pathsep.join(map(str, folders))},
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}"
    assert done.stderr == ""
    return done.stdout
