"""Changes that are breaks, with their kinds and directions; and changes that are not."""

from __future__ import annotations

import pytest
from versions import breaks, schema_breaks

from opgen.compat.breaks import (
    BACKWARD,
    BOTH,
    FORWARD,
    STRICTER,
    BreakKind,
    Direction,
    as_diagnostics,
    stricter_reason,
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("foo(int a) -> ()", "foo(SymInt a) -> ()"),
        ("foo(Tensor a, *, int b) -> ()", "foo(Tensor a, int b) -> ()"),
        ("foo(float a=1e-1) -> ()", "foo(float a=0.1) -> ()"),
        ("foo(int[2] a=1) -> ()", "foo(int[2] a=[1,1]) -> ()"),
        ("foo(int a=Mean) -> ()", "foo(int a=1) -> ()"),
        ("foo(str a='b') -> ()", 'foo(str a="b") -> ()'),
        ("foo(Tensor a) -> ()", "foo(Tensor a, Tensor? b=None) -> ()"),
        ("foo(Tensor(a|b) a) -> ()", "foo(Tensor(b|a) a) -> ()"),
    ],
)
def test_changes_that_break_nothing(old: str, new: str) -> None:
    assert schema_breaks(old, new) == ()


@pytest.mark.parametrize(
    ("old", "new", "kind", "verdicts", "stricter"),
    [
        ("(int a)", "(Scalar a)", "changed_argument_type", FORWARD, ()),
        ("(int? a)", "(int a)", "changed_argument_type", BACKWARD, ()),
        ("(int[2] a)", "(int[3] a)", "changed_argument_type", BOTH, ()),
        ("(bool a)", "(SymBool a)", "changed_argument_type", BOTH, ()),
        ("(Scalar a=1)", "(Scalar a=1.0)", "changed_default", BOTH, ()),
        ("(int a)", "(int a=1)", "added_default", FORWARD, ()),
        ("(int a=1)", "(int a)", "removed_default", BOTH, ()),
        ("(int a, int b)", "(int b)", "removed_argument", BOTH, ()),
        ("(int a, int b=1)", "(int a)", "removed_argument", BACKWARD, ()),
        ("(int a, int b)", "(int a)", "removed_argument", BACKWARD, FORWARD),
        ("(int a, int b)", "(int b, int a)", "reordered_arguments", BOTH, ()),
        ("(int a)", "(int b, int a)", "inserted_argument", BOTH, ()),
        ("(int a)", "(int a, int[] b=[1])", "new_argument_with_list_default", FORWARD, ()),
        ("(int a)", "(*, int a)", "keyword_only_moved", BOTH, ()),
        ("(Tensor(a) b)", "(Tensor(b) b)", "changed_argument_alias", BOTH, ()),
    ],
)
def test_directions(old: str, new: str, kind: str, verdicts: object, stricter: object) -> None:
    found = schema_breaks(f"foo{old} -> ()", f"foo{new} -> ()")
    assert [one.kind.name for one in found] == [kind]
    assert found[0].verdicts == verdicts
    assert found[0].stricter == frozenset(stricter)  # type: ignore[call-overload]


def test_changed_returns_break_backward_and_only_opgen_reports_forward() -> None:
    for new in ("Tensor?", "Tensor x", "int"):
        found = schema_breaks("foo(Tensor a) -> Tensor", f"foo(Tensor a) -> {new}")
        assert [(one.verdicts, one.stricter) for one in found] == [(BACKWARD, FORWARD)]
    assert schema_breaks("foo(Tensor a) -> Tensor?", "foo(Tensor a) -> Tensor") == ()


def test_unlike_arguments_at_one_place_are_not_renamed() -> None:
    found = schema_breaks("foo(int a, int b) -> ()", "foo(int a, Tensor c) -> ()")
    assert [one.kind.name for one in found] == ["removed_argument", "inserted_argument"]
    found = schema_breaks("foo(int a, int b) -> ()", "foo(int a, int? c) -> ()")
    assert [one.kind.name for one in found] == ["changed_argument_type", "renamed_argument"]


def test_an_argument_that_becomes_an_out_argument() -> None:
    found = schema_breaks(
        "foo(Tensor self, *, Tensor b) -> Tensor",
        "foo(Tensor self, *, Tensor(a!) b) -> Tensor(a!)",
    )
    assert [one.message for one in found[:2]] == [
        "argument 'b' is now an out argument",
        "out argument 'b' is new",
    ]


def test_places_and_texts() -> None:
    found = schema_breaks("foo(Tensor self, int a=1) -> ()", "foo(Tensor self, int a=2) -> ()")[0]
    assert (found.operator, found.old, found.new) == ("aten::foo", "int a=1", "int a=2")
    assert found.old_span.text == "int a=1"
    assert found.new_span is not None and found.new_span.text == "int a=2"


def test_generated_operators_are_shown_at_the_entry_that_they_come_from() -> None:
    text = "- func: foo(Tensor self{}) -> Tensor\n  autogen: foo.out\n  dispatch:\n    CPU: foo\n"
    found = breaks(text.format(""), text.format(", int n"))
    assert [(one.operator, one.new_span.text) for one in found if one.new_span is not None] == [
        ("aten::foo", "int n"),
        ("aten::foo.out", "foo"),
    ]


def test_removed_operators_and_overloads() -> None:
    old = "- func: foo(int a) -> ()\n- func: foo.b(float a) -> ()\n- func: bar(int a) -> ()\n"
    found = breaks(old, "- func: foo(int a) -> ()\n- func: baz(int a) -> ()\n")
    assert [(one.operator, one.kind.name) for one in found] == [
        ("aten::foo.b", "removed_overload"),
        ("aten::bar", "removed_operator"),
    ]
    assert all(one.new_span is None and one.directions == BOTH for one in found)


def test_a_structured_form_serves_every_backend_as_well() -> None:
    old = "- func: foo(Tensor self) -> Tensor\n"
    new = (
        "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: foo_out\n"
    )
    assert breaks(old, new) == ()


def test_a_stricter_break_says_why() -> None:
    one = breaks(
        "- func: foo(Tensor self) -> ()\n  variants: function, method\n",
        "- func: foo(Tensor self) -> ()\n",
    )[0]
    assert stricter_reason(one, BACKWARD) == STRICTER[BreakKind.removed_variant]
    (shown,) = as_diagnostics([one], BACKWARD)
    assert shown.notes == (STRICTER[BreakKind.removed_variant],)
    assert shown.message == "aten::foo: it can no longer be called as a method of Tensor"


def test_breaks_that_are_only_forward() -> None:
    found = schema_breaks("foo(int a) -> ()", "foo(int a=1) -> ()")
    assert found[0].directions == frozenset({Direction.forward})
    (shown,) = as_diagnostics(found, BOTH)
    assert shown.notes == (
        "it breaks only programs that the newer version saves and the older one runs",
    )
