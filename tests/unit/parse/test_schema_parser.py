"""From schema text to values. Rejected schemas are in tests/golden/errors."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.model.function_schema import Annotation, FunctionSchema
from opgen.model.types import BaseTy, BaseType, CustomClassType, ListType, OptionalType
from opgen.parse.schema.grammar import SchemaCache, parse_function_schema

ACCEPTED = [
    "foo() -> ()",
    "foo(Tensor self) -> Tensor",
    "foo.Tensor_1(Tensor self) -> (Tensor a, Tensor b)",
    "foo.2(Tensor self) -> Tensor",
    "_foo(Tensor(a!)[] self, int x) -> ()",
    "foo_functional(Tensor self) -> Tensor",
    "__and__.Scalar(Tensor self, Scalar other) -> Tensor",
    "__ilshift__(Tensor(a!) self) -> Tensor(a!)",
    "foo(*, Tensor x) -> Tensor",
    "foo(Tensor(a|b) x, Tensor(c -> *) y, Tensor(d! -> e|f) z) -> Tensor(a -> *) r",
    "foo(int[2] a=0, int[]? b=None, float c=1e-05, int[] d=[-2,-1], str e='', str f=\"a b\") -> Tensor",
    'foo(str x=") -> ") -> Tensor',
    "foo(str x='(') -> Tensor",
    "foo(str x='it\\'s') -> Tensor",
    "foo(Tensor self, int namespace, int lambda, int match) -> Tensor lambda",
    "foo(__torch__.torch.classes.quantized.Conv2dPackedParamsBase x) -> Tensor",
    "foo(Dimname[1] dim, ConstQuantizerPtr q) -> Tensor",
    "foo(Tensor?[] x, int??[3][] y) -> Tensor?[]",
    "foo(int x=1, int y) -> (Tensor x, Tensor x)",
    "foo.out(Tensor self, Tensor(b!) x, *, Tensor(a!) out) -> Tensor(a!)",
    "foo.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)",
    "foo.out(Tensor self, *, Tensor(a!)? out) -> ()",
    "foo_(Tensor(a!)[] self) -> ()",
]


def parse(text: str) -> FunctionSchema:
    diagnostics = Diagnostics()
    schema = parse_function_schema(text, diagnostics)
    assert [d.message for d in diagnostics] == []
    assert schema is not None
    return schema


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted_and_printed_as_written(text: str) -> None:
    assert str(parse(text)) == text


def test_types() -> None:
    schema = parse("foo(Tensor?[3] a, int[]? b, __torch__.torch.classes.x.Y c) -> Tensor")
    a, b, c = (argument.type for argument in schema.arguments.flat_all)
    assert a == ListType(OptionalType(BaseType(BaseTy.Tensor)), 3)
    assert b == OptionalType(ListType(BaseType(BaseTy.int), None))
    assert c == CustomClassType("x.Y")


def test_annotations() -> None:
    schema = parse("foo(Tensor(a! -> b|c)[] x, Tensor y) -> Tensor")
    x, y = schema.arguments.flat_all
    assert x.annotation == Annotation(("a",), True, ("b", "c"))
    assert x.type == ListType(BaseType(BaseTy.Tensor), None)
    assert x.type_text == "Tensor(a! -> b|c)[]"
    assert y.annotation is None


def test_names() -> None:
    name = parse("__ior__.x_y(Tensor(a!) self) -> Tensor(a!)").name
    assert (name.name.base, name.name.inplace, name.name.dunder_method) == ("or", True, True)
    assert name.overload_name == "x_y"
    functional = parse("a_functional(Tensor self) -> Tensor").name.name
    assert (functional.base, functional.functional_overload) == ("a", True)
    inner = parse("__a_b__(Tensor(a!) self) -> Tensor(a!)").name.name
    assert (inner.base, inner.inplace, inner.dunder_method) == ("__a_b_", True, False)


def test_a_cache_gives_the_same_values_again() -> None:
    cache, diagnostics = SchemaCache(), Diagnostics()
    one = parse_function_schema("foo(Tensor self) -> Tensor", diagnostics, cache=cache)
    two = parse_function_schema("bar(Tensor self) -> Tensor", diagnostics, cache=cache)
    assert one is not None and two is not None
    assert one.arguments.flat_all[0] is two.arguments.flat_all[0]
    assert one.returns[0] is two.returns[0]


def test_cached_errors_are_reported_again() -> None:
    cache, diagnostics = SchemaCache(), Diagnostics()
    for name in ("foo", "bar"):
        parse_function_schema(f"{name}(Tensr self) -> Tensor", diagnostics, cache=cache)
    assert len(diagnostics) == 2


def test_the_caller_gives_the_position_of_the_text() -> None:
    source = Source("f", "xxx foo(Tensr self) -> Tensor")
    diagnostics = Diagnostics()

    def locate(start: int, end: int) -> Span:
        return Span(source, start + 4, end + 4)

    assert parse_function_schema(source.text[4:], diagnostics, locate) is None
    assert [d.span and d.span.text for d in diagnostics] == ["Tensr"]


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("foo(Tensor self,int x) -> Tensor", "foo(Tensor self, int x) -> Tensor"),
        ("foo(Tensor  self) -> Tensor", "foo(Tensor self) -> Tensor"),
        ("foo(Tensor self)->Tensor", "foo(Tensor self) -> Tensor"),
        ("foo(Tensor self) -> (Tensor)", "foo(Tensor self) -> Tensor"),
        ("foo(Tensor self) -> Tensor, int", "foo(Tensor self) -> (Tensor, int)"),
        ("foo(int[] x=[1, 2]) -> Tensor", "foo(int[] x=[1,2]) -> Tensor"),
        (" foo(Tensor self) -> Tensor", "foo(Tensor self) -> Tensor"),
        ("foo_(Tensor(a!) self) -> ()", "foo_(Tensor(a!) self) -> Tensor(a!)"),
        ("foo( Tensor self ,int x)  -> Tensor ", "foo(Tensor self, int x) -> Tensor"),
    ],
)
def test_certain_fixes_remove_their_error(text: str, fixed: str) -> None:
    diagnostics = Diagnostics()
    parse_function_schema(text, diagnostics)
    fixes = [d.fix for d in diagnostics if d.fix is not None]
    assert len(fixes) == len(diagnostics)
    for fix in sorted(fixes, key=lambda f: -f.span.start):
        text = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
    assert text == fixed
    parse(text)
