"""Texts of entries into registries, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Collection

from opgen.diagnostics import Diagnostics, Source
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.parse import builtin_tags, parse_native_functions
from opgen.resolve import resolve

STRUCTURED = """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
  dispatch:
    SparseCPU: foo_sparse
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: foo.out
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: foo_out
    SparseCPU: foo_sparse_out
"""


def registry_of(text: str, *, tags: Collection[str] | None = None) -> Registry:
    diagnostics = Diagnostics()
    known = builtin_tags()
    functions = parse_native_functions([Source("f.yaml", text)], known, (), diagnostics)
    registry = resolve(functions, diagnostics, known.names if tags is None else tuple(tags))
    assert [d.message for d in diagnostics] == []
    return registry


def function(registry: Registry, name: str) -> NativeFunction:
    found = registry.find_function(name if "::" in name else f"aten::{name}")
    assert found is not None, f"there is no {name}"
    return found


def generated(text: str) -> list[str]:
    """The schemas of what is generated for these entries."""
    return [str(f.func) for f in registry_of(text).functions if "generated" in f.tags]


def key(name: str) -> DispatchKey:
    return DispatchKey[name]
