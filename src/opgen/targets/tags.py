"""Tags of operators that a target's world takes for more than they say."""

from __future__ import annotations

from opgen.model.native_function import NativeFunction


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """The tags that `f` is registered with: all."""
    return f.tags


def tags_that_pytorch_follows(f: NativeFunction) -> frozenset[str]:
    """All but `out`.

    Inductor calls an overload that has it in place of the functional operator.
    It does so wrongly: with arguments other than tensors in another order and twice, and with tensors of sizes that change
    not at all ("LoweringException: AssertionError"). Source: torch 2.13, by trial; tests/run/torch_aten/compiled.py and
    tests/run/torch_library/forms.py.
    """
    return f.tags - {"out"}
