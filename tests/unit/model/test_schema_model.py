"""The properties that the model derives from a schema: kinds, signatures, names, positions."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Diagnostics
from opgen.model.function_schema import (
    FunctionSchema,
    SchemaKind,
    argument_offsets,
    return_offsets,
)
from opgen.parse.schema.grammar import parse_function_schema

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def schema(text: str) -> FunctionSchema:
    diagnostics = Diagnostics()
    found = parse_function_schema(text, diagnostics)
    assert found is not None, [d.message for d in diagnostics]
    return found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("foo(Tensor self) -> Tensor", SchemaKind.functional),
        ("foo(Tensor(a!) self) -> Tensor(a!)", SchemaKind.functional),
        ("foo_(Tensor(a!) self) -> Tensor(a!)", SchemaKind.inplace),
        ("__iadd__(Tensor(a!) self) -> Tensor(a!)", SchemaKind.inplace),
        ("foo_(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)", SchemaKind.inplace),
        ("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", SchemaKind.out),
        ("foo.out(Tensor self, *, Tensor(a!) _scratch_x) -> ()", SchemaKind.scratch),
        ("foo(Tensor self, Tensor(a!) x) -> Tensor", SchemaKind.mutable),
    ],
)
def test_kind(text: str, kind: SchemaKind) -> None:
    assert schema(text).kind() is kind


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("foo.Tensor(Tensor(a) self) -> Tensor(a)", "foo(Tensor self) -> Tensor"),
        ("foo_(Tensor(a!) self, int x=1) -> Tensor(a!)", "foo(Tensor self, int x=1) -> Tensor"),
        ("__iadd__(Tensor(a!) self) -> Tensor(a!)", "__add__(Tensor self) -> Tensor"),
        ("foo_functional(Tensor self) -> Tensor x", "foo(Tensor self) -> Tensor"),
        (
            "foo.out(Tensor self, *, int x, Tensor(a!) out) -> Tensor(a!)",
            "foo(Tensor self, *, int x) -> Tensor",
        ),
        ("foo.out(Tensor self, *, Tensor(a!)[] out) -> ()", "foo(Tensor self) -> Tensor[]"),
        (
            "foo(Tensor self, Tensor(a!) x, Tensor(b!) y) -> Tensor",
            "foo(Tensor self, Tensor x, Tensor y) -> (Tensor, Tensor, Tensor)",
        ),
        (
            f"foo(int n, *, Generator? g, {OPTIONS}, bool b) -> Tensor",
            "foo(int n, *, Generator? g, bool b) -> Tensor",
        ),
        (
            "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
            "bernoulli(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
        ),
    ],
)
def test_signature(text: str, signature: str) -> None:
    assert str(schema(text).signature()) == signature


def test_signature_options() -> None:
    foo = schema("foo(Tensor self, Tensor(a!) x, int y=1) -> Tensor r")
    assert str(foo.signature(strip_default=True)) == (
        "foo(Tensor self, Tensor x, int y) -> (Tensor, Tensor)"
    )
    assert str(foo.signature(keep_return_names=True)) == (
        "foo(Tensor self, Tensor x, int y=1) -> (Tensor r, Tensor x_out)"
    )


@pytest.mark.parametrize(
    ("name", "stripped"),
    [("foo", "foo"), ("foo_copy", "foo"), ("foo_copy_copy", "foo"), ("a_scatter", "a_inverse")],
)
def test_view_signature(name: str, stripped: str) -> None:
    assert str(schema(f"{name}(Tensor self) -> Tensor").view_signature().name) == stripped


def test_arguments_are_sorted_into_roles() -> None:
    arguments = schema(
        "foo.out(int a, Tensor self, int b, *, int c, Tensor(a!) out) -> Tensor(a!)"
    ).arguments
    assert [a.name for a in arguments.flat_positional] == ["a", "self", "b"]
    assert arguments.self_arg is not None
    assert [a.name for a in arguments.post_self_positional] == ["b"]
    assert [a.name for a in arguments.flat_kwarg_only] == ["c"]
    assert [a.name for a in arguments.out] == ["out"]
    assert [a.name for a in arguments.flat_non_out] == ["a", "self", "b", "c"]
    assert [a.name for a in arguments.flat_all] == ["a", "self", "b", "c", "out"]
    assert arguments.mutable_arg_names == ("out",)


def test_tensor_options_are_gathered_only_if_complete_and_in_order() -> None:
    whole = schema(f"foo(int n, *, int a, {OPTIONS}, int b) -> Tensor").arguments
    assert whole.tensor_options is not None
    assert [a.name for a in whole.tensor_options.all()] == [
        "dtype",
        "layout",
        "device",
        "pin_memory",
    ]
    assert [a.name for a in whole.flat_without_options] == ["a", "b"]
    assert len(list(whole.non_out)) == 4
    part = schema("foo(int n, *, ScalarType? dtype=None, Layout? layout=None) -> Tensor").arguments
    assert part.tensor_options is None
    positional = schema(f"foo(int n, {OPTIONS}) -> Tensor").arguments
    assert positional.tensor_options is None


def test_self_after_the_star_is_an_ordinary_argument() -> None:
    assert schema("foo(int n, *, Tensor self) -> Tensor").arguments.self_arg is None


def test_questions_about_arguments() -> None:
    foo = schema("foo(int? x, SymInt[2] y, *, Generator? g) -> Tensor")
    assert foo.has_symint()
    assert foo.arguments.has_generator_arg()
    assert not foo.arguments.has_tensor_arg()
    assert not foo.is_mutable
    assert schema("foo(Tensor?[] x) -> Tensor").arguments.has_tensor_arg()


def test_names() -> None:
    name = schema("foo_.x(Tensor(a!) self) -> Tensor(a!)").name
    assert name.unambiguous_name == "foo__x"
    assert str(name.remove_inplace()) == "foo.x"
    assert str(name.to_out()) == "foo.x_out"
    assert str(schema("foo_functional(Tensor self) -> Tensor").name.remove_inplace()) == "foo"
    assert str(schema("__iand__(Tensor(a!) self) -> Tensor(a!)").name.remove_inplace()) == "__and__"


def test_aliased_return_names() -> None:
    foo = schema("foo(Tensor(a) self, Tensor(b) x) -> (Tensor(b), Tensor, Tensor(a))")
    assert foo.aliased_return_names() == ("x", None, "self")


@pytest.mark.parametrize(
    "text",
    [
        "foo() -> ()",
        "foo.x(Tensor self) -> Tensor",
        "foo.out(Tensor self, int[] x=[0,1], *, str s='a b', Tensor(a!) out) -> Tensor(a!) r",
        f"foo(int n, *, {OPTIONS}) -> (Tensor a, int)",
        "foo(*, Tensor x) -> (Tensor, Tensor[])",
    ],
)
def test_positions_are_those_in_the_text(text: str) -> None:
    foo = schema(text)
    for argument, start in argument_offsets(foo):
        assert text[start:].startswith(str(argument))
    for value, start in return_offsets(foo):
        assert text[start:].startswith(str(value))
    assert [a for a, _ in argument_offsets(foo)] == list(foo.arguments.flat_all)
