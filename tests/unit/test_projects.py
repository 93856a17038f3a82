"""The settings of a project: where they are found, how they are read, and what is reported in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_human
from opgen.pipeline.project import SETTINGS, Project, find_project
from support.build import REPOSITORY

_PAGE = REPOSITORY / "docs" / "reference" / "project.md"


def found(folder: Path) -> tuple[Project | None, str]:
    diagnostics = Diagnostics()
    project = find_project(folder, diagnostics)
    return project, render_human(diagnostics, color=False)


def write(folder: Path, text: str, name: str = "pyproject.toml") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_the_nearest_folder_with_settings_is_the_project(tmp_path: Path) -> None:
    """A pyproject.toml without settings is another tool's, in whatever form it is."""
    write(tmp_path, '[tool.opgen]\ntarget = "torch"\n')
    write(tmp_path / "a/b", "[tool.other]\nopgen = 1\n")
    write(tmp_path / "a", "this is not TOML, and mentions opgen")
    project, report = found(tmp_path / "a/b")
    assert project is not None and project.values == {"target": "torch"} and not report
    write(tmp_path / "a/b", 'target = "runtime"\n', "opgen.toml")
    project, _ = found(tmp_path / "a/b")
    assert project is not None and project.values == {"target": "runtime"}


def test_the_search_ends_at_the_top_of_a_repository(tmp_path: Path) -> None:
    write(tmp_path, "python = true\n", "opgen.toml")
    write(tmp_path / "a/.git", "", "HEAD")
    assert found(tmp_path / "a") == (None, "")
    (tmp_path / "b").mkdir()
    assert found(tmp_path / "b")[0] is not None


def test_opgen_toml_comes_before_pyproject_toml(tmp_path: Path) -> None:
    write(tmp_path, '[tool.opgen]\ntarget = "torch"\n')
    write(tmp_path, 'name = "own"\n', "opgen.toml")
    project, _ = found(tmp_path)
    assert project is not None and project.values == {"name": "own"}


def test_every_kind_of_setting_is_read(tmp_path: Path) -> None:
    """Paths are relative to the file, and one path may stand for a list of them."""
    write(
        tmp_path,
        '[project]\nname = "x"\n[tool.opgen]\nyaml = ["a.yaml", "b/c.yaml"]\nkernels = "kernels"\n'
        'output = "build"\npython = true\ndeny-warnings = false\nnamespace = "own"\n[tool.z]\n',
    )
    project, report = found(tmp_path)
    assert project is not None and not report
    assert project.values == {
        "yaml": (tmp_path / "a.yaml", tmp_path / "b/c.yaml"),
        "kernels": (tmp_path / "kernels",),
        "output": tmp_path / "build",
        "python": True,
        "deny_warnings": False,
        "namespace": "own",
    }


def test_other_schema_files_have_only_the_settings_of_the_whole_folder(tmp_path: Path) -> None:
    """Protects a schema file of the tests from the name and the formulas of the library."""
    text = 'yaml = "a.yaml"\ntarget = "torch"\nname = "own"\nderivatives = "d.yaml"\n'
    write(tmp_path, text, "opgen.toml")
    project, _ = found(tmp_path)
    assert project is not None
    assert project.values_for([tmp_path / "a.yaml"]) == project.values
    assert project.values_for([tmp_path / "b.yaml"]) == {"target": "torch"}


@pytest.mark.parametrize(
    ("line", "code", "place", "message"),
    [
        ("targets = 1", "E0925", "3:1", "did you mean 'target'?"),
        ("zzz = 1", "E0925", "3:1", "settings are yaml, target"),
        ('"kernel" = 1', "E0925", "3:1", "did you mean 'kernels'?"),
        ("python = 1", "E0926", "3:10", "'python' takes true or false"),
        ('python = "yes" # why', "E0926", "3:10", "'python' takes true or false"),
        ("frameworks = [1]", "E0926", "3:14", "'frameworks' takes a name or a list of names"),
        ("yaml = [1]", "E0926", "3:8", "'yaml' takes a path or a list of paths"),
        ("output = ['x']", "E0926", "3:10", "'output' takes a path"),
        ("name = ''", "E0926", "3:8", "'name' takes a string"),
        ('target = "toch"', "E0926", "3:10", "did you mean 'torch'?"),
        ("target = { a = 1 }", "E0926", "3:10", "'target' takes one of runtime, torch"),
        ("target = torch", "E0924", "3:10", "this is not TOML"),
        ("target = ", "E0924", "3:10", "this is not TOML"),
    ],
)  # fmt: skip
def test_a_problem_is_shown_at_its_place(
    tmp_path: Path, line: str, code: str, place: str, message: str
) -> None:
    write(tmp_path, f"name = 1\n[tool.opgen]\n{line}\n[tool.x]\nzzz = 2\n")
    _, report = found(tmp_path)
    assert f"error[{code}]" in report and message in report and report.count("error[") == 1
    assert f"pyproject.toml:{place}\n" in report, report


@pytest.mark.parametrize(
    "text",
    [
        "[tool.opgen.target]\nx = 1\n[tool.opgen]\n",
        "[tool]\nopgen = 3\n# [tool.opgen]\n\n[tool.opgen]",
        "[[tool.opgen]]\n",
        "a = '''\n[tool.opgen]\n'''\n",
        "[tool]\nopgen = 3\na = '''\n[tool.opgen]\n'''\n",
        "[tool.opgen]\nx = " + "[" * 5000 + "]" * 5000,
        "[tool.opgen]\r\ntarget = 1\r\n",
        "\ufeff[tool.opgen]\ntarget = 1\n",
    ],
)
def test_any_text_is_answered(tmp_path: Path, text: str) -> None:
    """Protects against a traceback: each is either read, reported, or of no interest."""
    (tmp_path / "pyproject.toml").write_bytes(text.encode())
    found(tmp_path)


def test_the_page_lists_every_setting() -> None:
    table = (
        _PAGE.read_text().partition("| setting | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    )
    assert [row.split("`")[1] for row in table.splitlines()] == list(SETTINGS)
