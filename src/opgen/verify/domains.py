"""Read what authors say about operators: Python files with DOMAINS, and YAML files."""

from __future__ import annotations

import runpy
from collections.abc import Iterable, Mapping
from pathlib import Path

from opgen.drawing.domains import Domain


def read_domains(files: Iterable[Path]) -> Mapping[str, Domain]:
    """Return all domains by the names of operators, with their namespaces."""
    found: dict[str, Domain] = {}
    for file in files:
        if file.suffix == ".py":
            found.update(runpy.run_path(str(file)).get("DOMAINS", {}))
    return found
