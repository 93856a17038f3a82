"""`opgen compat`: its output, its exit codes, and the allow-list."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cli_support import GOOD, Opgen

from support.build import REPOSITORY


def _write_new(old: str, new: str) -> None:
    Path("new.yaml").write_text(GOOD.replace(old, new))


def test_equal_files(opgen: Opgen) -> None:
    result = opgen("compat", "good.yaml", "good.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "3 operators before, 3 now: 0 breaks of 0 operators\n"
    assert opgen("compat", "good.yaml", "good.yaml", "--format", "json").stdout == ""


def test_human(opgen: Opgen) -> None:
    _write_new("neg(Tensor self)", "neg(Tensor self, int n)")
    result = opgen("compat", "good.yaml", "new.yaml")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout == (
        "error[E1107]: aten::neg: new argument 'n' has no default\n"
        "  --> new.yaml:11:26\n"
        "   |\n"
        "11 | - func: neg(Tensor self, int n) -> Tensor\n"
        "   |                          ^^^^^\n"
        "  ::: good.yaml:11:9\n"
        "   |\n"
        "11 | - func: neg(Tensor self) -> Tensor\n"
        "   |         --- before\n"
        "   = note: opgen explain E1107\n"
        "\n"
        "3 operators before, 3 now: 1 break of 1 operator\n"
    )


def test_the_example_of_the_guide(opgen: Opgen) -> None:
    """Protects who tries the first example: the page's file gives the page's output."""
    page = (REPOSITORY / "docs/guides/versions.md").read_text()
    yaml, _, printed = re.findall(r"^```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[:3]
    Path("native_functions.yaml").write_text(yaml)
    Path("old.yaml").write_text(yaml.replace(", int n", ""))
    result = opgen("compat", "old.yaml", "native_functions.yaml")
    assert (result.stdout, result.stderr, result.exit_code) == (printed, "", 1)


def test_json_and_github(opgen: Opgen) -> None:
    _write_new("neg(Tensor self)", "neg(Tensor self, int n)")
    found = json.loads(opgen("compat", "good.yaml", "new.yaml", "--format", "json").stdout)
    assert (found["operator"], found["kind"]) == ("aten::neg", "new_argument_without_default")
    assert (found["old"], found["new"], found["directions"]) == ("", "int n", ["backward"])
    assert (found["new_span"]["path"], found["new_span"]["line"]) == ("new.yaml", 11)
    github = opgen("compat", "good.yaml", "new.yaml", "--format", "github")
    assert github.exit_code == 1
    assert github.stdout.startswith("::error title=E1107,file=new.yaml,line=11,col=26,")


def test_a_report_of_many_breaks_is_complete(opgen: Opgen) -> None:
    """More breaks than the errors after which opgen stops reading a file: all of them, in each format."""
    names = [f"f{number}" for number in range(1500)]
    Path("old.yaml").write_text("".join(f"- func: {n}(Tensor self) -> Tensor\n" for n in names))
    Path("new.yaml").write_text("- func: f0(Tensor self) -> Tensor\n")
    for form, row in {"human": "error[E1101]", "json": "{", "github": "::error"}.items():
        result = opgen("compat", "old.yaml", "new.yaml", "--format", form)
        rows = [line for line in result.stdout.splitlines() if line.startswith(row)]
        assert (result.exit_code, len(rows)) == (1, 1499), result.stderr
    assert "E0911" not in result.stdout


def test_forward(opgen: Opgen) -> None:
    _write_new("neg(Tensor self)", "neg(Tensor self, int[] n=[1])")
    assert opgen("compat", "good.yaml", "new.yaml").exit_code == 0
    result = opgen("compat", "good.yaml", "new.yaml", "--forward")
    assert result.exit_code == 1 and "error[E1108]" in result.stdout


def test_allow_list(opgen: Opgen) -> None:
    _write_new("neg(Tensor self)", "neg(Tensor self, int n)")
    Path("allowed.txt").write_text("neg  # on purpose\n")
    result = opgen("compat", "good.yaml", "new.yaml", "--allow", "allowed.txt")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("0 breaks of 0 operators, 1 more allowed\n")
    Path("allowed.txt").write_text("neg 2001-01-01\nadd\n")
    result = opgen("compat", "good.yaml", "new.yaml", "--allow", "allowed.txt")
    assert result.exit_code == 1
    assert "warning[W1151]" in result.stderr and "warning[W1152]" in result.stderr


def test_input_that_cannot_be_read(opgen: Opgen) -> None:
    for arguments in (
        ("bad.yaml", "good.yaml"),
        ("good.yaml", "bad.yaml"),
        ("good.yaml", "none.yaml"),
        ("good.yaml", "good.yaml", "--allow", "none.txt"),
    ):
        result = opgen("compat", *arguments)
        assert (result.exit_code, result.stdout) == (1, "") and "error[" in result.stderr


def test_codes_are_explained(opgen: Opgen) -> None:
    text = opgen("explain", "E1110").stdout
    assert text.startswith("E1110: the type of an argument changed") and "# OLD" in text
