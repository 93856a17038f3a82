"""The property silent-zero is about operators without a formula, too."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from opgen.verify.backends.torch_backend import parsed
from opgen.verify.properties import BY_NAME
from opgen.verify.subjects import Facts, Subject


def test_operators_without_a_formula_are_checked() -> None:
    """Protects from gradients of zero: without a formula, the backward pass must be an error."""
    schema = parsed("twice(Tensor x) -> Tensor")
    assert schema is not None
    subject = Subject("mylib", schema, lambda given: None, Facts(formulas=False))
    assert BY_NAME["silent-zero"].lacks(subject) == ""
    assert BY_NAME["backward-gradient"].lacks(subject) == "it has no formula"
