"""PyTorch's operators and formulas under a namespace of their own: a library as large as PyTorch, for target torch.

Formulas call PyTorch's own functions, which FunctionsManual.h declares and libtorch mostly does not export.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from opgen.autograd.called_functions import HELPERS
from opgen.autograd.formula import read_formula
from opgen.autograd.formula_checks import called_functions
from support.aten_slice import native_functions

NAMESPACE = "mine"
# PyTorch's declarations of the functions that its formulas call, and their namespace.
HEADER = "torch/csrc/autograd/FunctionsManual.h"
DECLARED_IN = "torch::autograd::generated::details"

# A text that FunctionsManual.h declares, and libtorch does not export.
_MESSAGE = 'inline const char* const kCudnnDoubleBackwardMsg = "There is no second derivative in cuDNN.";\n'
_KEPT_KEYS = frozenset(
    {
        *("CPU", "Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd"),
        "CompositeExplicitAutogradNonFunctional",
    }
)
# Keys that concern PyTorch's own bindings, and kernels that opgen generates on target runtime alone.
_LEFT_OUT = (
    *("variants", "python_module", "manual_cpp_binding", "cpp_no_default_args"),
    "ufunc_inner_loop",
)
# Outside of `aten`, no out variant is generated of operators that return nothing, or return what they write.
WITHOUT_AUTOGEN = frozenset(
    {
        *("_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"),
        *("_fused_adam_", "_fused_adam_.tensor_lr", "_fused_adamw_", "_fused_adamw_.tensor_lr"),
        *("_fused_sgd_", "_fused_sgd_.tensor_lr", "_fused_adagrad_", "_fused_adagrad_.tensor_lr"),
    }
)
# These have formulas because some backend has a kernel of its own; without that, they would be made of others.
WITH_KERNEL = frozenset(
    {
        *("matmul", "matmul.out", "chunk", "_fused_rms_norm", "linear", "max_pool2d"),
        "_test_autograd_multiple_dispatch.ntonly",
    }
)


def write_copy(packaged: Path, include: Path, folder: Path) -> tuple[Path, Path]:
    """Write native_functions.yaml, derivatives.yaml and what they need to `folder`; return these two.

    `packaged` is torchgen's folder of packaged files, `include` that of PyTorch's headers.
    """
    native, derivatives = folder / "native_functions.yaml", folder / "derivatives.yaml"
    entries = map(_moved, native_functions(packaged / "ATen/native/native_functions.yaml"))
    _write_yaml(native, [{"namespace": NAMESPACE}, *entries])
    (folder / "tags.yaml").write_bytes((packaged / "ATen/native/tags.yaml").read_bytes())
    formulas = (packaged / "autograd/derivatives.yaml").read_text()
    header = f"- namespace: {NAMESPACE}\n  include: [<{HEADER}>, {NAMESPACE}.h]\n\n"
    derivatives.write_text(header + formulas)
    names = sorted(
        called_in(packaged / "autograd/derivatives.yaml") & declared_in(include / HEADER)
    )
    using = "".join(f"using {DECLARED_IN}::{name};\n" for name in names)
    text = f"#pragma once\n#include <{HEADER}>\nnamespace {NAMESPACE} {{\n{using}{_MESSAGE}}}\n"
    (folder / f"{NAMESPACE}.h").write_text(text)
    return native, derivatives


def _write_yaml(path: Path, entries: list[dict[str, Any]]) -> None:
    path.write_text(yaml.safe_dump(entries, sort_keys=False, width=100_000))


def _moved(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry without other backends. One that is left without kernels gets one for the CPU."""
    moved = {key: value for key, value in entry.items() if key not in _LEFT_OUT}
    name = entry["func"].partition("(")[0]
    kernels = {
        key.strip(): kernel.rpartition("::")[2]
        for keys, kernel in entry.get("dispatch", {}).items()
        for key in keys.split(",")
        if key.strip() in _KEPT_KEYS
    }
    plain = {"CPU": f"{re.sub(r'[^a-zA-Z0-9]', '_', name)}_kernel"}
    if "structured_delegate" in entry:
        moved.pop("dispatch", None)
    elif "dispatch" in entry or name in WITH_KERNEL:
        moved["dispatch"] = plain if name in WITH_KERNEL else kernels or plain
    if name in WITHOUT_AUTOGEN:
        moved.pop("autogen", None)
    return moved


def called_in(derivatives: Path) -> frozenset[str]:
    """Return the names of functions that formulas call, without those that opgen declares for formulas."""
    return frozenset(
        call.text
        for formula in formulas_of(derivatives)
        for call in called_functions(read_formula(formula))
        if call.text not in HELPERS
    )


def formulas_of(derivatives: Path) -> Iterator[str]:
    """Yield every formula of a file, and every condition of `output_differentiability`."""
    for entry in native_functions(derivatives):
        for table in entry.get("dispatch", {"": entry}).values():
            rows = (value for key, value in table.items() if key not in ("name", "dispatch"))
            for value in rows:
                yield from map(str, value if isinstance(value, list) else [value])


def declared_in(header: Path) -> frozenset[str]:
    """Return the names before a bracket in a header."""
    return frozenset(re.findall(r"\b(\w+)\s*\(", header.read_text()))
