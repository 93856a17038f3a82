"""Numbers, sizes and dtypes at the limits of what fits, which random inputs never contain: Python expressions in which
`t` is torch or our package.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

from support.library import own_package
from support.selection import of_expressions

# Both give the same result, or both reject the call.
AGREE = (
    # Integers that do not fit into 32 bits, or into the digits of a float.
    "t.pow(t.tensor([.5, 2.]), 2**32)",
    "t.tensor([.5, 2.]) ** (2**32 + 1)",
    "t.tensor([.5, 2.]).pow_(2**32)",
    "t.tensor([3, -1]).pow(2**32)",
    "t.tensor([3, -1]) ** (2**32 + 1)",
    "t.pow(2**32, t.tensor([2., .5]))",
    "t.pow(2**32 + 1, t.tensor([2., .5]))",
    "(2**32 + 1) ** t.tensor([2, 1])",
    "t.pow(t.tensor([-1.]), 2147483651)",
    "t.pow(t.tensor([-1.], dtype=t.float64), 2147483651)",
    "t.tensor([2], dtype=t.int8).pow(256)",
    "t.tensor([2], dtype=t.int8).pow(100)",
    "t.addmm(t.ones(2, 2), t.eye(2), t.eye(2), beta=2**32)",
    # Close to poles, and infinite.
    "t.polygamma(0, t.tensor([-1e-16, 1e-16, -1e-300, -1 + 1e-9, 0., -0.], dtype=t.float64))",
    "t.polygamma(1, t.tensor([float('inf'), -float('inf'), 1e300], dtype=t.float64))",
    "t.gelu(t.tensor([1.5e308, -1.5e308], dtype=t.float64))",
    "t.gelu(t.tensor([1e38, 3e38, -3e38]), approximate='tanh')",
    *(
        f"t.gelu(t.tensor([-float('inf')] * 17, dtype=t.{dtype}), approximate='{how}')"
        for dtype in ("float32", "float64", "float16", "bfloat16")
        for how in ("none", "tanh")
    ),
    # No elements, or one.
    "t.std(t.empty(0), None, correction=-1)",
    "t.var(t.empty(0, 3), 0, correction=-1)",
    "t.var_mean(t.empty(0), None, correction=-1)",
    "t.topk(t.tensor(3.5), 0)",
    "t.topk(t.tensor([3.5]), 0)",
    "t.zeros(3, 0).index_select(0, t.tensor([9]))",
    "t.zeros(3, 0).index_select(0, t.tensor([2]))",
    "t.linspace(9, 1j, 3, dtype=t.uint8)",
    "t.linspace(9, t.tensor(1j), 3, dtype=t.uint8)",
    "t.linspace(9, 1j, 3, dtype=t.complex128)",
    "t.ones([1] * 70).flip([])",
    "t.ones([1] * 70).flip([3])",
    # Numbers beyond the range of a dtype.
    "t.tensor(1e39)",
    "t.tensor([1e39 + 1e39j])",
    "t.tensor([70000., -70000.], dtype=t.float16)",
    "t.tensor([1e39, -1e39], dtype=t.bfloat16)",
    "t.tensor([1e39], dtype=t.complex64)",
    "t.tensor(300, dtype=t.int8)",
    "t.tensor([1e39], dtype=t.int32)",
    "t.tensor([float('nan')], dtype=t.int32)",
    "t.tensor([2.], dtype=t.bfloat16) * 1e300",
    "t.tensor([2.], dtype=t.float16) * -1e300",
    "t.tensor([2.]) * 1e300",
    "t.tensor([2.], dtype=t.bfloat16) / 1e300",
    "t.tensor([2.], dtype=t.float16) + 1e300",
    "t.full((1,), 1e39)",
    "t.full((1,), 2**63 - 1, dtype=t.float16)",
    "t.full((1,), 1e300, dtype=t.bfloat16)",
    "t.scalar_tensor(70000, dtype=t.float16)",
    "t.zeros(2, dtype=t.float16).fill_(-70000)",
    "t.zeros(2).scatter(0, t.tensor(0), t.zeros(0))",
    "t.zeros(2).scatter_add(0, t.tensor(0), t.zeros(0))",
    "t.zeros(1, dtype=t.float16).scatter_add(0, t.zeros(3000, dtype=t.int64), t.full((3000,), .1, dtype=t.float16))",
    "t.zeros(2).gather(0, t.tensor(0))",
    "t.round(t.tensor([1.5]), decimals=-2**63)",
    "t.where(t.tensor([True]), t.tensor([1], dtype=t.int8), 300)",
    "t.where(t.tensor([True]), 300, t.tensor([1], dtype=t.int8))",
    "t.where(t.tensor([True]), t.tensor([1], dtype=t.int8), 1.5)",
    "t.where(t.tensor([True]), t.tensor([1.]), 1e300)",
    # Rounding: once, and not before truncation.
    "t.div(t.tensor([2.998], dtype=t.float16), 1.0002, rounding_mode='trunc')",
    "t.div(t.tensor([float(k) / 7 for k in range(-999, 999)], dtype=t.float16), 1.7, rounding_mode='trunc')",
    "t.div(t.tensor([float(k) / 7 for k in range(-99, 99)], dtype=t.bfloat16), .7, rounding_mode='trunc')",
    "t.var(t.tensor([[1., 3.], [2., 7.], [4., 5.]], dtype=t.bfloat16), 0, out=t.empty(0))",
    "t.std(t.tensor([[1., 3.], [2., 7.], [4., 5.]], dtype=t.float16), 0, out=t.empty(0))",
    "t.tensor([2**62, 2**62, 2**62]).sum()",
    "t.tensor([[2**62] * 40] * 40).sum(0)",
    # Dtypes.
    "t.add(1., 1.)",
    "t.mul(2., 3)",
    "t.add(1, 1)",
    "t.add(1j, 1j)",
    "t.sub(2., t.tensor(1, dtype=t.int8))",
    "t.add(2., t.tensor(1., dtype=t.float64))",
    "t.where(t.tensor(True), 1., 2.)",
    "t.all(t.tensor([1], dtype=t.uint8), out=t.empty(0, dtype=t.bool))",
    "t.all(t.tensor([[2.]]), 0, out=t.empty(0, dtype=t.uint8))",
    "t.any(t.tensor([[2]], dtype=t.uint8), 0, out=t.empty(0, dtype=t.bool))",
    "t.any(t.tensor([2], dtype=t.uint8), out=t.empty(0))",
    # A comparison has no gradient, so arguments that require one may be written to out.
    "t.eq(t.tensor([1., 2.], requires_grad=True), 1, out=t.empty(0, dtype=t.bool))",
    "t.lt(t.tensor([1., 2.], requires_grad=True), t.tensor(2.), out=t.empty(0)).requires_grad",
    "t.add(t.tensor([1., 2.], requires_grad=True), 1, out=t.empty(0))",
    # Many dimensions.
    "t.zeros([1] * 65).squeeze()",
    "t.zeros([1] * 64 + [2]).squeeze()",
    "t.zeros([1] * 70).squeeze(69).dim()",
    "t.zeros([1] * 70).squeeze_(-70).dim()",
    "t.zeros([1] * 65).squeeze((0, 1))",
    "t.zeros([1] * 64 + [2]).permute(list(range(64, -1, -1))).shape[0]",
    "t.zeros([1] * 65).permute([0] * 65)",
    "t.zeros([1] * 64 + [2]).permute([64] + [0] * 64)",
    "t.zeros([1] * 65).flip(0)",
    "(t.zeros([1] * 69 + [2]) + 1).shape[69]",
    "t.zeros([1] * 69 + [2]).transpose(0, 69).shape[0]",
    "t.zeros([1] * 69 + [2])[0].dim()",
    "t.zeros([2] * 64)",
    # Sizes whose sums and products overflow.
    "t.zeros(2).repeat(2**62)",
    "t.zeros(2).repeat(2**62, 4)",
    "t.zeros(0).repeat(2**62)",
    "t.zeros(5)[::2**62]",
    "t.split_with_sizes(t.zeros(5), [2**63 - 1, 1])",
    "t.split_with_sizes(t.zeros(5), [2, 3])",
    "t.split(t.zeros(5), 2**63 - 1)",
    "t.arange(0, 1e30)",
    "t.arange(-2**63, 2**63 - 1, 1)",
    "t.max_pool2d(t.zeros(1, 1, 4, 4), 2**62)",
    "t.max_pool2d(t.zeros(1, 1, 4, 4), 2, 2**62)",
    "t.max_pool2d(t.zeros(1, 1, 4, 4), 2, 1, 0, 2**62)",
    "t.max_pool2d(t.arange(16.).reshape(1, 1, 4, 4), 3, 2, 1, 2)",
    "t.avg_pool2d(t.zeros(1, 1, 4, 4), 2**62)",
    # Slices of other sizes, whose elements would be outside of the tensor.
    "t.tensor(1.).index_copy(0, t.tensor([0]), t.ones(1, 5))",
    "t.tensor(1.).index_copy(0, t.tensor([0]), t.ones(1, 1))",
    "t.tensor(1.).index_copy(0, t.tensor([0, 0]), t.tensor([2., 3.]))",
    "t.ones(3, 1).index_copy(0, t.tensor([0]), t.tensor(5.))",
    "t.ones(1, 1).index_copy(0, t.tensor([0]), t.tensor(5.))",
    "t.ones(3).index_copy(0, t.tensor([2]), t.tensor(5.))",
    # Integers that a float cannot represent.
    "t.logspace(0, 12, 13, dtype=t.int64)",
    "t.logspace(0, 30, 31, 3., dtype=t.int64)",
    # The magnitude is that of the product, which then wraps around.
    "t.lcm(t.tensor([127, -127, -128], dtype=t.int8), t.tensor([6, 6, -1], dtype=t.int8))",
    "t.lcm(t.tensor([32767, -32768], dtype=t.int16), t.tensor([6, -1], dtype=t.int16))",
    "t.lcm(t.tensor([2**31 - 1, -2**31], dtype=t.int32), t.tensor([6, -1], dtype=t.int32))",
    # An infinite gradient of an element that was not filled.
    "(lambda v: t.autograd.grad(t.zeros(4).index_fill(0, t.tensor([0, 0, 1]), v), v, "
    "t.tensor([1., 2., float('inf'), float('nan')])))(t.tensor(3., requires_grad=True))",
    # Normalisation: statistics of 2 dimensions, images without elements, no variance.
    *(
        f"t.native_batch_norm(t.ones(2, 3), None, None, t.zeros({mean}), t.ones({var}), {train}, .1, 1e-5)"
        for mean, var in (("3", "3"), ("1, 3", "3"), ("3", "1, 3"), ("3, 1", "3, 1"))
        for train in (True, False)
    ),
    *(
        f"t.native_batch_norm(t.ones({sizes}), None, None, t.zeros(3), t.ones(3), {train}, .1, 1e-5)"
        for sizes in ("0, 3, 2", "2, 3, 0")
        for train in (True, False)
    ),
    "t.native_batch_norm(t.ones(1, 2, 3), None, None, None, None, True, .1, 0.)",
    "t.native_group_norm(t.ones(1, 2, 3), None, None, 1, 2, 3, 1, 0.)",
    "t.native_layer_norm(t.ones(1, 3), [3], None, None, 0.)",
    # Norms that overflow.
    "t.cosine_similarity(t.tensor([3e38, 3e38]), t.tensor([1., 1.]), 0)",
    "t.cosine_similarity(t.tensor([float('inf'), 1.]), t.tensor([1., 1.]), 0)",
    # Adjacent channels, and rows of one place.
    "t.upsample_nearest2d(t.arange(6.).reshape(1, 2, 3).transpose(1, 2).unsqueeze(-1), [4, 1], "
    "out=t.zeros(1, 4, 3).transpose(1, 2).unsqueeze(-1))",
    # An infinity between places.
    *(
        f"t.upsample_bilinear2d(t.tensor([[[[1., float('inf'), 2.], [3., 4., 5.]]]]), {sizes}, {corners})"
        for sizes in ([2, 3], [4, 3], [2, 6], [3, 5], [1, 1])
        for corners in (True, False)
    ),
    # Losses of NaN, and sums that half cannot hold.
    *(
        f"gradient(lambda x: t.{loss}(x, t.zeros(4), 2), t.tensor([float('nan'), float('inf'), -float('inf'), .25]))"
        for loss in ("smooth_l1_loss", "huber_loss")
    ),
    "gradient(lambda x: t.log_softmax(x, 1), t.zeros(1, 70000, dtype=t.bfloat16))[:, :3]",
)

# Elements that are wrong or undefined in PyTorch.
RIGHT: dict[str, Any] = {
    # PyTorch's results are infinite from half of the range on.
    "t.gelu(t.tensor([1e38, 3e38, -3e38]))": [1e38, 3e38, -0.0],
    # PyTorch's results are 1 in full vectors, whose length depends on the machine.
    "t.pow(t.tensor([-1.] * 17), 16777217)": [-1.0] * 17,
    # PyTorch's results are empty.
    "t.arange(-2**63, 2**63 - 1, 2**62)": [-(2**63), -(2**62), 0, 2**62],
    "t.arange(2**63 - 1, -2**63, -2**62)": [2**63 - 1, 2**62 - 1, -1, -(2**62) - 1],
    "t.arange(0, 10, 2**63 - 1)": [0],
    "t.zeros(5)[1::2**63 - 1]": [0.0],
    # PyTorch divides by 0.
    "[each.tolist() for each in t.zeros(2).chunk(2**63 - 1)]": [[0.0], [0.0]],
    # PyTorch's is NaN.
    "bool((gradient(lambda x: t.log_softmax(x, 1), t.zeros(2, 70000, dtype=t.float16)).abs() < 1e-3).all())": True,
    # An infinite scale.
    "t.upsample_nearest1d(t.tensor([[[1., 2.]]]), [3], 1e-320)": [[[1.0, 2.0, 2.0]]],
    # PyTorch's power is that of integers, which overflows.
    "(lambda x: t.autograd.grad(t.ldexp(x, t.tensor([130, 3])), x, t.tensor([1e-10, 1.]))[0])"
    "(t.tensor([1e-38, 1.], requires_grad=True))": [1e-10 * 2.0**130, 8.0],
    # A window of 2**31 - 1 places, most of which are padding.
    "t.max_pool2d(t.ones(1, 1, 2, 2), 2**31 - 1, 2**31 - 1, 2**30 - 1)": [[[[1.0]]]],
}

# PyTorch's sum wraps around to the right end, and its parts overlap.
REFUSED = ("t.split_with_sizes(t.zeros(5), [2**62, 2**62, 2**62, 2**62, 5])",)

# Factories, whose out argument gets the shape that the call states.
SILENT = (
    "t.zeros(3, out=t.ones(2))",
    "t.ones(3, out=t.ones(2))",
    "t.full((3,), 1, out=t.ones(2))",
    "t.empty(3, out=t.ones(2))",
    "t.linspace(0, 1, 3, out=t.ones(2))",
    "t.eye(3, out=t.ones(2))",
    "t.rand(3, out=t.ones(2))",
    "t.randn(3, out=t.ones(2))",
    "t.randint(3, (3,), out=t.ones(2))",
    "t.randperm(3, out=t.ones(2, dtype=t.int64))",
)
WARNS = ("t.arange(3, out=t.ones(2))", "t.sin(t.ones(3), out=t.ones(2))")


class _Torch:
    """torch, with functions that it has in other places under our names."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.gelu = torch.nn.functional.gelu
        self.avg_pool2d = torch.nn.functional.avg_pool2d
        for name in ("upsample_nearest2d", "upsample_bilinear2d", "smooth_l1_loss", "huber_loss"):
            setattr(self, name, getattr(torch._C._nn, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)


class _Ours:
    """Our package, with the functions of its module nn under the same names."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module if hasattr(self._module, name) else self._module.nn, name)


@pytest.fixture(scope="module")
def ours() -> Any:
    return _Ours(own_package())


@pytest.fixture(scope="module")
def theirs(torch_installed: None) -> Any:
    return _Torch(pytest.importorskip("torch"))


def _gradient(f: Any, x: Any) -> Any:
    """Return the gradient of the sum of f(x)."""
    x.requires_grad_(True)
    result = f(x)
    result.backward(result.detach() * 0 + 1 if result.dim() else None)
    return x.grad


def _answer(module: Any, expression: str) -> Any:
    """Return the elements, dtypes and shapes of the result; None if the call is rejected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, {"t": module, "gradient": _gradient})
        except (RuntimeError, ValueError, IndexError, TypeError, OverflowError):
            return None
    return _plain(result)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return str(value.dtype).rpartition(".")[2], tuple(value.shape), value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, tuple | list) and isinstance(theirs, tuple | list):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, float) and math.isnan(ours):
        return math.isnan(theirs)
    if isinstance(ours, float) and math.isfinite(ours):
        same_sign = math.copysign(1, ours) == math.copysign(1, theirs)
        return same_sign and math.isclose(ours, theirs, rel_tol=1e-6)
    return bool(ours == theirs)


