"""Read what authors say about operators: domains.yaml, or a Python file with DOMAINS, beside the schema files."""

from __future__ import annotations

import runpy
from collections.abc import Iterable, Mapping
from pathlib import Path

from opgen.diagnostics import Diagnostics, OpgenError
from opgen.drawing.domains import Domain
from opgen.parse import parse_domains
from opgen.pipeline.reading import read_source

NAMES = ("domains.yaml", "domains.py")


def beside(schemas: Iterable[Path]) -> list[Path]:
    """Return the files of domains in the folders of schema files."""
    folders = dict.fromkeys(path.parent for path in schemas)
    return [folder / name for folder in folders for name in NAMES if (folder / name).is_file()]


def check_domains(files: Iterable[Path], diagnostics: Diagnostics) -> None:
    """Report the errors of YAML files of domains."""
    for file in files:
        if file.suffix != ".py":
            source = read_source(file, diagnostics)
            if source is not None:
                parse_domains(source, diagnostics)


def read_domains(files: Iterable[Path]) -> Mapping[str, Domain]:
    """Return all domains by the names of operators, with their namespaces.

    Raises OpgenError for a YAML file with errors, TypeError for a Python file without DOMAINS, and what it throws.
    """
    found: dict[str, Domain] = {}
    for file in files:
        if file.suffix == ".py":
            domains = runpy.run_path(str(file)).get("DOMAINS")
            if not isinstance(domains, dict):
                raise TypeError(f"{file} has no DOMAINS, a dict of names and domains")
            found.update(domains)
            continue
        diagnostics = Diagnostics()
        source = read_source(file, diagnostics)
        if source is not None:
            found.update(parse_domains(source, diagnostics))
        if diagnostics.has_errors:
            raise OpgenError(diagnostics)
    return found
