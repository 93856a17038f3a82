"""Commands use the settings of a project, `[tool.opgen]`, where their command line says nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import Opgen

from opgen.cli import verify as verify_module
from opgen.diagnostics import OpgenError
from support.stand_in import Build

COVERAGE = Path(__file__).parent / "coverage"
_YAML = """\
- func: mylib::scale(Tensor self, float factor) -> Tensor
  dispatch:
    CPU: scale_cpu
"""
_SETTINGS = """\
[tool.opgen]
yaml = "ops.yaml"
target = "torch"
output = "build/tree"
kernels = "kernels"
python = true
"""


@pytest.fixture
def project(opgen: Opgen) -> Opgen:
    """A package for PyTorch in the folder `pkg`, which is not the current one."""
    Path("pkg").mkdir()
    Path("pkg/ops.yaml").write_text(_YAML)
    Path("pkg/pyproject.toml").write_text(_SETTINGS)
    return opgen


def header(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "opgen_manifest.json").read_text())
    return found


def test_lint_knows_the_target(project: Opgen) -> None:
    """Protects `opgen lint ops.yaml`, a hook and CI from "no errors" where PyTorch's rules are broken (W1030)."""
    assert "W1030" in project("lint", "pkg/ops.yaml").stderr
    assert "W1030" in project("lint", "pkg").stderr, "a folder is that of its settings"
    assert "W1030" not in project("lint", "pkg/ops.yaml", "--target", "runtime").stderr


