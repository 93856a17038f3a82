"""data-apis' own tests of the standard pass, but for the listed ones. They are not on the package index, so this runs only
where OPGEN_ARRAY_API_TESTS is the folder of a clone of github.com/data-apis/array-api-tests with its submodule.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.library import own_operators

pytestmark = [pytest.mark.slow, pytest.mark.whole_library]

SUITE = os.environ.get("OPGEN_ARRAY_API_TESTS")
# Tests that fail for some draws or for all, each with its reason.
EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.txt")
# What passed with 20 examples of each test when this was written, without those of `linalg` and `fft`. A suite that
# collects nothing would pass, too.
LEAST_PASSED = 1250
OTHER_DTYPES = "uint16,uint32,uint64"


@pytest.mark.skipif(SUITE is None, reason="OPGEN_ARRAY_API_TESTS names no clone of the suite")
def test_the_suite(tmp_path: Path) -> None:
    assert SUITE is not None
    packages = own_operators().packages
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")]),
        "ARRAY_API_TESTS_MODULE": "aten.array_api",
        "ARRAY_API_TESTS_VERSION": "2024.12",
        "ARRAY_API_TESTS_SKIP_DTYPES": OTHER_DTYPES,
    }
    command = [sys.executable, "-m", "pytest", "array_api_tests", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [
            *command,
            *("--max-examples", "20", "--disable-deadline", "--hypothesis-seed", "0"),
            *("-o", "addopts="),
            *("--xfails-file", str(EXPECTED_FAILURES), "--disable-extension", "linalg", "fft"),
        ],
        cwd=SUITE,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found is not None and int(found[1]) >= LEAST_PASSED, done.stdout[-500:]
