"""Verify operators from Python: in a test."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from opgen.diagnostics import Diagnostics, OpgenError
from opgen.pipeline.inputs import Inputs
from opgen.verify import domains
from opgen.verify.reports import render_findings, render_terminal
from opgen.verify.runner.loading import read_schemas
from opgen.verify.runner.messages import FAILED, PASSED, OperatorReport, Request
from opgen.verify.runner.session import Verification, VerificationError, counts, verify_request


class Report(Struct, frozen=True):
    """What was found. `ok` is whether every property holds that was tested, and something was; `text` says it in words."""

    verification: Verification

    @property
    def ok(self) -> bool:
        found = {v.status for r in self.verification.operators for v in r.verdicts}
        return PASSED in found and FAILED not in found

    @property
    def operators(self) -> tuple[OperatorReport, ...]:
        return tuple(self.verification.operators)

    @property
    def text(self) -> str:
        return render_terminal(self.verification)


def verify(
    yaml: str | Path | Sequence[str | Path] = (),
    *,
    load: str | Sequence[str],
    target: str = "torch",
    framework: str = "",
    namespaces: Sequence[str] = (),
    only: Sequence[str] = (),
    properties: Sequence[str] = (),
    domain_files: Sequence[str | Path] = (),
    folders: Sequence[str | Path] = (),
    mode: str = "default",
    seed: int = 0,
    jobs: int | None = None,
    progress: Callable[[OperatorReport], None] = lambda report: None,
) -> Report:
    """Verify the operators of a library that is installed, in processes of their own.

    `framework` is "jax" or "tvm-ffi": it calls the package, which was built with `--frameworks`. `load` names what registers them: a module, the path of a shared library, or of a Python file. For target runtime, it
    is the package, and `yaml` has its schemas; for target torch, `yaml` may be left out, and `namespaces` select among all
    operators. `only` are patterns of names. `mode` is "quick", "default" or "thorough". Files of domains are those beside
    the schemas, unless `domain_files` names others.

    Raises VerificationError if the library cannot be loaded, and OpgenError for schema files,
    formulas and files of domains with errors.
    """
    loads = (load,) if isinstance(load, str) else load
    schemas = [Path(f) for f in ([yaml] if isinstance(yaml, str | Path) else yaml)]
    files = [Path(f) for f in domain_files] or domains.beside(schemas)
    if target == "runtime" and not schemas:
        raise VerificationError("a library of target runtime is verified with its schema files")
    request = Request(
        target=target,
        framework=framework,
        loads=tuple(str(Path(n).resolve()) if Path(n).is_file() else n for n in loads),
        folders=tuple(str(Path(f).resolve()) for f in folders),
        namespaces=tuple(namespaces),
        yaml=tuple(str(f.resolve()) for f in schemas),
        domains=tuple(str(f.resolve()) for f in files),
        only=tuple(only),
        properties=tuple(properties),
        mode=mode,
        seed=seed,
    )
    diagnostics = Diagnostics()
    parsed = domains.parse_all(files, diagnostics)
    read_schemas(Inputs(yaml=tuple(schemas), target=target), diagnostics)

    def check(names: Mapping[str, Sequence[str]]) -> None:
        domains.check_names(parsed, names, diagnostics)
        if diagnostics.has_errors:
            raise OpgenError(diagnostics)

    count = jobs or os.cpu_count() or 1
    return Report(verify_request(request, count, progress, check=check))


def replay(request: Request, call: Mapping[str, Any], number: int = 0) -> int:
    """Check the properties of a request for one call, as programs of `opgen verify --programs` do, and print what is found.

    Returns 1 if one is violated, else 0. Raises SystemExit if the library cannot be loaded.
    """
    replayed = pickle.dumps((dict(call), number)).hex()
    try:
        found = verify_request(msgspec.structs.replace(request, replayed=replayed), 1)
    except VerificationError as error:
        raise SystemExit(f"error: {error}") from None
    for report in found.operators:
        print(render_findings(report), end="")
        for verdict in report.verdicts:
            if verdict.status != FAILED:
                print(f"{verdict.property}: {verdict.status} {verdict.reason}".rstrip())
    return int(FAILED in counts(found.operators))
