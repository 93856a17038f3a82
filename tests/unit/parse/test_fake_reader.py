"""The keys `fake` and `effects`: which texts are expressions over the arguments, and which operators may have them."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.parse.entries.keys import find_fake_problem
from opgen.parse.files.native_functions import builtin_tags, parse_entries

GOOD = (
    "x.new_empty([new_size()], dtype=torch.int64)",
    "(torch.empty_like(x), x.new_empty([new_size(max=n)]))",
    "[x.new_empty(s) for s in sizes]",
    "x if n is None else x.new_empty([max(n, 1)])",
    "(lambda y: y.new_empty([y.size(0)]))(x)",
)
BAD = (
    ("x.new_empty([", "cannot parse"),
    ("y = x", "cannot parse"),
    ("import os", "cannot parse"),
    ("x.new_empty([m])", "'m' is not an argument"),
    ("np.zeros(3)", "'np' is not an argument"),
    ("x\n.clone()", "one line"),
    ("x" + " + x" * 1000, "at most"),
    ("(" * 900 + ")" * 900, "cannot parse"),
    ("x\0", "one line"),
    ("", "cannot parse"),
)


@pytest.mark.parametrize("text", GOOD)
def test_an_expression_is_accepted(text: str) -> None:
    assert find_fake_problem(text, ("x", "n", "sizes")) is None


@pytest.mark.parametrize(("text", "words"), BAD, ids=range(len(BAD)))
def test_texts_other_than_expressions_are_rejected(text: str, words: str) -> None:
    assert words in str(find_fake_problem(text, ("x", "n", "sizes")))


def codes(text: str, *, strict: bool = False) -> list[str]:
    diagnostics = Diagnostics()
    source = Source("f.yaml", text)
    parse_entries(
        [source], builtin_tags(), (), diagnostics, strict_torchgen=strict, namespace="aten"
    )
    return [str(one.code) for one in diagnostics]


FAKE = "  fake: x.new_empty([new_size()])\n"


def test_only_libraries_have_it() -> None:
    body = "foo(Tensor x) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
    assert codes(f"- func: lib::{body}{FAKE}") == []
    assert codes(f"- func: lib::{body}{FAKE}", strict=True) == ["E0250"]
    assert codes(f"- func: {body}{FAKE}") == ["E0250"]


@pytest.mark.parametrize(
    "rest",
    [
        "  dispatch:\n    CPU, Meta: foo\n",
        "  dispatch:\n    CompositeImplicitAutograd: foo\n",
        "",
        "  structured_delegate: foo.out\n",
    ],
)
def test_it_replaces_a_meta_kernel(rest: str) -> None:
    assert "E0255" in codes(f"- func: lib::foo(Tensor x) -> Tensor\n{rest}{FAKE}")


def test_a_composite_that_reads_data_may_have_one() -> None:
    rest = "  dispatch:\n    CompositeExplicitAutograd: foo\n"
    assert codes(f"- func: lib::foo(Tensor x) -> Tensor\n{rest}{FAKE}") == []


@pytest.mark.parametrize(
    ("schema", "rest", "code"),
    [
        ("(Tensor x) -> ()", "  dispatch:\n    CPU: foo\n", None),
        ("(int x) -> Tensor", "  dispatch:\n    CompositeExplicitAutograd: foo\n", None),
        ("(Tensor x) -> Tensor", "  structured_delegate: foo.out\n", None),
        ("(Tensor x) -> ()", "", "E0257"),
        ("(Tensor x) -> ()", "  dispatch:\n    CompositeImplicitAutograd: foo\n", "E0257"),
        ("(Tensor! x) -> ()", "  dispatch:\n    CPU: foo\n", "E0257"),
        ("(Tensor(a) x) -> Tensor(a)", "  dispatch:\n    CPU: foo\n", "E0257"),
    ],
)
def test_effects_that_pytorch_keeps(schema: str, rest: str, code: str | None) -> None:
    found = codes(f"- func: lib::foo{schema}\n{rest}  effects: ordered\n")
    assert found == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("schema", "kind", "code"),
    [
        ("(Tensor x, Tensor y) -> ()", "conservative", None),
        ("(Tensor x) -> Tensor", "pure_function", None),
        ("(Tensor(a!) x) -> ()", "from_schema", None),
        ("(Tensor(a!) x) -> ()", "conservative", "E0261"),
        ("(Tensor(a) x) -> Tensor(a)", "pure_function", "E0261"),
        ("(Tensor! x) -> ()", "conservative", "E0261"),
        ("(Tensor x) -> ()", "CONSERVATIVE", "E0260"),
    ],
)
def test_alias_analyses_that_pytorch_takes(schema: str, kind: str, code: str | None) -> None:
    found = codes(f"- func: lib::foo{schema}\n  alias_analysis: {kind}\n")
    assert found == ([] if code is None else [code])


def test_only_libraries_have_an_alias_analysis() -> None:
    body = "foo(Tensor x) -> ()\n  alias_analysis: conservative\n"
    assert codes(f"- func: lib::{body}", strict=True) == ["E0250"]
    assert codes(f"- func: {body}") == ["E0250"]


def test_only_libraries_have_effects() -> None:
    body = "foo(Tensor x) -> ()\n  dispatch:\n    CPU: foo_cpu\n  effects: ordered\n"
    assert codes(f"- func: lib::{body}", strict=True) == ["E0250"]
    assert codes(f"- func: {body}") == ["E0250"]
