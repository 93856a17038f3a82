"""Refusals in words tell `opgen verify` which shapes and dtypes an operator accepts."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from opgen.verify.backends.torch_backend import parsed
from opgen.verify.calls.specs import TensorSpec
from opgen.verify.calls.vocabulary import Requirements
from opgen.verify.properties.transforms import _is_own_fault
from opgen.verify.subjects import Facts, Subject

LINE, TABLE = TensorSpec("float32", (3,)), TensorSpec("float32", (2, 3))
NAMES = ("input", "rois", "mask")


@pytest.mark.parametrize(
    ("message", "shapes"),
    [
        ("rois must have shape as Tensor[K, 5]", {"rois": ("K", "5")}),
        ("mask should have shape (N, 4), got (3,)", {"mask": ("N", "4")}),
        ("op, a/b.cpp:7, mask must be 3-D (batch, num classes, 2)", {"mask": ("batch", "num_classes", "2")}),
        ("boxes should be a 2d tensor, got 1D", {"input": ("a", "b")}),
        ("boxes should have 4 elements in dimension 1, got 3", {"rois": ("a", "4")}),
        ("Expected mask_c.ndimension() == 4 to be true, but got false. (Could it be, so?)", {"mask": ("a", "b", "c", "d")}),
        ("rois only supports a 0-dimensional tensor, but got 2 dimension(s)", {"rois": ()}),
        ("Dimension out of range (expected to be in range of [-1, 0], but got 3)", {"input": ("a", "b", "c", "d")}),
        ("some[0, 1] of input is wrong", {}),
    ],
)  # fmt: skip
def test_shapes(message: str, shapes: dict[str, tuple[str, ...]]) -> None:
    """Protects operators such as those of torchvision, of which no random call is accepted."""
    requirements = Requirements()
    requirements.hear(message, {"input": LINE, "rois": TABLE, "mask": LINE}, NAMES)
    assert requirements.shapes == shapes


def test_dtypes_and_signs() -> None:
    requirements = Requirements()
    for message in (
        "compute, x.cpp:40, rois must be int32 or int64 type",
        "Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'mask'; but type …",
        "zeros: Dimension size must be non-negative.",
    ):
        requirements.hear(message, {"input": LINE, "rois": TABLE, "mask": LINE}, NAMES)
    assert requirements.dtypes == {
        "rois": ("int32", "int64"),
        "input": ("main",),
        "mask": ("main",),
    }
    assert requirements.no_negatives and not requirements.shapes


@pytest.mark.parametrize(
    ("message", "is_own"),
    [
        ("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow", True),
        ("vmap: It looks like you're calling .item() on a Tensor", True),
        ("vmap: inplace arithmetic(self, *extra_args) is not possible", True),
        ("Batching rule not implemented for aten::f; the fallback path doesn't work on out= or view ops", False),
    ],
)  # fmt: skip
def test_a_composite_is_why_vmap_refuses_it_but_for_missing_rules(
    message: str, is_own: bool
) -> None:
    """Protects from findings of a composite that go by as 'unsupported', and from findings of what PyTorch lacks."""
    schema = parsed("twice(Tensor x) -> Tensor")
    assert schema is not None
    for facts in (Facts(is_composite=True), Facts()):
        subject = Subject("mylib", schema, lambda given: None, facts)
        assert _is_own_fault(subject, RuntimeError(message)) is (is_own and facts.is_composite)
