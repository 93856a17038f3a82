"""PyTorch's whole native_functions.yaml: generated, compiled without a warning, linked, called.

Protects the claim that everything generated from 2,584 real entries is valid C++. Runs in .ci/nightly;
tests/integration/compile tests a sample every day.
"""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from differential.numerics.driver import Library, OperatorError
from differential.numerics.values import Device, Layout
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from support.build import default_compiler, jobs

pytestmark = pytest.mark.nightly

# Rows per key that torchgen 2.13.0 registers by default, except for Functionalize, which opgen does
# not generate here. Source: counted in its generated files.
ROWS = {
    "CPU": 1067,
    "CUDA": 1268,
    "CompositeExplicitAutograd": 1061,
    "CompositeExplicitAutogradNonFunctional": 442,
    "CompositeImplicitAutograd": 743,
    "CompositeImplicitAutogradNestedTensor": 5,
    "Meta": 738,
    "BackendSelect": 81,
    "SparseCPU": 175,
    "SparseCUDA": 173,
    "SparseCsrCPU": 140,
    "SparseCsrCUDA": 139,
    "SparseCsrMeta": 129,
    "QuantizedCPU": 110,
    "NestedTensorCPU": 100,
    "NestedTensorCUDA": 101,
    "NestedTensorHPU": 88,
    "MkldnnCPU": 56,
    "QuantizedCUDA": 39,
    "SparseMeta": 24,
    "ZeroTensor": 8,
    "QuantizedMeta": 1,
    "NestedTensorMeta": 1,
}


def test_numbers_of_functions_and_groups(registry: Registry) -> None:
    assert sum("generated" not in f.tags for f in registry.functions) == 2584
    assert len(registry.functions) == 3101
    assert len(registry.groups) == 1105
    assert sum(group.structured for group in registry.groups) == 275


def test_the_library_registers_every_schema_and_row(library: Library) -> None:
    # The runtime registers a few operators itself.
    operators = [name for name in library.operators() if not name.startswith("opgen::")]
    assert len(operators) == 3101
    rows = Counter(key for name in operators for key in library.registered_keys(name))
    assert rows == ROWS


def test_fifty_operators_answer_from_their_stub(registry: Registry, library: Library) -> None:
    """Called with plausible arguments, an operator reports which kernel is missing and what to write."""
    candidates = [f for f in registry.functions if _reaches_stub(f)]
    for f in random.Random(2130).sample(candidates, 50):
        arguments = {a.name: _example(a.type) for a in f.func.arguments.flat_all}
        with pytest.raises(OperatorError) as caught:
            library.call(f.full_name, arguments)
        text = str(caught.value)
        assert caught.value.kind == "NotImplementedError", f"{f.full_name}: {text}"
        assert f"::{f.root_name}" in text and "OPGEN_" in text, f"{f.full_name}: {text}"


def test_every_header_compiles_alone(tree: Path) -> None:
    """Compile each header after the precompiled public ones, and every fiftieth also without those."""
    include = tree / "include"
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*.h"))
    assert len(headers) > 6500
    assert _complaints(include, headers, precompiled=True) == []
    assert _complaints(include, headers[::50], precompiled=False) == []


def _complaints(include: Path, headers: list[str], *, precompiled: bool) -> list[str]:
    """Return the compiler's messages for each header with problems (the first twenty)."""
    compiler = default_compiler()
    compiler.check_headers([include], headers[0], precompiled=precompiled)

    def check(header: str) -> str:
        # Twice: a second inclusion must have no effect.
        return compiler.check_headers([include], header, header, precompiled=precompiled)

    with ThreadPoolExecutor(jobs()) as pool:
        return [said for said in pool.map(check, headers) if said][:20]


def _reaches_stub(f: NativeFunction) -> bool:
    """Return whether a call with CPU tensors reaches a kernel that an author has to write."""
    keys = {key.name for key, _ in f.dispatch}
    serves_cpu = {"CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"}
    takes_tensor = any(str(a.type) == "Tensor" for a in f.func.arguments.flat_all)
    written = "generated" not in f.tags
    return written and takes_tensor and bool(keys & serves_cpu or f.part_of_structured_group)


_EXAMPLES: dict[BaseTy, Any] = {
    BaseTy.Tensor: np.zeros((2, 2), np.float32),
    BaseTy.str: "none",
    BaseTy.bool: False,
    BaseTy.float: 0.5,
    BaseTy.Scalar: 1.0,
    BaseTy.Device: Device("cpu"),
    BaseTy.Layout: Layout("strided", 0),
}


def _example(type: Type) -> Any:
    """Return a value of `type`: one element for a list, None for an optional, else a small value."""
    match type:
        case OptionalType():
            return None
        case ListType(elem, size):
            return [_example(elem)] * (size or 1)
        case BaseType(name):
            return _EXAMPLES.get(name, 1)
        case _:
            raise AssertionError(f"{type} has no example")
