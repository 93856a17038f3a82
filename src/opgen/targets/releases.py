"""Facts about releases of PyTorch. Their C++ side is runtime/torch/include/opgen/core/release.h.

Source: the headers of each release, and tests/nightly/test_torch_releases.py and torch_run.py, which compile and run
what is generated; tests/RESULTS.md has what they found.
"""

from __future__ import annotations

from collections.abc import Mapping

from opgen.targets.required_package import Release, RequiredPackage

PYTORCH = RequiredPackage("torch", oldest=(2, 9), newest=(2, 15))
# The stable functions that generated code calls are there since 2.10.
PYTORCH_STABLE = RequiredPackage("torch", oldest=(2, 10), newest=(2, 15))

# Tags that a release later than the oldest added.
TAG_SINCE: Mapping[str, Release] = {
    "inplace": (2, 13),
    "out": (2, 13),
    "out_variant": (2, 11),
    "reduction": (2, 10),
}

# Tags that are not registered because a release handles them wrongly, and how. Seen with 2.12.1, 2.13.0 and
# 2.15.0.
UNREGISTERED_TAGS: Mapping[str, str] = {
    "out": "inductor calls the overload instead of the functional one, and fails where sizes change (2.13) or in AOTInductor (2.15)",
    "out_variant": "inductor calls the overload instead of the functional one, and fails where sizes change (2.12)",
}

# Since when PyTorch's stable C functions register an operator with tags, and pass a Generator.
STABLE_TAGS: Release = (2, 12)
STABLE_GENERATOR: Release = (2, 13)

# What PyTorch does otherwise, without a tag. Source: the uses of torch.Tag in torch 2.13.
TAG_EFFECTS: Mapping[str, str] = {
    "cudagraph_unsafe": "inductor may record it into a CUDA graph",
    "data_dependent_output": "a trace fails with another error",
    "dynamic_output_shape": "a trace fails with another error",
    "flexible_layout": "inductor keeps the strides of its arguments, by copies if need be",
    "inplace_view": "a trace does not expect other sizes of its argument",
    "maybe_aliasing_or_mutating": "inductor may reorder it",
    "needs_contiguous_strides": "inductor may call it with other strides",
    "needs_exact_strides": "inductor may call it with other strides",
    "needs_fixed_stride_order": "inductor may call it with other strides",
    "nondeterministic_seeded": "a compiler may join two calls, or call it again for the backward pass",
    "pt2_compliant_tag": "torch.compile with only_allow_pt2_compliant_ops breaks the graph",
}
