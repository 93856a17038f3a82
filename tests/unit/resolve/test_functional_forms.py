"""The operators that functionalization calls instead of those that write their arguments."""

from __future__ import annotations

import pytest

from opgen.emit.torch.functionalize import OF_OUT
from opgen.resolve.functional_forms import is_replaced
from support.inputs import registry_of

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LIKE = f"- func: foo(Tensor x, *, {_OPTIONS}) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: k\n"
_GENERATED = "  autogen: foo.out\n"
_BY_ITS_AUTHOR = (
    "- func: foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: k_out\n"
)


@pytest.mark.parametrize(("out", "expected"), [(_GENERATED, True), (_BY_ITS_AUTHOR, False)])
def test_an_out_variant_without_options(out: str, expected: bool) -> None:
    """A generated out variant calls the functional one without options. An author's may follow the dtype of `out`."""
    (group,) = registry_of(_LIKE + out).groups
    assert group.out is not None
    assert is_replaced(group.out, group, frozenset(OF_OUT)) is expected
