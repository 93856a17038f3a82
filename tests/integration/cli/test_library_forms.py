"""Every command handles the forms that only libraries use, and prints them correctly."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copyfile

from cli_support import Opgen

FORMS = Path(__file__).parents[2] / "support/library_forms.yaml"


def explained(opgen: Opgen, operator: str, *options: str) -> dict[str, tuple[str, str]]:
    """Return, for each key of the dispatch table, which kernel is called, and why."""
    copyfile(FORMS, "forms.yaml")
    result = opgen("explain", "forms.yaml", "--target", "torch", operator, *options)
    assert result.exit_code == 0, result.stderr
    table = result.stdout.split("\nDispatch\n")[1].split("\n\n")[0].splitlines()
    return {
        row.split()[0]: (row.split(maxsplit=1)[1], reason.strip().removeprefix("because "))
        for row, reason in zip(table[::2], table[1::2], strict=True)
    }


def test_explain_an_operator_that_writes(opgen: Opgen) -> None:
    """With two namespaces, no name of the library is required."""
    table = explained(opgen, "vf::rms_norm")
    assert table["CPU"] == (
        "opgen::Existing<vf::_ops::rms_norm, &::vf::rms_norm>::call",
        "the existing function ::vf::rms_norm",
    )
    assert table["Meta"][0].startswith("opgen::MetaOfWritten<")
    assert table["Autograd"][0] == "opgen::autograd_of_written"
    assert table["ADInplaceOrView"] == ("opgen::count_writes", "reports its writes to autograd")
    assert table["Functionalize"][0] == "nothing"
    # The AutocastCUDA row of nms does not belong to this operator.
    assert "AutocastCUDA" not in table and "AutogradCPU" not in table


def test_explain_twins(opgen: Opgen) -> None:
    table = explained(opgen, "fill_twice")
    assert "opgen_writer_fill_twice" in table["CompositeImplicitAutograd"][1]
    assert table["Functionalize"][0].startswith("opgen::Functionalize<vf::_ops::fill_twice,")
    text = opgen("explain", "forms.yaml", "--target", "torch", "fill_twice").stdout
    hidden = "  opgen_writer_fill_twice(Tensor(a!) x, float value) -> ()\n"
    assert f"Hidden operators\n{hidden}" in text
    table = explained(opgen, "head")
    assert "opgen_copy_head" in table["Functionalize"][1]
    assert table["ADInplaceOrView"][1] == "reports its views to autograd"
    assert "opgen_functional_moments" in explained(opgen, "moments")["Functionalize"][1]


def test_explain_keys_of_libraries(opgen: Opgen) -> None:
    table = explained(opgen, "vf::nms")
    assert table["AutocastCUDA"][1] == "its own kernel nms_autocast"
    assert table["PrivateUse1"][1] == "its own kernel nms_npu"
    assert table["AutogradCPU"] == ("nothing", "Autograd: none: a call goes on to the next key")
    assert "Autograd" not in table
    table = explained(opgen, "blur")
    assert table["Functionalize"] == ("nothing", "none: a call goes on to the next key")
    assert table["AutogradCPU"][1] == "its own kernel blur_autograd"
    table = explained(opgen, "make")
    assert table["BackendSelect"][0] == "opgen::BackendSelect<vf::_ops::make, 1>::call"
    serves = "serves every backend without one of its own"
    what = "CompositeExplicitAutograd: the existing function ::vf::push"
    assert explained(opgen, "push")["CPU"][1] == f"{what} {serves}"


def test_dump_says_where_functions_come_from(opgen: Opgen) -> None:
    result = opgen("dump", str(FORMS), "--target", "torch")
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    existing = rows["vf::rms_norm"]["dispatch"]["CPU"]
    assert (existing["kernel"], existing["source"]) == ("::vf::rms_norm", "existing")
    none = rows["vf::nms"]["dispatch"]["Autograd"]
    assert (none["kernel"], none["source"]) == (None, "fallthrough")
    # A function that exists, or that no row names, need not be declared.
    assert set(rows["vf::rms_norm"]["kernel_decls"]) == {"CUDA"}
    assert "Autograd" not in rows["vf::nms"]["kernel_decls"]
    kinds = json.loads(opgen("dump", str(FORMS), "--target", "torch", "--stage", "files").stdout)
    paths = [file["path"] for file in kinds]
    assert len(set(paths)) == len(paths)


def test_rows_of_autograd_and_functionalize(opgen: Opgen) -> None:
    """They are in Register<Key>Kernels.cpp; Register<Key>.cpp has only generated kernels."""
    result = opgen("generate", str(FORMS), "--name", "forms", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.stderr
    for key, operator in (("Autograd", "nms"), ("Functionalize", "blur")):
        text = Path(f"out/src/Register{key}Kernels.cpp").read_text()
        assert f"OPGEN_LIBRARY_IMPL(vf, {key}, m)" in text
        assert f'm.impl("{operator}", opgen::fallthrough<vf::_ops::{operator}>());' in text
    assert '"nms"' not in Path("out/src/RegisterAutograd.cpp").read_text().split("other")[0]


def test_backends_of_libraries(opgen: Opgen) -> None:
    """Keys that only libraries have: those of other backends are dropped, those for all backends stay."""

    def kept(*options: str) -> set[str]:
        row = opgen("dump", str(FORMS), "--op", "vf::nms", "--stage", "model", *options)
        assert row.exit_code == 0, row.stderr
        return set(json.loads(row.stdout)[0]["dispatch"])

    target = ("--target", "torch")
    assert kept(*target, "--backends", "CPU") == {"CPU", "Autograd"}
    assert kept(*target, "--backends", "PrivateUse1,CUDA") == {
        "PrivateUse1",
        "AutocastCUDA",
        "Autograd",
    }
    everything = kept(*target)
    assert everything - kept(*target, "--ignore-keys", "Autograd, PrivateUse1") == {
        "Autograd",
        "PrivateUse1",
    }
    result = opgen("lint", str(FORMS), *target, "--backends", "PrivateUs1")
    assert result.exit_code == 1 and "did you mean 'PrivateUse1'?" in result.stderr


def test_compat_of_libraries(opgen: Opgen) -> None:
    """Changes that callers of operators in PyTorch notice: names with namespaces, written arguments, classes."""

    def broken(*changes: tuple[str, str]) -> dict[str, str]:
        text = FORMS.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        Path("new.yaml").write_text(text)
        result = opgen("compat", str(FORMS), "new.yaml", "--format", "json")
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.exit_code == bool(rows), result.stderr
        return {row["operator"]: f"{row['code']} {row['message']}" for row in rows}

    assert broken() == {}
    # Callers do not notice the file's layout, C++ and kernels.
    assert broken(("type: ::vf::Queue", "type: ::vf::OtherQueue"), ("::vf::rms_norm", "mine")) == {}
    assert broken(("Tensor! result", "Tensor result")) == {
        "vf::rms_norm": "E1114 argument 'result' is no longer written"
    }
    assert broken(("rotate(Tensor positions", "rotate(Tensor! positions")) == {
        "vf::rotate": "E1114 argument 'positions' is now written"
    }
    assert (
        broken(("classes.vf.Queue q", "classes.vf.Row q"), ("    vf.Queue:", "    vf.Row:"))
        == {
            "vf::push": "E1110 the type of argument 'q' was __torch__.torch.classes.vf.Queue, and is now "
            "__torch__.torch.classes.vf.Row"
        }
        or broken()
    )
    moved = broken(("- namespace: vf\n", "- namespace: vg\n"))
    assert len(moved) == 17 and moved["vf::blur"] == (
        "E1101 operator 'vf::blur' was removed; for callers, 'vg::blur' is another operator"
    )
    # There was already an operator in another namespace.
    gone = broken(
        ("- func: nms(Tensor dets, Tensor scores", "- func: nms2(Tensor dets, Tensor scores")
    )
    assert gone == {"vf::nms": "E1101 operator 'vf::nms' was removed"}
