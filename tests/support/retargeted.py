"""The golden inputs, which are written for target runtime, generated for another target."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.pipeline.generating import build_tree
from support.build import REPOSITORY
from support.inputs import aten_inputs

GOLDEN = REPOSITORY / "tests" / "golden" / "trees"

# They need options, and other inputs have the same operators.
LEFT_OUT = {
    "external_backend_extends",
    "external_backend_structured",
    "extends",
    "selective",
    "python_module",
}


def retargeted(
    target: str, folder: Path, refused: set[str], torch: str | None = None
) -> Iterator[Path]:
    """Yield a tree in `folder` for each golden input, in a namespace of its own.

    The names of inputs that the target rejects are added to `refused`. `torch` is the oldest release of PyTorch.
    """
    for golden in sorted(GOLDEN.glob("*/input.yaml")):
        if golden.parent.name in LEFT_OUT:
            continue
        tree = folder / f"g_{golden.parent.name}"
        if _generate(golden, target, torch, tree):
            yield tree
        else:
            refused.add(golden.parent.name)


def _generate(golden: Path, target: str, torch: str | None, tree: Path) -> bool:
    """Generate the input's tree in the namespace `name`; return False if the target rejects the input."""
    name = tree.name
    tree.mkdir()
    text = re.sub(r"(func: )(?![a-z_0-9]+::)", rf"\1{name}::", golden.read_text())
    (tree / "input.yaml").write_text(text)
    tags = golden.parent / "tags.yaml"
    if tags.exists():
        (tree / "tags.yaml").write_text(tags.read_text())
    inputs = aten_inputs((tree / "input.yaml",), target=target, name=name, torch=torch)
    made = build_tree(inputs, Diagnostics())
    for path, content in () if made is None else made.files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        # All libraries give the macros for kernels the same names, so one source cannot contain those of two.
        (tree / path).write_text(re.sub(r"(?m)^#define OPGEN_\w+ (.*\\\n)*.*$", "", content))
    return made is not None
