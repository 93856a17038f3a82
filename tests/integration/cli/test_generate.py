"""`opgen generate`: the files that it writes, those that it leaves alone, and its output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import ENTRY, GOOD, Opgen, snapshot


def test_writes_the_tree_and_reports_the_number_of_files(opgen: Opgen) -> None:
    result = opgen("generate", "good.yaml", "-o", "out")
    count = len(snapshot("out")) - 1
    assert (result.exit_code, result.stdout) == (0, f"out: {count} written, 0 unchanged\n")
    manifest = json.loads(Path("out/opgen_manifest.json").read_text())
    assert sorted(manifest["files"]) == sorted(set(snapshot("out")) - {"opgen_manifest.json"})
    assert (manifest["name"], manifest["target"]) == ("aten", "runtime")
    assert sorted(manifest["operators"]) == ["aten::add", "aten::add.out", "aten::neg"]


def test_a_second_run_writes_nothing(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    before = snapshot("out")
    assert " 0 written" in opgen("generate", "good.yaml", "-o", "out").stdout
    assert snapshot("out") == before


def test_an_edit_touches_only_what_depends_on_it(opgen: Opgen) -> None:
    # An operator that C++ has no symbol for: `neg` would have an operator on class Tensor.
    yaml = Path("good.yaml")
    yaml.write_text(yaml.read_text().replace("neg(Tensor self)", "turn(Tensor self)"))
    opgen("generate", "good.yaml", "-o", "out")
    before = snapshot("out")
    yaml.write_text(yaml.read_text().replace("turn(Tensor self)", "turn(Tensor self, int n=1)"))
    opgen("generate", "good.yaml", "-o", "out")
    changed = {path for path, seen in snapshot("out").items() if before.get(path) != seen}
    assert not {path for path in changed if "/add" in path}
    assert "include/aten/TensorBody.h" not in changed
    assert "src/TensorMethods.cpp" not in changed
    assert {"include/aten/ops/turn.h", "include/aten/ops/turn_ops.h"} <= changed
    assert "src/RegisterMeta.cpp" not in changed


def test_files_of_a_removed_entry_are_removed(opgen: Opgen) -> None:
    yaml = Path("good.yaml")
    alone = yaml.read_text()
    opgen("generate", "good.yaml", "-o", "alone")
    yaml.write_text(alone + ENTRY)
    opgen("generate", "good.yaml", "-o", "out")
    Path("out/mine.txt").write_text("mine")
    yaml.write_text(alone)
    assert "removed" in opgen("generate", "good.yaml", "-o", "out").stdout
    left = {path: text for path, (text, _) in snapshot("out").items()}
    assert left.pop("mine.txt") == "mine"
    assert left == {path: text for path, (text, _) in snapshot("alone").items()}


def test_a_users_file_is_not_overwritten(opgen: Opgen) -> None:
    Path("out/src").mkdir(parents=True)
    Path("out/src/Operators.cpp").write_text("mine")
    result = opgen("generate", "good.yaml", "-o", "out")
    assert result.exit_code == 1
    assert "E0901" in result.stderr
    assert set(snapshot("out")) == {"src/Operators.cpp"}


def test_list_outputs_writes_nothing(opgen: Opgen) -> None:
    result = opgen("generate", "good.yaml", "-o", "out", "--list-outputs")
    assert result.exit_code == 0
    assert not Path("out").exists()
    opgen("generate", "good.yaml", "-o", "out")
    assert result.stdout.splitlines() == sorted(f"out/{path}" for path in snapshot("out"))


def test_depfile_names_the_files_that_were_read(opgen: Opgen) -> None:
    Path("a folder").mkdir()
    Path("good.yaml").rename("a folder/good.yaml")
    Path("tags.yaml").write_text("- tag: core\n  desc: all\n")
    result = opgen(
        *("generate", "a folder/good.yaml", "--tags", "tags.yaml", "-o", "out"),
        *("--depfile", "deps/out.d"),
    )
    assert result.exit_code == 0, result.stderr
    text = Path("deps/out.d").read_text()
    assert text.startswith("out/opgen_manifest.json: a\\ folder/good.yaml tags.yaml /")
    own = {Path(path).name for path in text.split()[4:]}
    assert {"RegisterKey.cpp.j2", "root_ops.h.j2", "key_readers.py", "types.txt"} <= own


def test_list_inputs_names_the_files_that_a_run_reads(opgen: Opgen) -> None:
    """Protects build systems without depfiles: the same files, with absolute paths for opgen's own."""
    Path("tags.yaml").write_text("- tag: core\n  desc: all\n")
    listed = opgen("generate", "good.yaml", "-o", "out", "--list-inputs").stdout.splitlines()
    assert not Path("out").exists()
    opgen("generate", "good.yaml", "-o", "out", "--depfile", "out.d")
    assert listed == Path("out.d").read_text().partition(": ")[2].split()
    assert listed[:2] == ["good.yaml", "tags.yaml"] and all(map(os.path.isfile, listed))


