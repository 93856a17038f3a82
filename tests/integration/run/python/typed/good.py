"""Calls that type checkers accept, with the types that they infer."""

import pickle

import calls
import numpy as np
from calls import Tensor, return_types, special
from typing_extensions import assert_type

a = calls.tensor([1.0, 2.0], dtype="float64")
assert_type(a, Tensor)
assert_type(calls.add(a, a), Tensor)
assert_type(calls.add(a, 1.5, alpha=2), Tensor)
assert_type(calls.add(input=a, other=np.float32(1), out=a), Tensor)
assert_type(a + 1, Tensor)
assert_type(2 + a, Tensor)
a += a
assert_type(a.add(a).add_(1).count(), int)
assert_type(calls.zeros(2, 3), Tensor)
assert_type(calls.zeros((2, np.int64(3)), dtype=calls.float32, device="meta"), Tensor)
assert_type(calls.zeros([2], dtype=np.float16, layout=calls.strided), Tensor)
assert_type(calls.zeros(2, dtype=float, device=calls.device("cpu")), Tensor)
assert_type(calls.describe(1, 2, 0.5, True, "x", n=None), Tensor)
assert_type(calls.describe([1, 2], more=(3,), floats=[1, 0.5]), Tensor)
assert_type(calls.describe(a, weight=None, memory_format="channels_last"), Tensor)
assert_type(calls.describe([a, a], [a, None]), Tensor)
found = calls.extremes(a, out=(a, a.add(a)))
assert_type(found, return_types.extremes)
assert_type(found.low, Tensor)
low, high = a.extremes()
assert_type(high, Tensor)
assert_type(a.halves(), tuple[Tensor, ...])
assert_type(special.special_twice(a), Tensor)
assert_type(calls.special.special_twice(a), Tensor)
assert_type(a.shape, tuple[int, ...])
assert_type(a.size(0), int)
assert_type(a.dtype, calls.dtype)
assert_type(a.device.index, "int | None")
assert_type([float(x) for x in a], list[float])
assert_type(a[..., None, :1], Tensor)
a[0] = 3
a[...] = a
print(np.asarray(a).shape)
assert_type(calls.from_numpy(np.ones(3)), Tensor)
assert_type(calls.Generator().manual_seed(1), calls.Generator)
calls.manual_seed(1)
pickle.dumps(calls.float32)


def twice(x: Tensor) -> Tensor:
    return x + x


assert_type(twice(calls.where(a, a, 1)), Tensor)
