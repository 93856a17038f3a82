"""Read what authors say about operators: domains.yaml, or a Python file with DOMAINS, beside the schema files."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from opgen.diagnostics import Diagnostics, OpgenError, properties
from opgen.diagnostics.suggestions import did_you_mean
from opgen.model.domains import Domain
from opgen.parse.files.domains import DomainsFile, parse_domains
from opgen.pipeline.loading import read_source
from opgen.verify.calls.specs import DTYPES

NAMES = ("domains.yaml", "domains.py")


class DomainsError(Exception):
    """A Python file of domains cannot be run, or has no DOMAINS. The message has its place."""


def beside(schemas: Iterable[Path]) -> list[Path]:
    """Return the files of domains in the folders of schema files."""
    folders = dict.fromkeys(path.parent for path in schemas)
    return [folder / name for folder in folders for name in NAMES if (folder / name).is_file()]


def parse_all(files: Iterable[Path], diagnostics: Diagnostics) -> list[DomainsFile]:
    """Parse the YAML files of domains, and report their errors, including properties and dtypes that do not exist."""
    found = []
    for file in files:
        source = None if file.suffix == ".py" else read_source(file, diagnostics)
        if source is not None:
            found.append(parse_domains(source, diagnostics))
            check_words(found[-1], diagnostics)
    return found


def check_words(file: DomainsFile, diagnostics: Diagnostics) -> None:
    """Report properties and dtypes that do not exist."""
    for word in file.words:
        known = {"property": tuple(properties.PROPERTIES), "dtype": DTYPES}.get(word.kind)
        if known is not None and word.text not in known:
            message = f"there is no {word.kind} '{word.text}'"
            hint = did_you_mean(word.text, known)
            diagnostics.error("E0855", message, word.span, hint=hint)


def check_names(
    files: Iterable[DomainsFile],
    operators: Mapping[str, Sequence[str]],
    diagnostics: Diagnostics,
) -> None:
    """Report operators and arguments that do not exist.

    `operators` are the arguments of all loaded operators by the names that a file may use for them.
    """
    namespaces = {name.partition("::")[0] for name in operators}
    for file in files:
        for word in file.words:
            namespace, colons, _ = word.operator.partition("::")
            if colons and namespace not in namespaces:
                continue
            known = operators.get(word.operator)
            if word.kind == "operator" and known is None:
                known, message = tuple(operators), f"the library has no operator '{word.text}'"
            elif word.kind == "argument" and known is not None and word.text not in known:
                message = f"'{word.operator}' has no argument '{word.text}'"
            else:
                continue
            diagnostics.error("E0855", message, word.span, hint=did_you_mean(word.text, known))


def read_domains(files: Iterable[Path]) -> Mapping[str, Domain]:
    """Return all domains by the names of operators, with their namespaces.

    Raises OpgenError for a YAML file with errors, and DomainsError for a Python file.
    """
    found: dict[str, Domain] = {}
    for file in files:
        if file.suffix == ".py":
            found.update(_run(file))
            continue
        diagnostics = Diagnostics()
        source = read_source(file, diagnostics)
        if source is not None:
            found.update(parse_domains(source, diagnostics).domains)
        if diagnostics.has_errors:
            raise OpgenError(diagnostics)
    return found


def _run(file: Path) -> Mapping[str, Domain]:
    """Return the DOMAINS of a Python file."""
    try:
        domains = runpy.run_path(str(file)).get("DOMAINS")
    except SyntaxError as error:
        raise DomainsError(f"{file}:{error.lineno}: {error.msg}") from None
    except Exception as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(file)
        ]
        place = f"{file}:{lines[-1]}" if lines else str(file)
        raise DomainsError(f"{place}: {type(error).__name__}: {error}") from None
    if not isinstance(domains, dict) or not all(
        isinstance(name, str) and isinstance(domain, Domain) for name, domain in domains.items()
    ):
        raise DomainsError(f"{file}: DOMAINS must be a dict of operator names and Domains")
    return domains
