"""Which operators form a group, and which keys are in use."""

from __future__ import annotations

from resolving import STRUCTURED, function

from opgen.diagnostics import Diagnostics
from opgen.pipeline.loading import read_registry
from support.inputs import registry_of, text_inputs


def names(members: object) -> list[str]:
    assert hasattr(members, "functions")
    return [str(f.func.name) for f in members.functions()]


def test_variants_are_found_by_signature() -> None:
    """Protects grouping: overload names do not matter, argument names and defaults do."""
    registry = registry_of("""\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
- func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
""")
    assert [names(g) for g in registry.groups] == [["add.Tensor", "add.out", "add_.Tensor"]]
    assert registry.group_of(function(registry, "add.Scalar")) is None


def test_groups_are_in_order_of_their_first_member() -> None:
    """Protects stable output: generated files list groups in this order."""
    registry = registry_of("""\
- func: b.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: a(Tensor self) -> Tensor
- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: b(Tensor self) -> Tensor
""")
    assert [g.root_name for g in registry.groups] == ["b", "a"]


def test_without_an_out_variant_there_is_no_group() -> None:
    """Protects pairs of a functional and an in-place operator, which are valid alone."""
    registry = registry_of(
        "- func: a(Tensor self) -> Tensor\n- func: a_(Tensor(a!) self) -> Tensor(a!)\n"
    )
    assert registry.groups == ()


def test_a_view_with_its_siblings() -> None:
    """Protects view groups: opgen generates the copying kernel from them."""
    registry = registry_of("""\
- func: foo.x(Tensor(a) self) -> Tensor(a)
  dispatch:
    CPU: foo
- func: foo_.x(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: foo_
  tags: inplace_view
- func: foo_copy.x(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: foo_copy
  tags: view_copy
  autogen: foo_copy.x_out
""")
    (group,) = registry.view_groups
    assert names(group) == ["foo.x", "foo_.x", "foo_copy.x"]
    assert not group.composite
    assert [names(g) for g in registry.groups] == [["foo_copy.x", "foo_copy.x_out"]]


def test_slice_inverse_is_copied_by_slice_scatter() -> None:
    """Protects the one pair whose names do not follow the usual pattern."""
    registry = registry_of("""\
- func: slice_inverse(Tensor(a) self, Tensor src) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: slice_inverse
- func: slice_scatter(Tensor self, Tensor src) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: slice_scatter
  tags: view_copy
  autogen: slice_scatter.out
""")
    assert [names(g) for g in registry.view_groups] == [["slice_inverse", "slice_scatter"]]


def test_keys_in_use() -> None:
    """Protects the list of register files: no entry names the keys that structured groups register."""
    expected = ["CPU", "SparseCPU", "CUDA", "CompositeExplicitAutogradNonFunctional", "Meta"]
    assert [k.name for k in registry_of(STRUCTURED).dispatch_keys] == expected
    plain = registry_of("- func: foo(Tensor self) -> Tensor\n")
    assert [k.name for k in plain.dispatch_keys] == ["CompositeImplicitAutograd"]


def test_several_problems_are_reported_in_one_run() -> None:
    """Protects the author's time: one run reports all contradictions."""
    text = """\
- func: foo(Tensor self) -> Tensor
- func: foo(Tensor self) -> Tensor
- func: bar(Tensor self, int lambda) -> Tensor
  structured_delegate: bar.uot
- func: baz(Tensor(a) self) -> Tensor(a)
  dispatch:
    CPU: baz
"""
    diagnostics = Diagnostics()
    registry = read_registry(text_inputs(text), diagnostics)
    assert [d.code for d in diagnostics] == ["E0401", "E0404", "E0402", "E0604"]
    # An operator that is defined twice is in the registry once, so that later stages can look up
    # names.
    assert [str(f.func.name) for f in registry.functions] == ["foo", "bar", "baz"]
