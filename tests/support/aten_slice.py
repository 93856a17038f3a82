"""A slice of PyTorch's native_functions.yaml under a private namespace: PyTorch's schemas, our kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

NAMESPACE = "slice"

# The structured groups, by the source file with their kernels. A group is named by its out=
# operator.
BASIC = "add.out mul.out div.out eq.Tensor_out sqrt.out sigmoid.out clamp.Tensor_out"

POINTWISE = """
neg.out sgn.out frac.out bitwise_not.out floor.out ceil.out trunc.out round.out sign.out exp.out log1p.out rsqrt.out
sin.out tanh.out reciprocal.out erf.out signbit.out isposinf.out silu.out mish.out hardsigmoid.out gelu.out
leaky_relu.out elu.out sub.out div.out_mode copysign.out bitwise_and.Tensor_out fmod.Tensor_out remainder.Tensor_out
ne.Tensor_out lt.Tensor_out ge.Tensor_out atan2.out hypot.out gcd.out nextafter.out maximum.out minimum.out fmax.out
xlogy.OutTensor pow.Tensor_Tensor_out sigmoid_backward.grad_input tanh_backward.grad_input silu_backward.grad_input
addcmul.out
"""

REDUCTIONS = """
sum.IntList_out mean.out prod.int_out amax.out amin.out argmax.out argmin.out max.dim_max min.dim_min any.out all.out
cumsum.out cumprod.out
"""

SHAPES = """
mm.out bmm.out addmm.out tril.out triu.out _softmax.out _log_softmax.out renorm.out topk.values gather.out
scatter.src_out cat.out avg_pool2d.out upsample_nearest1d.out upsample_nearest2d.out
"""

GROUPS = {
    "basic.cpp": BASIC,
    "reductions.cpp": REDUCTIONS,
    "shapes.cpp": SHAPES,
    "pointwise.cpp": POINTWISE,
}

# Operators that are not structured (unstructured.cpp): writing operators with generated variants,
# views and their copies, factories.
UNSTRUCTURED = """
roll zero_
diagonal diagonal_copy select.int select_copy.int unbind.int unbind_copy.int unsqueeze unsqueeze_ unsqueeze_copy
split_with_sizes split_with_sizes_copy expand expand_copy
full full.out ones_like
"""

# The keys that the slice keeps. The others (other backends, Python bindings) concern PyTorch only.
_KEPT = (
    "device_check",
    "device_guard",
    "structured",
    "structured_delegate",
    "structured_inherits",
    "precomputed",
    "autogen",
    "tags",
)
_KEYS = frozenset(
    {"CPU", "Meta", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"}
)


def native_functions(path: Path) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return list(yaml.load(path.read_text(), Loader=loader))


def slice_of(entries: Iterable[Mapping[str, Any]], sources: Iterable[str]) -> str:
    """Return YAML of the structured groups of `sources`, with every member in the file, and of UNSTRUCTURED."""
    wanted = {out for source in sources for out in GROUPS[source].split()} | set(
        UNSTRUCTURED.split()
    )
    found = [e for e in entries if name_of(e) in wanted or e.get("structured_delegate") in wanted]
    missing = wanted - set(map(name_of, found))
    assert not missing, f"not in this PyTorch: {sorted(missing)}"
    return str(yaml.safe_dump(list(map(_moved, found)), sort_keys=False, width=10_000))


def formulas_of_slice(derivatives: Path, operators: str, include: str) -> str:
    """Return PyTorch's formulas of the operators in a slice, as they are written; `include` declares their functions."""
    names = {e["func"].partition("(")[0].partition("::")[2] for e in yaml.safe_load(operators)}
    blocks = re.split(r"(?m)^(?=- name:)", derivatives.read_text())
    own = [b for b in blocks if (m := re.match(r"- name:\s*([\w.]+)", b)) and m[1] in names]
    return f"- namespace: {NAMESPACE}\n  include: {include}\n\n{''.join(own)}"


def name_of(entry: Mapping[str, Any]) -> str:
    return str(entry["func"]).partition("(")[0]


def _moved(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return `entry` in the private namespace, with its out= kernel named like `clamp_Tensor_out_cpu`."""
    moved = {"func": f"{NAMESPACE}::{entry['func']}"}
    moved |= {key: entry[key] for key in _KEPT if key in entry}
    if entry.get("structured"):
        moved["dispatch"] = {"CPU": f"{name_of(entry).replace('.', '_')}_cpu"}
    elif "structured_delegate" not in entry:
        moved["dispatch"] = {
            key: kernel
            for keys, kernel in entry["dispatch"].items()
            for key in keys.split(", ")
            if key in _KEYS
        }
    return moved
