"""Functions of ATen for kernels of target torch-stable, so that the kernels of tests for target torch compile for both.

ATen's own headers call C++ functions of one release. These have the same names and signatures, and call the operators
through PyTorch's stable C functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from opgen.cpp.names import operator_struct_name
from opgen.cpp.signatures import Signatures
from opgen.data import target_templates
from opgen.diagnostics import Diagnostics
from opgen.emit.common.base import Block, Calls, GeneratedFile, Item, blocks, cpp_string
from opgen.emit.common.text import Speller
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
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
    own = Path(__file__).with_name("templates")
    renderer = Renderer(own, *target_templates(target.plan.templates))
    texts = renderer.render_all([header])
    (folder / "ATen" / "ops").mkdir(parents=True)
    (folder / "aten_calls.h").write_text(texts["aten_calls.h"])
    for root in roots:
        (folder / "ATen" / "ops" / f"{root}.h").write_text("#include <aten_calls.h>\n")
    return folder


class AtenHeader(GeneratedFile, frozen=True):
    operators: tuple[Block[Item], ...]
    functions: tuple[Block[Calls], ...]


def aten_header(path: str, functions: Iterable[NativeFunction], spell: Speller) -> AtenHeader:
    """Return the header at `path` with all C++ signatures of these operators, as functions.

    Operators that are only methods in PyTorch are functions, too.
    """
    every = tuple(functions)
    return AtenHeader(
        path=path,
        template="aten.h.j2",
        operators=blocks((operator_namespace(f.namespace), _struct(f, spell)) for f in every),
        functions=blocks(
            (
                operator_namespace(f.namespace),
                Calls(f"_ops::{operator_struct_name(f.func)}::call", spell.functions(f)),
            )
            for f in every
        ),
    )


def _struct(f: NativeFunction, spell: Speller) -> Item:
    signature = spell.spelled(spell.signatures.dispatcher(f))
    return Item(
        schema=str(f.func),
        schema_text=cpp_string(str(f.func)),
        struct=operator_struct_name(f.func),
        name=f.full_name.partition(".")[0],
        overload=f.func.name.overload_name,
        function_type=signature.function_type,
    )
