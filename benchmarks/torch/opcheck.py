"""Run torch.library.opcheck on every variant of the five operators, generated and by hand. Print JSON to stdout.

python opcheck.py FIVE.so HAND.so
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.library import opcheck

TESTS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)


def cases(ops: Any) -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Yield every overload with arguments."""
    a, b, v = torch.randn(3, 4), torch.randn(3, 4), torch.randn(5)
    yield ops.axpy.default, (a, b.t().contiguous().t()), {"a": 2}
    yield ops.axpy_.default, (a.clone(), b), {}
    yield ops.axpy.out, (a, b), {"out": torch.empty(3, 4)}
    yield ops.softclip.default, (a, 2.0), {}
    yield ops.softclip_.default, (a.clone(),), {}
    yield ops.softclip.out, (a,), {"out": torch.empty(3, 4)}
    yield ops.exceeds.default, (a, b[0]), {}
    yield ops.exceeds.out, (a, b), {"out": torch.empty(3, 4, dtype=torch.bool)}
    yield ops.span.default, (a, -1), {}
    yield ops.span.out, (a, 0), {"out": torch.empty(4)}
    yield ops.ends.default, (v,), {}
    yield ops.ends.out, (v,), {"first": torch.empty(()), "last": torch.empty(())}


def results(ops: Any) -> dict[str, dict[str, str]]:
    """Return, for each overload and test, `SUCCESS` or the first line of the error."""
    found: dict[str, dict[str, str]] = {}
    for operator, arguments, keywords in cases(ops):
        said = opcheck(operator, arguments, keywords, test_utils=TESTS, raise_exception=False)
        name = str(operator).partition(".")[2].removesuffix(".default")
        found[name] = {test: str(what).splitlines()[0] for test, what in said.items()}
    return found


def main() -> None:
    for library in sys.argv[1:3]:
        torch.ops.load_library(library)
    warnings.simplefilter("ignore")
    for operator, arguments, keywords in cases(torch.ops.five):
        by_hand = getattr(torch.ops.hand, operator._schema.name.partition("::")[2])
        overload = getattr(by_hand, operator._schema.overload_name or "default")
        wanted = overload(
            *[x.clone() if isinstance(x, torch.Tensor) else x for x in arguments], **keywords
        )
        given = operator(
            *[x.clone() if isinstance(x, torch.Tensor) else x for x in arguments], **keywords
        )
        torch.testing.assert_close(given, wanted)
    print(json.dumps({name: results(getattr(torch.ops, name)) for name in ("five", "hand")}))


main()
