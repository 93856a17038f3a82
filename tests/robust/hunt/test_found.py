"""Findings of the hunts, each as the call that showed it."""

from __future__ import annotations

import ctypes
import math
import warnings
from types import ModuleType

import pytest

from support.library import WHOLE, own_package


@pytest.fixture(scope="module")
def m() -> ModuleType:
    return own_package()


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    ("row", "col", "offset", "count"),
    [
        (1, 3, 2**63 - 1, 3),  # The last column overflowed, and the result was empty.
        (3, 3, 2**62, 9),
        (2, 3, -(2**63), 0),
        (2**60, 0, 0, 0),  # Every row was visited.
        (2**60, 3, -(2**60) + 2, 3),
        (4, 3, -1, 6),
        (3, 5, 1, 9),
        (5, 2, 0, 9),
        (0, 5, 3, 0),
    ],
)
def test_tril_indices_of_distant_diagonals(
    m: ModuleType, row: int, col: int, offset: int, count: int
) -> None:
    found = m.tril_indices(row, col, offset)
    assert tuple(found.shape) == (2, count)
    if row < 10:
        assert list(zip(*found.tolist())) == [
            (i, j) for i in range(row) for j in range(col) if j <= i + offset
        ]


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    ("row", "col", "offset"), [(2**60, 1, 3), (2**62, 2**62, 0), (2**63 - 1,) * 3]
)
def test_tril_indices_that_no_memory_holds(m: ModuleType, row: int, col: int, offset: int) -> None:
    """The rows used to be counted one by one, which would have taken years."""
    with pytest.raises(RuntimeError, match=r"more indices than fit in memory|cannot allocate"):
        m.tril_indices(row, col, offset)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (([1, 0], "int64"), ([1.0, 0.0], "float32"), True),
        (([True, False], "bool"), ([2, 0], "int16"), False),
        (([256], "int16"), ([0], "uint8"), False),
        (([0.1], "float32"), ([0.1], "float64"), False),
        (([1.0], "float32"), ([1 + 0j], "complex64"), True),
        (([1.0], "float32"), ([1.0, 2.0], "float64"), False),
    ],
)
def test_equal_of_two_dtypes(
    m: ModuleType, one: tuple[list[object], str], other: tuple[list[object], str], same: bool
) -> None:
    """This used to be rejected; PyTorch compares after promotion to a common dtype."""
    a, b = (m.tensor(data, dtype=dtype) for data, dtype in (one, other))
    assert m.equal(a, b) is same


@pytest.mark.parametrize(
    "call",
    [
        "split(t, 4)",
        "unbind(t)",
        *(
            pytest.param(call, marks=WHOLE)
            for call in ("chunk(t, 2**62)", "tensor_split(t, 2**61)", "hsplit(t, 2**62)")
        ),
        # As many parts as asked for, of a small tensor.
        pytest.param("tensor_split(m.ones(3), 2**61 - 1)", marks=WHOLE),
        pytest.param(
            "tensor_split(m.ones(3), m.zeros(1, dtype=m.int64).expand(2**62))", marks=WHOLE
        ),
    ],
)
def test_more_parts_than_any_memory_holds(m: ModuleType, call: str) -> None:
    """Protects the machine's memory: an expanded tensor can have any size, the number of sections too, and parts used to
    be made one by one."""
    with pytest.raises((MemoryError, RuntimeError)):
        eval(f"m.{call}", {"m": m, "t": m.ones(1).expand(2**62)})


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    "call",
    [
        *(
            "kron(x, x, out=out)",
            "tensordot(x, x, [1], [0], out=out)",
            "outer(x[0], x[0], out=out)",
        ),
        *("diff(x, out=out)", "cross(x[:1], x[:1], out=out)", "vstack([x, x], out=out)"),
    ],
)
def test_composites_refuse_out_tensors_beside_gradients(m: ModuleType, call: str) -> None:
    """Protects gradients and tangents: kron, diff and tensordot used to lose those of their arguments, and to keep the
    old one of `out`, without a word."""
    f = m.autograd.forward_ad
    given = m.ones((3, 3), dtype=m.float64)
    plain = {"x": given, "out": m.empty((0,), dtype=m.float64)}
    eval(f"m.{call}", {"m": m, **plain})
    for name, value in plain.items():
        tracked = value.clone().requires_grad_()
        with pytest.raises(RuntimeError, match=r"out"):
            eval(f"m.{call}", {"m": m, **plain, name: tracked})
        with f.dual_level(), pytest.raises(NotImplementedError, match="no forward-mode formula"):
            dual = f.make_dual(value, m.ones_like(value))
            eval(f"m.{call}", {"m": m, **plain, name: dual})


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("reduction", [-1, 3, 63, 2**62])
def test_a_reduction_that_does_not_exist(m: ModuleType, reduction: int) -> None:
    """Protects values: any other number used to mean 0 or 2."""
    x = m.ones((2, 2))
    classes, signs = m.tensor([0, 1]), m.ones(2)
    for call in (
        *(lambda r, f=f: f(x, x, r) for f in (m.nn.mse_loss, m.nn.l1_loss, m.nn.smooth_l1_loss)),
        *(lambda r, f=f: f(x, x, r) for f in (m.nn.huber_loss, m.nn.soft_margin_loss, m.kl_div)),
        lambda r: m.nn.binary_cross_entropy(x, x, reduction=r),
        lambda r: m.binary_cross_entropy_with_logits(x, x, reduction=r),
        lambda r: m.nn.nll_loss(x, classes, reduction=r),
        lambda r: m.nn.cross_entropy_loss(x, classes, reduction=r),
        lambda r: m.nn.cross_entropy_loss(x, x, reduction=r),
        lambda r: m.hinge_embedding_loss(x, x, reduction=r),
        lambda r: m.margin_ranking_loss(x, x, x, reduction=r),
        lambda r: m.cosine_embedding_loss(x, x, signs, reduction=r),
        lambda r: m.triplet_margin_loss(x, x, x, reduction=r),
    ):
        call(2)
        with pytest.raises(ValueError, match="reduction must be 0"):
            call(reduction)


