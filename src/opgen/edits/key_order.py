"""The usual order of the keys of an entry.

It comes from PyTorch's native_functions.yaml (2.13): of all orders, it agrees with the most pairs of keys in an entry, 15,123
of 16,005, and 2,031 of the 2,584 entries have it already. The order of two keys that no entry there has together is
arbitrary; `manual_kernel_registration`, which no entry has, is next to `manual_cpp_binding`.
"""

from __future__ import annotations

from collections.abc import Sequence

KEY_ORDER = (
    # Only the header of a file has these.
    "namespace",
    "include",
    "fragment",
    "classes",
    "func",
    # An opgen extension.
    "doc",
    "use_const_ref_for_mutable_tensors",
    "device_check",
    "category_override",
    "python_module",
    "structured",
    "structured_delegate",
    "structured_inherits",
    "variants",
    "precomputed",
    "ufunc_inner_loop",
    "device_guard",
    "cpp_no_default_args",
    "dispatch",
    # Extensions of opgen: `fake` stands for a row of the dispatch table.
    "fake",
    "effects",
    "alias_analysis",
    "strict_autograd",
    "tags",
    "manual_cpp_binding",
    "manual_kernel_registration",
    "autogen",
)
_RANK = {name: rank for rank, name in enumerate(KEY_ORDER)}


def sorted_positions(keys: Sequence[str]) -> list[int]:
    """Return the positions of `keys` in the usual order; unknown keys are last."""
    return sorted(range(len(keys)), key=lambda i: _RANK.get(keys[i], len(KEY_ORDER)))
