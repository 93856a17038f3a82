"""`lint`, `dump`, `explain`, `stub` and the options of `opgen` itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Opgen

import opgen as package
from support.build import default_compiler


def test_lint_of_good_input(opgen: Opgen) -> None:
    result = opgen("lint", "good.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "3 entries, 3 operators: no errors\n"
    assert not opgen("lint", "good.yaml", "--format", "json").stdout


def test_lint_counts_one_entry_as_one(opgen: Opgen, tmp_path: Path) -> None:
    one = tmp_path / "one.yaml"
    one.write_text("- func: mine::f(Tensor self) -> Tensor\n")
    assert opgen("lint", str(one)).stdout == "1 entry, 1 operator: no errors\n"


def test_lint_ends_with_counts_and_says_when_fix_helps(opgen: Opgen) -> None:
    """Protects the last line of a run: how many problems, in how many files, and what --fix would solve."""
    Path("a.yaml").write_text("- func: mine::f(Tensr self) -> Tensor\n  disptch:\n    CPU: f\n")
    Path("b.yaml").write_text("- func: mine::g(Tensor self) -> Tensor\n  dispatch:\n    CUDA: g\n")
    both = opgen("lint", "a.yaml", "b.yaml")
    assert (both.exit_code, both.stdout) == (1, "")
    assert both.stderr.endswith("\n\n2 errors in 1 file; 2 can be fixed with --fix\n")
    # Lints run only if there are no errors.
    fixed = opgen("lint", "a.yaml", "b.yaml", "--fix")
    assert fixed.stderr.startswith("2 problems fixed\n")
    assert fixed.stdout == "2 entries, 2 operators: no errors, 1 warning in 1 file\n"
    denied = opgen("lint", "b.yaml", "--deny-warnings")
    assert (denied.exit_code, denied.stdout) == (1, "")
    assert denied.stderr.endswith("\n\n1 warning in 1 file\n")
    for form in ("json", "github", "sarif"):
        assert "can be fixed" not in opgen("lint", "a.yaml", "--format", form).output


@pytest.mark.parametrize(
    ("stage", "order"),
    [
        ("model", ("name", "schema")),
        ("registry", ("name", "schema")),
        ("signatures", ("name", "schema")),
        ("registrations", ("key", "name", "schema")),
        ("files", ("path",)),
    ],
)
def test_dump_is_sorted_json(opgen: Opgen, stage: str, order: tuple[str, ...]) -> None:
    result = opgen("dump", "good.yaml", "--stage", stage)
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert rows == sorted(rows, key=lambda row: [row[field] for field in order])
    lines = opgen("dump", "good.yaml", "--stage", stage, "--ndjson").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_dump_names_the_same_stages_in_help_and_in_an_error(opgen: Opgen) -> None:
    """Protects from a stage that only the error of another one shows."""
    error = opgen("dump", "good.yaml", "--stage", "no")
    stages = re.findall("'([a-z]+)'", error.stderr.partition("is not one of")[2].splitlines()[0])
    assert error.exit_code == 2 and len(stages) > 3
    assert f"[{'|'.join(stages)}]" in "".join(opgen("dump", "--help").stdout.split())


def test_dump_of_one_operator(opgen: Opgen) -> None:
    every = json.loads(opgen("dump", "good.yaml").stdout)
    one = json.loads(opgen("dump", "good.yaml", "--op", "add.out").stdout)
    assert one == [row for row in every if row["name"] == "aten::add.out"]
    both = json.loads(opgen("dump", "good.yaml", "--op", "add").stdout)
    assert [row["name"] for row in both] == ["aten::add", "aten::add.out"]


def test_explain_an_operator(opgen: Opgen) -> None:
    text = opgen("explain", "add.out", "good.yaml").stdout
    assert "Tensor::Tensor" not in text
    for part in (
        "PrivateUse1",
        "AutogradCPU",
        "add.out(Tensor self",
        "structured",
        "CPU",
        "because",
        "add_outf",
        "OPGEN_IMPL_FUNC",
    ):
        assert part in text, part


def test_explain_a_code(opgen: Opgen) -> None:
    result = opgen("explain", "E0307")
    assert result.exit_code == 0
    assert result.stdout.startswith("E0307: ")
    assert opgen("explain", "E9999").exit_code == 1


def test_stub_writes_kernels_that_compile(opgen: Opgen) -> None:
    printed = opgen("stub", "good.yaml")
    assert printed.exit_code == 0
    assert printed.stdout.count("OPGEN_META_FUNC(add)(") == 1
    result = opgen("stub", "good.yaml", "-o", "kernels/all.cpp")
    assert result.stdout == "kernels/all.cpp: written\n"
    assert Path("kernels/all.cpp").read_text() == printed.stdout
    opgen("generate", "good.yaml", "-o", "out")
    said = default_compiler().check(
        [Path("out/include")], "-Wno-unused-parameter", "kernels/all.cpp"
    )
    assert not said, said


def test_stub_of_one_operator_covers_its_group(opgen: Opgen) -> None:
    text = opgen("stub", "add", "good.yaml").stdout
    assert "OPGEN_META_FUNC(add)" in text and "OPGEN_IMPL_FUNC(add_out_cpu)" in text
    assert "neg" not in text


def test_stub_does_not_overwrite(opgen: Opgen) -> None:
    Path("mine.cpp").write_text("mine")
    result = opgen("stub", "good.yaml", "-o", "mine.cpp")
    assert result.exit_code == 1 and "E0901" in result.stderr
    assert Path("mine.cpp").read_text() == "mine"


def test_version_help_and_cmake_folder(opgen: Opgen) -> None:
    assert opgen("--version").stdout == f"opgen, version {package.__version__}\n"
    listed = opgen("--help").stdout
    for command in ("build", "check", "dump", "explain", "generate", "lint", "stub"):
        assert command in listed
        assert opgen(command, "--help").exit_code == 0
    folder = Path(opgen("--cmake-dir").stdout.strip())
    assert (folder / "opgenConfig.cmake").is_file()
    headers = Path(opgen("--torch-include-dir").stdout.strip())
    assert (headers / "opgen" / "register.h").is_file()
    assert Path(opgen("--gdb-script").stdout.strip()).is_file()


@pytest.mark.skipif(shutil.which("script") is None, reason="script(1) is not installed")
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"NO_COLOR": ""}, {}])
def test_colour_only_on_a_terminal_and_never_with_no_color(
    opgen: Opgen, variables: dict[str, str]
) -> None:
    # `script` runs the command on a terminal.
    command = "opgen lint bad.yaml"
    shown = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment(), "TERM": "xterm", **variables},
    )
    assert "E0307" in shown.stdout
    assert ("\x1b[" in shown.stdout) == (not variables.get("NO_COLOR"))
    piped = subprocess.run(
        command.split(), capture_output=True, text=True, check=False, env=environment()
    )
    assert piped.returncode == 1
    assert "\x1b[" not in piped.stderr


def environment() -> dict[str, str]:
    beside = str(Path(sys.executable).parent)
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return {**kept, "PATH": f"{beside}{os.pathsep}{kept.get('PATH', '')}"}


def test_lint_for_python(opgen: Opgen) -> None:
    Path("tuple.yaml").write_text("- func: foo(Tensor self) -> (int, int)\n")
    assert opgen("lint", "tuple.yaml").exit_code == 0
    result = opgen("lint", "tuple.yaml", "--python")
    assert result.exit_code == 1 and "error[E0762]" in result.stderr
    assert opgen("lint", "good.yaml", "--python").exit_code == 0


def test_dump_with_python_signatures(opgen: Opgen) -> None:
    rows = json.loads(opgen("dump", "good.yaml", "--extra", "--op", "neg").stdout)
    assert rows[0]["python_signature"] == "neg(Tensor input)"
    assert rows[0]["pyi_signature"] == "def neg(input: Tensor) -> Tensor: ..."


def test_schema_prints_json_schemas(opgen: Opgen) -> None:
    Path("tags.yaml").write_text("- tag: mine\n  desc: My own.\n")
    plain = json.loads(opgen("schema").stdout)
    mine = json.loads(opgen("schema", "--tags", "tags.yaml").stdout)
    tags = mine["items"]["else"]["properties"]["tags"]["anyOf"][0]
    assert (tags["enum"], tags["enumDescriptions"]) == (["mine"], ["My own."])
    assert "pointwise" in plain["items"]["else"]["properties"]["tags"]["anyOf"][0]["enum"]
    assert "namespace" in plain["items"]["then"]["properties"]
    strict = json.loads(opgen("schema", "--strict-torchgen").stdout)
    assert "func" in strict["items"]["properties"] and "then" not in strict["items"]
    assert json.loads(opgen("schema", "tags").stdout)["title"] == "tags.yaml"
    assert "span" in json.loads(opgen("schema", "diagnostics").stdout)["properties"]
    assert opgen("schema", "--tags", "missing.yaml").exit_code == 1
