"""`--backend-yaml`, `--impl-path` and `--select` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from cli_support import Opgen, snapshot

BACKEND = "backend: XLA\ncpp_namespace: xla_kernels\nsupported: [add, neg]\n"
SELECTIVE = "operators:\n  aten::neg: {}\nkernel_metadata:\n  neg_cpu: [Float]\n"
CLASS = "xla_kernels::XLANativeFunctions"


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def test_a_backend_is_part_of_the_library(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND)
    result = opgen("generate", "good.yaml", "--backend-yaml", "xla.yaml", "-o", "out")
    assert result.exit_code == 0, result.stderr
    made = snapshot("out")
    rows = " ".join(made["src/RegisterXLA.cpp"][0].split())
    assert f"opgen::kernel<at::_ops::neg>({CLASS}::neg)," in rows
    assert f"FromFunctional<at::_ops::add_out, at::_ops::add, &{CLASS}::add" in rows
    assert {"src/RegisterCPU.cpp", "stubs/XLAStubs.cpp", "src/Operators.cpp"} <= made.keys()
    assert "stubs/XLAStubs.cpp" in made["CMakeLists.txt"][0]


def test_a_backend_of_an_extended_library_is_a_library(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND)
    opgen("generate", "good.yaml", "-o", "base")
    extends = ["--extends", "base/opgen_manifest.json"]
    result = opgen("generate", "good.yaml", *extends, "--backend-yaml", "xla.yaml", "-o", "out")
    assert (result.exit_code, result.stderr) == (0, "")
    assert snapshot("out").keys() == {
        *("CMakeLists.txt", "opgen_manifest.json", "include/xla/XLANativeFunctions.h"),
        *("src/RegisterXLA.cpp", "stubs/XLAStubs.cpp"),
    }
    manifest = json.loads(Path("out/opgen_manifest.json").read_text())
    assert (manifest["name"], manifest["tensor"]) == ("xla", "")
    assert manifest["operators"] == {}


def test_a_kernel_for_an_operator_that_the_extended_library_lacks(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND)
    write("selective.yaml", SELECTIVE)
    opgen("generate", "good.yaml", "--select", "selective.yaml", "-o", "base")
    extends = ["--extends", "base/opgen_manifest.json"]
    result = opgen("generate", "good.yaml", *extends, "--backend-yaml", "xla.yaml", "-o", "out")
    assert result.exit_code == 1 and "E0909" in result.stderr and "'aten::add'" in result.stderr


def test_kernels_that_are_not_implemented(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND)
    write("kernels.cpp", "Tensor XLANativeFunctions::neg(const Tensor& self) {}\n")
    given = ["good.yaml", "--backend-yaml", "xla.yaml", "--impl-path", "kernels.cpp"]
    result = opgen("lint", *given)
    assert result.exit_code == 1 and "kernels.cpp has 0 definitions" in result.stderr
    write("kernels.cpp", "XLANativeFunctions::neg() {}\nXLANativeFunctions::add() {}\n")
    assert opgen("lint", *given).exit_code == 0
    missing = opgen("lint", *given[:-1], "nowhere.cpp")
    assert missing.exit_code == 1 and "E0905" in missing.stderr


def test_backend_files_that_are_wrong_are_reported_by_every_command(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND.replace("neg", "nag"))
    for command in (["lint"], ["dump"], ["generate", "-o", "out"], ["check", "-o", "out"]):
        result = opgen(*command, "good.yaml", "--backend-yaml", "xla.yaml")
        assert result.exit_code == 1 and result.stderr.count("E0808]") == 1, command
    assert not Path("out").exists()


def test_lints_cover_only_the_authors_own_files(opgen: Opgen) -> None:
    """Protects against 200 warnings about PyTorch's own file, which is only the base of the backend."""
    schema = (
        "foo.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n  dispatch: {CPU: foo_out}\n"
    )
    functional = "foo(Tensor self) -> Tensor\n  dispatch: {CPU: foo}\n"
    for name, namespace in (("base", "aten"), ("own", "mine")):
        entries = f"- func: {namespace}::{functional}- func: {namespace}::{schema}"
        entries = entries if namespace == "aten" else entries.replace("foo", "bar")
        # One comment silences a warning that the entry has; the other silences none.
        allow = "# opgen: allow(W1005)\n# opgen: allow(W1002) none is there\n\n"
        write(f"{name}.yaml", allow + entries)
    write("xla.yaml", "backend: XLA\ncpp_namespace: xla_kernels\nsupported: [foo]\nautograd:\n")
    backend = ("--backend-yaml", "xla.yaml")
    alone = opgen("lint", "base.yaml")
    assert "W1015]" in alone.stderr and alone.exit_code == 0
    beside = opgen("lint", "base.yaml", *backend)
    assert (beside.exit_code, beside.stderr) == (0, "")
    both = opgen("lint", "base.yaml", "own.yaml", "--name", "both", *backend)
    assert "own.yaml" in both.stderr and "base.yaml" not in both.stderr, both.stderr


def test_skeletons_of_a_backend_are_in_its_namespace(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND)
    text = opgen("stub", "neg", "good.yaml", "--backend-yaml", "xla.yaml").stdout
    assert "namespace xla_kernels {\n" in text
    assert "Tensor XLANativeFunctions::neg(const opgen::Tensor& self) {\n" in text


def test_unselected_operators_are_neither_compiled_nor_registered(opgen: Opgen) -> None:
    write("selective.yaml", SELECTIVE)
    result = opgen("generate", "good.yaml", "--select", "selective.yaml", "-o", "out")
    assert result.exit_code == 0, result.stderr
    made = snapshot("out")
    sources = {path: text for path, (text, _) in made.items() if path.endswith(".cpp")}
    assert not [path for path, text in sources.items() if "_ops::add" in text]
    assert "aten::neg" in made["opgen_manifest.json"][0]
    assert '"aten::add"' not in made["opgen_manifest.json"][0]
    assert "include/aten/ops/add.h" in made and "include/aten/SelectedDtypes.h" in made
    assert "inline void impl" in made["include/aten/ops/add_native.h"][0]


def test_several_selections_are_one(opgen: Opgen) -> None:
    write("one.yaml", "operators: {aten::neg: {}}\n")
    write("two.yaml", "- aten::add\n")
    selects = ["--select", "one.yaml", "--select", "two.yaml"]
    rows = opgen("dump", "good.yaml", *selects, "--stage", "registrations").stdout
    cpu = {row["name"] for row in json.loads(rows) if row["key"] == "CPU"}
    assert cpu == {"aten::add", "aten::add.out", "aten::neg"}


def test_a_selection_of_everything_changes_nothing(opgen: Opgen) -> None:
    write("all.yaml", "include_all_operators: true\n")
    opgen("generate", "good.yaml", "-o", "plain")
    opgen("generate", "good.yaml", "--select", "all.yaml", "-o", "all")
    plain, everything = snapshot("plain"), snapshot("all")
    # The manifest says which options the folder was made with.
    assert "all.yaml" in everything.pop("opgen_manifest.json")[0]
    plain.pop("opgen_manifest.json")
    assert {p: t for p, (t, _) in plain.items()} == {p: t for p, (t, _) in everything.items()}


def test_a_depfile_names_both_files(opgen: Opgen) -> None:
    write("xla.yaml", BACKEND)
    write("selective.yaml", SELECTIVE)
    given = ["--backend-yaml", "xla.yaml", "--select", "selective.yaml", "--depfile", "d"]
    opgen("generate", "good.yaml", *given, "-o", "out")
    assert "xla.yaml" in Path("d").read_text() and "selective.yaml" in Path("d").read_text()
