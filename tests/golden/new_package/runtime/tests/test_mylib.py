"""Compare the operators of mylib with numbers worked out by hand."""

import pytest

import mylib


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_mix(dtype: str) -> None:
    a = mylib.tensor([[0.0, 2.0], [4.0, 6.0]], dtype=dtype)
    b = mylib.tensor([4.0, 4.0], dtype=dtype)
    expected = [[1, 2.5], [4, 5.5]]
    assert mylib.mix(a, b, 0.25).tolist() == expected
    out = mylib.tensor([[0.0, 0.0], [0.0, 0.0]], dtype=dtype)
    assert mylib.mix(a, b, 0.25, out=out) is out and out.tolist() == expected
    assert mylib.mix_(a, b, 0.25) is a and a.tolist() == expected


def test_running_sum() -> None:
    a = mylib.tensor([1.0, 9.0, 2.0, 9.0, 3.0])[::2]
    assert mylib.running_sum(a).tolist() == [1, 3, 6]
    assert mylib.running_sum(a, reverse=True).tolist() == [6, 5, 3]
    with pytest.raises(RuntimeError, match="2 dimensions, not 1"):
        mylib.running_sum(mylib.tensor([[1.0]]))


def test_wrong_types_are_rejected() -> None:
    with pytest.raises(TypeError, match="mix"):
        mylib.mix(mylib.tensor([1.0]), "x")


def test_gradient_of_mix() -> None:
    a, b = mylib.tensor([1.0, 2.0]).requires_grad_(), mylib.tensor([3.0]).requires_grad_()
    mylib.mix(a, b, 0.25).backward(mylib.tensor([1.0, 10.0]))
    assert a.grad is not None and a.grad.tolist() == [0.75, 7.5]
    assert b.grad is not None and b.grad.tolist() == [2.75]  # broadcast: summed
