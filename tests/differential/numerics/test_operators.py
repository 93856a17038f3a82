"""Compare every overload of every operator of native_functions.yaml with PyTorch, for every dtype that PyTorch
accepts.

A new operator is compared without a line here. If the arguments drawn by type do not suit it, add a line to
constraints.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import opgen
from differential.numerics import exceptions
from differential.numerics.driver import Library
from differential.numerics.values import DTYPES
from support.library import SAMPLED, own_registry, slice_names
from support.selection import on_both, selected

OVERLOADS = tuple(
    str(function.func.name)
    for function in own_registry().functions
    if str(function.func.name) not in exceptions.EXEMPT
)
# Inputs for each dtype: of the slice's operators by default, and of all.
FEW, MORE, MANY = 12, 40, 200
NIGHTLY = (pytest.mark.nightly, pytest.mark.whole_library)


def fewer(overload: str, count: int) -> int:
    """Return `count`, or a part of it for second names."""
    return count // 5 if exceptions.is_second_name(overload) else count


@pytest.fixture(scope="session")
def checker(library: Library, registry: opgen.Registry, torch_installed: None) -> Any:
    # Importing it needs torch.
    check = pytest.importorskip("differential.numerics.check")
    return check.Checker(library, registry)


@pytest.mark.parametrize(
    ("overload", "count"),
    [
        *(pytest.param(name, FEW, id=f"{name}-few") for name in selected(OVERLOADS)),
        *(
            pytest.param(name, fewer(name, MORE), id=f"{name}-more", marks=SAMPLED)
            for name in OVERLOADS
        ),
        *(
            pytest.param(name, fewer(name, MANY), id=f"{name}-many", marks=NIGHTLY)
            for name in OVERLOADS
        ),
    ],
)
def test_agrees_with_torch(
    overload: str,
    count: int,
    checker: Any,
    record_property: Callable[[str, object], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Compare `count` inputs for each dtype."""
    reports = {dtype.name: checker.check(overload, dtype, count) for dtype in DTYPES}
    capfd.readouterr()  # Both warn about every out argument that is resized.
    supported = {name: report for name, report in reports.items() if report.supported}
    failures = [failure for report in reports.values() for failure in report.failures]
    for figure, total in {
        "overloads": 1,
        "overloads with a dtype": len(supported),
        "inputs compared with PyTorch": sum(report.compared for report in reports.values()),
        "inputs compared on Meta": sum(report.meta for report in reports.values()),
        "inputs that both refuse": sum(report.refused for report in reports.values()),
    }.items():
        record_property(f"numerics: {figure}", total)
    if failures:
        text = "\n\n".join(map(str, failures[:4]))
        if overload in exceptions.KNOWN:
            pytest.xfail(f"{exceptions.KNOWN[overload]}\n{text}")
        pytest.fail(f"{len(failures)} inputs differ\n\n{text}", pytrace=False)
    assert supported, "PyTorch refused every input: see constraints.py"
    few = {name: report.compared for name, report in supported.items() if report.compared < count}
    assert not few, f"not enough inputs that PyTorch accepts, of {count}: {few}"
    assert overload not in exceptions.KNOWN, "no longer fails: remove its line in exceptions.KNOWN"


@on_both
def test_every_operator_is_registered(library: Library, part: str) -> None:
    names = slice_names() if part == "slice" else OVERLOADS
    assert not {f"aten::{overload}" for overload in names} - set(library.operators())


def test_the_slice_is_a_slice() -> None:
    """Protects the time that the default tests take, and each kernel source from having no operator in them."""
    assert slice_names() <= set(OVERLOADS)
    assert len(slice_names()) < 220


@on_both
def test_no_kernel_is_a_stub(library: Library) -> None:
    """Except those for CUDA: the YAML names kernels for a device for which this library is not built."""
    assert [stub for stub in library.stubs() if stub[2] != "CUDA"] == []


@pytest.mark.parametrize(
    "table",
    [
        "EXEMPT",
        "LENIENT",
        "STRICT",
        "OUT_IS_WRONG",
        "OTHER_STRIDES",
        "KNOWN",
        "UNSPECIFIED",
        "SECOND_NAMES",
    ],
)
def test_exceptions_name_operators(table: str, registry: opgen.Registry) -> None:
    names = {str(function.func.name) for function in registry.functions}
    names |= {name.partition(".")[0] for name in names}
    assert {name for name in getattr(exceptions, table) if name not in names} == set()
