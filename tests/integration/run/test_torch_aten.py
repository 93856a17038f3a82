"""Operators of PyTorch's own native_functions.yaml, generated out of tree, compared with the originals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.aten_slice import GROUPS, formulas_of_slice, native_functions, slice_of
from support.pytorch import packaged_native_functions
from support.torch_extension import build_extension, run_script

HERE = Path(__file__).parent / "torch_aten"

FEW = ("basic.cpp", "reductions.cpp", "shapes.cpp")


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The library and the YAML of 35 structured groups."""
    return build(tmp_path_factory.mktemp("few"), FEW, "few.cpp")


@pytest.mark.slow
def test_few_inputs_of_some(few: tuple[Path, Path]) -> None:
    """Protects what callers see of structured operators: values, dtypes, strides, errors, on the CPU and on Meta."""
    run_script(HERE / "compare.py", *few, "8")


@pytest.mark.slow
def test_semantics(few: tuple[Path, Path]) -> None:
    """Protects out= and in-place: resizing, casts, overlap, devices, version counters, rejected gradients."""
    run_script(HERE / "semantics.py", few[0])


@pytest.mark.slow
def test_compiled(few: tuple[Path, Path]) -> None:
    """Protects torch.compile, torch.export and functorch: views, in-place, out= and factories in one graph."""
    run_script(HERE / "compiled.py", few[0], "aot_eager")


@pytest.mark.nightly
def test_compiled_to_code(few: tuple[Path, Path]) -> None:
    """The same through inductor, which plans memory itself."""
    run_script(HERE / "compiled.py", few[0], "inductor")


@pytest.mark.nightly
def test_many_inputs_of_all(tmp_path: Path) -> None:
    """The same for 81 groups, a thousand inputs for each."""
    library, yaml = build(tmp_path, tuple(GROUPS), "all.cpp")
    print(run_script(HERE / "compare.py", library, yaml, "1000"))


@pytest.mark.nightly
def test_gradients_of_some(tmp_path: Path) -> None:
    """Protects PyTorch's formulas under another namespace: gradients, their gradients, and tangents, as ATen's."""
    assert operators_with_gradients(tmp_path, FEW, "few.cpp", "30") >= 30


@pytest.mark.nightly
def test_gradients_of_all(tmp_path: Path) -> None:
    """The same for the whole slice, with more inputs."""
    assert operators_with_gradients(tmp_path, tuple(GROUPS), "all.cpp", "100") >= 50


def operators_with_gradients(
    folder: Path, sources: tuple[str, ...], kernels: str, count: str
) -> int:
    """Compare gradients in `count` calls of each operator; return the number of operators with at least ten."""
    native = packaged_native_functions()
    yaml = folder / "operators.yaml"
    yaml.write_text(slice_of(native_functions(native), sources))
    # It is found there.
    formulas = yaml.with_name("derivatives.yaml")
    packaged = native.parents[2] / "autograd" / "derivatives.yaml"
    formulas.write_text(formulas_of_slice(packaged, yaml.read_text(), "aten_formulas.h"))
    library = build_extension(yaml, HERE / kernels, folder / "tree", "-I", HERE)
    said = run_script(HERE / "gradients.py", library, formulas, count)
    print(said)
    found = re.search(r"^(\d+) operators with gradients", said, re.MULTILINE)
    assert found is not None
    return int(found[1])


def build(folder: Path, sources: tuple[str, ...], kernels: str) -> tuple[Path, Path]:
    yaml = folder / "operators.yaml"
    yaml.write_text(slice_of(native_functions(packaged_native_functions()), sources))
    return build_extension(yaml, HERE / kernels, folder / "tree"), yaml
