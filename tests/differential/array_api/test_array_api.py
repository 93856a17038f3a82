"""The module array_api of a package follows the array API standard, as array-api-strict implements it."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from differential.array_api.calls import DTYPES, Call, all_calls, filled
from differential.array_api.comparison import difference, functions_of, standard_functions
from support.build import REPOSITORY
from support.library import own_operators, own_package

pytestmark = [pytest.mark.slow, pytest.mark.whole_library]

# There is no uint64, so sums and products of uint8 are int64.
_NO_UINT64 = ("sum", "prod", "cumulative_sum", "cumulative_prod")
# Parameters that the version of the standard here does not have, or has in another form.
_OTHER_PARAMETERS = {"astype", "expand_dims"}
_OPERATORS = {
    "__add__": "add",
    "__and__": "bitwise_and",
    "__eq__": "equal",
    "__floordiv__": "floor_divide",
    "__ge__": "greater_equal",
    "__gt__": "greater",
    "__le__": "less_equal",
    "__lshift__": "bitwise_left_shift",
    "__lt__": "less",
    "__matmul__": "matmul",
    "__mul__": "multiply",
    "__ne__": "not_equal",
    "__or__": "bitwise_or",
    "__pow__": "pow",
    "__rshift__": "bitwise_right_shift",
    "__sub__": "subtract",
    "__truediv__": "divide",
    "__xor__": "bitwise_xor",
}


@pytest.fixture(scope="module")
def strict() -> Iterator[Any]:
    found = pytest.importorskip("array_api_strict")
    found.set_array_api_strict_flags(api_version="2024.12")
    yield found
    found.reset_array_api_strict_flags()


@pytest.fixture(scope="module")
def namespace() -> Any:
    return own_package().tensor(1).__array_namespace__(api_version="2024.12")


def calls_of(strict: Any) -> Iterator[Call]:
    others = {"matmul", "matrix_transpose", "nonzero"}
    unary = [name for name in functions_of(strict, ["x"]) if name not in others]
    binary = [name for name in functions_of(strict, ["x1", "x2"]) if name not in others]
    yield from all_calls([name for name in unary if not name.startswith("unique")], binary)


def test_results_are_those_of_array_api_strict(namespace: Any, strict: Any) -> None:
    """Protects dtypes, shapes and numbers of all functions, for all dtypes and special numbers."""
    calls = list(calls_of(strict))
    counts = Counter(call.name for call in calls)
    assert (
        not {name for name, _ in standard_functions(strict)}
        - set(counts)
        - {
            "empty",
            "empty_like",
            "finfo",
            "from_dlpack",
            "iinfo",
        }
    )
    found = filter(None, (difference(call, namespace, strict) for call in calls))
    missing = "dtype int64 instead of uint64"
    assert [
        text for text in found if not (text.startswith(_NO_UINT64) and text.endswith(missing))
    ] == []


def test_signatures_are_those_of_the_standard(namespace: Any, strict: Any) -> None:
    """Protects the names, the kinds and the defaults of parameters."""
    for name, expected in standard_functions(strict):
        found = inspect.signature(getattr(namespace, name))
        ours, theirs = ([*one.parameters.values()] for one in (found, expected))
        if name not in _OTHER_PARAMETERS:
            assert [(p.name, p.kind) for p in ours] == [(p.name, p.kind) for p in theirs], name
            assert [p.default for p in ours if p.kind is p.KEYWORD_ONLY] == [
                None if "Undef" in repr(p.default) else p.default
                for p in theirs
                if p.kind is p.KEYWORD_ONLY
            ], name


def test_names_are_those_of_the_standard(namespace: Any, strict: Any) -> None:
    unsigned = {"uint16", "uint32", "uint64"}
    extra = {name for name in strict.__all__ if "strict" in name.lower()}
    absent = {"Device", "__version__", "fft", "isin", "linalg", *unsigned, *extra}
    assert set(strict.__all__) - set(namespace.__all__) == absent
    assert set(namespace.__all__) - set(strict.__all__) == set()
    assert all(hasattr(namespace, name) for name in namespace.__all__)


def test_tensors_have_the_attributes_of_the_standard(namespace: Any, strict: Any) -> None:
    names = {name for name in dir(strict.ones(1)) if name[0] != "_"}
    names |= {name for name in dir(type(strict.ones(1))) if name.startswith("__")}
    generic = {"__annotations__", "__buffer__", "__slots__", "__weakref__", "__static_attributes__"}
    names -= generic | {"__firstlineno__"}
    assert {name for name in names if not hasattr(namespace.ones((2, 2)), name)} == set()


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_are_the_functions(namespace: Any, strict: Any, dtype: str) -> None:
    """Protects Python's operators, the reflected and the in-place ones, for operands of one dtype."""
    first = np.array([[1, 2], [3, 1]]).astype(dtype)
    second = np.array([[3, 1], [2, 2]]).astype(dtype)
    for operator, function in _OPERATORS.items():
        try:
            Call(function, (first, second)).run(strict)
        except TypeError:
            continue
        expected = np.asarray(Call(function, (first, second)).run(namespace))
        a, b = (namespace.asarray(one, copy=True) for one in (first, second))
        assert np.array_equal(np.asarray(getattr(a, operator)(b)), expected)
        in_place, reflected = (operator.replace("__", f"__{one}", 1) for one in "ir")
        if function == "matmul" or expected.dtype != first.dtype or not hasattr(a, in_place):
            continue
        number = second[0, 0].item()
        assert np.array_equal(
            np.asarray(getattr(a, reflected)(number)),
            np.asarray(getattr(namespace, function)(number, a)),
        )
        again = getattr(a, in_place)(b)
        assert again is a and np.array_equal(np.asarray(a), expected)


