"""Gradients of target torch-stable, which Python records: formulas beside PyTorch's gradients, and errors without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.build import REPOSITORY
from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

pytestmark = pytest.mark.slow

EXAMPLE = REPOSITORY / "examples" / "gradients"
HERE = Path(__file__).parent / "stable_gradients"
CHECKS = (
    *("formulas", "second_order_is_recorded", "without_formula", "forward_mode", "views"),
    *("compiled", "checked", "registered_later"),
)
# What the kernels of the example use of PyTorch's C++ functions, and what stands in its place.
REPLACED = (
    ("#include <c10/core/SymIntArrayRef.h>\n", "#include <opgen/call_operator.h>\n"),
    ("c10::", "opgen::"),
    ("tensor.sigmoid()", 'opgen::call_operator<Tensor>("aten::sigmoid", "", tensor)'),
    ("total.add_(parts[i].sum(), weights[i]);", "OPGEN_CHECK(false, weights[i]);"),
    ("FLOATING_AND_COMPLEX_TYPES", "FLOATING_TYPES"),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The operators of examples/gradients, whose kernels need only opgen's headers, and more."""
    require_torch()
    folder = tmp_path_factory.mktemp("stable-gradients")
    kernels = folder / "kernels"
    kernels.mkdir()
    for path in (*EXAMPLE.glob("kernels/*.cpp"), *HERE.glob("kernels/*.cpp")):
        text = path.read_text()
        for old, new in REPLACED:
            text = text.replace(old, new)
        (kernels / path.name).write_text(text)
    yaml = [EXAMPLE / "native_functions.yaml", HERE / "more.yaml"]
    more = ("--derivatives", HERE / "derivatives.yaml")
    return build_extension(yaml, kernels, folder / "tree", *more, target="torch-stable")


def test_gradients(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects gradients that one library has for all releases, and the error where there is none."""
    keep_no_graphs(monkeypatch)
    assert run_script(HERE / "checks.py", library, *CHECKS) == "ok\n"
