"""Check that generated sources have a node for each formula, and register it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from opgen.autograd.derivative import DifferentiableFunction
from opgen.diagnostics import Diagnostics
from opgen.parse.files.derivatives import parse_derivatives
from opgen.parse.yaml.nodes import decode_source


def check_nodes(
    derivatives: Path, functions: Iterable[DifferentiableFunction], sources: Iterable[str]
) -> int:
    """Check that every entry of the file belongs to operators, that each formula has one node, and each node a row.

    Return the number of entries. `functions` are all operators, `sources` the texts of Derivatives_n.cpp.
    """
    source = decode_source(str(derivatives), derivatives.read_bytes(), Diagnostics())
    entries = parse_derivatives(source, Diagnostics()).entries
    infos = [info for fn in functions for info in fn.infos.values()]
    assert {info.entry.name.text for info in infos} == {entry.name.text for entry in entries}
    text = "\n".join(sources)
    nodes = {info.op for info in infos if info.has_derivatives}
    structs = re.findall(r"^struct (\w+) \{$", text, re.MULTILINE)
    assert len(structs) == len(set(structs)) and set(structs) == nodes
    assert set(re.findall(r"recorded<\w+::derivatives::(\w+)", text)) == nodes
    return len(entries)
