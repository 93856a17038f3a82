"""`--backend-yaml` with `--target torch`: kernels for PyTorch's own operators, using PyTorch's headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_support import Opgen, snapshot

from support.pytorch import packaged_native_functions

OPERATORS = str(
    Path(__file__).parents[2] / "golden" / "trees" / "external_backend_base" / "input.yaml"
)
BACKEND = """\
backend: PrivateUse1
cpp_namespace: pu1
device_guard: true
use_out_as_primary: true
supported: [total]
structured: [add.out]
structured_own_meta: [cumulate.out]
structured_installed: [mul.out]
out_as_primary: [abs.out]
cpu_fallback: true
"""
TORCH = ("--target", "torch", "--backend-yaml", "pu1.yaml")


@pytest.fixture
def tree(opgen: Opgen) -> dict[str, str]:
    Path("pu1.yaml").write_text(BACKEND)
    result = opgen("generate", OPERATORS, *TORCH, "-o", "out")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return {path: text for path, (text, _) in snapshot("out").items()}


def test_the_generated_files(tree: dict[str, str]) -> None:
    """Nothing is generated that PyTorch has already: no schemas, operators or functions, and no header of an operator
    without a kernel.
    """
    assert tree.keys() == {
        *("CMakeLists.txt", "opgen_manifest.json", "include/privateuse1/ops/cumulate_meta.h"),
        *(f"include/privateuse1/ops/{root}_native.h" for root in ("add", "cumulate", "mul")),
        *("include/privateuse1/PrivateUse1NativeFunctions.h", "src/RegisterPrivateUse1.cpp"),
        *(
            "src/RegisterPrivateUse1Fallback.cpp",
            "stubs/MetaStubs.cpp",
            "stubs/PrivateUse1Stubs.cpp",
        ),
    }


def test_classes_derive_from_installed_ones(tree: dict[str, str]) -> None:
    """Protects the three kinds of structured kernels, which differ in who writes the meta and the impl."""
    ops = "include/privateuse1/ops"
    add, mul = tree[f"{ops}/add_native.h"], tree[f"{ops}/mul_native.h"]
    assert "#include <ATen/ops/add_meta.h>" in add and "void impl(" in add
    assert "struct structured_add_out : at::meta::structured_add_Tensor {" in add
    assert "#define OPGEN_NativeFunctions_h_IMPL_add_out pu1::native::structured_add_out" in add
    assert "#include <ATen/ops/mul_native.h>" in mul and "impl" not in mul
    assert "struct structured_mul_out : at::native::structured_mul_out {" in mul
    cumulate = tree[f"{ops}/cumulate_native.h"]
    assert "struct structured_cumulate_out : pu1::meta::structured_cumulate {" in cumulate
    assert "ATen/ops/cumulate" not in cumulate
    stubs = tree["stubs/PrivateUse1Stubs.cpp"]
    assert "structured_add_out::impl" in stubs and "structured_mul_out" not in stubs


def test_registrations_use_the_installed_operators(tree: dict[str, str]) -> None:
    """Protects short compile times: only the headers of operators with kernels are included."""
    text = tree["src/RegisterPrivateUse1.cpp"]
    assert "OPGEN_LIBRARY_IMPL(aten, PrivateUse1, m) {" in text
    included = [line for line in text.splitlines() if line.startswith("#include <ATen/")]
    roots = ("abs", "add", "cumulate", "mul", "total")
    assert included == [f"#include <ATen/ops/{root}_ops.h>" for root in roots]
    for name in ("add.Tensor", "add_.Tensor", "add.out", "abs", "abs_", "abs.out", "mul", "total"):
        assert f'"{name}",' in text
    assert '"total.out",' not in text, "use_out_as_primary"
    assert "opgen::InplaceFromOut<at::_ops::abs_, at::_ops::abs_out," in text
    assert "OPGEN_LIBRARY_IMPL(_, PrivateUse1, m)" in tree["src/RegisterPrivateUse1Fallback.cpp"]


def test_skeletons(opgen: Opgen) -> None:
    Path("pu1.yaml").write_text(BACKEND)
    text = opgen("stub", "add", "cumulate", OPERATORS, *TORCH).stdout
    assert "OPGEN_IMPL_FUNC(add_out)(const at::Tensor& self" in text
    assert "OPGEN_PRECOMPUTE_META_FUNC(cumulate)(" in text
    assert "#include <privateuse1/ops/add_native.h>" in text


@pytest.mark.slow
def test_the_operators_are_those_of_the_installed_torch(opgen: Opgen) -> None:
    """Without YAML on the command line, PyTorch's own file is found."""
    packaged_native_functions()
    Path("pu1.yaml").write_text(BACKEND.replace("total", "view").replace("cumulate", "cumsum"))
    result = opgen("generate", *TORCH, "--name", "host", "-o", "out")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    made = snapshot("out")
    assert "include/host/ops/cumsum_meta.h" in made
    assert opgen("check", *TORCH, "--name", "host", "-o", "out").exit_code == 0
    missing = opgen("generate", "--target", "torch", "-o", "out")
    assert missing.exit_code == 2 and "missing argument 'YAML...'" in missing.stderr