def test_the_output_list_is_touched_only_when_files_come_or_go(opgen: Opgen) -> None:
    """Protects what CMake depends on: an edit that adds and removes no files does not change the list."""
    run = ("generate", "good.yaml", "-o", "out", "--output-list", "lists/out", "--depfile", "d")
    assert opgen(*run).exit_code == 0
    listed = Path("lists/out")
    assert listed.read_text().splitlines() == sorted(snapshot("out"))
    assert Path("d").read_text().startswith("lists/out out/opgen_manifest.json: good.yaml ")
    os.utime(listed, (1, 1))
    yaml = Path("good.yaml")
    yaml.write_text(yaml.read_text().replace("CPU: neg_cpu", "CPU: negated_cpu"))
    assert opgen(*run).exit_code == 0
    assert listed.stat().st_mtime == 1
    yaml.write_text(yaml.read_text() + ENTRY)
    assert opgen(*run).exit_code == 0
    text = listed.read_text()
    assert "src/RegisterSparseCPU.cpp" in text.splitlines()
    listed.unlink()
    assert "0 written" in opgen(*run).stdout  # From the stamp.
    assert listed.read_text() == text


def test_tags_next_to_the_yaml_are_read(opgen: Opgen) -> None:
    yaml = Path("good.yaml")
    yaml.write_text(yaml.read_text() + "  tags: mine\n")
    result = opgen("generate", "good.yaml", "-o", "out")
    assert result.exit_code == 1 and "E0208" in result.stderr
    Path("tags.yaml").write_text("- tag: mine\n  desc: of ours\n")
    assert opgen("generate", "good.yaml", "-o", "out").exit_code == 0


def test_formulas_next_to_the_yaml_are_read(opgen: Opgen) -> None:
    """Their errors are errors of the run, and build systems and later runs know the file."""
    formulas = Path("derivatives.yaml")
    unknown = "- name: no_such_operator(Tensor x) -> Tensor\n  x: grad\n"
    formulas.write_text(unknown + unknown.replace("no_such", "nor_this"))
    for command in ("generate", "check"):
        result = opgen(command, "good.yaml", "-o", "out")
        assert result.exit_code == 1 and "E1210" in result.stderr
        assert result.stderr.count("'derivatives.yaml' is read because") == 1
    formulas.write_text("[]\n")
    run = ("generate", "good.yaml", "-o", "out", "--depfile", "out.d")
    assert opgen(*run).exit_code == 0
    assert ": good.yaml derivatives.yaml " in Path("out.d").read_text()
    formulas.write_text("- namespace: 3\n")
    assert opgen(*run).exit_code == 1
    Path("other.yaml").write_text("[]\n")
    assert opgen(*run, "--derivatives", "other.yaml").exit_code == 0
    Path("other.yaml").write_text(unknown)
    named = opgen(*run, "--derivatives", "other.yaml")
    assert named.exit_code == 1 and "is read because" not in named.stderr


