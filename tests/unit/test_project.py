"""What a project has beside its code: metadata, the workflows, and the notes of a release."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import opgen
from support.build import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
FORMS = sorted((REPOSITORY / ".github/ISSUE_TEMPLATE").glob("*.yml"))
NOTES = ".ci/release-notes"


def tracked() -> list[Path]:
    """Return the text files that git has, or would have after `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    paths = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [step for job in jobs for step in job.get("steps", ())]


def test_the_owner_is_named_in_one_place() -> None:
    """Protects from addresses that stay wrong when the repository gets its address."""
    name = b"OWNER" + b"/opgen"
    found = {path for path in tracked() if name in path.read_bytes()}
    assert found <= {REPOSITORY / "pyproject.toml"}


def test_the_metadata() -> None:
    """Protects an installer's view of the licence, and links that lead to no file."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["license"] == "BSD-3-Clause"
    assert all((REPOSITORY / name).is_file() for name in project["license-files"])
    repository = project["urls"]["Repository"]
    for address in project["urls"].values():
        assert address.startswith(repository)
        _, blob, file = address.partition("/blob/main/")
        assert not blob or (REPOSITORY / file).is_file(), address


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_exists(workflow: Path) -> None:
    """Protects CI from a script that was moved or cannot be executed, and from rights that nothing needs."""
    content = yaml.safe_load(workflow.read_text())
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        assert "timeout-minutes" in job or (REPOSITORY / job["uses"]).is_file()
    commands = "\n".join(step.get("run", "") for step in steps(workflow))
    for dot, script in re.findall(r"(?:^|(?<=\s))(\. )?(\.ci/[\w-]+)", commands):
        assert os.access(REPOSITORY / script, os.R_OK if dot else os.X_OK), script


def test_the_workflows_run_all_scripts() -> None:
    """Protects .ci/run and .ci/nightly from being run by nobody, and with a history that is cut off."""
    commands = {path.stem: [step.get("run", "") for step in steps(path)] for path in WORKFLOWS}
    assert any(command == ".ci/run" for command in commands["ci"])
    assert any(command.endswith("&& .ci/nightly") for command in commands["nightly"])
    for name in ("ci", "nightly"):
        (checkout,) = (
            step
            for step in steps(REPOSITORY / f".github/workflows/{name}.yml")
            if step.get("uses", "").startswith("actions/checkout@")
        )
        assert checkout["with"]["fetch-depth"] == 0  # tests/support/sampling.py counts commits


def test_the_release_of_torch_is_the_same_everywhere() -> None:
    """Protects the nightly run and a contributor from another torch than that of .ci/run."""
    pinned = re.search(r"torch==([\d.]+)", (REPOSITORY / ".ci/run").read_text())
    assert pinned
    for name in (".github/workflows/nightly.yml", "CONTRIBUTING.md", "README.md"):
        found = set(re.findall(r"torch==([\d.]+)", (REPOSITORY / name).read_text()))
        assert found == {pinned[1]}, name


def test_the_files_that_contributors_are_told_of_exist() -> None:
    """Protects contributors from commands for tests and folders that have moved."""
    page = (REPOSITORY / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"(?<![\w/])(?:tests|src|examples|\.ci)/[\w./*-]*\w", page))
    assert len(named) > 10
    assert [name for name in named if not any(REPOSITORY.glob(name))] == []


@pytest.mark.parametrize("form", [f for f in FORMS if f.stem != "config"], ids=lambda p: p.stem)
def test_an_issue_form(form: Path) -> None:
    """Protects reporters: GitHub hides a form that lacks one of these, or has an identifier twice."""
    content = yaml.safe_load(form.read_text())
    assert content["name"] and content["description"]
    assert all(field["attributes"]["label"] for field in content["body"])
    names = [field["id"] for field in content["body"]]
    assert len(names) == len(set(names)) > 0


def test_the_changes_begin_with_this_version() -> None:
    """Protects users who look up what an upgrade changes, on the page of versions too."""
    changes = (REPOSITORY / "CHANGELOG.md").read_text()
    heading = re.search(r"^## (\S+) \((not released|\d{4}-\d\d-\d\d)\)$", changes, re.MULTILINE)
    assert heading and heading[1] == opgen.__version__
    page = (REPOSITORY / "docs/guides/versions.md").read_text()
    series = ".".join(opgen.__version__.split(".")[:2])
    assert f"opgen has the version {opgen.__version__}." in page
    assert f"`find_package(opgen {series})` accepts the series {series} only" in page


@pytest.mark.parametrize(
    ("tag", "heading", "printed", "error"),
    [
        ("v1.2.3", "1.2.3 (2026-01-31)", "\n* new\n\n", ""),
        ("v1.2", "1.2.3 (2026-01-31)", "", "the tag is v1.2, but"),
        ("v1.2.3", "1.2.3 (not released)", "", "has no heading '## 1.2.3 (YYYY-MM-DD)'"),
        ("v1.2.3", "1.2x3 (2026-01-31)", "", "has no heading '## 1.2.3 (YYYY-MM-DD)'"),
    ],
)
def test_the_notes_of_a_release(
    tag: str, heading: str, printed: str, error: str, tmp_path: Path
) -> None:
    """Protects from a release under a wrong version, or without a word about its changes."""
    files = {
        NOTES: (REPOSITORY / NOTES).read_text(),
        "src/opgen/__init__.py": '__version__ = "1.2.3"\n',
        "CHANGELOG.md": f"# Changes\n\n## {heading}\n\n* new\n\n## 1.2.2 (2026-01-01)\n\n* old\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = ["bash", str(tmp_path / NOTES), tag]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (printed, 1 if error else 0)
    assert error in done.stderr