@pytest.mark.slow
@pytest.mark.whole_library
def test_dimensions_beyond_the_64th(m: ModuleType) -> None:
    """Protects views of more than 64 dimensions: a mask of 64 bits forgot those that movedim and tensordot were given."""
    many = m.arange(6).view((2,) + (1,) * 68 + (3,))
    assert many.movedim(-2, -2).shape == many.shape
    assert many.movedim((0, 69), (69, 0)).shape == (3,) + (1,) * 68 + (2,)
    assert many.movedim(69, 65).flatten().tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="repeated dim in `source`"):
        many.movedim((66, 66), (0, 1))
    with pytest.raises(RuntimeError, match="repeated dim in `destination`"):
        many.movedim((66, 67), (65, 65))
    assert m.tensor(5).movedim(0, -1).tolist() == 5
    with pytest.raises(RuntimeError, match="more than 64 dimensions"):
        m.tensordot(many, many, [66, 66], [66, 66])


def test_an_empty_tensor_with_huge_strides_is_a_list(m: ModuleType) -> None:
    """Protects `tolist()` and iterators: a stride in bytes used to overflow."""
    t = m.ones(8).as_strided((2, 0, 3), (2**62, 2**62, 1), 4)
    assert t.tolist() == [[], []]
    t += 1
    assert (t + t).tolist() == [[], []]


@pytest.mark.slow
@pytest.mark.whole_library
def test_an_index_without_dimensions_needs_a_source(m: ModuleType) -> None:
    """Protects memory: `scatter` used to read an element of a source that has none."""
    for name in ("scatter", "scatter_add"):
        with pytest.raises(RuntimeError, match="Expected index"):
            getattr(m, name)(m.zeros(2), 0, m.tensor(0), m.zeros(0))


def test_a_byte_other_than_0_and_1_is_true(m: ModuleType) -> None:
    """Protects `tolist()` of memory that others wrote: the sanitizer reports such a read as undefined behaviour."""
    t = m.empty(2, dtype=m.bool)
    ctypes.memmove(t.data_ptr(), b"\x00\x07", 2)
    assert t.tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float16"])
def test_sums_of_bytes_other_than_0_and_1(m: ModuleType, dtype: str) -> None:
    """Protects kernels that read bools, and conversions of them: a byte of 128 used to count 128 times."""
    t = m.empty(40, dtype=m.bool)
    ctypes.memmove(t.data_ptr(), bytes([0, 128, 2, 255, 1] * 8), 40)
    assert t.sum().tolist() == 32
    assert t.to(m.__dict__[dtype]).tolist() == [0, 1, 1, 1, 1] * 8
    assert t.reshape(8, 5)[:, 1].to(m.__dict__[dtype]).tolist() == [1] * 8
    assert m.nonzero(t).numel() == 32
    assert m.masked_select(m.ones(40), t).numel() == 32
    assert m.zeros(40).masked_fill_(t, 2.0).sum().tolist() == 64
    assert m.where(t, m.ones(40), m.zeros(40)).sum().tolist() == 32
    assert m.equal(t, t.to(m.uint8).to(m.bool))


