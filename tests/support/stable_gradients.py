"""A library for torch-stable with gradients: the operators of examples/gradients, and more."""

from __future__ import annotations

from pathlib import Path

from support.build import REPOSITORY
from support.torch_extension import build_extension

EXAMPLE = REPOSITORY / "examples" / "gradients"
HERE = REPOSITORY / "tests" / "integration" / "run" / "stable_gradients"
SCRIPT = HERE / "checks.py"
CHECKS = (
    *("formulas", "second_order_is_recorded", "without_formula", "arguments_without_formula"),
    *("forward_mode", "views", "several_views"),
    *("compiled", "checked", "sizes_that_depend_on_data", "registered_later", "effects"),
)
WRITES = HERE / "writes.py"
CHECKS_OF_WRITES = (
    *("second_order", "views", "forward_over_backward", "modes", "shared_elements", "compiled"),
)
# What the kernels of the example use of PyTorch's C++ functions, and what stands in its place.
REPLACED = (
    ("#include <c10/core/SymIntArrayRef.h>\n", "#include <opgen/call_operator.h>\n"),
    ("c10::", "opgen::"),
    ("tensor.sigmoid()", 'opgen::call_operator<Tensor>("aten::sigmoid", "", tensor)'),
    ("total.add_(parts[i].sum(), weights[i]);", "OPGEN_CHECK(false, weights[i]);"),
    ("float, double, opgen::ComplexTypes", "float, double"),
)


def build_stable_gradients(folder: Path) -> Path:
    """Build the library in `folder`, and return it."""
    kernels = folder / "kernels"
    kernels.mkdir()
    for path in (*EXAMPLE.glob("kernels/*.cpp"), *HERE.glob("kernels/*.cpp")):
        text = path.read_text()
        for old, new in REPLACED:
            text = text.replace(old, new)
        (kernels / path.name).write_text(text)
    yaml = [EXAMPLE / "native_functions.yaml", HERE / "more.yaml", HERE / "writes.yaml"]
    more = ("--derivatives", HERE / "derivatives.yaml")
    return build_extension(yaml, kernels, folder / "tree", *more, target="torch-stable")