@pytest.mark.slow
def test_the_page_for_authors(opgen: Opgen) -> None:
    """Protects docs/guides/torch-backends.md: its example is accepted, and its numbers are right."""
    packaged_native_functions()
    page = (Path(__file__).parents[3] / "docs" / "guides" / "torch-backends.md").read_text()
    (file,) = re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    Path("pu1.yaml").write_text(file)
    result = opgen("generate", *TORCH, "-o", "out")
    assert (result.exit_code, result.stderr) == (0, "")
    (report,) = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert opgen("coverage", "pu1.yaml").stdout.startswith(report)


@pytest.mark.slow
def test_copies_between_devices_are_not_checked(opgen: Opgen) -> None:
    """Protects `_copy_from`, whose tensors are on two devices: ATen's wrapper would reject every call."""
    packaged_native_functions()
    Path("pu1.yaml").write_text(
        "backend: PrivateUse1\ncpp_namespace: pu1\ndevice_guard: true\nsupported: [_copy_from, equal]\n"
    )
    opgen("generate", *TORCH, "-o", "out")
    text = " ".join(Path("out/src/RegisterPrivateUse1.cpp").read_text().split())
    assert "PrivateUse1NativeFunctions::_copy_from, false, " in text
    assert "PrivateUse1NativeFunctions::equal, true, " in text


def test_own_operators_are_rejected(opgen: Opgen) -> None:
    Path("own.yaml").write_text("- func: custom::foo(Tensor self) -> Tensor\n")
    Path("pu1.yaml").write_text("backend: PrivateUse1\ncpp_namespace: pu1\nsupported: [foo]\n")
    result = opgen("generate", "own.yaml", *TORCH, "-o", "out")
    assert result.exit_code == 1 and not Path("out").exists()
    assert "error[E0756]: 'custom::foo' is not one of torch's own operators" in result.stderr


def test_a_selective_build(opgen: Opgen) -> None:
    """Every header that a generated header includes is generated, and operators that are not selected are not
    registered.
    """
    Path("pu1.yaml").write_text(BACKEND)
    Path("selective.yaml").write_text(
        "operators:\n  aten::add.out: {}\nkernel_metadata:\n  add: [Float]\n"
    )
    result = opgen("generate", OPERATORS, *TORCH, "--select", "selective.yaml", "-o", "out")
    assert result.exit_code == 0, result.output
    made = snapshot("out")
    header = "include/privateuse1/SelectedDtypes.h"
    assert (
        header in made
        and "privateuse1/SelectedDtypes.h" in made["include/privateuse1/ops/add_native.h"][0]
    )
    registered = made["src/RegisterPrivateUse1.cpp"][0]
    assert '"add.out",' in registered and registered.count("m.impl(") == 1


def test_a_namespace_that_is_taken(opgen: Opgen) -> None:
    """Protects against a class that would derive from itself."""
    Path("pu1.yaml").write_text(BACKEND.replace("pu1", "at"))
    result = opgen("generate", OPERATORS, *TORCH, "-o", "out")
    assert result.exit_code == 1 and "error[E0819]" in result.stderr
    assert "pu1.yaml:2:16" in result.stderr
    Path("pu1.yaml").write_text(BACKEND.replace("pu1", "at::mine"))
    assert opgen("generate", OPERATORS, *TORCH, "-o", "out").exit_code == 0


def test_the_conventions_of_the_operators_are_not_the_backends(opgen: Opgen) -> None:
    Path("pu1.yaml").write_text(BACKEND)
    assert "warning" in opgen("lint", OPERATORS).stderr
    assert opgen("lint", OPERATORS, *TORCH, "--deny-warnings").exit_code == 0


def test_the_runtime_has_no_cpu_fallback(opgen: Opgen) -> None:
    Path("pu1.yaml").write_text(BACKEND)
    opgen("generate", OPERATORS, "-o", "base")
    given = ("--extends", "base/opgen_manifest.json", "--backend-yaml", "pu1.yaml")
    result = opgen("generate", OPERATORS, *given, "-o", "out")
    assert result.exit_code == 1 and "error[E0818]: target runtime has no CPU" in result.stderr
    Path("pu1.yaml").write_text(BACKEND.replace("cpu_fallback: true\n", ""))
    assert opgen("generate", OPERATORS, *given, "-o", "out").exit_code == 0
