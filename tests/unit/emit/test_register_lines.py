"""The length of generated registrations: non-blank lines per structured operator.

The measure is that of the project's goal: RegisterCPU.cpp of PyTorch's own native_functions.yaml, with the structured
groups that have a CPU kernel and nothing else, divided by their number. (torchgen 2.13.0: 107 lines.)
"""

from __future__ import annotations

from opgen.data import target_templates
from opgen.diagnostics import Diagnostics
from opgen.emit.common.context import Context, Library
from opgen.emit.cpp.register import build_register_keys
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.model.selector import Selection, Selector
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load
from opgen.targets import TARGETS
from opgen.templating.render import Renderer
from support.pytorch import packaged_native_functions

MOST = 13


def test_lines_of_a_structured_operator() -> None:
    path = packaged_native_functions()
    registry = load(Inputs((path,), tags=path.parent / "tags.yaml"), Diagnostics())
    assert registry is not None
    groups = [
        group
        for group in registry.structured_groups()
        if (kernel := group.primary.find_kernel(DispatchKey.CPU)) and kernel.structured
    ]
    assert len(groups) > 200
    names = frozenset(f.full_name for group in groups for f in group.functions())
    lines = register_cpu(registry, names).splitlines()
    count = sum(bool(line.strip()) for line in lines)
    assert count / len(groups) <= MOST, f"{count} lines for {len(groups)} operators"


def register_cpu(registry: Registry, names: frozenset[str]) -> str:
    """RegisterCPU.cpp of the operators `names` alone."""
    target = TARGETS["runtime"]
    selection = Selection(Selector(), names)
    context = Context(registry, target, Library("aten"), selection=selection)
    files = {file.path: file for file in build_register_keys(context)}
    return Renderer(*target_templates(target.plan.templates)).render(files["src/RegisterCPU.cpp"])
