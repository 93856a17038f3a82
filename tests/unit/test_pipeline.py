"""The stages in their order: a run ends at the first stage with errors, and the public API raises them."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.diagnostics import Diagnostics, OpgenError, known_codes
from opgen.model.dispatch_key import DispatchKey
from opgen.pipeline.checking import inspect
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import input_files
from opgen.pipeline.loading import load
from opgen.pipeline.queries import explain_code
from support.inputs import aten_inputs

GOOD = "- func: neg(Tensor self) -> Tensor\n  dispatch:\n    CPU: neg_cpu\n    CUDA: neg_cuda\n"


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    path = tmp_path / "input.yaml"
    path.write_text(GOOD)
    return path


def codes(diagnostics: Diagnostics) -> list[str]:
    return [d.code for d in diagnostics.sorted()]


def test_load_gives_a_registry(yaml: Path) -> None:
    registry = opgen.load(opgen.Inputs(yaml, namespace="aten"))
    (neg,) = registry.functions
    assert neg.full_name == "aten::neg"
    kernel = neg.find_kernel(DispatchKey.CPU)
    assert kernel is not None and kernel.name == "neg_cpu"


def test_load_raises_with_every_diagnostic(yaml: Path) -> None:
    yaml.write_text("- func: f(Tensr a) -> Tensor\n\n- func: g(Tensor a) -> Tensr\n")
    with pytest.raises(OpgenError) as raised:
        opgen.load(opgen.Inputs(yaml, namespace="aten"))
    assert [d.code for d in raised.value.diagnostics] == ["E0307", "E0307"]
    assert "Tensr" in str(raised.value)


def test_parse_errors_hide_no_others(yaml: Path) -> None:
    """The second entry is reported by resolve, the third by the checks of C++ signatures."""
    yaml.write_text(
        "- func: f(Tensr a) -> Tensor\n\n- func: g(Tensor a) -> Tensor\n  structured_delegate: h.out\n"
        "\n- func: k(Tensor a, Tensor dispatchKeySet) -> Tensor\n"
    )
    diagnostics = Diagnostics()
    assert load(aten_inputs((yaml,)), diagnostics) is None
    assert codes(diagnostics) == ["E0307", "E0402"]
    diagnostics = Diagnostics()
    inspect(aten_inputs((yaml,)), diagnostics)
    assert codes(diagnostics) == ["E0307", "E0402", "E0709"]


def test_invalid_signatures_end_the_run_before_generation(yaml: Path) -> None:
    yaml.write_text("- func: f(Tensor a) -> Tensor\n\n- func: f_ops(Tensor a) -> Tensor\n")
    diagnostics = Diagnostics()
    assert load(aten_inputs((yaml,)), diagnostics) is not None
    assert build_tree(aten_inputs((yaml,)), diagnostics) is None
    assert codes(diagnostics) and all(code.startswith("E07") for code in codes(diagnostics))


def test_the_tree_is_a_value(yaml: Path) -> None:
    one, two = (build_tree(aten_inputs((yaml,)), Diagnostics()) for _ in range(2))
    assert one is not None and one == two
    assert one.header["name"] == "aten"
    assert not [p for p in yaml.parent.iterdir() if p.is_dir()], "nothing is written"


def test_several_files_are_one_library(yaml: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("- func: abs(Tensor self) -> Tensor\n")
    tree = build_tree(aten_inputs((yaml, other)), Diagnostics())
    assert tree is not None
    assert {"include/aten/ops/neg.h", "include/aten/ops/abs.h"} <= set(tree.files)
    diagnostics = Diagnostics()
    assert (
        build_tree(aten_inputs((yaml, yaml)), diagnostics) is None
    ), "an operator is defined twice"
    assert diagnostics.has_errors


def test_backends_keep_the_named_keys_and_composites(yaml: Path) -> None:
    yaml.write_text(GOOD + "\n- func: t(Tensor self) -> Tensor\n")
    registry = opgen.load(opgen.Inputs(yaml, namespace="aten", backends=("CUDA",)))
    keys = {key.name for f in registry.functions for key, _ in f.dispatch}
    assert keys == {"CUDA", "CompositeImplicitAutograd"}
    registry = opgen.load(opgen.Inputs(yaml, namespace="aten", ignore_keys=("CUDA",)))
    keys = {key.name for f in registry.functions for key, _ in f.dispatch}
    assert keys == {"CPU", "CompositeImplicitAutograd"}


def test_the_files_that_a_run_reads(yaml: Path, tmp_path: Path) -> None:
    assert input_files(aten_inputs((yaml,))) == (yaml,)
    beside = tmp_path / "tags.yaml"
    beside.write_text("- tag: core\n  desc: all\n")
    assert set(input_files(aten_inputs((yaml,)))) == {yaml, beside}
    manifest = tmp_path / "manifest.json"
    assert manifest in input_files(aten_inputs((yaml,), extends=manifest))


def test_every_code_has_a_page() -> None:
    for code in known_codes():
        page = explain_code(code)
        assert page is not None and page.startswith(f"{code}: ")
    assert explain_code("E9999") is None
