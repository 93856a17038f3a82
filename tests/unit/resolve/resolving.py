"""Helpers for the tests of this folder: parts of registries, and generated entries."""

from __future__ import annotations

from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from support.inputs import registry_of

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


def function(registry: Registry, name: str) -> NativeFunction:
    found = registry.find_function(name if "::" in name else f"aten::{name}")
    assert found is not None, f"there is no {name}"
    return found


def generated(text: str) -> list[str]:
    """Return the schemas of the operators generated for these entries."""
    return [str(f.func) for f in registry_of(text).functions if "generated" in f.tags]


def key(name: str) -> DispatchKey:
    return DispatchKey[name]
