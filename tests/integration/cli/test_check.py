"""`opgen check`: exit code 1 and a unified diff of every file that differs from what would be generated."""

from __future__ import annotations

from pathlib import Path

from cli_support import ENTRY, Opgen, snapshot


def test_up_to_date(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    before = snapshot("out")
    result = opgen("check", "good.yaml", "-o", "out")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "out: up to date\n", "")
    assert snapshot("out") == before


def test_a_stale_file_is_shown_as_a_diff(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    file = Path("out/src/RegisterCPU.cpp")
    row = "    opgen::kernel(at::cpu::opgen_kernel_neg),\n"
    file.write_text(file.read_text().replace(row, "    // edited\n"))
    result = opgen("check", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert (
        "--- src/RegisterCPU.cpp (on disk)\n+++ src/RegisterCPU.cpp (generated)\n" in result.stdout
    )
    assert f"\n-    // edited\n+{row}" in result.stdout
    assert "1 file differs; run opgen generate" in result.stderr


def test_a_missing_file_is_named(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    Path("out/src/RegisterCPU.cpp").unlink()
    result = opgen("check", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert "missing: src/RegisterCPU.cpp\n" in result.stdout


def test_a_left_over_file_is_named(opgen: Opgen) -> None:
    yaml = Path("good.yaml")
    alone = yaml.read_text()
    yaml.write_text(alone + ENTRY)
    opgen("generate", "good.yaml", "-o", "out")
    yaml.write_text(alone)
    result = opgen("check", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert "left over: include/aten/ops/extra.h\n" in result.stdout


def test_an_edited_yaml_is_stale(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    yaml = Path("good.yaml")
    yaml.write_text(yaml.read_text() + "  tags: core\n")
    result = opgen("check", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert "+++ src/RegisterSchema.cpp (generated)" in result.stdout


def test_nothing_generated_yet(opgen: Opgen) -> None:
    result = opgen("check", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert "missing: opgen_manifest.json\n" in result.stdout
    assert not Path("out").exists()


def test_bad_input_is_reported_and_no_diff(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    result = opgen("check", "bad.yaml", "-o", "out")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "E0307" in result.stderr


def test_other_options_than_the_folder_was_made_with_are_named(opgen: Opgen) -> None:
    """Protects authors who forget --python: the message says what the folder was made with, and what to type."""
    opgen("generate", "good.yaml", "-o", "out", "--python", "--shards", "2")
    result = opgen("check", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert "the folder was made with --shards 2 --python, unlike this run" in result.stderr
    command = result.stderr.splitlines()[-1]
    assert command == (
        "  opgen check good.yaml -o out --namespace aten --shards 2 --python"
    ), result.stderr
    assert opgen(*command.split()[1:]).stdout == "out: up to date\n"


def test_options_that_the_folder_was_made_without_are_named(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    result = opgen("check", "good.yaml", "-o", "out", "--python")
    assert "the folder was made without --python, unlike this run" in result.stderr
    assert opgen(*result.stderr.splitlines()[-1].split()[1:]).exit_code == 0
