"""The tests of the tests: each of these defects is noticed by a test that runs for every change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from breakages import BREAKAGES, Breakage

from support.build import REPOSITORY, run

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this commit, in which one defect at a time is made."""
    folder = tmp_path_factory.mktemp("copy") / "opgen"
    run(["git", "clone", "-q", "--shared", REPOSITORY, folder])
    return folder


@pytest.fixture
def broken(request: pytest.FixtureRequest, copy: Path) -> Iterator[Breakage]:
    breakage: Breakage = request.param
    file = copy / breakage.file
    text = file.read_text()
    assert text.count(breakage.old) == 1, f"{breakage.file} has changed: choose another defect"
    file.write_text(text.replace(breakage.old, breakage.new))
    yield breakage
    file.write_text(text)


def _run_tests(copy: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of the copy, on the sources of the copy."""
    names = ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "OPGEN_TEST_BUILD", "OPGEN_CACHE_DIR")
    kept: Mapping[str, str] = {k: v for k, v in os.environ.items() if k not in names}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "-x", "-p", "no:cacheprovider", *tests.split()],
        cwd=copy,
        env={**kept, "PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("broken", BREAKAGES, ids=lambda each: each.what, indirect=True)
def test_a_defect_is_noticed(broken: Breakage, copy: Path) -> None:
    """Protects each area from losing the tests that would notice a defect in it."""
    done = _run_tests(copy, broken.tests)
    # pytest exits with 2 when workers are stopped after the first failure.
    assert done.returncode in (1, 2), f"{done.stdout}{done.stderr}"[-3000:]
    assert re.search(r"^(FAILED|ERROR) tests/", done.stdout, re.MULTILINE), done.stdout[-3000:]


@pytest.mark.parametrize("tests", sorted({breakage.tests for breakage in BREAKAGES}))
def test_the_same_tests_pass_without_a_defect(tests: str, copy: Path) -> None:
    """Protects against tests that fail anyway, and would seem to notice every defect."""
    done = _run_tests(copy, tests)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"[-3000:]
