"""Calls that fail, each on its own line: type checkers reject them all."""

import calls
from calls import Tensor

a = calls.tensor([1.0])

calls.add(a, "x")  # bad
calls.add(a)  # bad
calls.add(a, a, a)  # bad
calls.add(a, a, beta=1)  # bad
calls.add(a, a, out=(a, a))  # bad
calls.special_twice(a)  # bad
calls.zeros("2")  # bad
calls.zeros(2.0)  # bad
calls.zeros(2, 3.0)  # bad
calls.zeros(2, dtype="int7")  # bad
calls.zeros(2, dtype=calls.strided)  # bad
calls.zeros(2, layout="dense")  # bad
calls.describe(a, memory_format=calls.float32)  # bad
calls.describe([a, 1], [a])  # bad
calls.describe(1, 2.5)  # bad
calls.extremes(a, out=a)  # bad
print(calls.extremes(a).middle)  # bad
calls.extremes([a])  # bad
calls.refuse(a, None)  # bad
a + "x"  # bad
a * 2  # bad
"x" + a  # bad
print(-a)  # bad
a["x"]  # bad
a[0] = "x"  # bad
a.sum()  # bad
a.count(1)  # bad
a.shape = (1,)  # bad
calls.Generator(1)  # bad
calls.device(1)  # bad
calls.manual_seed("x")  # bad
text: str = calls.add(a, a)  # bad, but it runs
number: int = a.size()  # bad, but it runs


class Mine(Tensor):  # bad
    pass
