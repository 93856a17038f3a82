"""`opgen new`: the files of a new package, and the names and folders that it rejects.

tests/integration/run/test_new_package.py builds and tests the package of each target.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from cli_support import Opgen

from opgen.diagnostics import known_codes
from opgen.io import files
from opgen.io.files import FileState
from support.goldens import check_format

TARGETS = ("runtime", "torch", "torch-stable")


def texts(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(files)}


@pytest.mark.parametrize("target", TARGETS)
def test_the_generated_files(opgen: Opgen, target: str) -> None:
    result = opgen("new", "mylib", "--target", target)
    count = {"runtime": 11, "torch": 13, "torch-stable": 11}[target]
    assert result.exit_code == 0 and f"mylib: {count} files" in result.stdout
    made = texts(Path("mylib"))
    check_format(made)
    for path, text in made.items():
        # Workflows of GitHub have expressions in braces of their own.
        assert not re.search(r"(?<!\$)\{\{|\{%|[ \t]$", text, re.MULTILINE), path
        assert text.endswith("\n") and not text.endswith("\n\n"), path
        if path.endswith((".yml", ".yaml")):
            yaml.safe_load(text)


@pytest.mark.parametrize("target", TARGETS)
def test_it_begins_without_a_warning(opgen: Opgen, target: str) -> None:
    """Protects the package's own CI job: its first run passes."""
    assert opgen("new", "mylib", "--target", target, "-o", "here").exit_code == 0
    yaml = "here/native_functions.yaml"
    assert opgen("lint", "--target", target, "--deny-warnings", yaml).stderr == ""
    assert opgen("format", "--check", yaml).exit_code == 0
    assert opgen("generate", yaml, "--target", target, "--python", "-o", "tree").stderr == ""


@pytest.mark.parametrize("target", TARGETS)
def test_its_settings_say_what_commands_need(
    opgen: Opgen, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects the commands of its README and of its CI job, which have no argument."""
    assert opgen("new", "mylib", "--target", target).exit_code == 0
    monkeypatch.chdir("mylib")
    assert opgen("lint", "--deny-warnings").exit_code == 0
    assert opgen("format", "--check").exit_code == 0
    assert opgen("generate").exit_code == 0
    manifest = json.loads(Path("build/opgen/opgen_manifest.json").read_text())
    assert (manifest["target"], manifest["name"]) == (target, "mylib")
    assert manifest["options"]["python"]


NAMES = (
    ("torch", "E0915", "a namespace of PyTorch"),
    ("aten", "E0915", "a namespace of PyTorch"),
    ("lambda", "E0915", "a keyword of Python"),
    ("json", "E0915", "a module of Python's standard library"),
    ("__init__", "E0915", "a name that Python reserves"),
    ("my-lib", "E0914", "cannot be the name of a library"),
    ("2fast", "E0914", "cannot be the name of a library"),
    ("class", "E0914", "cannot be the name of a library"),
    ("", "E0914", "cannot be the name of a library"),
    ("../up", "E0914", "cannot be the name of a library"),
)


@pytest.mark.parametrize(("name", "code", "words"), NAMES, ids=[row[0] for row in NAMES])
def test_an_invalid_name_is_rejected(opgen: Opgen, name: str, code: str, words: str) -> None:
    result = opgen("new", name)
    assert result.exit_code == 1 and not [path for path in Path().iterdir() if path.is_dir()]
    assert f"error[{code}]" in result.stderr and words in result.stderr and code in known_codes()


def test_a_folder_with_something_in_it_is_left_alone(opgen: Opgen) -> None:
    Path("mylib").mkdir()
    Path("mylib/mine").write_text("mine")
    result = opgen("new", "mylib")
    assert result.exit_code == 1 and texts(Path("mylib")) == {"mine": "mine"}
    assert "error[E0901]: mylib exists" in result.stderr
    Path("mylib/mine").unlink()
    assert opgen("new", "mylib").exit_code == 0, "an empty one is taken"
    assert opgen("new", "other", "-o", "mylib/native_functions.yaml").exit_code == 1


def test_nothing_is_left_of_a_folder_that_cannot_be_written(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects against half a package: if it cannot be finished, it is removed."""

    def full(path: str, content: bytes) -> FileState:
        if path.endswith("/pyproject.toml"):
            raise OSError(28, "No space left on device", path)
        return real(path, content)

    real = files.write_new_file
    monkeypatch.setattr(files, "write_new_file", full)
    for folder in ("fresh", "empty"):
        if folder == "empty":
            Path("empty").mkdir()
        result = opgen("new", "mylib", "-o", folder)
        assert result.exit_code == 1 and "error[E0904]: cannot write" in result.stderr
        assert "No space left on device" in result.stderr
    assert [path.as_posix() for path in Path().rglob("*") if path.suffix != ".yaml"] == ["empty"]