@of_expressions(AGREE)
def test_both_give_the_same_or_refuse(expression: str, ours: Any, theirs: Any) -> None:
    mine, others = _answer(ours, expression), _answer(theirs, expression)
    assert _same(mine, others), f"{mine}, not {others}"


@of_expressions(RIGHT)
def test_results_that_torch_gets_wrong_are_right(expression: str, ours: Any) -> None:
    result = eval(expression, {"t": ours, "gradient": _gradient})
    elements = result.tolist() if hasattr(result, "tolist") else result
    assert _close(elements, RIGHT[expression])


def _close(ours: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return len(ours) == len(expected) and all(map(_close, ours, expected))
    return (
        math.isclose(ours, expected, rel_tol=1e-6)
        if isinstance(expected, float)
        else ours == expected
    )


@of_expressions(REFUSED)
def test_calls_that_torch_adds_up_wrongly_are_rejected(expression: str, ours: Any) -> None:
    with pytest.raises(RuntimeError):
        eval(expression, {"t": ours})


@of_expressions([*SILENT, *WARNS])
def test_warns_of_a_resized_out_where_torch_does(expression: str, ours: Any, theirs: Any) -> None:
    """A factory does not warn: its arguments state the shape."""
    expected = expression in WARNS
    for module in (ours, theirs):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(expression, {"t": module})
        assert bool(caught) is expected, module


def test_misaligned_arrays_are_rejected_or_copied(ours: Any) -> None:
    """Instructions that read elements may require an address that is a multiple of their size."""
    np = pytest.importorskip("numpy")
    odd = np.zeros(17, np.uint8)[1:].view(np.float32)
    odd[:] = [1, 2, 3, 4]
    with pytest.raises(ValueError, match="not aligned to their size"):
        ours.from_numpy(odd)
    assert ours.tensor(odd).tolist() == [1, 2, 3, 4]
    # NumPy aligns complex numbers like their parts; a register does not.
    parts = np.zeros(8)
    start = 1 if parts.ctypes.data % 16 == 0 else 2
    pairs = parts[start : start + 6].view(np.complex128)
    for take in (ours.from_numpy, ours.from_dlpack):
        with pytest.raises((ValueError, BufferError), match="not aligned to their size"):
            take(pairs)
    assert ours.tensor(pairs).tolist() == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("wrong", range(3))
def test_a_refused_out_leaves_the_running_statistics_alone(wrong: int, ours: Any) -> None:
    """PyTorch's have moved by then."""
    mean, variance = ours.zeros(3), ours.ones(3)
    outs = tuple(
        ours.zeros(0, dtype=ours.float64 if k == wrong else ours.float32) for k in range(3)
    )
    image = ours.arange(12.0).reshape(4, 3)
    with pytest.raises(RuntimeError, match=r"float64|Double"):
        ours.native_batch_norm(image, None, None, mean, variance, True, 0.1, 1e-5, out=outs)
    assert (mean.tolist(), variance.tolist()) == ([0] * 3, [1] * 3)
    assert [tuple(out.shape) for out in outs] == [(0,)] * 3


@pytest.mark.slow
@pytest.mark.whole_library
def test_a_refused_log_sigmoid_leaves_out_alone(ours: Any) -> None:
    out = ours.zeros(2, dtype=ours.int64)
    with pytest.raises(NotImplementedError):
        ours.log_sigmoid(ours.ones(3, dtype=ours.int64), out=out)
    assert tuple(out.shape) == (2,)
