"""Count the graphs that torch.compile makes of operators of stable.yaml, and print them as JSON.

python stable_graphs.py PACKAGE/LIBRARY.so
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import torch


def graphs(
    operator: Callable[[torch.Tensor], torch.Tensor],
    mark: Callable[[torch.Tensor, int], None],
    sizes: Iterable[int],
) -> int:
    """Return the number of graphs for vectors of these sizes, whose first dimension is marked; compare the results."""
    made = []

    def backend(graph, _):
        made.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(operator, backend=backend, fullgraph=True)
    for size in sizes:
        given = torch.randn(size)
        mark(given, 0)
        torch.testing.assert_close(compiled(given), operator(given))
    return len(made)


def main() -> None:
    package = Path(sys.argv[1]).parent
    sys.path.insert(0, str(package.parent))
    importlib.import_module(package.name)
    ops, dynamo = torch.ops.stable, torch._dynamo
    add, head = (lambda a: ops.add(a, a)), (lambda a: ops.head(a))
    counted = {
        "`add`, two sizes, `mark_dynamic`": graphs(add, dynamo.mark_dynamic, (5, 7)),
        "`add`, two sizes, `mark_unbacked`": graphs(add, dynamo.decorators.mark_unbacked, (5, 7)),
        "`head`, two sizes, the same branch": graphs(head, dynamo.mark_dynamic, (5, 7)),
        "`head`, four sizes, both branches": graphs(head, dynamo.mark_dynamic, (5, 7, 12, 20)),
    }
    print(json.dumps(counted))


main()