def test_commands_need_no_argument(project: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("pkg")
    assert project("generate").exit_code == 0
    found = header("build/tree")
    assert found["target"] == "torch" and found["options"] == {"python": True}
    assert project("check").exit_code == 0
    assert project("format", "--check").exit_code == 0
    assert "OPGEN_KERNEL(scale_cpu)" in project("stub").stdout
    assert "scale" in project("explain", "scale").stdout


def test_an_option_wins(project: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("pkg")
    assert project("generate", "--target", "runtime", "--no-python", "-o", "own").exit_code == 0
    found = header("own")
    assert found["target"] == "runtime" and "options" not in found
    assert not Path("build").exists()


def test_warnings_fail_if_the_settings_say_so(project: Opgen) -> None:
    assert project("lint", "pkg/ops.yaml").exit_code == 0
    Path("pkg/pyproject.toml").write_text(_SETTINGS + "deny-warnings = true\n")
    assert project("lint", "pkg/ops.yaml").exit_code == 1
    assert project("lint", "pkg/ops.yaml", "--no-deny-warnings").exit_code == 0


def test_coverage_reads_the_settings(project: Opgen) -> None:
    """Protects a backend in a project: the settings found from its YAML say the target, and whether warnings fail."""
    shutil.copy(COVERAGE / "backend.yaml", "pkg/backend.yaml")
    Path("calls.txt").write_text("aten::none\n")
    command = ("coverage", "pkg/backend.yaml", str(COVERAGE / "operators.yaml"))
    command = (*command, "--against", "calls.txt")
    without = project(*command)
    assert without.exit_code == 0 and "W0915" in without.stderr
    Path("pkg/pyproject.toml").write_text("[tool.opgen]\ndeny-warnings = true\n")
    assert project(*command).exit_code == 1
    assert project(*command, "--no-deny-warnings").exit_code == 0
    Path("pkg/pyproject.toml").write_text('[tool.opgen]\ntarget = "none"\n')
    assert "error[E0926]" in project(*command).stderr
    Path("pkg/pyproject.toml").write_text('[tool.opgen]\ntarget = "runtime"\n')
    by_setting = project("coverage", "pkg/backend.yaml")
    assert "there is no native_functions.yaml in this folder" in by_setting.stderr


@pytest.mark.parametrize(
    "command", ["lint", "generate", "check", "stub", "dump", "format", "verify"]
)
def test_errors_in_settings_end_a_run(project: Opgen, command: str) -> None:
    """Protects against a run with other settings than those that were meant; nothing is written."""
    Path("pkg/pyproject.toml").write_text(_SETTINGS.replace("target", "traget"))
    result = project(command, "pkg/ops.yaml")
    assert result.exit_code == 1 and "pkg/pyproject.toml:3:1\n" in result.stderr
    assert "did you mean 'target'?" in result.stderr and not Path("pkg/build").exists()


def test_errors_in_settings_have_the_format_of_the_report(project: Opgen) -> None:
    Path("pkg/pyproject.toml").write_text(_SETTINGS.replace("true", "1"))
    result = project("lint", "pkg/ops.yaml", "--format", "json")
    found = json.loads(result.stdout)
    assert (found["code"], result.exit_code) == ("E0926", 1)


def test_without_settings_an_output_is_required(project: Opgen) -> None:
    Path("pkg/pyproject.toml").write_text("")
    result = project("generate", "pkg/ops.yaml")
    assert result.exit_code == 2 and "missing option '-o' / '--output'" in result.stderr


def test_files_of_two_projects_are_not_one_library(project: Opgen) -> None:
    Path("other").mkdir()
    Path("other/ops.yaml").write_text(_YAML)
    Path("other/opgen.toml").write_text("")
    result = project("generate", "pkg/ops.yaml", "other/ops.yaml", "-o", "tree")
    assert result.exit_code == 2 and "the files are of two projects" in result.stderr


def test_a_hook_may_pass_files_of_two_projects(project: Opgen) -> None:
    """Protects a commit in a repository of packages: each is read with its own settings, and one failure is enough."""
    Path("other").mkdir()
    Path("other/ops.yaml").write_text(_YAML)
    Path("other/opgen.toml").write_text('target = "runtime"\n')
    result = project("lint", "pkg/ops.yaml", "other/ops.yaml")
    assert result.exit_code == 0 and result.stderr.count("W1030") == 2, "with its note"
    assert result.stdout.count("1 entry, 1 operator: no errors") == 2
    assert project("format", "pkg/ops.yaml", "other/ops.yaml").exit_code == 0
    Path("pkg/ops.yaml").write_text(_YAML.replace("Tensor self", "Tensr self"))
    result = project("lint", "pkg/ops.yaml", "other/ops.yaml")
    assert result.exit_code == 1 and "E0307" in result.stderr and "no errors" in result.stdout


def test_a_code_is_explained_in_spite_of_errors_in_the_settings(project: Opgen) -> None:
    Path("opgen.toml").write_text("x = 1\n")
    assert project("explain", "E0925").exit_code == 0


def test_a_change_of_the_settings_is_a_change_of_the_inputs(project: Opgen) -> None:
    """Protects an incremental build: the settings are among the files that CMake watches."""
    arguments = ("generate", "pkg/ops.yaml", "-o", "tree")
    assert "0 unchanged" in project(*arguments).stdout
    assert " 0 written" in project(*arguments).stdout
    assert "pkg/pyproject.toml\n" in project(*arguments, "--list-inputs").stdout
    Path("pkg/pyproject.toml").write_text(_SETTINGS.replace("torch", "runtime"))
    assert " 0 written" not in project(*arguments).stdout


def test_check_follows_the_target_of_the_folder(project: Opgen) -> None:
    Path("pkg/pyproject.toml").unlink()
    arguments = ("pkg/ops.yaml", "-o", "tree")
    assert project("generate", *arguments, "--target", "torch").exit_code == 0
    assert project("check", *arguments).exit_code == 0
    assert project("check", *arguments, "--target", "runtime").exit_code == 1


def test_the_command_that_check_prints_is_one_that_works(project: Opgen) -> None:
    """Protects it from the settings, which would replace the defaults that an option of the folder has."""
    made = ("pkg/ops.yaml", "-o", "tree", "--target", "runtime", "--no-python")
    assert project("generate", *made).exit_code == 0
    told = project("check", "pkg/ops.yaml", "-o", "tree").stderr.splitlines()[-1].split()
    assert told[:2] == ["opgen", "check"] and {"--no-python", "runtime"} <= set(told)
    assert project(*told[1:]).exit_code == 0


def test_verify_follows_the_settings_and_the_built_folder(
    project: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs then needs a compiled library, as the tests of `opgen verify` have it."""
    seen: list[tuple[Any, dict[str, Any]]] = []

    def run(files: Any, **options: Any) -> None:
        seen.append((files, options))
        raise OpgenError(())

    monkeypatch.setattr(verify_module, "run", run)
    monkeypatch.chdir("pkg")
    assert project("generate").exit_code == 0
    package = Path("build/tree/cmake-build/python/mylib")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    project("verify")
    files, options = seen.pop()
    assert (files, options["target"], options["load"]) == ((Path("ops.yaml"),), "torch", ("mylib",))
    # The folder was built for another target than the settings name now.
    Path("pyproject.toml").write_text(_SETTINGS.replace('"torch"', '"runtime"'))
    project("verify", "ops.yaml", "--build", "build/tree")
    assert seen.pop()[1]["target"] == "torch"
    project("verify", "ops.yaml", "--load", "mylib")
    assert seen.pop()[1]["target"] == "runtime"


def test_cmake_reads_the_settings(project: Opgen) -> None:
    """Absolute paths, whatever folder CMake runs opgen in; nothing where there are no settings."""
    folder = Path("pkg").absolute()
    assert project("--cmake-settings", "pkg").stdout == (
        f"set(settings_FILE [==[{folder}/pyproject.toml]==])\n"
        f"set(settings_YAML [==[{folder}/ops.yaml]==])\n"
        "set(settings_OPGEN_TARGET [==[torch]==])\n"
        "set(settings_PYTHON [==[TRUE]==])\n"
    )
    Path("pkg/pyproject.toml").write_text("")
    assert project("--cmake-settings", "pkg").stdout == ""


_CMAKE = """\
cmake_minimum_required(VERSION 3.24)
project(own LANGUAGES CXX)
find_package(opgen REQUIRED CONFIG)
opgen_add_operators(own)
opgen_add_operators(given YAML ops.yaml NAME given)
"""


@pytest.mark.slow
def test_cmake_takes_the_settings_as_defaults(tmp_path: Path) -> None:
    """An argument wins; without YAML, the whole library is the project's. An error in the settings ends CMake."""
    source = tmp_path / "pkg"
    source.mkdir()
    (source / "ops.yaml").write_text(_YAML)
    (source / "CMakeLists.txt").write_text(_CMAKE)
    settings = source / "pyproject.toml"
    settings.write_text('[tool.opgen]\nyaml = "ops.yaml"\nname = "mine"\n')
    build = Build(source, tmp_path / "build", "Ninja")
    build.configure()
    names = [header(f"{build.folder}/opgen-{target}")["name"] for target in ("own", "given")]
    assert names == ["mine", "given"]
    settings.write_text('[tool.opgen]\nymal = "ops.yaml"\n')
    done = build.try_build()
    assert done.returncode != 0 and "did you mean 'yaml'?" in done.stdout
