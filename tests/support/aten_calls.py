"""Functions of ATen for kernels of target torch-stable, so that the kernels of tests for target torch compile for both.

ATen's own headers call C++ functions of one release. These have the same names and signatures, and call the operators
through PyTorch's stable C functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics
from opgen.emit.common.text import Speller
from opgen.emit.torch_stable.aten import aten_header
from opgen.io.resources import target_templates
from opgen.pipeline.loading import read_registry
from opgen.targets import TARGETS
from opgen.templating.render import Renderer
from support.inputs import aten_inputs
from support.pytorch import packaged_native_functions

_INCLUDE = re.compile(r"#include <ATen/ops/(\w+)\.h>")


def write_aten_calls(folder: Path, sources: Iterable[Path]) -> Path:
    """Write the headers ATen/ops/*.h that the sources include into `folder`, and return it."""
    text = "".join(path.read_text() for path in sources)
    roots = set(_INCLUDE.findall(text))
    target = TARGETS["torch-stable"]
    registry = read_registry(aten_inputs((packaged_native_functions(),)), Diagnostics())
    functions = [f for f in registry.functions if f.root_name in roots]
    spell = Speller(target, Signatures())
    header = aten_header("aten_calls.h", functions, spell)
    texts = Renderer(*target_templates(target.plan.templates)).render_all([header])
    (folder / "ATen" / "ops").mkdir(parents=True)
    (folder / "aten_calls.h").write_text(texts["aten_calls.h"])
    for root in roots:
        (folder / "ATen" / "ops" / f"{root}.h").write_text("#include <aten_calls.h>\n")
    return folder
