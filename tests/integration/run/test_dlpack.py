"""Tensors that share their bytes with arrays of NumPy and PyTorch by DLPack, in both directions."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from support.library import own_operators, own_package
from support.python_package import run_python

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(scope="module")
def aten() -> Any:
    return own_package()


def views(make: Callable[[int], Any]) -> list[Any]:
    """Return arrays of all shapes that both support: `make(n)` has n numbers in a row."""
    m = make(24).reshape(2, 3, 4)
    return [
        m,
        m[1],
        m[:, ::2],
        m[..., 1:],
        m[0, 0, 0],
        m[2:],
        m[:, :0],
        m.transpose(0, 2),
        m[:1, :, 2:3],
    ]


def numbers(dtype: str) -> Callable[[int], Any]:
    return lambda n: np.arange(n).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_both_ways(aten: Any, dtype: str) -> None:
    """Protects dtype, shape, strides, numbers and the sharing of bytes, for every kind of view."""
    for n in views(lambda n: torch.from_numpy(numbers(dtype)(n))):
        n = n.numpy()
        t = aten.from_dlpack(n)
        assert t.dtype is getattr(aten, dtype) and t.shape == n.shape
        assert t.tolist() == n.tolist()
        if n.size:
            assert t.data_ptr() == n.ctypes.data
            assert t.stride() == tuple(s // n.itemsize for s in n.strides)
        back = np.from_dlpack(t)
        assert back.dtype == n.dtype and back.shape == n.shape and np.array_equal(back, n)
        assert n.size == 0 or back.ctypes.data == n.ctypes.data
        assert back.flags.writeable


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_torch_both_ways(aten: Any, dtype: str) -> None:
    """The same with torch: by its function, by a current capsule, and by one from before DLPack 1.0."""
    for p in views(lambda n: torch.arange(n).to(getattr(torch, dtype))):
        for given in [
            p,
            p.__dlpack__(),
            p.__dlpack__(max_version=(1, 0)),
            torch.utils.dlpack.to_dlpack(p),
        ]:
            t = aten.from_dlpack(given)
            assert t.dtype is getattr(aten, dtype) and t.shape == tuple(p.shape)
            assert t.tolist() == p.tolist()
            assert p.numel() == 0 or (t.data_ptr() == p.data_ptr() and t.stride() == p.stride())
        for back in [
            torch.from_dlpack(t),
            torch.from_dlpack(t.__dlpack__()),
            torch.utils.dlpack.from_dlpack(t.__dlpack__(max_version=(1, 3))),
        ]:
            assert back.dtype == p.dtype and back.shape == p.shape and torch.equal(back, p)
            assert p.numel() == 0 or (
                back.data_ptr() == p.data_ptr() and back.stride() == p.stride()
            )


def test_writes_are_visible_on_both_sides(aten: Any) -> None:
    t = aten.zeros(4)
    n, p = np.from_dlpack(t), torch.from_dlpack(t)
    n[0], p[1], t[2] = 1, 2, 3
    assert t.tolist() == n.tolist() == p.tolist() == [1, 2, 3, 0]


def test_a_read_only_array_is_only_copied(aten: Any) -> None:
    """Protects bytes that must not be written: a tensor has no flag for them, so it does not share them."""
    n = np.arange(3.0)
    n.flags.writeable = False
    with pytest.raises(BufferError, match=r"the array is read-only.*copy=True"):
        aten.from_dlpack(n)
    t = aten.from_dlpack(n, copy=True)
    t[0] = 9
    assert n.tolist() == [0, 1, 2] and t.tolist() == [9, 1, 2]


def test_copies_on_demand(aten: Any) -> None:
    n, t = np.arange(3.0), aten.zeros(3)
    assert aten.from_dlpack(n, copy=True).data_ptr() != n.ctypes.data
    assert aten.from_dlpack(n, copy=False).data_ptr() == n.ctypes.data
    for copied in [np.from_dlpack(t, copy=True), torch.from_dlpack(t, copy=True)]:
        copied[0] = 5
        assert t.tolist() == [0, 0, 0]
    assert flags_of(t.__dlpack__(max_version=(1, 0), copy=True)) == 2
    assert flags_of(t.__dlpack__(max_version=(1, 0))) == 0
    with pytest.raises(BufferError, match="was copied, but copy is False"):
        aten.from_dlpack(t.__dlpack__(max_version=(1, 0), copy=True), copy=False)


def test_a_capsule_is_consumed_once(aten: Any) -> None:
    """Protects the renaming of a capsule, which tells the next consumer that it has been used."""
    t = aten.zeros(3)
    for version, name in [(None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned")]:
        capsule = t.__dlpack__(max_version=version)
        assert f'"{name}"' in repr(capsule)
        aten.from_dlpack(capsule)
        assert f'"used_{name}"' in repr(capsule)
        with pytest.raises(ValueError, match=f"was not used before, but got one named used_{name}"):
            aten.from_dlpack(capsule)


def test_refusals(aten: Any) -> None:
    """Protects the errors for what cannot be shared: BufferError, as in NumPy and torch."""
    t, meta = aten.zeros(3), aten.zeros(3, device="meta")
    for call in [
        lambda: t.__dlpack__(stream=1),
        lambda: t.__dlpack__(dl_device=(2, 0)),
        lambda: meta.__dlpack__(),
        lambda: meta.__dlpack_device__(),
        lambda: aten.from_dlpack(np.arange(4)[::-1]),
        lambda: aten.from_dlpack(np.arange(4, dtype="uint16")),
        lambda: aten.from_dlpack(np.frombuffer(bytearray(9), "int32", 2, 1)),
        lambda: aten.from_dlpack(Elsewhere()),
        lambda: aten.from_dlpack(np.arange(4), device="meta"),
    ]:
        with pytest.raises(BufferError):
            call()
    with pytest.raises(TypeError, match="dl_device must be a tuple"):
        t.__dlpack__(dl_device=3)
    with pytest.raises(AttributeError, match="__dlpack_device__"):
        aten.from_dlpack([1, 2])
    assert t.__dlpack_device__() == (1, 0) and t.__dlpack__(dl_device=(1, 0))


class Elsewhere:
    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


class Old:
    """A producer from before 1.0, whose method does not take max_version."""

    def __dlpack__(self, stream: None = None) -> object:
        return np.arange(3).__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def lying(**fields: int) -> object:
    """Return a capsule of an array of 2 by 3 doubles in which some fields have other values. Their places are those of
    the structure DLTensor; `shape0` and `strides0` are elements of its arrays."""
    capsule = np.arange(6.0).reshape(2, 3).__dlpack__()
    place = pointer_in(capsule, b"dltensor")
    for name, value in fields.items():
        if name == "ndim":
            ctypes.c_int32.from_address(place + 16).value = value
        elif name == "byte_offset":
            ctypes.c_uint64.from_address(place + 40).value = value
        else:
            row = ctypes.c_uint64.from_address(place + {"shape": 24, "strides": 32}[name[:-1]])
            ctypes.c_int64.from_address(row.value + 8 * int(name[-1])).value = value
    return capsule


@pytest.mark.parametrize(
    "fields",
    [
        {"ndim": 2**31 - 1},
        {"ndim": 65},
        {"ndim": -1},
        {"byte_offset": 2**63},
        {"byte_offset": 2**64 - 8},
        {"byte_offset": 2**63 - 8},
        {"shape0": 2**62, "shape1": 2**62},
        {"shape0": 2**61},
        {"shape0": -1},
        {"strides0": 2**62},
        {"strides0": 2**63 - 1},
        {"strides1": -1},
    ],
    ids=str,
)
def test_a_capsule_that_lies(aten: Any, fields: dict[str, int]) -> None:
    """Protects memory: what cannot be true is refused before anything is read, and the capsule stays unused."""
    capsule = lying(**fields)
    with pytest.raises(BufferError):
        aten.from_dlpack(capsule)
    assert '"dltensor"' in repr(capsule)


def test_sizes_that_do_not_matter(aten: Any) -> None:
    """Protects capsules that look odd and are right: strides of one element, and of none."""
    assert aten.from_dlpack(lying(shape0=1, strides0=2**62)).tolist() == [[0, 1, 2]]
    assert aten.from_dlpack(lying(shape0=0, strides1=2**62)).shape == (0, 3)


def test_an_old_producer(aten: Any) -> None:
    assert aten.from_dlpack(Old()).tolist() == [0, 1, 2]


def test_the_owner_is_freed_first(aten: Any) -> None:
    """The bytes live as long as either side, and are freed after that."""
    n = np.arange(1000.0)
    before = sys.getrefcount(n)
    t = aten.from_dlpack(n)
    p = torch.from_dlpack(t)
    assert sys.getrefcount(n) == before + 1
    again = aten.from_dlpack(p)
    del t, p
    gc.collect()
    assert again.tolist() == n.tolist()
    assert sys.getrefcount(n) == before + 1
    del again
    assert sys.getrefcount(n) == before
    for left in [np.from_dlpack(aten.ones(1000)), torch.from_dlpack(aten.ones(1000))]:
        assert left.sum() == 1000
    capsule = t = aten.ones(1000).__dlpack__(max_version=(1, 0))
    del capsule, t  # Never consumed: its bytes are freed with it.


def test_the_last_reference_goes_in_another_thread(aten: Any) -> None:
    """Protects deleters that are called in another thread than the one that made the tensor."""
    n = np.arange(100.0)
    before = sys.getrefcount(n)

    def work() -> None:
        for _ in range(200):
            held = [aten.from_dlpack(n), torch.from_dlpack(aten.ones(100))]
            held.append(np.from_dlpack(held[0]))
            shared.append(held)
            if len(shared) > 3:
                shared.pop(0)

    shared: list[Any] = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.clear()
    assert sys.getrefcount(n) == before


def test_nothing_is_left_behind() -> None:
    """Protects long runs: no references or blocks are leaked, not even by rejected calls."""
    run_python(
        """
        import gc, sys
        import numpy as np
        import aten
        n, frozen, t = np.arange(4.0), np.arange(4.0), aten.zeros(4)
        frozen.flags.writeable = False

        def some():
            for _ in range(3000):
                aten.from_dlpack(n)
                np.from_dlpack(t)
                t.__dlpack__()
                aten.from_dlpack(n.__dlpack__())
                for bad in (frozen, n[::-1]):
                    try:
                        aten.from_dlpack(bad)
                    except BufferError:
                        pass

        some()
        gc.collect()
        before = sys.getallocatedblocks(), sys.getrefcount(n), sys.getrefcount(frozen), sys.getrefcount(t)
        some()
        gc.collect()
        after = sys.getallocatedblocks(), sys.getrefcount(n), sys.getrefcount(frozen), sys.getrefcount(t)
        assert after[0] - before[0] < 50 and after[1:] == before[1:], (before, after)
        last = aten.from_dlpack(n)  # outlives the interpreter's own objects
        """,
        own_operators().packages,
    )


def flags_of(capsule: object) -> int:
    """Return the flags in a capsule of DLPack 1.x, which are three words into the structure."""
    return ctypes.c_uint64.from_address(pointer_in(capsule, b"dltensor_versioned") + 24).value


def pointer_in(capsule: object, name: bytes) -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    place = pointer(capsule, name)
    assert isinstance(place, int)
    return place
