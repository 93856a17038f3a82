"""`examples/myadd`, which the README's first command runs: from C++ and from Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_run import compare

from support.build import REPOSITORY, cmake_build, project_definitions, require_headers, run
from support.python_package import run_python

EXAMPLE = REPOSITORY / "examples" / "myadd"


@pytest.mark.slow
def test_its_output(tmp_path: Path) -> None:
    require_headers()
    definitions = (f"-DPython_EXECUTABLE={sys.executable}", *project_definitions())
    cmake_build(EXAMPLE, tmp_path, *definitions)
    printed = run([tmp_path / "main"])
    printed += run_python((EXAMPLE / "main.py").read_text(), tmp_path / "python")
    compare(EXAMPLE / "expected.txt", printed)
