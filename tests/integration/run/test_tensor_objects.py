"""A tensor as a Python object: copies, pickles, arrays, storages, text."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest

from support.library import own_operators, own_package
from support.python_package import run_python

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64", "complex128"]
PROTOCOLS = [2, 3, 4, 5]


@pytest.fixture(scope="module")
def aten() -> Any:
    return own_package()


def looks(t: Any) -> Any:
    return t.tolist(), t.shape, t.stride(), t.storage_offset(), t.dtype, t.device


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickles(aten: Any, dtype: str, protocol: int) -> None:
    """Protects numbers, dtype, sizes and strides of every kind of view through a pickle."""
    t = aten.tensor(np.arange(12).reshape(3, 4)).to(getattr(aten, dtype))
    for each in [t, t[1], t.transpose(0, 1), t[:, ::2], t[2, 3], t[3:]]:
        again = pickle.loads(pickle.dumps(each, protocol))
        assert looks(again) == looks(each) and again.storage() is not each.storage()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tensors_that_share_their_bytes_share_them_in_a_pickle(aten: Any, protocol: int) -> None:
    t = aten.zeros(4)
    a, b, other = pickle.loads(pickle.dumps([t, t[1:], aten.zeros(3)], protocol))
    b[0] = 5
    assert a.tolist() == [0, 5, 0, 0] and a.storage() is b.storage() is not other.storage()


def test_a_pickle_is_read_by_another_process(aten: Any) -> None:
    """Protects the names in a pickle: those of the package, which the reader imports."""
    given = pickle.dumps(
        {"t": aten.arange(3), "of": [aten.int64, aten.device("cpu"), aten.strided]}
    )
    program = f"""if True:
        import pickle
        found = pickle.loads({given!r})
        import aten
        assert found["t"].tolist() == [0, 1, 2] and type(found["t"]) is aten.Tensor
        assert found["of"] == [aten.int64, aten.device("cpu"), aten.strided]
        """
    run_python(program, own_operators().packages)


def test_out_of_band_bytes_of_a_pickle(aten: Any) -> None:
    """Protects protocol 5: the bytes are passed without a copy, in both directions."""
    t = aten.ones(1000)
    beside: list[pickle.PickleBuffer] = []
    text = pickle.dumps(t, 5, buffer_callback=beside.append)
    assert len(text) < 500 and beside[0].raw().nbytes == 4000
    room = bytearray(4000 + 64)
    start = -np.frombuffer(room, "uint8").ctypes.data % 64
    bytes_ = memoryview(room)[start : start + 4000]
    bytes_[:] = beside[0].raw()
    again = pickle.loads(text, buffers=[bytes_])
    again[0] = 7
    assert np.frombuffer(bytes_, "float32")[:2].tolist() == [7, 1]
    frozen = pickle.loads(text, buffers=[bytes(bytes_)])  # Read-only bytes are copied.
    frozen[0] = 8
    assert frozen[:2].tolist() == [8, 1]


def test_pickles_of_other_devices(aten: Any) -> None:
    t = aten.zeros(2, 3, device="meta")
    again = pickle.loads(pickle.dumps(t))
    assert again.shape == (2, 3) and again.device == aten.device("meta")


def test_a_damaged_pickle(aten: Any) -> None:
    """Protects memory from a damaged pickle: a layout that does not fit its storage is rejected."""
    build, arguments = aten.zeros(4).__reduce_ex__(2)
    for sizes, strides, offset in [
        ((5,), (1,), 0),
        ((4,), (1,), 1),
        ((2, 2), (9, 1), 0),
        ((4,), (-1,), 3),
        ((2**62, 4), (4, 2**62), 0),
        ((4,), (1,), -1),
        ((4,), (), 0),
    ]:
        with pytest.raises(
            (ValueError, RuntimeError),
            match=r"do not fit|negative|differ in number",
        ):
            build(arguments[0], arguments[1], sizes, strides, offset, False)
    with pytest.raises(TypeError):
        build(b"1234", *arguments[1:])


def test_copies(aten: Any) -> None:
    """Protects copy and deepcopy: a copy shares the bytes; a deep copy shares only with what is copied together with
    it.
    """
    t = aten.tensor([[1.0, 2], [3, 4]])
    assert copy.copy(t).data_ptr() == t.data_ptr() and copy.copy(t) is not t
    view = t.transpose(0, 1)
    both = copy.deepcopy({"t": t, "view": view, "again": t})
    assert both["t"] is both["again"] and both["view"].storage() is both["t"].storage()
    assert looks(both["view"]) == looks(view) and both["t"].data_ptr() != t.data_ptr()
    memo: dict[int, Any] = {}
    assert copy.deepcopy(t, memo) is copy.deepcopy(t, memo)


def test_storages(aten: Any) -> None:
    """Protects the identity of storage objects: all tensors on the same bytes share one, as long as it is referenced."""
    t = aten.zeros(3, 4)
    s = t.storage()
    assert s is t[1].untyped_storage() and s is not aten.zeros(3, 4).storage()
    assert s.nbytes == len(s) == 48 and s.data_ptr() == t.data_ptr() and s.device == t.device
    assert type(s) is aten.UntypedStorage and repr(s) == "<UntypedStorage of 48 bytes on cpu>"
    memoryview(s)[:4] = b"\x00\x00\x80\x3f"
    assert t[0, 0].item() == 1
    del t
    gc.collect()
    assert bytes(s)[:4] == b"\x00\x00\x80\x3f"
    with pytest.raises(TypeError):
        aten.UntypedStorage()


def test_arrays(aten: Any) -> None:
    """Protects np.asarray and np.array: shared bytes where possible, copies where requested."""
    t = aten.tensor([[1.0, 2], [3, 4]])
    assert np.asarray(t).ctypes.data == t.data_ptr() == t.__array__().ctypes.data
    assert np.array(t).ctypes.data != t.data_ptr() != t.__array__(copy=True).ctypes.data
    assert t.__array__("float32").ctypes.data == t.data_ptr()
    for made in [
        np.asarray(t, dtype="int16"),
        t.__array__(np.int16),
        t.__array__("int16", copy=True),
    ]:
        assert made.dtype == np.int16 and made.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="copy"):
        t.__array__("int16", copy=False)
    half = t.to(aten.bfloat16)
    assert np.asarray(half).dtype == np.float32 and np.asarray(half).tolist() == t.tolist()
    with pytest.raises(ValueError, match="copy is False"):
        half.__array__(copy=False)
    assert np.add.reduce(t, axis=None) == 10 and np.stack([t, t]).shape == (2, 2, 2)


def test_an_array_and_a_tensor(aten: Any) -> None:
    """Protects arithmetic with arrays on either side: NumPy leaves it to the tensor, which treats the array as a
    tensor.
    """
    t, n = aten.tensor([1.0, 2]), np.array([10.0, 20])
    for found in [t + n, n + t, np.float64(0) + (t + n)]:
        assert type(found) is aten.Tensor and found.tolist() == [11, 22]
        assert found.dtype is aten.float64
    assert (n - t).tolist() == [9, 18] and (n > t).tolist() == [True, True]


@pytest.mark.whole_library
def test_numbers_and_text(aten: Any) -> None:
    t = aten.tensor(1.256)
    assert f"{t:.2f}" == "1.26" and f"{t}" == str(t.item()) and complex(t) == complex(t.item())
    assert complex(aten.tensor(1 + 2j)) == 1 + 2j
    many = aten.tensor([1.256, 2.5, 3.5])
    assert f"{many}" == str(many)
    with pytest.raises(TypeError, match="unsupported format"):
        f"{many:.2f}"
    assert round(many).tolist() == [1, 2, 4]
    assert 2.5 in many and 9 not in many and aten.tensor(3.5) in many and "x" not in many
    assert hash(many) == hash(many) and {many: 1}[many] == 1
    assert [10, 20][aten.tensor(1)] == 20


@pytest.mark.parametrize(
    "sizes", [(1000,), (1001,), (3, 400), (40, 40), (2, 30, 30), (1100, 2), (7, 200)]
)
def test_long_texts_are_shortened_as_in_torch(aten: Any, sizes: tuple[int, ...]) -> None:
    """Protects the text beyond 1,000 elements: three at each end of a dimension, as in torch."""
    ours = repr(aten.zeros(*sizes, dtype=aten.int64))
    theirs = repr(torch.zeros(sizes, dtype=torch.int64))
    assert ours.count("0") == theirs.count("0") and ours.count("...") == theirs.count("...")


@pytest.mark.whole_library
def test_nothing_is_left_behind() -> None:
    run_python(
        """
        import copy, gc, pickle, sys
        import numpy as np
        import aten
        t, n = aten.zeros(4), np.zeros(4, dtype="float32")

        def some():
            for _ in range(2000):
                pickle.loads(pickle.dumps([t, t[1:]], 5))
                copy.deepcopy([t, t])
                t.storage(), np.asarray(t), t.__array__("int16"), t + n, n + t
                t[[0, 1]], t[t > 0], f"{t}", 1 in t
                t[[0]] = n[:1]
                try:
                    t[[9]]
                except IndexError:
                    pass

        some()
        gc.collect()
        before = sys.getallocatedblocks(), sys.getrefcount(t), sys.getrefcount(n)
        some()
        gc.collect()
        after = sys.getallocatedblocks(), sys.getrefcount(t), sys.getrefcount(n)
        assert after[0] - before[0] < 200 and after[1:] == before[1:], (before, after)
        """,
        own_operators().packages,
    )


HUGE = 2**62


def state(t: Any) -> Any:
    return t.shape, t.stride(), t.storage_offset(), t.numel(), t.storage().nbytes, t.tolist()


@pytest.mark.parametrize("name", ["as_strided", "as_strided_"])
def test_strides_that_overflow_do_not_leave_the_storage(aten: Any, name: str) -> None:
    """Protects memory around a tensor from a product of sizes and strides that wraps around."""
    t = aten.ones([4], dtype=aten.int64)
    before = state(t)
    for sizes, strides, offset in [
        ((2,), (2**61 - 1,), 0),
        ((2,), (2**61,), 0),
        ((2, 2), (2**62, 2**62), 0),
        ((HUGE,), (4,), 0),
        ((2**63 - 1,), (1,), 1),
        ((1,), (1,), 2**63 - 1),
        ((1,), (1,), 2**61),
    ]:
        with pytest.raises((RuntimeError, ValueError)):
            getattr(t, name)(sizes, strides, offset)
        assert state(t) == before


def test_a_dimension_of_one_element_may_have_any_stride(aten: Any) -> None:
    """Protects printing, lists and NumPy from the bytes of a stride that no element needs: they do not fit 64 bits."""
    t = aten.ones([4], dtype=aten.int64).as_strided((1, 2), (2**62, 1))
    assert (repr(t), t.tolist()) == ("tensor([[1, 1]])", [[1, 1]])
    assert np.asarray(t).tolist() == [[1, 1]]


def test_a_rejected_resize_leaves_the_tensor_unchanged(aten: Any) -> None:
    """Protects a program that catches the error: its tensor is still valid."""
    array = np.arange(4, dtype=np.int64)
    for t in [aten.ones(2, dtype=aten.int64), aten.from_numpy(array), aten.ones(2, 3, 4)[1]]:
        before = state(t)
        for sizes in [(HUGE,), (HUGE, HUGE), (2**61,), (2**55,), (2**40, 2**40, 2**40)]:
            with pytest.raises((RuntimeError, ValueError, MemoryError)):
                t.resize_(sizes)
            assert state(t) == before
        with pytest.raises((RuntimeError, ValueError)):
            t.resize_((3, 3, 3), memory_format=aten.channels_last)
        assert state(t) == before
    t = aten.from_numpy(array)
    with pytest.raises(RuntimeError, match="the runtime does not own"):
        t.resize_((10**6,))
    assert t.tolist() == array.tolist()


HOLDERS = {
    "memoryview": memoryview,
    "numpy": lambda t: t.numpy(),
    "__array__": np.asarray,
    "storage": lambda t: memoryview(t.storage()),
    "dlpack": lambda t: t.__dlpack__(),
    "dlpack 1.0": lambda t: t.__dlpack__(max_version=(1, 0)),
    "from_dlpack": np.from_dlpack,
    "torch": torch.from_dlpack,
}


@pytest.mark.filterwarnings("ignore:an out= tensor")
@pytest.mark.parametrize("size", [2, 1000, 300_000])
@pytest.mark.parametrize("holder", list(HOLDERS))
def test_bytes_that_others_hold_are_not_resized(aten: Any, holder: str, size: int) -> None:
    """Protects holders of the address of the bytes: `bytes(m)` after a resize once read freed memory."""
    t = aten.ones(size)
    held = HOLDERS[holder](t)
    before = state(t)
    with pytest.raises(RuntimeError, match="while other objects use them"):
        t.resize_((4 * size,))
    with pytest.raises(RuntimeError, match="while other objects use them"):
        aten.add(aten.ones(4 * size), 1, out=t)
    assert state(t) == before
    t.resize_((1,)).resize_((size,))  # Moves nothing.
    del held
    gc.collect()
    assert t.resize_((4 * size,)).shape == (4 * size,)


def test_bytes_that_others_hold_outlive_the_tensor(aten: Any) -> None:
    """Protects memory exported from a tensor that is gone."""
    t = aten.ones(300_000)
    views = [memoryview(t), t.numpy(), np.from_dlpack(t), memoryview(t.storage())]
    del t
    gc.collect()
    aten.zeros(300_000)
    assert [bytes(view)[:4] for view in views] == [np.float32(1).tobytes()] * 4
