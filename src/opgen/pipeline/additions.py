"""Read the inputs besides the operators: an external backend, and the operators that a selective build keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from opgen.cpp.backend_check import check_coverage, check_overloads
from opgen.diagnostics import Diagnostics
from opgen.model.backend import ExternalBackend
from opgen.model.registry import Registry
from opgen.model.selector import merge
from opgen.parse import parse_backend, parse_selective
from opgen.pipeline.inputs import Overlay
from opgen.pipeline.reading import read_source
from opgen.resolve.backend import resolve_backend
from opgen.resolve.selection import Selection, select
from opgen.targets import unsupported
from opgen.targets.base import Target


class Additions(Struct, frozen=True):
    """The external backend and the selection. Each is None if the inputs do not name it, and if there are errors."""

    backend: ExternalBackend | None = None
    selection: Selection | None = None


def read_backend(
    path: Path | None,
    impl_path: Path | None,
    registry: Registry | None,
    target: Target,
    diagnostics: Diagnostics,
    overlay: Overlay,
) -> ExternalBackend | None:
    """Read the backend file at `path`, and check that the source at `impl_path` defines all of its kernels."""
    before = diagnostics.error_count
    source = None if path is None else read_source(path, diagnostics, overlay)
    file = None if source is None else parse_backend(source, diagnostics)
    if file is None or registry is None or diagnostics.error_count > before:
        return None
    backend = resolve_backend(file, registry, diagnostics)
    if backend is None:
        return None
    unsupported.report_backend(target, file, backend, diagnostics)
    check_overloads(backend, target.cpp.spelling, diagnostics)
    implementation = None if impl_path is None else read_source(impl_path, diagnostics, overlay)
    if implementation is not None and diagnostics.error_count == before:
        check_coverage(backend, implementation, target.cpp.spelling, diagnostics)
    return backend


def read_selection(
    paths: Sequence[Path],
    registry: Registry | None,
    diagnostics: Diagnostics,
    overlay: Overlay,
) -> Selection | None:
    """Read the selection of all files together; return None if there are no files, or no registry to select from."""
    sources = [read_source(path, diagnostics, overlay) for path in paths]
    selectors = [parse_selective(s, diagnostics) for s in sources if s is not None]
    if registry is None or not selectors:
        return None
    return select(registry, merge(selectors), diagnostics)
