"""Several files, ignored keys and custom namespaces are read as torchgen reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compare import differences, report
from loading import load_registry

from opgen.emit.reports.dump import dump_rows
from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.registry import Registry
from opgen.parse.files.native_functions import builtin_tags
from opgen.targets import TARGETS
from support.inputs import registry_of

_TORCH = TARGETS["torch"]

_FIRST = """\
- func: foo(Tensor self, SymInt[] dims) -> Tensor
  structured_delegate: foo.out

- func: bar_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: bar_
  autogen: bar, bar.out
"""
_SECOND = """\
- func: foo.out(Tensor self, SymInt[] dims, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU, CUDA: foo_out
    SparseCPU: foo_sparse
"""


def _rows(registry: Registry, *, lines: bool = True) -> list[dict[str, Any]]:
    rows = dump_rows(registry, _TORCH, "signatures", None)
    return rows if lines else [{k: v for k, v in row.items() if k != "line"} for row in rows]


def _torchgen_rows(text: str, ignored: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    oracle = pytest.importorskip("torchgen_oracle")
    parsed = oracle.parse(text, frozenset(builtin_tags().names), ignored)
    rows: list[dict[str, Any]] = oracle.derive(parsed)
    return rows


def test_several_files_are_one(packaged: Path) -> None:
    """Protects groups whose members are in different files."""
    ours = _rows(registry_of(_FIRST, _SECOND), lines=False)
    together = f"{_FIRST}\n{_SECOND}"
    assert ours == _rows(registry_of(together), lines=False)
    assert not differences(_rows(registry_of(together)), _torchgen_rows(together))


@pytest.mark.parametrize("namespace", ["custom", "at2"])
def test_custom_namespaces(packaged: Path, namespace: str) -> None:
    """Protects libraries outside of aten: all fields agree except the C++ namespace of kernels and classes."""
    text = f"{_FIRST}\n{_SECOND}".replace("func: ", f"func: {namespace}::")
    found = differences(_rows(registry_of(text)), _torchgen_rows(text))
    assert not found, report(found)


def test_ignored_keys(source: Path) -> None:
    """Protects builds without some backends: their rows are removed, everything else stays."""
    ignored = frozenset({DispatchKey.CUDA, DispatchKey.MPS, DispatchKey.SparseCPU})
    text = (source / "native" / "native_functions.yaml").read_text(encoding="utf-8")
    theirs = _torchgen_rows(text, frozenset(key.name for key in ignored))
    found = differences(_rows(load_registry(source / "native", ignored)), theirs)
    assert not found, report(found)


def test_kept_backends(source: Path) -> None:
    """Protects `--backends CPU`: the remaining registrations are those that torchgen makes for these keys."""
    kept = {DispatchKey.CPU, *COMPOSITE_DISPATCH_KEYS}
    others = frozenset(key for key in SUPPORTED_DISPATCH_KEYS if key not in kept)
    names = {key.name for key in kept}
    every, some = (
        [row for row in dump_rows(registry, _TORCH, "registrations", None) if row["key"] in names]
        for registry in (
            load_registry(source / "native"),
            load_registry(source / "native", others),
        )
    )
    assert some == every