def test_indexing_is_that_of_array_api_strict(namespace: Any, strict: Any) -> None:
    array = filled("int32", (4, 5))
    mask = array > 2
    keys: tuple[Any, ...] = (
        (0, ...),
        (-1, ...),
        (1, 2),
        (slice(1, 3), ...),
        (slice(None), 2),
        (..., 1),
        (None, 0, ...),
        (slice(0, 4, 2), -1),
    )
    for key in keys:
        expected = np.asarray(strict.asarray(array)[key])
        assert np.array_equal(np.asarray(namespace.asarray(array)[key]), expected), key
    found = namespace.asarray(array)[namespace.asarray(mask)]
    assert np.array_equal(np.asarray(found), array[mask])


def test_limits_of_dtypes(namespace: Any, strict: Any) -> None:
    for dtype in DTYPES:
        ours, theirs = (getattr(one, dtype) for one in (namespace, strict))
        for name in ("finfo", "iinfo"):
            try:
                expected = getattr(strict, name)(theirs)
            except (TypeError, ValueError):
                with pytest.raises(TypeError, match=f"{name}\\(\\) needs"):
                    getattr(namespace, name)(ours)
                continue
            found = getattr(namespace, name)(ours)
            fields = ("bits", "min", "max") + (("eps", "smallest_normal") * (name == "finfo"))
            for field in fields:
                assert getattr(found, field) == getattr(expected, field), (dtype, field)


def test_questions_about_the_namespace(namespace: Any, strict: Any) -> None:
    ours, theirs = (one.__array_namespace_info__() for one in (namespace, strict))
    assert ours.capabilities() == theirs.capabilities()
    assert ours.default_device() == namespace.ones(1).device
    assert ours.default_dtypes()["real floating"] is namespace.ones(1).dtype
    assert ours.default_dtypes().keys() == theirs.default_dtypes().keys()
    for kind in (None, "bool", "integral", "real floating", ("complex floating", "bool")):
        expected = {name for name in theirs.dtypes(kind=kind) if name in DTYPES}
        found = ours.dtypes(kind=kind)
        assert set(found) == expected and all(found[n] is getattr(namespace, n) for n in found)


def test_sharing(namespace: Any) -> None:
    x = namespace.arange(6)
    assert namespace.asarray(x) is x and namespace.asarray(x, copy=True) is not x
    assert namespace.asarray(x, copy=False) is x and namespace.astype(x, x.dtype, copy=False) is x
    view = namespace.reshape(x, (2, 3), copy=False)
    view[0, 0] = 7
    assert x[0] == 7
    with pytest.raises(ValueError, match="needs a copy"):
        namespace.reshape(view.T, (6,), copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        namespace.asarray(x, dtype=namespace.float32, copy=False)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda xp, x: xp.squeeze(x, 0), ValueError),
        (lambda xp, x: xp.sum(x, axis=2), IndexError),
        (lambda xp, x: xp.sum(x, axis=(0, -2)), ValueError),
        (lambda xp, x: xp.broadcast_to(x, (2, 4)), ValueError),
        (lambda xp, x: xp.concat([]), ValueError),
        (lambda xp, x: xp.nonzero(x[0, 0]), ValueError),
        (lambda xp, x: xp.cumulative_sum(x), ValueError),
        (lambda xp, x: xp.take(x, xp.asarray([0])), ValueError),
        (lambda xp, x: xp.add(1, 2), TypeError),
        (lambda xp, x: xp.result_type(1, 2.0), ValueError),
        (lambda xp, x: xp.isdtype(x.dtype, "int"), ValueError),
        (lambda xp, x: xp.meshgrid(x, indexing="yx"), ValueError),
        (lambda xp, x: x.__array_namespace__(api_version="2030.12"), ValueError),
        (lambda xp, x: x[0].T, ValueError),
    ],
)
def test_misuse_is_an_error(namespace: Any, call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(namespace, namespace.ones((2, 3)))


def test_gradients_flow_through_functions(namespace: Any) -> None:
    x = namespace.asarray([[1.0, 2.0], [3.0, 4.0]]).requires_grad_()
    namespace.sum(namespace.multiply(namespace.concat([x.T, x]), 2.0)).backward()
    assert x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_functions_whose_operators_the_library_does_not_have_say_so() -> None:
    """Protects the error that names the operator, in a process that hides one."""
    program = """
import aten
del aten._C.cumsum
xp = aten.ones(1).__array_namespace__()
try:
    xp.cumulative_sum(xp.ones(3))
except NotImplementedError as error:
    assert "the operator cumsum, which aten does not have" in str(error), error
else:
    raise AssertionError
"""
    environment = {"PYTHONPATH": str(own_operators().packages)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_the_page_for_users(namespace: Any) -> None:
    """Protects the session of docs/guides/python.md about the standard."""
    page = REPOSITORY / "docs/guides/python.md"
    text = page.read_text(encoding="utf-8").split("## The array API standard\n")[1]
    text = text.split("\n## ")[0].replace("mylib", "aten")
    test = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, page.name, None, 0)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0
