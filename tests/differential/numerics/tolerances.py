"""The allowed distance of a result from the reference, per dtype: |ours - theirs| <= absolute + relative * |theirs|.

Sums and products in different orders differ by more than one rounding. LOOSER names the operators whose last digits
depend on more than the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from differential.numerics.values import Dtype

# (relative, absolute); dtypes without a row are compared exactly.
TOLERANCES: dict[str, tuple[float, float]] = {
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
    "float32": (2e-6, 4e-6),
    "float64": (1e-13, 1e-13),
    "complex64": (4e-6, 8e-6),
    "complex128": (1e-13, 1e-13),
}

# From an operator, or "operator:dtype", to the factor for both, with the reason.
LOOSER: dict[str, tuple[float, str]] = {
    "add:float16": (16, "PyTorch rounds alpha * other to half before adding"),
    "add:bfloat16": (16, "as float16"),
    "sub:float16": (16, "as add"),
    "sub:bfloat16": (16, "as add"),
    "_foreach_add:float16": (16, "as add"),
    "_foreach_add:bfloat16": (16, "as add"),
    "sub:float32": (4, "alpha * other may or may not be rounded before it is subtracted"),
    "add:float32": (4, "as sub"),
    "index_add:bfloat16": (
        16,
        "many numbers are added to one element, and each addition is rounded",
    ),
    "index_add:float16": (16, "as bfloat16"),
    "addmv:bfloat16": (16, "PyTorch rounds the product before it adds self"),
    "addmv:float16": (16, "as bfloat16"),
    "addbmm:float16": (16, "PyTorch rounds the sum after each batch"),
    "addbmm:bfloat16": (16, "as float16"),
    "addbmm:float32": (4, "sums of products in another order"),
    "addr:float16": (16, "PyTorch rounds each product to half before adding"),
    "addr:bfloat16": (16, "as float16"),
    "cross:float16": (16, "PyTorch rounds each product to half before subtracting"),
    "cross:bfloat16": (16, "as float16"),
    "linalg_cross:float16": (16, "as cross"),
    "linalg_cross:bfloat16": (16, "as cross"),
    "linspace:float16": (4, "the step may or may not be rounded to half"),
    "linspace:bfloat16": (4, "as float16"),
    "polygamma:complex128": (30_000, "as float64, stored in a wider out argument"),
    "polygamma:float64": (
        30_000,
        "PyTorch's is right to 4e-10: polygamma(1, 2) is pi**2/6 - 1 = 0.6449340668482…",
    ),
    "layer_norm": (8, "differences of nearly equal numbers, divided by their deviation"),
    "native_layer_norm": (8, "as layer_norm"),
    "native_layer_norm_backward": (8, "differences of sums of products"),
    **dict.fromkeys(
        ("native_batch_norm", "batch_norm", "instance_norm", "native_group_norm"),
        (8, "as layer_norm"),
    ),
    "group_norm": (8, "as layer_norm"),
    "rms_norm": (8, "as layer_norm"),
    "native_batch_norm_backward": (32, "as native_layer_norm_backward"),
    "native_group_norm_backward": (32, "as native_layer_norm_backward"),
    "binary_cross_entropy:float16": (4, "PyTorch rounds the loss of each place to half"),
    "binary_cross_entropy:bfloat16": (4, "as float16"),
    "triplet_margin_loss": (16, "a difference of distances, which may be nearly equal"),
    "_adaptive_avg_pool2d_backward:float16": (8, "PyTorch rounds each addition to half"),
    "_adaptive_avg_pool2d_backward:bfloat16": (8, "as float16"),
}


def tolerance(dtype: Dtype, operator: str) -> tuple[float, float]:
    """Return (relative, absolute) for results of `dtype`; `operator` is the base name, without `_` and overload."""
    relative, absolute = TOLERANCES.get(dtype.name, (0.0, 0.0))
    factor, _ = LOOSER.get(f"{operator}:{dtype.name}") or LOOSER.get(operator) or (1.0, "")
    return relative * factor, absolute * factor


def close(a: Any, b: Any, relative: float, absolute: float) -> Any:
    """Return for each element whether `a` is within this distance of `b`; NaN is within any distance of NaN."""
    if a.dtype.kind in "bui":
        return a == b
    if a.dtype.kind == "c":
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        near = np.abs(a - b) <= absolute + relative * np.abs(b)
        return same | near
    wide = np.float64 if a.dtype.itemsize < 8 else a.dtype
    a, b = a.astype(wide), b.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return same | ((np.abs(a - b) <= absolute + relative * np.abs(b)) & np.isfinite(b))
