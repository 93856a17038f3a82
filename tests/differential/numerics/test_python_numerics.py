"""Compare every operator called from Python, as function and method, by position and by name, with PyTorch and NumPy.

Inputs, comparisons and tolerances are those of the comparison through the C interface.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from random import Random
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from differential.numerics import exceptions
from differential.numerics.constraints import CONSTRAINTS
from differential.numerics.draw import Draw
from differential.numerics.numpy_reference import EXPECTED, compare
from differential.numerics.python_driver import Form, PythonLibrary
from differential.numerics.values import BY_NAME, DTYPES
from opgen.python.check import is_bound
from support.library import SAMPLED, own_package, own_registry, slice_names
from support.selection import each, selected

# Inputs per overload, form and dtype.
FEW, MANY = 1, 6
# Inputs that Hypothesis generates.
EXAMPLES, MANY_EXAMPLES = 150, 2000

_REGISTRY = own_registry()
OVERLOADS = tuple(
    name for f in _REGISTRY.functions if (name := str(f.func.name)) not in exceptions.EXEMPT
)


@pytest.fixture(scope="session")
def libraries() -> Mapping[Form, PythonLibrary]:
    return {form: PythonLibrary(own_package(), _REGISTRY, form) for form in Form}


@pytest.fixture(scope="session")
def checkers(libraries: Mapping[Form, PythonLibrary], torch_installed: None) -> Mapping[Form, Any]:
    check = pytest.importorskip("differential.numerics.check")
    return {form: check.Checker(library, _REGISTRY) for form, library in libraries.items()}


@pytest.fixture(autouse=True)
def quiet(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Both warn about every out argument that is resized."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    capfd.readouterr()


def _compare(
    checkers: Mapping[Form, Any], overload: str, count: int, record: Callable[[str, object], None]
) -> None:
    reports = [
        checker.check(overload, dtype, count)
        for checker in checkers.values()
        if checker.library.has(checker.functions[overload])
        for dtype in DTYPES
    ]
    if not reports:
        pytest.skip("Python has neither a function nor a method for it")
    record("Python: overloads called", 1)
    record("Python: inputs compared with PyTorch", sum(report.compared for report in reports))
    record("Python: inputs that both refuse", sum(report.refused for report in reports))
    failures = [failure for report in reports for failure in report.failures]
    if failures:
        text = "\n\n".join(map(str, failures[:4]))
        pytest.fail(f"{len(failures)} inputs differ\n\n{text}", pytrace=False)
    assert any(report.compared for report in reports), "PyTorch refused every input"


@pytest.mark.parametrize("overload", selected(OVERLOADS))
def test_python_agrees_with_torch(
    overload: str, checkers: Mapping[Form, Any], record_property: Callable[[str, object], None]
) -> None:
    """Protects the conversion of Python arguments to those of each operator, and of results back."""
    _compare(checkers, overload, FEW, record_property)


@pytest.mark.parametrize("overload", [pytest.param(name, marks=SAMPLED) for name in OVERLOADS])
def test_python_agrees_with_torch_on_many_inputs(
    overload: str, checkers: Mapping[Form, Any], record_property: Callable[[str, object], None]
) -> None:
    count = FEW if exceptions.is_second_name(overload) else MANY
    _compare(checkers, overload, count, record_property)


def _any_input(checkers: Mapping[Form, Any], names: Collection[str], examples: int) -> int:
    """Hypothesis chooses one of the operators, the form, the dtype and every number of the input, and finds the smallest
    input that differs. Return how many were compared.
    """
    calls = [
        (form, name)
        for form, checker in checkers.items()
        for name, f in checker.functions.items()
        if name in names and checker.library.has(f)
    ]
    compared = 0

    @hypothesis.settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(
        st.sampled_from(calls),
        st.sampled_from(DTYPES),
        st.integers(0, 5),
        st.randoms(use_true_random=False),
    )
    def differ(call: tuple[Form, str], dtype: Any, seed: int, source: Random) -> None:
        nonlocal compared
        form, name = call
        checker = checkers[form]
        if not _supported(checker, name, dtype):
            return
        check = pytest.importorskip("differential.numerics.check")
        report = check.Report()
        checker.check_seed(name, dtype, seed, report, source)
        compared += report.compared
        assert not report.failures, "\n\n".join(map(str, report.failures))

    differ()
    return compared


@functools.cache
def _supported(checker: Any, name: str, dtype: Any) -> bool:
    """Without elements, PyTorch accepts any dtype."""
    return bool(checker.supports(name, dtype))


@pytest.mark.slow
def test_python_agrees_with_torch_on_inputs_of_hypothesis(
    checkers: Mapping[Form, Any], record_property: Callable[[str, object], None]
) -> None:
    """Protects shapes, strides, broadcasting, empty tensors, NaN and infinities that fixed seeds do not reach."""
    compared = _any_input(checkers, slice_names(), EXAMPLES)
    record_property("Python: inputs of Hypothesis compared with PyTorch", compared)
    assert compared > EXAMPLES // 4


@pytest.mark.slow
@pytest.mark.whole_library
def test_python_agrees_with_torch_on_many_inputs_of_hypothesis(
    checkers: Mapping[Form, Any], record_property: Callable[[str, object], None]
) -> None:
    compared = _any_input(checkers, OVERLOADS, MANY_EXAMPLES)
    record_property("Python: inputs of Hypothesis compared with PyTorch", compared)
    assert compared > MANY_EXAMPLES // 4


@each("overload", EXPECTED)
def test_python_agrees_with_numpy(
    overload: str,
    libraries: Mapping[Form, PythonLibrary],
    record_property: Callable[[str, object], None],
) -> None:
    """Protects the results where torch is not installed."""
    f = next(f for f in _REGISTRY.functions if str(f.func.name) == overload)
    dtypes, expected = EXPECTED[overload]
    compared = sum(
        compare(library, overload, Draw(f.func, BY_NAME[dtype], seed, CONSTRAINTS), expected)
        for library in libraries.values()
        if library.has(f)
        for dtype in dtypes
        for seed in range(4)
    )
    record_property("Python: inputs compared with NumPy", compared)
    assert compared or not any(library.has(f) for library in libraries.values())


@pytest.mark.slow
@pytest.mark.whole_library
def test_every_operator_that_pytorch_binds_can_be_called(
    libraries: Mapping[Form, PythonLibrary],
) -> None:
    """Protects against comparing fewer and fewer operators. Generated out variants are left out, and so are names in
    PyTorch's skip list.
    """
    called = {
        str(f.func.name)
        for f in _REGISTRY.functions
        if any(library.has(f) for library in libraries.values())
    }
    assert {str(f.func.name) for f in _REGISTRY.functions if is_bound(f)} <= called
    assert len(called) > 540
