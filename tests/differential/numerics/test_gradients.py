"""Compare the gradients of every operator of native_functions.yaml with PyTorch's, and with finite differences.

For each drawn call: which results require a gradient, gradients, tangents, and gradients of gradients. A new operator is
compared without a line here; what is not compared is listed in gradient_exceptions.py with its reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import pytest

from differential.numerics.exceptions import is_second_name
from differential.numerics.values import BY_NAME
from opgen.gradtest.gradient import gradients
from opgen.model.function_schema import SchemaKind
from support.build import REPOSITORY
from support.library import SAMPLED, own_package, own_registry

pytest.importorskip("torch")

from differential.numerics import gradient_exceptions as exceptions
from differential.numerics.gradient_differences import DifferenceChecker
from differential.numerics.gradients import GradientChecker, GradientReport

# The formulas of the slice's operators call others, so that these tests use the whole library.
NIGHTLY = (pytest.mark.nightly, pytest.mark.whole_library)


def root(overload: str) -> str:
    """Return the name without overload and the `_` of in-place operators."""
    return overload.partition(".")[0].removesuffix("_")


_REGISTRY = own_registry()
OVERLOADS = tuple(
    str(f.func.name)
    for f in _REGISTRY.functions
    if f.func.kind() is not SchemaKind.out
    and any(a.type.is_tensor_like() for a in f.func.arguments.flat_all)
)
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@pytest.fixture(scope="session")
def checker() -> GradientChecker:
    return GradientChecker(own_package(), _REGISTRY)


@pytest.fixture(scope="session")
def differences() -> DifferenceChecker:
    return DifferenceChecker(own_package(), _REGISTRY)


@pytest.fixture(autouse=True)
def quiet(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Discard the warnings of both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    capfd.readouterr()


@pytest.fixture(scope="session")
def with_formula(checker: GradientChecker) -> frozenset[str]:
    """The operators that have a formula for the gradient of an argument."""
    found = gradients(REPOSITORY / "native_functions.yaml", target="runtime")
    return frozenset(str(gradient.schema.name) for gradient in found)


@pytest.mark.parametrize(
    "count",
    [pytest.param(4, id="few", marks=SAMPLED), pytest.param(200, id="many", marks=NIGHTLY)],
)
@pytest.mark.parametrize("overload", sorted(set(OVERLOADS) - exceptions.RANDOM))
def test_gradients_agree_with_torch(
    overload: str,
    count: int,
    checker: GradientChecker,
    with_formula: frozenset[str],
    record_property: Callable[[str, object], None],
) -> None:
    """Compare `count` calls with a gradient that is not zero for each dtype; a quarter of that for second names."""
    count = count // 4 if is_second_name(overload) else count
    reports = [checker.check(overload, BY_NAME[dtype], count) for dtype in DTYPES]
    record(record_property, "PyTorch", reports)
    compared, most = sum(r.compared for r in reports), max(r.nonzero for r in reports)
    if overload in exceptions.WITHOUT:
        assert compared == 0, "PyTorch has a gradient now: remove its line in WITHOUT"
    elif overload in exceptions.ZERO:
        assert most == 0, "there is a gradient that is not zero: remove its line in ZERO"
    elif overload in exceptions.BY_ANOTHER:
        assert compared == 0, "PyTorch has a gradient now: remove its line in BY_ANOTHER"
    elif overload in with_formula or compared:
        assert most >= count, f"only {most} of {count} gradients that are not zero"


@pytest.mark.parametrize(
    "count",
    [pytest.param(3, id="few", marks=SAMPLED), pytest.param(40, id="many", marks=NIGHTLY)],
)
@pytest.mark.parametrize(
    "overload",
    [name for name in OVERLOADS if root(name) not in exceptions.DRAWN and not is_second_name(name)],
)
def test_gradients_agree_with_finite_differences(
    overload: str,
    count: int,
    differences: DifferenceChecker,
    record_property: Callable[[str, object], None],
) -> None:
    """Protects the gradients that PyTorch does not have, or that are not compared with PyTorch's."""
    reports = [
        differences.check(overload, BY_NAME[dtype], count, second=1 + count // 4)
        for dtype in ("float64", "complex128")
    ]
    record(record_property, "finite differences", reports)
    if overload in exceptions.WITHOUT or overload in exceptions.RANDOM:
        assert sum(report.compared for report in reports) >= count


def record(
    record_property: Callable[[str, object], None], peer: str, reports: Sequence[GradientReport]
) -> None:
    """Count what was compared, and fail the test if something differs."""
    record_property(f"gradients: calls compared with {peer}", sum(r.compared for r in reports))
    record_property(f"gradients: tangents compared with {peer}", sum(r.tangents for r in reports))
    record_property(f"gradients: second ones compared with {peer}", sum(r.second for r in reports))
    findings = [finding for report in reports for finding in report.findings]
    if findings:
        text = "\n\n".join(map(str, findings[:4]))
        pytest.fail(f"{len(findings)} calls differ\n\n{text}", pytrace=False)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    ("name", "number"),
    [
        (name, i)
        for name, rules in exceptions.CALLS.items()
        if name not in exceptions.WRITES_OUTSIDE
        for i in range(len(rules))
    ],
)
def test_what_is_not_compared_differs(name: str, number: int, checker: GradientChecker) -> None:
    """Protects against exceptions that hide more than they must: some of their calls differ."""
    part, applies, reason = exceptions.CALLS[name][number]
    for overload in OVERLOADS:
        if name not in (overload, root(overload)):
            continue
        for dtype in DTYPES:
            if checker.differs(overload, BY_NAME[dtype], part, applies):
                return
    pytest.fail(f"no call differs: remove the exception ({reason})")


def test_exceptions_name_operators() -> None:
    names = {*OVERLOADS, *map(root, OVERLOADS)}
    given = {
        *exceptions.WITHOUT,
        *exceptions.ZERO,
        *exceptions.RANDOM,
        *exceptions.CALLS,
        *exceptions.DRAWN,
        *exceptions.BY_ANOTHER,
    }
    assert given <= names
