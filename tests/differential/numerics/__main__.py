"""Compare chosen operators by hand: `python tests/differential/numerics add.Tensor --dtype float32 --seed 17`.

python tests/differential/numerics                         # every operator, every dtype, 12 inputs each
python tests/differential/numerics max sort.stable -n 200  # all overloads of max, one of sort
"""

from __future__ import annotations

import argparse
import collections
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from differential.numerics.check import Checker, Report
from differential.numerics.driver import Library
from differential.numerics.values import BY_NAME, DTYPES
from support.library import OperatorLibrary, own_operators, own_registry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "operators", nargs="*", help="overloads, or operators with all their overloads"
    )
    parser.add_argument("--dtype", choices=sorted(BY_NAME))
    parser.add_argument("--seed", type=int, help="one input only")
    parser.add_argument("-n", "--count", type=int, default=12)
    parser.add_argument(
        "--library",
        nargs=2,
        type=Path,
        help="libaten.so and libopgen_runtime.so, if built elsewhere",
    )
    parser.add_argument(
        "--warnings", action="store_true", help="show what both print on standard error"
    )
    options = parser.parse_args()
    if not options.warnings:
        # C++ writes to file descriptor 2; Python's own messages are still shown.
        sys.stderr = os.fdopen(os.dup(2), "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    built = own_operators() if options.library is None else _elsewhere(*options.library)
    registry = own_registry()
    checker = Checker(Library(built), registry)
    chosen = [
        n for n in checker.functions if not options.operators or _chosen(n, options.operators)
    ]
    dtypes = [BY_NAME[options.dtype]] if options.dtype else DTYPES
    started, compared, meta, refused, pairs = time.monotonic(), 0, 0, 0, 0
    grouped: collections.Counter[tuple[str, str]] = collections.Counter()
    for name in chosen:
        for dtype in dtypes:
            report = Report()
            if options.seed is None:
                report = checker.check(name, dtype, options.count)
            else:
                checker.check_seed(name, dtype, options.seed, report)
            compared, meta, pairs = (
                compared + report.compared,
                meta + report.meta,
                pairs + report.supported,
            )
            refused += report.refused
            for failure in report.failures:
                print(failure, flush=True)
                grouped[(failure.operator, failure.category)] += 1
    for (name, category), count in sorted(grouped.items()):
        print(f"{name:40} {category:10} {count}")
    print(
        f"{len(chosen)} overloads, {pairs} with a dtype, {compared} inputs compared, {meta} on Meta too,"
    )
    print(
        f"{refused} refused by both, {len(grouped)} kinds of failure, {time.monotonic() - started:.1f} s"
    )
    return 1 if grouped else 0


def _elsewhere(library: Path, runtime: Path) -> OperatorLibrary:
    return OperatorLibrary(library, runtime, library.parent, library.parent)


def _chosen(name: str, wanted: list[str]) -> bool:
    base = name.partition(".")[0]
    return name in wanted or base in wanted or base.removesuffix("_") in wanted


if __name__ == "__main__":
    raise SystemExit(main())