def test_a_warning_is_an_error_only_if_denied(opgen: Opgen) -> None:
    opgen("generate", "good.yaml", "-o", "out")
    Path("more.yaml").write_text(
        "- func: more::f(Tensor self) -> Tensor\n  variants: function, method\n"
    )
    extending = ("generate", "more.yaml", "--extends", "out/opgen_manifest.json", "-o", "more")
    denied = opgen(*extending, "--deny-warnings")
    assert denied.exit_code == 1
    assert "warning[" in denied.stderr
    assert not Path("more").exists()
    allowed = opgen(*extending)
    assert allowed.exit_code == 0
    assert "warning[" in allowed.stderr
    text = Path("more/include/more/TensorBody.h").read_text()
    assert "using at::Tensor;" in text and "class Tensor :" not in text


@pytest.mark.parametrize("shards", ["1", "3"])
def test_shards_hold_every_operator_once(opgen: Opgen, shards: str) -> None:
    assert opgen("generate", "good.yaml", "-o", "out", "--shards", shards).exit_code == 0
    text = "".join(path.read_text() for path in Path("out/src").glob("RegisterCPU*.cpp"))
    assert text.count("opgen::kernel(") == 3
    assert text.count("opgen::kernel(at::cpu::opgen_kernel_neg)") == 1


def test_backends_and_ignored_keys_omit_rows(opgen: Opgen) -> None:
    assert opgen("generate", "good.yaml", "-o", "meta", "--ignore-keys", "CPU").exit_code == 0
    assert not Path("meta/src/RegisterCPU.cpp").exists()
    assert Path("meta/src/RegisterMeta.cpp").exists()
    assert opgen("generate", "good.yaml", "-o", "cpu", "--backends", "CPU").exit_code == 0
    assert Path("cpu/src/RegisterCPU.cpp").exists()


def test_two_namespaces_need_a_name(opgen: Opgen) -> None:
    yaml = Path("good.yaml")
    yaml.write_text(yaml.read_text() + ENTRY.replace("func: ", "func: mine::"))
    result = opgen("generate", "good.yaml", "-o", "out")
    assert result.exit_code == 1 and "E0906" in result.stderr
    assert opgen("generate", "good.yaml", "-o", "out", "--name", "both").exit_code == 0
    assert Path("out/include/both/Functions.h").exists()


@pytest.mark.parametrize("command", ["generate", "check", "build"])
def test_an_empty_output_is_not_the_current_folder(opgen: Opgen, command: str) -> None:
    """`-o "$OUT"` passes an empty path if OUT is unset."""
    result = opgen(command, "good.yaml", "-o", "")
    assert result.exit_code == 2 and "the path is empty" in result.stderr
    assert sorted(os.listdir()) == ["bad.yaml", "good.yaml"]


def test_a_structured_operator_without_a_kernel(opgen: Opgen) -> None:
    """Protects authors from a library whose operator no backend can run: every command says so, with the place."""
    text = "\n".join(line for line in GOOD.splitlines() if "CPU: add_out_cpu" not in line)
    text = text.replace("TensorIteratorBase\n  dispatch:", "TensorIteratorBase")
    Path("none.yaml").write_text(text)
    for command in (("lint", "none.yaml"), ("generate", "none.yaml", "-o", "out")):
        result = opgen(*command)
        assert result.exit_code == 0
        assert (
            "warning[W0536]: 'add.out' is structured, but no backend has a kernel" in result.stderr
        )
        assert " --> none.yaml:6:3\n" in result.stderr
    # A row that an option leaves out is not one that the author forgot.
    assert "W0536" not in opgen("lint", "good.yaml", "--ignore-keys", "CPU").stderr
    Path("none.yaml").write_text(f"# opgen: allow(W0536) the device is a plug-in\n\n{text}")
    assert "W0536" not in opgen("generate", "none.yaml", "-o", "out").stderr
