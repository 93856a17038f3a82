"""The canonical spelling of schemas."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.importing.common.registrations import find_name, find_schema

SPELLINGS = [
    ("f(Tensor x)->Tensor", "f(Tensor x) -> Tensor"),
    ("f ( Tensor   a,\n int b ) ->  ( Tensor )", "f(Tensor a, int b) -> Tensor"),
    (
        "f(Tensor ! x, Tensor! ? y, Tensor [ ] z) -> ( )",
        "f(Tensor! x, Tensor!? y, Tensor[] z) -> ()",
    ),
    ("f(Tensor (a !) x)->Tensor(a!)", "f(Tensor(a!) x) -> Tensor(a!)"),
    ("f(Tensor(a!)[ ] x, Tensor[](b!) y) -> ()", "f(Tensor(a!)[] x, Tensor[](b!) y) -> ()"),
    (
        "f(Tensor(a|b) x, Tensor( * ) y) -> Tensor(a | b)",
        "f(Tensor(a|b) x, Tensor(*) y) -> Tensor(a|b)",
    ),
    ("f(Tensor(a->*) x, Tensor(* -> a) y) -> ()", "f(Tensor(a -> *) x, Tensor(* -> a) y) -> ()"),
    ("f(int x,*,int [ 2 ] y = [ 1, 2 ]) -> ()", "f(int x, *, int[2] y=[1,2]) -> ()"),
    ("f(*,int y) -> ()", "f(*, int y) -> ()"),
    ("f(float x = - 1.5e-3, bool b= True) -> ()", "f(float x=-1.5e-3, bool b=True) -> ()"),
    ("f(str s=\"a ,  b\", str t='->') -> ()", "f(str s=\"a ,  b\", str t='->') -> ()"),
    (
        "f((Tensor,int)[] x, Dict(str,Tensor) y) -> (int,(int , int))",
        "f((Tensor, int)[] x, Dict(str, Tensor) y) -> (int, (int, int))",
    ),
    ("f(__torch__.torch.classes.a.B c) -> Tensor", "f(__torch__.torch.classes.a.B c) -> Tensor"),
    ("f(Tensor x, # the input\n int y) -> Tensor # and the result", "f(Tensor x, int y) -> Tensor"),
    ("f.out(Tensor x) -> (Tensor a ,Tensor b)", "f.out(Tensor x) -> (Tensor a, Tensor b)"),
    ("f(...) -> ...", "f(...) -> ..."),
    ("f(Tensor x, ...) -> ()", "f(Tensor x, ...) -> ()"),
]


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS)
def test_spelling(text: str, canonical: str) -> None:
    found = find_schema(text)
    assert found is not None and (found.namespace, str(found)) == ("", canonical)
    again = find_schema(canonical)
    assert again is not None and str(again) == canonical


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("text", [text for text, _ in SPELLINGS if "classes" not in text])
def test_pytorch_reads_both_as_one_schema(text: str) -> None:
    import torch  # noqa: PLC0415

    found = find_schema(text)
    assert torch._C.parse_schema(text) == torch._C.parse_schema(str(found))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "f",
        "f(",
        "f(x) ->",
        "f(x)",
        "(x) -> y",
        "f(x) -> (",
        "f(x)) -> y",
        "f(x) -> y)",
        "f(x) -> (y)) -> (z",
        "f(@) -> y",
        "1(x) -> y",
    ],
)
def test_invalid_schemas(text: str) -> None:
    assert find_schema(text) is None


def test_names() -> None:
    schema = find_schema("a :: f . out (int x) -> ()")
    assert schema is not None
    assert (schema.namespace, schema.name) == ("a", "f.out")
    assert find_name(" a::f.out ") == ("a", "f.out")
    assert find_name("f") == ("", "f")
    assert find_name("f(x) -> y") is None and find_name("a::") is None


@given(st.text(st.sampled_from("f(Tensor x)->a!?[],*|=.:'\" #\n0$é"), max_size=80))
def test_spelling_is_final(text: str) -> None:
    found = find_schema(text)
    if found is not None:
        again = find_schema(str(found))
        assert again is not None and str(again) == str(found)