@pytest.mark.parametrize("size", [1, 15, 16, 63, 64, 65, 200])
def test_elements_that_share_memory_are_filled(m: ModuleType, size: int) -> None:
    """Protects a write in front of elements that are not filled: blocks of copies used to be written back."""
    for at in {0, size // 2, size - 1}:
        mask = m.zeros(size, dtype=m.bool)
        mask[at] = True
        t = m.zeros(1)
        t.expand(size).masked_fill_(mask, 3.0)
        assert t.tolist() == [3]
    t = m.zeros(1)
    t.expand(size).masked_fill_(m.zeros(size, dtype=m.bool), 3.0)
    assert t.tolist() == [0]


@pytest.mark.parametrize(
    "call",
    [
        # A product of 2**66, which is 8 in 64 bits.
        "native_group_norm(m.ones(8), None, None, 1, 4, 2 + 2**62, 4, 1e-5)",
        "native_group_norm(m.ones(0), None, None, 0, 2**62, 4, 2**62, 1e-5)",
        *(
            pytest.param(call, marks=WHOLE)
            for call in (
                "bincount(m.tensor([2**63 - 1, 1000]))",
                "repeat_interleave(m.ones(3), m.tensor([2**63 - 1, 2**63 - 1, 7]))",
                "repeat_interleave(m.ones(4), 2**62)",
                "conv1d(m.ones(1, 1, 8), m.ones(1, 1, 9), dilation=2**61)",
                "conv1d(m.ones(1, 1, 8), m.ones(1, 1, 2), padding=2**62)",
                "conv_transpose1d(m.ones(1, 1, 8), m.ones(1, 1, 2), stride=2**61)",
                "conv_transpose1d(m.ones(1, 1, 8), m.ones(1, 1, 9), dilation=2**61)",
                "conv_transpose2d(m.ones(1, 1, 8, 8), m.ones(1, 1, 2, 2), stride=2**33)",
                "diag(m.ones(3), 2**63 - 1)",
                "diag(m.ones(3), -(2**63))",
                "diag_embed(m.ones(3), 2**63 - 1)",
                "diag_embed(m.ones(3), -(2**63))",
                "nn.one_hot(m.tensor([2**63 - 1]), -1)",
                "unflatten(m.ones(8), 0, [2**61, 2**61, 8])",
                "block_diag([m.ones(1, 1).expand(1, 2**62), m.ones(1, 1).expand(1, 2**62)])",
                "kron(m.ones(1, 1).expand(2**40, 1), m.ones(1, 1).expand(2**40, 1))",
                "constant_pad_nd(m.ones(3), [2**63 - 1, 2**63 - 1])",
                "constant_pad_nd(m.ones(3), [-(2**63), -(2**63)])",
                "pixel_unshuffle(m.ones(1, 0, 0), 2**62)",
            )
        ),
    ],
)
def test_sizes_whose_products_overflow(m: ModuleType, call: str) -> None:
    """Protects memory: a product or a sum that wraps around passed the checks that follow it."""
    with pytest.raises((MemoryError, RuntimeError, IndexError, ValueError)):
        eval(f"m.{call}", {"m": m})


@pytest.mark.parametrize("what", ["mean", "rstd"])
def test_statistics_of_too_few_rows(m: ModuleType, what: str) -> None:
    """Protects the gradient of `native_layer_norm`, which read statistics beyond the end of theirs."""
    x = m.ones(2, 3)
    given = {"mean": x[:, :1], "rstd": x[:, :1], what: x[:1, :1]}
    with pytest.raises(RuntimeError, match="expected mean and rstd of 2 elements"):
        m._C._call_operator(
            "aten::native_layer_norm_backward",
            "",
            {
                "grad_out": x,
                "input": x,
                "normalized_shape": [3],
                "weight": None,
                "bias": None,
                "output_mask": [True] * 3,
                **given,
            },
        )


@pytest.mark.parametrize("step", [2**62, 2**63 - 1])
def test_a_slice_of_one_element_with_a_huge_step(m: ModuleType, step: int) -> None:
    """Protects views of it: strides of a dimension of one element were added and multiplied."""
    t = m.arange(16.0).reshape(4, 4)[1::step, 2::step]
    assert t.shape == (1, 1) and t.tolist() == [[6]]
    assert (t + t).tolist() == [[12]]
    assert t.diagonal().tolist() == [6] and t.unsqueeze(0).tolist() == [[[6]]]
    assert t.expand(3, 1).sum().tolist() == 18


@pytest.mark.slow
@pytest.mark.whole_library
def test_a_transposed_convolution_multiplies_no_zeros(m: ModuleType) -> None:
    """Protects infinite weights: zeros between and around the elements of the input made NaN of them."""
    inf = float("inf")
    x, infinite = m.tensor([[1.0, 2, 3]]), m.tensor([[[1.0, inf]]])
    assert m.conv_transpose1d(x, infinite, stride=2).tolist() == [[1, inf, 2, inf, 3, inf]]
    assert m.conv_transpose1d(x, infinite).tolist() == [[1, inf, inf, inf]]
    long = m.tensor([[[1.0, inf, 2]]])
    assert m.conv_transpose1d(x, long, padding=1).tolist() == [[inf, inf, inf]]
    # The two ways agree, with all arguments, on finite weights: one of another channel is infinite.
    x = m.randn(2, 4, 5, 4)
    weight, bias = m.randn(4, 3, 2, 3), m.randn(6)
    given = {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 2), "dilation": (1, 2)}
    wanted = m.conv_transpose2d(x, weight, bias, groups=2, **given)
    weight[3, 2] = inf
    found = m.conv_transpose2d(x, weight, bias, groups=2, **given)
    assert m.allclose(found[:, :5], wanted[:, :5], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("masked", [False, True])
def test_attention_to_nothing_is_zero(m: ModuleType, masked: bool) -> None:
    """Protects rows of scores that are all -inf, with and without a mask: they were NaN without one."""
    inf = float("inf")
    q, k = m.tensor([[[inf, 1.0]]]), m.tensor([[[-inf, 0.0], [-inf, 0.0]]])
    v = m.tensor([[[1.0, 2], [3, 4]]])
    mask = m.ones(1, 2, dtype=m.bool) if masked else None
    assert m.nn.scaled_dot_product_attention(q, k, v, mask).tolist() == [[[0, 0]]]


@pytest.mark.slow
@pytest.mark.whole_library
def test_indices_along_a_dimension_count_modulo_its_size(m: ModuleType) -> None:
    """Protects `take_along_dim` with a dimension, as in PyTorch; without one, -1 is refused."""
    t = m.arange(4.0).reshape(2, 2)
    assert m.take_along_dim(t, m.tensor([[-1, 5]]), 1).tolist() == [[1, 1], [3, 3]]
    with pytest.raises((IndexError, RuntimeError)):
        m.take_along_dim(m.arange(4.0), m.tensor([-1]))


@pytest.mark.slow
@pytest.mark.whole_library
def test_an_index_without_elements_may_have_any_dtype(m: ModuleType) -> None:
    """Protects gather's gradient: it refused the index that the forward pass had taken."""
    x = m.ones(3).requires_grad_()
    m.gather(x, 0, m.zeros(0, dtype=m.uint8)).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.whole_library
def test_statistics_of_groups_have_gradients(m: ModuleType) -> None:
    """Protects losses that use mean and rstd of `native_group_norm`: their gradient was zero."""
    data = [0.0, 1, 2, 5, 3, 3, 1, 0]
    x = m.tensor(data).reshape(1, 4, 2).requires_grad_()
    _, mean, _ = m.native_group_norm(x, None, None, 1, 4, 2, 2, 0.5)
    mean.sum().backward()
    assert x.grad.reshape(8).tolist() == [0.25] * 8
    x.grad = None
    _, _, rstd = m.native_group_norm(x, None, None, 1, 4, 2, 2, 0.5)
    rstd.sum().backward()
    centres, variances = [2.0, 1.75], [3.5, 1.6875]
    for i, found in enumerate(x.grad.reshape(8).tolist()):
        factor = (variances[i // 4] + 0.5) ** -1.5
        assert found == pytest.approx(-factor * (data[i] - centres[i // 4]) / 4, rel=1e-4)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(9, 11), (3, 2), (1, 8)])
def test_bytes_between_others_are_rounded(
    m: ModuleType, size: tuple[int, int], align_corners: bool
) -> None:
    """Protects bilinear resampling of uint8: the exact value, rounded. PyTorch's weights of 16 bits are off by one."""
    bytes_ = m.tensor([(37 * i * i + 11) % 256 for i in range(2 * 5 * 7)], dtype=m.uint8)
    x = bytes_.reshape(1, 2, 5, 7)
    exact = m.nn.upsample_bilinear2d(x.to(m.float64), size, align_corners)
    found = m.nn.upsample_bilinear2d(x, size, align_corners)
    assert found.dtype is m.uint8
    assert (found.to(m.float64) - exact).abs().max().item() < 0.501


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("reduction", [1, 2])
def test_the_weights_of_classes_have_a_gradient(m: ModuleType, reduction: int) -> None:
    """Protects nll_loss's weight, which PyTorch refuses to differentiate: the gradient is that of the quotient."""
    x, target = m.tensor([[-1.0, -2], [-3, -5], [-0.5, -0.25]]), m.tensor([0, 1, 1])
    weight = m.tensor([0.5, 2.0]).requires_grad_()
    m.nn.nll_loss(x, target, weight, reduction).backward()
    sums, counts = [1.0, 5.25], [1, 2]  # of -x[i, target[i]] per class
    if reduction == 2:
        wanted = sums
    else:
        total = 0.5 * 1 + 2 * 2
        loss = (0.5 * 1.0 + 2 * 5.25) / total
        wanted = [(s - loss * n) / total for s, n in zip(sums, counts)]
    assert weight.grad.tolist() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("dim", [None, [0], [1]])
def test_tangents_have_the_dtype_of_their_values(m: ModuleType, dim: list[int] | None) -> None:
    """Protects `var` of a half tensor without elements, whose tangent PyTorch makes float32."""
    empty = m.zeros(0, 3, dtype=m.float16)
    with m.autograd.forward_ad.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without degrees of freedom
        found = m.autograd.forward_ad.unpack_dual(
            m.var(m.autograd.forward_ad.make_dual(empty, empty), dim)
        )
    assert found.tangent.dtype is found.primal.dtype is m.float16


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("number", [4.7375507, -2.221755, -1.8933598, 0.1, 1e30, -3e-8])
def test_equal_numbers_have_no_spread(m: ModuleType, number: float, dtype: str) -> None:
    """Protects std: the difference of two rounded sums was below 0, and its root NaN. batch_norm uses the same sums."""
    if dtype == "float16" and number > 1e4:
        pytest.skip("infinite")
    for n in (2, 3, 37, 200, 1000, 5000):
        row = m.full((n,), number, dtype=getattr(m, dtype))
        for x in (row, row[:1].expand(n), row[:, None].expand(n, 3), row[:, None].expand(n, 3).t()):
            for found in (m.std(x, [x.shape.index(n)]), m.var(x, [x.shape.index(n)]).sqrt()):
                assert 0 <= found.max().item() <= 1e-6 * abs(number), (x.shape, found)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_a_number_of_minus_zero_keeps_its_sign(m: ModuleType, dtype: str) -> None:
    """Protects kernels of vectors: a number in each lane was added to 0, and -0.0 became 0."""
    ones = m.ones(37, dtype=getattr(m, dtype))
    minus = m.full((37,), -0.0, dtype=ones.dtype)
    for found in (ones / -0.0, m.div(ones, -0.0, rounding_mode="floor"), m.nn.softplus(ones, -0.0)):
        assert found.tolist() == [-float("inf")] * 37
    for found in (minus * 1, m.mul(ones, -0.0), minus, m.where(ones == 1, minus, ones)):
        assert (1 / found).tolist() == [-float("inf")] * 37


@pytest.mark.slow
@pytest.mark.whole_library
def test_a_number_beyond_a_dtype_is_no_element(m: ModuleType) -> None:
    """Protects isin: 2**32 was taken for 0 among 32-bit integers, and -2**63 too."""
    for dtype, beyond in ((m.uint8, 256), (m.int32, 2**32), (m.int32, -(2**63)), (m.int8, -256)):
        zeros = m.zeros(3, dtype=dtype)
        assert m.isin(beyond, zeros).item() is False
        assert m.isin(beyond, zeros, invert=True).item() is True
        assert m.isin(zeros, beyond).tolist() == [False] * 3
        assert m.isin(zeros[0], beyond).item() is False
        assert m.isin(0, zeros).item() is True
        assert m.isin(zeros, 0).tolist() == [True] * 3


@pytest.mark.slow
@pytest.mark.whole_library
def test_a_kronecker_product_of_permuted_factors(m: ModuleType) -> None:
    """Protects kron, which refused factors whose product has other strides: "view size is not compatible"."""
    x, y = m.arange(12).reshape(2, 2, 3), m.arange(18).reshape(3, 2, 3)
    for left, right in ((x, y.permute(1, 2, 0)), (x.permute(2, 0, 1), y), (x.mT, y.mT)):
        wanted = m.kron(left.clone(), right.clone().contiguous())
        assert m.equal(m.kron(left, right), wanted)
        assert m.equal(m.kron(left, right, out=m.empty((0,), dtype=m.int64)), wanted)


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
def test_a_source_larger_than_its_index(m: ModuleType, reduce: str, include_self: bool) -> None:
    """Protects the derivatives of scatter_reduce: elements of `src` without an index have a gradient and a tangent of 0.
    Both were errors."""
    start = m.tensor([[0.5, 2.0, -1.5], [1.25, -3.0, 0.75]], dtype=m.float64)
    index = m.tensor([[1, 1]])
    src = m.tensor([[0.7, -4.0, 9.0], [9.0, 9.0, 9.0]], dtype=m.float64)
    f = m.autograd.forward_ad

    def of(x: object, s: object) -> object:
        return m.scatter_reduce(x, 1, index, s, reduce, include_self=include_self)

    x, s = start.clone().requires_grad_(), src.clone().requires_grad_()
    of(x, s).sum().backward()
    step = 1e-6
    for place, gradient in ((start, x.grad), (src, s.grad)):
        assert gradient.shape == place.shape
        for i in range(place.numel()):
            moved = place.flatten().clone()
            moved[i] += step
            moved = moved.view(place.shape)
            other = (moved, src) if place is start else (start, moved)
            slope = (of(*other).sum() - of(start, src).sum()).item() / step
            assert gradient.flatten()[i].item() == pytest.approx(slope, abs=1e-4)
    with f.dual_level():
        duals = (f.make_dual(v, m.ones_like(v)) for v in (start, src))
        found = f.unpack_dual(of(*duals)).tangent.sum().item()
    assert found == pytest.approx((x.grad.sum() + s.grad.sum()).item(), abs=1e-9)


@pytest.mark.slow
@pytest.mark.whole_library
def test_tangents_beside_bools_and_integers(m: ModuleType) -> None:
    """Protects forward mode: divisions of bools were errors ("subtraction with a bool tensor"), and so was a
    tensor with a tangent that is copied to integers, which have none."""
    f = m.autograd.forward_ad
    flags, x = m.tensor([True, False, True]), m.tensor([0.3, 0.7, -0.4])
    with f.dual_level():
        dual = f.make_dual(x, m.ones_like(x))
        for function in (m.fmod, m.remainder):
            tangent = f.unpack_dual(function(flags, dual)).tangent
            rounding = "trunc" if function is m.fmod else "floor"
            assert m.equal(tangent, -m.div(flags, x, rounding_mode=rounding))
        tangent = f.unpack_dual(m.true_divide(flags, dual)).tangent
        assert m.allclose(tangent, -(flags / x / x))
        numbers = m.zeros(3, dtype=m.int16)
        numbers.copy_(dual * 10)
        assert numbers.tolist() == [3, 7, -4]
        assert f.unpack_dual(numbers).tangent is None
    numbers.copy_((x * 20).requires_grad_())
    assert numbers.tolist() == [6, 14, -8]
    assert not numbers.requires_grad


@pytest.mark.slow
@pytest.mark.whole_library
def test_arguments_that_were_taken_or_refused_wrongly(m: ModuleType) -> None:
    """Protects addr and cosine_similarity, which dropped an imaginary part and took a negative eps, linear, whose bias
    may have more dimensions than its product, and the least integer, whose absolute value is none.
    """
    x = m.ones(3)
    for name in ("alpha", "beta"):
        with pytest.raises(RuntimeError, match=f"{name} must not be a complex number"):
            m.addr(m.zeros(3, 3), x, x, **{name: 2 - 3j})
        with pytest.raises(RuntimeError, match=f"{name} must not be a complex number"):
            m.zeros(3, 3).addr_(x, x, **{name: 2 - 3j})
    with pytest.raises(RuntimeError, match="eps must be non-negative"):
        m.cosine_similarity(x, x, 0, -1.0)
    with pytest.raises(IndexError):
        m.rot90(m.ones(2, 2), 1, (-(2**63), 0))
    assert m.trace(m.full((21, 21), 2**62, dtype=m.int64)).item() == 2**62
    assert m.nn.linear(x, x, m.ones(1, 1, 1)).tolist() == [[[4.0]]]
    assert m.isnan(m.median(m.zeros(0, dtype=m.complex64)).real).item()


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    "name", ["upsample_nearest1d", "upsample_nearest2d", "upsample_bilinear2d"]
)
def test_no_elements_take_no_places(m: ModuleType, name: str) -> None:
    """Protects memory and time: tables of the positions took 17 GiB, or minutes, for a result without elements."""
    size = (2**31 - 1,) if name.endswith("1d") else (2**31 - 1, 3)
    x = m.zeros((0, 5, *(2 for _ in size)), requires_grad=True)
    corners = (False,) if "bilinear" in name else ()
    result = getattr(m.nn, name)(x, size, *corners)
    assert tuple(result.shape) == (0, 5, *size)
    result.sum().backward()
    assert tuple(x.grad.shape) == tuple(x.shape)


@pytest.mark.slow
@pytest.mark.whole_library
def test_the_nearest_of_as_many_places(m: ModuleType) -> None:
    """Protects upsample_nearest2d: where a size stays or doubles, the scale does not matter, as in PyTorch."""
    x = m.arange(8.0).reshape(1, 2, 1, 4)
    for dtype in (m.float32, m.uint8):
        for scale in (None, 300.0, 1e39):
            same = m.nn.upsample_nearest2d(x.to(dtype), (1, 4), None, scale)
            assert same.flatten().tolist() == list(range(8))
            double = m.nn.upsample_nearest2d(x.to(dtype), (1, 8), None, scale)
            assert double.flatten().tolist() == [i // 2 for i in range(16)]


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize(
    "call",
    [
        *(
            "gt(x, 2.0, out=o)",
            "eq(x, x, out=o)",
            "logical_not(x, out=o)",
            "logical_xor(x, x, out=o)",
        ),
        *("Tensor.logical_not_(o)", "Tensor.logical_and_(o, x)", "Tensor.logical_or_(o, x)"),
    ],
)
def test_what_has_no_gradient_does_not_keep_an_old_one(m: ModuleType, call: str) -> None:
    """Protects gradients and tangents of an output of floats: they stayed, and those of what is no longer there are wrong."""
    x = m.tensor([1.0, 2.0, 3.0])
    leaf = m.ones(3).requires_grad_()
    with pytest.raises(RuntimeError):
        eval(f"m.{call}", {"m": m, "x": x, "o": leaf})
    assert leaf.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError):  # at the latest in the backward pass
        made = leaf * 3
        eval(f"m.{call}", {"m": m, "x": x, "o": made})
        made.sum().backward()
    f = m.autograd.forward_ad
    with f.dual_level(), pytest.raises(NotImplementedError, match="forward-mode"):
        eval(f"m.{call}", {"m": m, "x": x, "o": f.make_dual(m.ones(3), m.ones(3))})
    out = m.ones(3)
    eval(f"m.{call}", {"m": m, "x": x, "o": out})
    # Arguments that are only read may require a gradient.
    if "out" in call:
        eval(f"m.{call}", {"m": m, "x": x.clone().requires_grad_(), "o": out})
        assert not out.requires_grad


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
def test_norms_that_need_no_powers(m: ModuleType, dtype: str) -> None:
    """Protects norms of orders whose powers overflow: that of one element was 1, others were 0 or infinite, and their
    gradients NaN.
    """
    x = m.tensor([-2.5, 0.5, 4.0]).to(getattr(m, dtype)).requires_grad_()
    for order in (1e-40, -1e-40, 0.25, 300, -300, 1e39, -1e39, 2**62):
        assert m.norm(x[0], order).item() == 2.5
        assert m.linalg.linalg_vector_norm(x.reshape(3, 1), order, [1]).tolist() == [2.5, 0.5, 4.0]
    assert m.norm(x[:1], 0).item() == 1
    for order, expected in ((1e39, 4.0), (2**62, 4.0), (-1e39, 0.5), (-(2**62), 0.5)):
        assert m.norm(x, order).item() == expected
        assert m.norm(x.reshape(3, 1), order, [0]).tolist() == [expected]
        assert m.dist(x, m.zeros_like(x), order).item() == expected
        assert m.pairwise_distance(x, m.zeros_like(x), float(order), 0.0).item() == expected
        x.grad = None
        m.norm(x, order).backward()
        assert x.grad.tolist() == [0, float(expected == 0.5), float(expected == 4)]


@pytest.mark.slow
@pytest.mark.whole_library
def test_numbers_that_do_not_wrap_around(m: ModuleType) -> None:
    """Protects the factors of addr, those of index_add of nothing, the numbers of randperm, and the products of integers
    and the width of trapezoids: one beyond the dtype wrapped around."""
    small, none = m.ones(3, dtype=m.int8), m.zeros(0, dtype=m.int32)
    for call in (
        lambda: m.addr(m.ones(3, 3, dtype=m.int8), small, small, alpha=2**31),
        lambda: m.addr(m.ones(3, 3, dtype=m.int8), small, small, beta=-129),
        lambda: m.addr(m.ones(3, 3), m.ones(3), m.ones(3), beta=1e39),
        lambda: none.index_add_(0, none.to(m.int64), none, alpha=2**31),
        lambda: m.ones(3).index_add_(0, none.to(m.int64), m.zeros(0), alpha=1e39),
        lambda: m.randperm(32769, dtype=m.int16),
        lambda: m.randperm(129, dtype=m.int8),
    ):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()
    assert sorted(m.randperm(128, dtype=m.int8).tolist()) == list(range(128))
    steps = m.cumulative_trapezoid(m.tensor([1, 1, 1], dtype=m.int16), dx=-(2**63))
    assert steps.tolist() == [-(2.0**63), -(2.0**64)]
    areas = m.cumulative_trapezoid(m.tensor([-(2**62)] * 3))
    assert areas.tolist() == [-(2.0**62), -(2.0**63)]


@pytest.mark.slow
@pytest.mark.whole_library
def test_polygamma_of_distant_negative_numbers(m: ModuleType) -> None:
    """Protects polygamma, which visited every integer between a number and 0: at -1e14, for days."""
    x = m.tensor([-(2.0**45) - 0.25, -(2.0**45) - 0.75], dtype=m.float64)
    assert m.polygamma(2, x).tolist() == pytest.approx([4 * math.pi**3, -4 * math.pi**3], rel=1e-12)
    assert m.polygamma(3, x).tolist() == pytest.approx([16 * math.pi**4] * 2, rel=1e-12)
    assert m.polygamma(2**63 - 1, x).tolist() == [math.inf, math.inf]
    between = m.tensor(-33.5, dtype=m.float64)
    assert m.polygamma(16, between).item() == pytest.approx(-4.06064376672492e-13, rel=1e-12)


@pytest.mark.slow
@pytest.mark.whole_library
def test_the_derivative_of_the_last_polygamma(m: ModuleType) -> None:
    """Protects polygamma of the greatest order: that of its derivative overflowed, and was refused as negative."""
    order, f = 2**63 - 1, m.autograd.forward_ad
    x = m.tensor([0.5], dtype=m.float64, requires_grad=True)
    m.polygamma(order, x).sum().backward()
    assert x.grad.tolist() == [-math.inf]
    with f.dual_level():
        for function in (m.polygamma, lambda n, number: number.polygamma_(n)):
            dual = f.make_dual(x.detach().clone(), m.ones_like(x))
            assert f.unpack_dual(function(order, dual)).tangent.tolist() == [-math.inf]


@pytest.mark.slow
@pytest.mark.whole_library
def test_an_extreme_beyond_another_dtype(m: ModuleType) -> None:
    """Protects max and min, which refused an out argument of a half type."""
    x = m.tensor([-70000, 70000], dtype=m.int32)
    assert m.max(x, out=m.zeros((), dtype=m.float16)).item() == math.inf
    assert m.min(x, out=m.zeros((), dtype=m.float16)).item() == -math.inf
    with pytest.raises(RuntimeError, match="without overflow"):
        m.max(x, out=m.zeros((), dtype=m.int16))


@pytest.mark.slow
@pytest.mark.whole_library
def test_the_gradient_of_a_cosine_of_short_vectors(m: ModuleType) -> None:
    """Protects cosine_similarity: a length below eps is eps, and has no gradient."""
    x, y = m.tensor([0.25], requires_grad=True), m.tensor([-4.0], requires_grad=True)
    cosine = m.cosine_similarity(x, y, 0, eps=0.5)
    cosine.backward()
    assert (cosine.item(), x.grad.item(), y.grad.item()) == (-0.5, -2, 0)
    with m.autograd.forward_ad.dual_level():
        dual = m.autograd.forward_ad.make_dual(x.detach(), m.ones(1))
        result = m.cosine_similarity(dual, y.detach(), 0, eps=0.5)
        assert m.autograd.forward_ad.unpack_dual(result).tangent.item() == -2


@pytest.mark.slow
@pytest.mark.whole_library
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_running_results_are_kept_in_a_wider_type(m: ModuleType, dtype: str) -> None:
    """Protects cumsum and cumprod of complex64, which rounded and overflowed in each step."""
    x = m.tensor([2.0**100, 2.0**100, 2.0**-100, 2.0**-100]).to(getattr(m, dtype))
    assert m.cumprod(x, 0).tolist()[2:] == [2.0**100, 1]
    assert m.cumsum(m.tensor([2.0**24, 1, 1]).to(x.dtype), 0).tolist()[2] == 2**24 + 2


@pytest.mark.slow
@pytest.mark.whole_library
def test_an_instance_norm_that_only_reads_its_statistics(m: ModuleType) -> None:
    """Protects instance_norm, which wrote the statistics that it was given back, and refused one of no dimensions."""
    x = m.tensor([[[1.0]], [[-3.0]]])
    mean, variance = m.ones(1), m.tensor(4.0)
    result = m.instance_norm(x, None, None, mean, variance, False, 0.5, 0.0, False)
    assert result.tolist() == [[[0.0]], [[-2.0]]]


@pytest.mark.slow
@pytest.mark.whole_library
def test_a_group_norm_of_adjacent_channels_with_gaps(m: ModuleType) -> None:
    """Protects the memory format of group_norm: the result was contiguous if the input has gaps."""
    dense = m.randn(2, 4, 1, 3)
    spread = m.zeros(2 * 1 * 3 * 8).as_strided((2, 4, 1, 3), (24, 2, 24, 8))
    spread.copy_(dense)
    result = m.group_norm(spread, 2, None, None, 1e-5, False)
    assert result.stride() == (12, 1, 12, 4)
    assert m.allclose(result, m.group_norm(dense, 2, None, None, 1e-5, False))


@pytest.mark.slow
@pytest.mark.whole_library
def test_running_statistics_that_share_memory_with_the_input(m: ModuleType) -> None:
    """Protects batch_norm, which changed its input before the result was computed."""
    x = m.tensor([[1.0, 3.0, 5.0, 11.0]]).reshape(2, 2, 1)
    wanted = m.native_batch_norm(x.clone(), None, None, None, None, True, 0.5, 1e-5)[0]
    mean = x.flatten()[:2]
    result = m.native_batch_norm(x, None, None, mean, m.ones(2), True, 0.5, 1e-5)[0]
    assert m.equal(result, wanted)
    assert mean.tolist() == [2.0, 5.0]
