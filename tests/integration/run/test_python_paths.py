"""What makes a tensor from a tensor without a method of the library: indices, views, copies, conversions. Each keeps the
gradient, the tangent, the batch of vmap() and the trace, or refuses.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest

from support.library import WHOLE, own_package

pytestmark = [*WHOLE]


@pytest.fixture(scope="module")
def aten() -> Any:
    return own_package()


class Path(NamedTuple):
    """A linear function of a tensor of shape (3, 2), and whether its result is on the same bytes."""

    run: Callable[[Any, Any], Any]
    is_view: bool = True


def _second(iterator: Any) -> Any:
    next(iterator)
    return next(iterator)


PATHS = {
    "x[1]": Path(lambda m, x: x[1]),
    "x[-1, 0]": Path(lambda m, x: x[-1, 0]),
    "x[1:]": Path(lambda m, x: x[1:]),
    "x[::2, :1]": Path(lambda m, x: x[::2, :1]),
    "x[..., 1]": Path(lambda m, x: x[..., 1]),
    "x[None]": Path(lambda m, x: x[None]),
    "x[...]": Path(lambda m, x: x[...]),
    "x[[2, 0]]": Path(lambda m, x: x[[2, 0]], is_view=False),
    "x[1:, [1, 0]]": Path(lambda m, x: x[1:, [1, 0]], is_view=False),
    "x[index]": Path(lambda m, x: x[m.tensor([2, 0, 2])], is_view=False),
    "x[1][1]": Path(lambda m, x: x[1][1]),
    "iter": Path(lambda m, x: _second(iter(x))),
    "list": Path(lambda m, x: list(x)[2]),
    "unpacking": Path(lambda m, x: (lambda a, b, c: b)(*x)),
    "x.T": Path(lambda m, x: x.T),
    "x.mT": Path(lambda m, x: x.mT),
    "x.H": Path(lambda m, x: x.H),
    "x.mH": Path(lambda m, x: x.mH),
    "x.T[1]": Path(lambda m, x: x.T[1]),
    "x.real": Path(lambda m, x: x.real),
    "+x": Path(lambda m, x: +x),
    "copy": Path(lambda m, x: copy.copy(x)),
    "float": Path(lambda m, x: x.float()),
    "double": Path(lambda m, x: x.double(), is_view=False),
    "to_device": Path(lambda m, x: x.to_device("cpu")),
    "as_tensor": Path(lambda m, x: m.as_tensor(x)),
    "as_tensor with a dtype": Path(lambda m, x: m.as_tensor(x, dtype=m.float64), is_view=False),
    "asarray": Path(lambda m, x: m.asarray(x)),
    "asarray with a copy": Path(lambda m, x: m.asarray(x, copy=True), is_view=False),
    "call of an operator": Path(
        lambda m, x: m._C._call_operator("aten::neg", "", {"self": x})[0], is_view=False
    ),
    "_stack": Path(lambda m, x: m._C._stack([x, x], 0), is_view=False),
    "_clone": Path(lambda m, x: m._C._clone(x), is_view=False),
    "_select": Path(lambda m, x: m._C._select(x, 0, 1)),
    "_movedim": Path(lambda m, x: m._C._movedim(x, 0, 1)),
}
VIEWS = [name for name, path in PATHS.items() if path.is_view]
X = numpy.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype="float32")
DIRECTION = numpy.array([[1.0, -2.0], [0.5, 3.0], [4.0, -1.0]], dtype="float32")


def _values(tensor: Any) -> numpy.ndarray:
    return numpy.array(tensor.detach().tolist())


@pytest.mark.parametrize("name", PATHS)
def test_the_tangent_is_kept(aten: Any, name: str) -> None:
    """Protects forward mode: the tangent of the result is the function of the tangent, since all are linear."""
    ad = aten.autograd.forward_ad
    run = PATHS[name].run
    with ad.dual_level():
        found = run(aten, ad.make_dual(aten.tensor(X), aten.tensor(DIRECTION)))
        tangent = ad.unpack_dual(found).tangent
        assert tangent is not None
        assert _values(tangent).tolist() == _values(run(aten, aten.tensor(DIRECTION))).tolist()
        with aten.no_grad():  # does not concern forward mode
            found = run(aten, ad.make_dual(aten.tensor(X), aten.tensor(DIRECTION)))
            assert ad.unpack_dual(found).tangent is not None


@pytest.mark.parametrize("name", PATHS)
def test_the_gradient_is_kept(aten: Any, name: str) -> None:
    """Protects gradients: the scalar product of the gradient with a direction is the derivative in that direction."""
    run = PATHS[name].run
    x = aten.tensor(X, requires_grad=True)
    found = run(aten, x)
    assert found.requires_grad
    weights = aten.tensor(numpy.arange(1.0, found.numel() + 1).reshape(found.shape)).to(found.dtype)
    (gradient,) = aten.autograd.grad((found * weights).sum(), x)
    expected = (_values(weights) * _values(run(aten, aten.tensor(DIRECTION)))).sum()
    assert (_values(gradient) * DIRECTION).sum() == pytest.approx(expected)


@pytest.mark.parametrize("name", PATHS)
def test_a_batch_is_kept(aten: Any, name: str) -> None:
    """Protects vmap(): the same as one call for each example, or refused."""
    run = PATHS[name].run
    batch = [X, X + 10, X * -1]
    try:
        found = aten.vmap(lambda x: run(aten, x))(aten.tensor(batch))
    except (NotImplementedError, RuntimeError, TypeError) as error:
        assert name in ("x[1:, [1, 0]]", "x.real"), error
        return
    expected = [_values(run(aten, aten.tensor(x))).tolist() for x in batch]
    assert _values(found).tolist() == expected


@pytest.mark.parametrize("name", PATHS)
def test_a_trace_is_kept(aten: Any, name: str) -> None:
    """Protects graphs: replayed with other numbers, they give the function of these."""
    run = PATHS[name].run
    graph = aten.record_graph(lambda x: run(aten, x) * 1, aten.tensor(X))
    found = graph.replay(aten.tensor(DIRECTION))
    assert _values(found).tolist() == _values(run(aten, aten.tensor(DIRECTION))).tolist()


@pytest.mark.parametrize("name", VIEWS)
def test_a_change_of_a_view_changes_the_base(aten: Any, name: str) -> None:
    """Protects gradients of values that are written into a view: the base depends on them."""
    run = PATHS[name].run
    base = aten.tensor(X)
    factor = aten.tensor(2.0, requires_grad=True)
    view = run(aten, base)
    view.mul_(factor)
    assert base.requires_grad
    (gradient,) = aten.autograd.grad(base.sum(), factor)
    assert gradient.item() == pytest.approx(_values(run(aten, aten.tensor(X))).sum())


def test_bools_have_no_tangent(aten: Any) -> None:
    """Protects forward formulas that subtract the tangent of an argument: bools cannot be subtracted."""
    ad = aten.autograd.forward_ad
    with ad.dual_level():
        divisor = ad.make_dual(aten.tensor([2.0, 4.0]), aten.tensor([1.0, 8.0]))
        found = ad.unpack_dual(aten.tensor([True, False]) / divisor).tangent
        assert _values(found).tolist() == [-0.25, 0.0]


@pytest.mark.parametrize("name", VIEWS)
def test_a_tangent_is_written_into_the_base(aten: Any, name: str) -> None:
    """Protects tangents of values that are written into a view, as the one above."""
    ad = aten.autograd.forward_ad
    run = PATHS[name].run
    with ad.dual_level():
        base = aten.tensor(X)
        run(aten, base).mul_(ad.make_dual(aten.tensor(2.0), aten.tensor(1.0)))
        tangent = ad.unpack_dual(base).tangent
        assert tangent is not None
        assert _values(tangent).sum() == pytest.approx(_values(run(aten, aten.tensor(X))).sum())


@pytest.mark.parametrize("name", [name for name in VIEWS if not name.startswith("_")])
def test_a_view_from_no_grad_is_not_changed_later(aten: Any, name: str) -> None:
    """Protects gradients: a change, where they are recorded, of a view that was made where they were not is refused, as
    in PyTorch.
    """
    run = PATHS[name].run
    base = aten.tensor(X, requires_grad=True) * 1
    with aten.no_grad():
        view = run(aten, base)
    if view.grad_fn is not None:
        return  # `base` itself
    with pytest.raises(RuntimeError, match="made in no_grad mode"):
        view.mul_(aten.tensor(2.0))
    with pytest.raises(RuntimeError, match="made in no_grad mode"):
        view[...] = 2.0
    with pytest.raises(RuntimeError, match="made in no_grad mode"):
        view.copy_(aten.tensor(2.0))
    with aten.no_grad():
        view.mul_(aten.tensor(2.0))
        view[...] = 2.0


KEYS = {
    "x[1]": 1,
    "x[:, 0]": (slice(None), 0),
    "x[[0, 2]]": [0, 2],
    "x[1:, [1]]": (slice(1, None), [1]),
}


@pytest.mark.parametrize("key", KEYS)
def test_assigned_values_keep_what_they_have(aten: Any, key: str) -> None:
    """Protects the gradient and the tangent of a tensor that is assigned to items of one without."""
    at = KEYS[key]
    shape = aten.tensor(X)[at].shape
    value = numpy.arange(1.0, 1.0 + numpy.prod(shape), dtype="float32").reshape(shape)
    x = aten.tensor(X)
    w = aten.tensor(value, requires_grad=True)
    x[at] = w * 3
    (gradient,) = aten.autograd.grad(x.sum(), w)
    assert _values(gradient).tolist() == numpy.full(shape, 3.0).tolist()
    ad = aten.autograd.forward_ad
    with ad.dual_level():
        x = aten.tensor(X)
        x[at] = ad.make_dual(aten.tensor(value), aten.tensor(value * 10))
        expected = numpy.zeros_like(X)
        expected[at] = value * 10
        assert _values(ad.unpack_dual(x).tangent).tolist() == expected.tolist()
        x = ad.make_dual(aten.tensor(X), aten.tensor(DIRECTION))
        x[at] = 7.0
        expected = DIRECTION.copy()
        expected[at] = 0
        assert _values(ad.unpack_dual(x).tangent).tolist() == expected.tolist()


def test_a_detached_tensor_has_nothing(aten: Any) -> None:
    """Protects detach(), which stops gradients and tangents, in a trace and under vmap(), too."""
    ad = aten.autograd.forward_ad
    with ad.dual_level():
        dual = ad.make_dual(aten.tensor(X), aten.tensor(DIRECTION))
        assert ad.unpack_dual(dual.detach()).tangent is None
        mapped = aten.vmap(lambda row: row.detach() * row)(dual)
        assert _values(ad.unpack_dual(mapped).tangent).tolist() == (X * DIRECTION).tolist()
    w = aten.tensor(X, requires_grad=True)
    (gradient,) = aten.autograd.grad(aten.vmap(lambda row: row.detach() * row)(w).sum(), w)
    assert _values(gradient).tolist() == X.tolist()
    graph = aten.record_graph(lambda x: x.detach() * 2, aten.tensor(X))
    assert _values(graph.replay(aten.tensor(DIRECTION))).tolist() == (DIRECTION * 2).tolist()


def test_copies_of_a_tensor_with_a_tangent(aten: Any) -> None:
    """Protects copies: a deep copy has a deep copy of the tangent."""
    ad = aten.autograd.forward_ad
    with ad.dual_level():
        dual = ad.make_dual(aten.tensor(X), aten.tensor(DIRECTION))
        twin = copy.deepcopy(dual)
        dual.mul_(aten.tensor(0.0))
        assert _values(twin).tolist() == X.tolist()
        assert _values(ad.unpack_dual(twin).tangent).tolist() == DIRECTION.tolist()
    graph = aten.record_graph(lambda x: copy.deepcopy(x) * 2, aten.tensor(X))
    assert _values(graph.replay(aten.tensor(DIRECTION))).tolist() == (DIRECTION * 2).tolist()


LOSING = {
    "numpy": lambda m, x: x.numpy(),
    "asarray": lambda m, x: numpy.asarray(x),
    "memoryview": lambda m, x: memoryview(x),
    "from_dlpack": lambda m, x: m.from_dlpack(x),
    "pickle": lambda m, x: pickle.dumps(x),
}


@pytest.mark.parametrize("name", LOSING)
def test_what_would_lose_a_tangent_is_refused(aten: Any, name: str) -> None:
    """Protects forward mode: other libraries and files have no tangents."""
    ad = aten.autograd.forward_ad
    with ad.dual_level():
        dual = ad.make_dual(aten.tensor(X), aten.tensor(DIRECTION))
        with pytest.raises((RuntimeError, BufferError), match="would lose the tangent"):
            LOSING[name](aten, dual)
        LOSING[name](aten, ad.unpack_dual(dual).primal)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["numpy", "from_dlpack", "pickle"])
def test_what_a_trace_does_not_see_is_said(aten: Any, name: str, dtype: str) -> None:
    """Protects graphs: numbers that leave the trace become constants, as those of item() do; it is said once, also where
    NumPy has no such dtype.
    """
    x = aten.tensor(X, dtype=getattr(aten, dtype))
    with pytest.warns(UserWarning, match="become constants of the graph") as said:
        aten.record_graph(lambda x: LOSING[name](aten, x) is None or x * 1, x)
    assert len(said) == 1


def test_numbers_from_tensors(aten: Any) -> None:
    """Protects gradients that end where a tensor is read as a number: it is refused for numbers of operators, and said
    for tensor(), which copies numbers by definition.
    """
    ad = aten.autograd.forward_ad
    x, w = aten.tensor(X), aten.tensor(2.0, requires_grad=True)
    lost = "requires a gradient or has a tangent"
    for data in (w, [w, 1.0], [aten.tensor(X, requires_grad=True)]):
        with pytest.warns(UserWarning, match=lost):
            assert not aten.tensor(data).requires_grad
    with pytest.warns(UserWarning, match=lost):
        x[0] = [w, 1.0]
    with aten.no_grad():
        aten.tensor([w, 1.0])
    with ad.dual_level():
        dual = ad.make_dual(aten.tensor(2.0), aten.tensor(1.0))
        with pytest.raises(TypeError, match="must be a number, not Tensor that has a tangent"):
            aten.add(x, x, alpha=dual)
        with pytest.warns(UserWarning, match=lost):
            aten.tensor([dual, 1.0])
        assert aten.add(x, x, alpha=dual.item())[2].tolist() == [15.0, 18.0]
    with pytest.warns(UserWarning, match="become constants of the graph"):
        aten.record_graph(lambda a: a * 1 + aten.tensor(a), x)
    with pytest.raises(NotImplementedError, match="inside vmap"):
        aten.vmap(lambda row: aten.tensor(row))(x)
