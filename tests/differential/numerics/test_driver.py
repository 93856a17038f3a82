"""The driver itself: what a call passes and returns, and whether the comparison would notice differences."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest

from differential.numerics.driver import Library, OperatorError, TensorResult
from differential.numerics.values import (
    BY_NAME,
    BY_NUMBER,
    Device,
    TensorValue,
    from_numbers,
    to_numbers,
)


def test_arrays_keep_their_strides(library: Library) -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    (view,) = library.call("aten::alias", {"self": whole[1:3, ::2].T})
    assert (view.sizes, view.strides, view.offset) == ((3, 2), (2, 6), 6)
    assert view.array().tolist() == whole[1:3, ::2].T.tolist()
    (expanded,) = library.call("aten::alias", {"self": np.broadcast_to(whole[:1], (3, 6))})
    assert expanded.strides == (0, 1)


@pytest.mark.parametrize("name", BY_NAME)
def test_every_dtype_survives_a_round_trip(name: str, library: Library) -> None:
    dtype = BY_NAME[name]
    numbers = np.array([0, 1, 1, 0]) if dtype.kind == "bool" else np.array([0, 1, 100, 3])
    value = TensorValue(dtype, (4,), (1,), 0, from_numbers(dtype, numbers).tobytes())
    (copy,) = library.call("aten::clone", {"self": value})
    assert copy.dtype is dtype
    assert copy.array().tolist() == value.array().tolist() == numbers.tolist()


def test_bfloat16_rounds_to_nearest_even() -> None:
    dtype = BY_NAME["bfloat16"]
    numbers = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, np.nan, -np.inf], np.float32)
    rounded = to_numbers(dtype, from_numbers(dtype, numbers))
    assert rounded[:2].tolist() == [1.0, 1 + 2.0**-6]
    assert np.isnan(rounded[2]) and rounded[3] == -np.inf


def test_results_of_every_kind(library: Library) -> None:
    x = np.array([[3.0, 1.0], [2.0, 5.0]])
    assert library.call("aten::item", {"self": x[:1, :1]}) == [3.0]
    assert library.call("aten::equal", {"self": x, "other": x}) == [True]
    assert library.call("aten::size.int", {"self": x, "dim": 0}) == [2]
    (dtype,) = library.call("aten::result_type.Scalar", {"tensor": x, "other": 1j})
    assert BY_NUMBER[dtype].name == "complex128"
    values, indices = library.call("aten::max.dim", {"self": x, "dim": 1})
    assert (values.array().tolist(), indices.array().tolist()) == ([3.0, 5.0], [0, 1])
    ((first, second),) = library.call("aten::unbind.int", {"self": x})
    assert first.storage_identity == second.storage_identity
    assert (second.offset, second.array().tolist()) == (2, [2.0, 5.0])


def test_absent_optionals_and_undefined_results(library: Library) -> None:
    x = np.ones((2, 3), np.float32)
    one = np.ones((2, 1), np.float32)
    arguments: dict[str, Any] = {"grad_out": x, "input": x, "normalized_shape": (3,), "mean": one}
    arguments |= {"rstd": one, "weight": None, "bias": None, "output_mask": (True, False, False)}
    grad_input, grad_weight, grad_bias = library.call("aten::native_layer_norm_backward", arguments)
    assert isinstance(grad_input, TensorResult) and grad_weight is None and grad_bias is None


def test_defaults_of_the_schema_are_used(library: Library) -> None:
    x = np.array([1, 2])
    assert library.call("aten::add.Tensor", {"self": x, "other": x})[0].array().tolist() == [2, 4]
    scaled = library.call("aten::add.Tensor", {"self": x, "other": x, "alpha": 3})
    assert scaled[0].array().tolist() == [4, 8]


def test_errors_have_the_kind_of_the_runtime(library: Library) -> None:
    x = np.ones((2, 3))
    with pytest.raises(OperatorError) as refused:
        library.call("aten::select.int", {"self": x, "dim": 5, "index": 0})
    assert refused.value.kind == "IndexError"
    with pytest.raises(OperatorError, match="missing"):
        library.call("aten::add.Tensor", {"self": x})
    with pytest.raises(OperatorError, match="no argument"):
        library.call("aten::neg", {"self": x, "other": x})
    with pytest.raises(OperatorError):
        library.call("aten::no_such_operator", {"self": x})


def test_meta_has_shapes_and_no_data(library: Library) -> None:
    a, b = np.ones((3, 1), np.float32), np.ones((1, 4))
    (result,) = library.call("aten::mul.Tensor", {"self": a, "other": b}, "meta")
    assert (result.device, result.sizes, result.dtype.name) == ("meta", (3, 4), "float64")
    assert result.data == 0
    (made,) = library.call("aten::zeros", {"size": (2, 5), "device": Device("meta")})
    assert (made.device, made.sizes) == ("meta", (2, 5))


def test_written_arguments_can_be_read(library: Library) -> None:
    handles = {"self": library.make(np.array([1.0, 2.0])), "other": library.make(np.array([0.5]))}
    (result,) = library.call_handles("aten::add_.Tensor", handles)
    now = library.tensor(handles["self"])
    assert now.identity == result.identity
    assert now.array().tolist() == [1.5, 2.5]


@pytest.mark.parametrize(("sizes", "warnings"), [((0,), 0), ((2,), 0), ((3,), 1)])
def test_resizing_an_out_argument_with_elements_warns(
    sizes: tuple[int, ...], warnings: int, library: Library, capfd: pytest.CaptureFixture[str]
) -> None:
    """The text is on standard error; or, if an earlier test has imported a package that shares the runtime, it is a
    Python warning.
    """
    x = np.array([1.0, 2.0])
    with catch_warnings(record=True) as of_python:
        simplefilter("always")
        (out,) = library.call("aten::neg.out", {"self": x, "out": np.zeros(sizes)})
    assert out.array().tolist() == [-1.0, -2.0]
    assert capfd.readouterr().err.count("warning") + len(of_python) == warnings


@pytest.mark.parametrize("name", ["add.out", "mul.out", "maximum.out", "lt.Tensor_out"])
def test_an_out_argument_may_be_an_input_but_not_overlap_one(name: str, library: Library) -> None:
    numbers = np.arange(6.0)
    self = library.make(numbers)
    other = library.make(np.full(4, 2.0))
    first = library.view(self, (4,), (1,), 0)
    arguments = {"self": first, "other": other, "out": first}
    expected = {
        "add.out": numbers[:4] + 2,
        "mul.out": numbers[:4] * 2,
        "maximum.out": np.maximum(numbers[:4], 2),
        "lt.Tensor_out": (numbers[:4] < 2).astype(float),
    }[name]
    (result,) = library.call_handles(f"aten::{name}", arguments)
    assert result.array().tolist() == expected.tolist()
    with pytest.raises(OperatorError, match=r"memory|overlap"):
        shifted = library.view(self, (4,), (1,), 1)
        library.call_handles(f"aten::{name}", {**arguments, "out": shifted})
    with pytest.raises(OperatorError, match=r"memory|overlap"):
        one_place = library.view(self, (4,), (0,), 0)
        library.call_handles(f"aten::{name}", {**arguments, "out": one_place})
