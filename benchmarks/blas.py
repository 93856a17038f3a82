"""Compare matrix products through our library, and our own loops, with direct calls of a BLAS.

    python benchmarks/blas.py LIBRARY [--build DIR] [--no-build] [--busy] [--rounds N] [--write]

LIBRARY is the path of an OpenBLAS, such as the one of the package scipy-openblas32 or libopenblas.so.0. One thread. Each row
is measured in two processes, one in which our library uses LIBRARY and one in which it uses no BLAS. In each, the direct call
is of LIBRARY's cblas functions through ctypes, with arguments that are converted once. In each round, our call and the direct
one run one after the other and the best of several batches counts; a row has the median (min-max) of the rounds' ratios.

`--busy` counts processor time, for a machine that other processes use. `--write` puts the table into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from kernels import HERE, build, timed
from processes import run
from results import write_between

# What cblas.h calls row-major, not transposed, transposed.
ROWS, PLAIN, TURNED = 101, 111, 112
BATCH, BATCHES = 2e-3, 4
NAMES = {"float32": "s", "float64": "d"}

Call = Callable[[], Any]


class Direct:
    """The cblas functions of a library, as calls without arguments."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        self.prefix = "scipy_" if hasattr(self.library, "scipy_cblas_sgemm") else ""
        getattr(self.library, f"{self.prefix}openblas_set_num_threads")(1)

    def _function(self, name: str, dtype: str) -> Any:
        return getattr(self.library, f"{self.prefix}cblas_{NAMES[dtype]}{name}")

    def _number(self, dtype: str, value: float) -> Any:
        return ctypes.c_float(value) if dtype == "float32" else ctypes.c_double(value)

    def gemm(self, a: Any, b: Any, out: Any, beta: float = 0, turned: bool = False) -> Call:
        """Return a call that computes out = beta * out + a @ b, or a @ b.T."""
        dtype = str(a.dtype)
        function, one, kept = (
            self._function("gemm", dtype),
            self._number(dtype, 1),
            self._number(dtype, beta),
        )
        (m, k), n = a.shape, out.shape[1]
        sizes = [ctypes.c_int(each) for each in (m, n, k)]
        leads = [ctypes.c_int(each.strides[0] // each.itemsize) for each in (a, b, out)]
        at = [ctypes.c_void_p(each.ctypes.data) for each in (a, b, out)]
        order = [ctypes.c_int(each) for each in (ROWS, PLAIN, TURNED if turned else PLAIN)]
        return lambda: function(
            *order, *sizes, one, at[0], leads[0], at[1], leads[1], kept, at[2], leads[2]
        )

    def gemv(self, a: Any, x: Any, out: Any) -> Call:
        dtype = str(a.dtype)
        function = self._function("gemv", dtype)
        one, none, step = self._number(dtype, 1), self._number(dtype, 0), ctypes.c_int(1)
        order = [ctypes.c_int(each) for each in (ROWS, PLAIN)]
        m, n = (ctypes.c_int(each) for each in a.shape)
        at = [ctypes.c_void_p(each.ctypes.data) for each in (a, x, out)]
        return lambda: function(*order, m, n, one, at[0], n, at[1], step, none, at[2], step)

    def dot(self, x: Any, y: Any) -> Call:
        dtype = str(x.dtype)
        function = self._function("dot", dtype)
        function.restype = type(self._number(dtype, 0))
        at = [ctypes.c_void_p(each.ctypes.data) for each in (x, y)]
        n, step = ctypes.c_int(x.size), ctypes.c_int(1)
        return lambda: function(n, at[0], step, at[1], step)


def cases(own: Any, direct: Direct) -> Iterator[tuple[str, str, str, Call, Call, Any, Any]]:
    """Yield the operator, sizes and dtype of each row, our call and the direct one, and the memory of both results."""
    draw = np.random.default_rng(0)

    def numbers(dtype: str, *shape: int) -> Any:
        return draw.standard_normal(shape).astype(dtype)

    for dtype in NAMES:
        # Results that exist, so that neither side allocates.
        for m, k, n in ((64,) * 3, (128,) * 3, (256,) * 3, (512,) * 3, (1024,) * 3, (4096, 64, 64)):
            a, b, c = numbers(dtype, m, k), numbers(dtype, k, n), numbers(dtype, m, n)
            out, theirs = np.zeros_like(c), np.zeros_like(c)
            x, y, z, o = (own.from_dlpack(each) for each in (a, b, c, out))
            size = f"{m} x {k} x {n}"
            yield "mm", size, dtype, lambda x=x, y=y, o=o: own.mm(x, y, out=o), direct.gemm(
                a, b, theirs
            ), out, theirs
            if m == n:
                t = y.t()
                yield "mm, transposed", size, dtype, lambda x=x, t=t, o=o: own.mm(
                    x, t, out=o
                ), direct.gemm(a, b, theirs, turned=True), out, theirs
            # The direct call adds to a copy of the addend, too.
            product = direct.gemm(a, b, theirs, beta=1)
            yield "addmm", size, dtype, lambda x=x, y=y, z=z, o=o: own.addmm(
                z, x, y, out=o
            ), lambda product=product, theirs=theirs, c=c: (
                np.copyto(theirs, c),
                product(),
            ), out, theirs
        for count, side in ((64, 64), (64, 128), (8, 512)):
            a, b = numbers(dtype, count, side, side), numbers(dtype, count, side, side)
            out, theirs = np.zeros_like(a), np.zeros_like(a)
            x, y, o = (own.from_dlpack(each) for each in (a, b, out))
            every = [direct.gemm(*each) for each in zip(a, b, theirs, strict=True)]
            yield "bmm", f"{count} of {side}³", dtype, lambda x=x, y=y, o=o: own.bmm(
                x, y, out=o
            ), lambda every=every: [each() for each in every], out, theirs
        for m, n in ((256, 256), (1024, 1024), (4096, 1024), (1024, 4096)):
            a, v = numbers(dtype, m, n), numbers(dtype, n)
            out, theirs = np.zeros(m, dtype), np.zeros(m, dtype)
            x, y, o = (own.from_dlpack(each) for each in (a, v, out))
            yield "mv", f"{m} x {n}", dtype, lambda x=x, y=y, o=o: own.mv(x, y, out=o), direct.gemv(
                a, v, theirs
            ), out, theirs
        for n in (1 << 14, 1 << 20):
            a, v = numbers(dtype, n), numbers(dtype, n)
            out = np.zeros((), dtype)
            x, y, o = (own.from_dlpack(each) for each in (a, v, out))
            yield "dot", f"{n:,}", dtype, lambda x=x, y=y, o=o: own.dot(x, y, out=o), direct.dot(
                a, v
            ), out, None


def measure(given: argparse.Namespace) -> None:
    """Measure in this process, whose environment says which BLAS our library uses; print rows as JSON."""
    sys.path.insert(0, str(given.build / "cmake-build" / "python"))
    own = importlib.import_module("aten")
    clock = time.thread_time if given.busy else time.perf_counter
    rows = []
    for name, size, dtype, ours, direct, out, theirs in cases(own, Direct(given.library)):
        expected = direct() if theirs is None else (direct(), theirs)[1]
        ours()
        assert np.allclose(out, expected, rtol=1e-3, atol=1e-2), (name, size, dtype)
        sides = (ours, direct)
        sets: list[tuple[list[Any], dict[str, Any]]] = [([], {})]
        times = [max(1, round(BATCH / timed(clock, side, sets, 1))) for side in sides]
        found: list[list[float]] = []
        for _ in range(given.rounds):
            best = [float("inf"), float("inf")]
            for _ in range(BATCHES):
                for k, side in enumerate(sides):
                    best[k] = min(best[k], timed(clock, side, sets, times[k]))
            found.append(best)
        rows.append(
            {
                "row": [name, size, dtype],
                "direct": statistics.median(each[1] for each in found),
                "ratios": [each[0] / each[1] for each in found],
            }
        )
    print(json.dumps(rows))


def _text(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("library", type=Path)
    parser.add_argument("--build", type=Path, default=HERE / "build" / "kernels")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measure(given)
        return
    if not given.no_build:
        build(given.build)
    command: list[str | Path] = [sys.executable, Path(__file__).resolve(), given.library, "--child"]
    command += ["--build", given.build, "--rounds", str(given.rounds)]
    command += ["--busy"] if given.busy else []
    one = {"OPGEN_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with_blas, without = (
        json.loads(run(command, OPGEN_BLAS_LIBRARY=chosen, **one).splitlines()[-1])
        for chosen in (str(given.library.resolve()), "none")
    )
    lines = [
        "| operator | sizes | dtype | direct call, us | through our library | without a BLAS |",
        "|---|---|---|---:|---:|---:|",
    ]
    for row, other in zip(with_blas, without, strict=True):
        name, size, dtype = row["row"]
        lines.append(
            f"| {name} | {size} | {dtype} | {row['direct'] * 1e6:.3g} | {_text(row['ratios'])} | {_text(other['ratios'])} |"
        )
    text = "\n".join(lines)
    print(text)
    if given.write:
        write_between("blas.py", text)


if __name__ == "__main__":
    main()
