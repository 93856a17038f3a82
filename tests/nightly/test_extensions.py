"""Extensions with users pass their own tests before and after opgen registers their operators, with the same results.

This runs where OPGEN_EXTENSIONS is a folder that has, for each extension:

* `NAME/`, a checkout;
* `NAME.json`: `build`, a shell command; `tests`, the arguments of pytest; `import`, for each library a name and the arguments
  of `opgen import`; `target`, unless it is torch;
* `NAME.patch`, the edits of its build, as docs/guides/import.md says: for each library the sources of
  `adopted/LIBRARY/generated/src`, and as folders of headers `adopted/LIBRARY`, `adopted/LIBRARY/generated/include`, and what
  `opgen --torch-include-dir` prints.

Nothing else is edited by hand. The first case, of examples/adopt, shows that the test works.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.build import REPOSITORY, environment, one_torch_unit, run, tool
from support.pytorch import torch_folder

pytestmark = pytest.mark.nightly

EXAMPLE = REPOSITORY / "examples" / "adopt"
FOLDER = os.environ.get("OPGEN_EXTENSIONS")
NAMES = sorted(path.stem for path in Path(FOLDER).glob("*.json")) if FOLDER else []
SETTINGS = {
    "build": "python setup.py -q build_ext --inplace",
    "tests": ["test_fuse.py"],
    "import": {"fuse": ["csrc", "fuse"]},
}


@pytest.mark.parametrize("name", ["", *NAMES])
def test_the_same_tests_pass(name: str, tmp_path: Path) -> None:
    torch_folder()
    folder = Path(FOLDER or "") if name else write_example(tmp_path / "example")
    name = name or "fuse"
    settings = json.loads((folder / f"{name}.json").read_text())
    before = shutil.copytree(folder / name, tmp_path / "before" / name)
    after = shutil.copytree(folder / name, tmp_path / "after" / name)
    for library, arguments in settings["import"].items():
        adopt(after, library, arguments, settings.get("target", "torch"))
    run(["patch", "-p1", "-i", folder / f"{name}.patch"], cwd=after)
    expected = outcomes(before, settings["build"], settings["tests"])
    assert outcomes(after, settings["build"], settings["tests"]) == expected
    assert "passed" in expected.values()


def write_example(folder: Path) -> Path:
    """Write the folder that OPGEN_EXTENSIONS would name, with examples/adopt in it."""
    checkout = shutil.copytree(EXAMPLE / "before", folder / "fuse")
    shutil.copy(EXAMPLE / "test_fuse.py", checkout)
    (folder / "fuse.json").write_text(json.dumps(SETTINGS))
    command = ["diff", "-u", "before/setup.py", "after/setup.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLE)
    diff = done.stdout.replace("generated/", "adopted/fuse/generated/")
    diff = diff.replace("str(here)", 'f"{here}/adopted/fuse"')
    (folder / "fuse.patch").write_text(diff)
    return folder


def adopt(checkout: Path, library: str, arguments: list[str], target: str) -> None:
    """Do what a maintainer does for a library, but for the edits of the build."""
    folder = checkout / "adopted" / library
    folder.mkdir(parents=True)
    made = f"adopted/{library}/ops.yaml"
    opgen = tool("opgen")
    options = ("--kernels-as-they-are", "--edit", "-o", made)
    run([opgen, "import", *arguments, *options], cwd=checkout)
    run([opgen, "lint", "--target", target, made], cwd=checkout)
    run([opgen, "generate", made, "--target", target, "-o", folder / "generated"], cwd=checkout)


def outcomes(checkout: Path, build: str, tests: list[str]) -> dict[str, str]:
    """Build an extension, and return what becomes of each of its tests."""
    path = os.pathsep.join([str(Path(sys.executable).parent), str(Path(tool("opgen")).parent)])
    python_path = os.pathsep.join(filter(None, [str(checkout), os.environ.get("PYTHONPATH")]))
    variables = {**environment(), "MAX_JOBS": "1", "PYTHONPATH": python_path}
    variables["PATH"] = f"{path}{os.pathsep}{variables['PATH']}"
    with one_torch_unit():
        run(["sh", "-c", build], env=variables, cwd=checkout)
    report = checkout / "report.xml"
    # Without the options of this repository's own tests.
    options = ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", *tests]
    subprocess.run(command, env=variables, cwd=checkout, check=False)
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        ends = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}::{case.get('name')}"] = ", ".join(ends) or "passed"
    return found
