"""The signatures that torchgen writes for Python's argument parser and for stubs: opgen writes the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compare import differences, report
from loading import load_registry

from opgen.diagnostics import Diagnostics
from opgen.emit.reports.dump import dump_rows
from opgen.python.check import check_python, is_bound
from opgen.python.signatures import Spellings
from opgen.targets import TARGETS
from support.releases import RELEASES, write_files

HERE = Path(__file__).parent
_FIELDS = ("python_signature", "python_method_signature", "pyi_signature")

# torchgen has no signature for these either. requires_grad is also the name of an argument that
# every signature with tensor options gets; the others name only some of their returns.
_ERRORS = {
    ("aten::requires_grad_", "python_signature"),
    ("aten::requires_grad_", "python_method_signature"),
    ("aten::requires_grad_", "pyi_signature"),
    ("aten::_amp_update_scale", "pyi_signature"),
    ("aten::_batch_norm_with_update_functional", "pyi_signature"),
    ("aten::_native_batch_norm_legit_functional", "pyi_signature"),
    ("aten::rrelu_with_noise_functional", "pyi_signature"),
}


@pytest.fixture(scope="module")
def theirs(source: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    out = tmp_path_factory.mktemp("facts") / "extra.json"
    native = source / "native"
    files = [str(native / "native_functions.yaml"), str(native / "tags.yaml")]
    script = [str(HERE / "torchgen_facts.py"), "--extra", "-o", str(out)]
    subprocess.run([sys.executable, *script, *files], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    return [_python_fields(row) for row in rows]


@pytest.fixture(scope="module")
def ours(source: Path) -> list[dict[str, Any]]:
    registry = load_registry(source / "native")
    rows = dump_rows(registry, TARGETS["torch"], "signatures", None, extra=True)
    return [_python_fields(row) for row in rows]


def _python_fields(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the signature; errors are reduced to their presence, without the message."""
    fields = {name: _without_text(row[name]) for name in _FIELDS}
    return {"name": row["name"], "schema": row["schema"], **fields}


def _without_text(value: Any) -> Any:
    """Return a signature without what depends on where its lines break."""
    if not isinstance(value, str):
        return "(error)" if isinstance(value, dict) else value
    return "".join(value.replace("# fmt: skip", "").split()).replace(",)", ")")


def test_python_signatures(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """Protects Python callers and stubs: no signature of any operator differs from torchgen's."""
    found = differences(ours, theirs)
    assert not found, report(found)
    assert len(ours) == len(theirs) > 300


def test_only_the_known_operators_have_no_signature(ours: list[dict[str, Any]]) -> None:
    """Protects the comparison itself: two unexpected errors must not count as agreement."""
    found = {(row["name"], field) for row in ours for field in _FIELDS if row[field] == "(error)"}
    names = {row["name"] for row in ours}
    assert found == {(name, field) for name, field in _ERRORS if name in names}


@pytest.mark.slow
def test_every_bound_operator_can_be_bound(packaged: Path) -> None:
    """Protects against rejecting what PyTorch binds: nothing is reported about its own operators."""
    _check_bindings(packaged / "native")


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_every_bound_operator_of_older_releases(tmp_path: Path, release: str) -> None:
    """Protects against a list of types that fits one release only."""
    _check_bindings(write_files(release, tmp_path))


def _check_bindings(folder: Path) -> None:
    target = TARGETS["torch"]
    functions = load_registry(folder).functions
    diagnostics = Diagnostics()
    check_python(functions, Spellings(target.cpp.spelling, target.python), diagnostics)
    assert [f"{d.code}: {d.message}" for d in diagnostics] == []
    assert sum(map(is_bound, functions)) > 2200
