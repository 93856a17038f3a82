"""opgen registers, for each dispatch key, what torchgen's generated files register."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from generated_files import Registrations, read_registrations, read_schemas, run_torchgen
from loading import load_registry

from opgen.emit.reports.dump import dump_rows
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.targets import TARGETS

# torchgen ignores these by default.
_IGNORED = frozenset(
    DispatchKey[name] for name in ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")
)


@pytest.fixture(scope="module")
def generated(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("torchgen")
    run_torchgen(source, out)
    return out


@pytest.fixture(scope="module")
def registry(source: Path) -> Registry:
    return load_registry(source / "native", _IGNORED)


def _ours(registry: Registry) -> Registrations:
    rows = dump_rows(registry, TARGETS["torch"], "registrations", None)
    return {(row["key"], row["name"]): row["kernel"] for row in rows}


def test_registrations(registry: Registry, generated: Path) -> None:
    """Protects backends: a missing registration, or a wrong kernel, fails only at run time."""
    ours, theirs = _ours(registry), read_registrations(generated)
    assert ours.keys() - theirs.keys() == set()
    assert theirs.keys() - ours.keys() == set()
    assert {k: (ours[k], theirs[k]) for k in ours if ours[k] != theirs[k]} == {}
    per_key = Counter(key for key, _ in theirs)
    share = len(registry.functions) / 6000
    assert per_key["CPU"] > 1000 * share and per_key["Meta"] > 700 * share
    assert per_key["BackendSelect"] > 50 * share


def test_schemas_and_tags(registry: Registry, generated: Path) -> None:
    """Protects the schemas that the dispatcher gets, including generated variants and implicit tags."""
    theirs = read_schemas(generated)
    assert {str(f.func): sorted(f.tags) for f in registry.functions} == theirs
