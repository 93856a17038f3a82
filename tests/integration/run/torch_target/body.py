"""Checks of the library for either target: `ops` has the operators, `tensor` makes tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def fails(kind: type[Exception], texts: str | tuple[str, ...], call: Callable[[], Any]) -> None:
    try:
        call()
    except kind as error:
        for text in (texts,) if isinstance(texts, str) else texts:
            assert text in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


def body(ops: Any, tensor: Callable[[Any], Any]) -> None:
    variants(ops, tensor)
    sizes_and_results(ops, tensor)
    unstructured(ops, tensor)
    forgotten(ops, tensor)


def variants(ops: Any, tensor: Callable[[Any], Any]) -> None:
    """Check the functional, out= and in-place variants of one structured operator."""
    a, row = tensor([[0.0, 1.0], [2.0, 3.0]]), tensor([10.0, 20.0])
    assert ops.plus(a, row).tolist() == [[10, 21], [12, 23]]
    out = tensor([[0.0, 0.0], [0.0, 0.0]])
    assert ops.plus(a, a, out=out) is out and out.tolist() == [[0, 2], [4, 6]]
    assert ops.plus_(a, row) is a and a.tolist() == [[10, 21], [12, 23]]
    fails(RuntimeError, "size", lambda: ops.plus(a, tensor([1.0, 2.0, 3.0])))
    fails(RuntimeError, "", lambda: ops.plus_(row, a))
    integers = tensor([1, 2])
    assert ops.plus(integers, row).tolist() == [11, 22]
    fails(RuntimeError, "Float", lambda: ops.plus_(integers, row))


def sizes_and_results(ops: Any, tensor: Callable[[Any], Any]) -> None:
    """Check structured operators without an iterator: a size as an argument, two results."""
    assert ops.tiled(tensor([1.0, 2.0]), 3).tolist() == [[1, 2], [1, 2], [1, 2]]
    fails(RuntimeError, "a vector is expected", lambda: ops.tiled(tensor([[1.0]]), 3))
    first, last = ops.ends(tensor([5.0, 6.0, 7.0]))
    assert (first.tolist(), last.tolist()) == (5, 7)
    fails(IndexError, "the vector is empty", lambda: ops.ends(tensor([])))


def unstructured(ops: Any, tensor: Callable[[Any], Any]) -> None:
    """Check kernels of one variant; one of them calls other operators from C++."""
    a = tensor([1.0, 2.0])
    assert ops.tripled(a).tolist() == [3, 6]
    assert ops.shifted(a).tolist() == [2, 3]
    assert ops.shifted(a, tensor([10.0]), times=2).tolist() == [21, 22]
    assert ops.negate_(a) is a and a.tolist() == [-1, -2]


def forgotten(ops: Any, tensor: Callable[[Any], Any]) -> None:
    """Check the error for a meta function that sets no output, or sets up no iteration: it has the operator's name."""
    row, column, out = tensor([1.0, 2.0]), tensor([[1.0], [2.0]]), tensor([7.0])
    unset = ("both::pick", "the meta function (OPGEN_META_FUNC) did not set output 0")
    fails(RuntimeError, unset, lambda: ops.pick(row))
    fails(RuntimeError, unset, lambda: ops.pick(row, out=out))
    fails(
        RuntimeError,
        "the meta function (OPGEN_META_FUNC) did not set output 0",
        lambda: ops.pick_(row),
    )
    unbuilt = ("both::walk", "the meta function (OPGEN_META_FUNC) did not set up the iterator")
    fails(RuntimeError, unbuilt, lambda: ops.walk(row))
    fails(RuntimeError, unbuilt, lambda: ops.walk(column))
    fails(RuntimeError, unbuilt, lambda: ops.walk(column, out=out))
    assert out.tolist() == [7]
