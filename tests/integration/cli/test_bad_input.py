"""Whatever is wrong with the input or the command: diagnostics, the right exit code, nothing written, no traceback."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cli_support import Opgen
from click.testing import CliRunner

from opgen.cli.main import main

EVERY_COMMAND = (
    ("generate", "bad.yaml", "-o", "out"),
    ("check", "bad.yaml", "-o", "out"),
    ("build", "bad.yaml", "-o", "out"),
    ("lint", "bad.yaml"),
    ("dump", "bad.yaml"),
    ("explain", "add", "bad.yaml"),
    ("stub", "add", "bad.yaml"),
)

EXPECTED = """\
error[E0307]: unknown type 'Tensr'
 --> bad.yaml:1:13
  |
1 | - func: add(Tensr self) -> Tensor
  |             ^^^^^ did you mean 'Tensor'?
  = note: opgen explain E0307

error[E0209]: unknown dispatch key 'CPO'
 --> bad.yaml:5:5
  |
5 |     CPO: neg_cpu
  |     ^^^ did you mean 'CPU'?
  = note: opgen explain E0209
"""


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=lambda command: command[0])
def test_every_problem_is_reported_with_its_place(opgen: Opgen, command: tuple[str, ...]) -> None:
    before = sorted(Path.cwd().rglob("*"))
    result = opgen(*command)
    assert (result.exit_code, result.stdout) == (1, "")
    counts = "\n2 errors in 1 file; 2 can be fixed with --fix\n" if command[0] == "lint" else ""
    assert result.stderr == EXPECTED + counts
    assert sorted(Path.cwd().rglob("*")) == before


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("no-such-command",),
        ("generate",),
        ("generate", "good.yaml"),
        ("generate", "good.yaml", "-o", "out", "--shards", "0"),
        ("generate", "good.yaml", "-o", "out", "--target", "nothing"),
        ("lint", "good.yaml", "--format", "nothing"),
        ("dump", "good.yaml", "--stage", "nothing"),
        ("explain",),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(opgen: Opgen, command: tuple[str, ...]) -> None:
    result = opgen(*command)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr or "--help' explains the command line" in result.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("lint", "nothing.yaml"), "E0905"),
        (("lint", "."), "E0905"),
        (("lint", "good.yaml", "--tags", "nothing.yaml"), "E0905"),
        (("lint", "good.yaml", "--ignore-keys", "CPO"), "E0908"),
        (("dump", "good.yaml", "--op", "ad"), "E0908"),
        (("explain", "ad", "good.yaml"), "E0908"),
        (("stub", "ad", "good.yaml"), "E0908"),
        (("generate", "good.yaml", "-o", "good.yaml"), "E0901"),
        (("generate", "good.yaml", "-o", "out", "--extends", "nothing.json"), "E0905"),
        (("generate", "good.yaml", "-o", "out", "--extends", "good.yaml"), "E0902"),
        (("build", "good.yaml", "-o", "out", "--kernels", "nothing"), "E0905"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_missing_name_is_an_error(opgen: Opgen, command: tuple[str, ...], code: str) -> None:
    result = opgen(*command)
    assert result.exit_code == 1
    assert f"error[{code}]" in result.stderr
    assert not Path("out").exists()


def test_problems_of_all_files_are_reported_in_one_run(opgen: Opgen) -> None:
    Path("worse.yaml").write_text("- func: sub(Tensor self) -> Tensr\n")
    result = opgen("lint", "bad.yaml", "good.yaml", "worse.yaml")
    assert result.exit_code == 1
    # Two of them: the operator in bad.yaml is also defined in good.yaml.
    assert result.stderr.count("error[") == 5
    assert "bad.yaml:1:13" in result.stderr and "worse.yaml:1:29" in result.stderr


def test_machine_formats(opgen: Opgen) -> None:
    lines = opgen("lint", "bad.yaml", "--format", "json").stdout.splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["E0307", "E0209"]
    lines = opgen("lint", "bad.yaml", "--format", "github").stdout.splitlines()
    assert ["::error " in line and "file=bad.yaml,line=" in line for line in lines] == [True, True]
    sarif = json.loads(opgen("lint", "bad.yaml", "--format", "sarif").stdout)
    assert [r["ruleId"] for r in sarif["runs"][0]["results"]] == ["E0307", "E0209"]


@pytest.mark.parametrize("seed", range(20))
def test_damaged_files_never_end_in_a_traceback(opgen: Opgen, seed: int) -> None:
    source = random.Random(seed)
    data = bytearray(Path("good.yaml").read_bytes())
    for _ in range(source.randint(1, 8)):
        place = source.randrange(len(data))
        data[place : place + source.randint(0, 3)] = source.randbytes(source.randint(0, 3))
    Path("damaged.yaml").write_bytes(data)
    result = opgen("generate", "damaged.yaml", "-o", "out")
    assert result.exit_code in (0, 1)
    assert Path("out").exists() == (result.exit_code == 0)
    assert (result.exit_code == 1) == ("error[" in result.stderr)


@pytest.mark.parametrize("text", ["", "[]", "{}", "- 1", "- - -", "\x00", "- func: ", "%", "&a *a"])
def test_strange_files(opgen: Opgen, text: str) -> None:
    Path("strange.yaml").write_text(text)
    result = opgen("lint", "strange.yaml")
    assert result.exit_code in (0, 1)
    assert (result.exit_code == 1) == ("error[" in result.stderr)


@pytest.mark.parametrize("module", ["../../../victim", "nn\nimport os", "/tmp/victim", "a/b"])
def test_a_python_module_names_no_other_file(tmp_path: Path, module: str) -> None:
    """The name becomes part of the path of a stub, and of text in another file."""
    yaml = tmp_path / "a" / "b" / "c" / "native_functions.yaml"
    yaml.parent.mkdir(parents=True)
    entry = f"- func: lib::f(Tensor self) -> Tensor\n  python_module: {json.dumps(module)}\n"
    yaml.write_text(entry)
    victim = tmp_path / "a" / "victim.pyi"
    victim.write_text("mine")
    out = yaml.parent / "out"
    for target in ("runtime", "torch"):
        result = CliRunner().invoke(
            main, ["generate", str(yaml), "-o", str(out), "--python", "--target", target]
        )
        assert (result.exit_code, "E0226" in result.stderr) == (1, True), result.stderr
    assert victim.read_text() == "mine" and not out.exists()


@pytest.mark.parametrize("name", ["default", "private", "Tensor", "int64_t", "lambda", "NULL"])
def test_an_argument_named_like_a_cpp_keyword_with_an_out_variant(
    tmp_path: Path, name: str
) -> None:
    yaml = tmp_path / "native_functions.yaml"
    yaml.write_text(
        f"- func: lib::f(Tensor self, int {name}=1) -> Tensor\n"
        f"- func: lib::f.out(Tensor self, int {name}=1, *, Tensor(a!) out) -> Tensor(a!)\n"
    )
    result = CliRunner().invoke(main, ["generate", str(yaml), "-o", str(tmp_path), "--python"])
    assert result.exit_code == 0, result.output
