"""The calls for which gradients are checked, for operators whose arguments match each other."""

from __future__ import annotations

from typing import Any

from opgen.gradtest import Domain, Draw, between


def rows(draw: Draw) -> dict[str, Any]:
    """Arguments of the layers that combine the elements of rows."""
    lead = draw.choice(((3,), (2, 1), (1, 2)))
    columns, others = draw.integer(2, 4), draw.integer(1, 3)
    return {
        "input": draw.tensor(*lead, columns),
        "weight": draw.tensor(others, columns),
        "left": draw.tensor(*lead, others),
        "right": draw.tensor(*lead, columns),
    }


def normalised(draw: Draw) -> dict[str, Any]:
    columns = draw.integer(2, 4)
    return {
        "input": draw.tensor(draw.integer(1, 3), columns),
        "weight": draw.tensor(columns),
        "bias": draw.tensor(columns),
    }


def lookups(draw: Draw) -> dict[str, Any]:
    batch, slots, columns = draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 3)
    return {
        "query": draw.tensor(batch, draw.integer(1, 2), columns),
        "key": draw.tensor(batch, slots, columns),
        "value": draw.tensor(batch, slots, draw.integer(1, 3)),
    }


def classified(draw: Draw) -> dict[str, Any]:
    count, classes = draw.integer(1, 3), draw.integer(1, 4)
    return {
        "logits": draw.tensor(count, classes),
        "target": draw.integers(count, below=classes),
    }


def a_matrix(draw: Draw) -> dict[str, Any]:
    return {"self": draw.tensor(draw.integer(1, 3), draw.integer(1, 3))}


VIEW = "vmap has no rule for a library's views"
# The kernels compute with real numbers.
REAL = ("float64",)
DOMAINS = {
    "lookup::linear": Domain(make=rows, dtypes=REAL),
    "lookup::transposed": Domain(make=a_matrix, dtypes=REAL, batched=False, why=VIEW),
    "lookup::outer_sum": Domain(make=rows, dtypes=REAL, batched=False, why=VIEW),
    "lookup::add": Domain(dtypes=REAL),
    "lookup::gelu": Domain(dtypes=REAL),
    "lookup::gelu_backward": Domain(dtypes=REAL),
    "lookup::layer_norm": Domain(make=normalised, eps=between(1e-3, 1.0), dtypes=REAL),
    "lookup::attention": Domain(make=lookups, dtypes=REAL),
    "lookup::cross_entropy": Domain(make=classified, dtypes=REAL),
}
