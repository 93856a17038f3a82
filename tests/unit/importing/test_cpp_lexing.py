"""Reading C++ before its grammar is parsed: literals, comments, branches of #if, brackets and scopes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.diagnostics import Source
from opgen.importing.cpp.text import CppText, excerpt, read_cpp


def text(code: str) -> CppText:
    return read_cpp(Source("a.cpp", code))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("a // b { \\\n c\nd", "a d"),
        ("a /* { */ b", "a b"),
        ('f("{ // }") x', 'f(" ") x'),
        (r'"\"{" x', '" " x'),
        ('R"x({ )" })x" y', '" " y'),
        ('u8R"({)" y', '" " y'),
        ("'{' 1'000 x", '" " 1\'000 x'),
        ("it's\n{", 'it"" {'),
        ('"not closed {\n}', '" " }'),
        ("#define A { \\\n }\n{", "{"),
        ("  # if X /* {\n */\n{", "{"),
        ("/* not closed {", ""),
    ],
)
def test_texts_without_brackets(code: str, words: str) -> None:
    found = text(code)
    assert " ".join(found.masked.split()) == words
    assert len(found.masked) == len(found.code) == len(code)


@given(st.text(st.sampled_from("ab \n\"'/*\\R()#{}if1é\0\r"), max_size=60))
def test_any_text_keeps_its_offsets(code: str) -> None:
    found = text(code)
    assert len(found.masked) == len(found.code) == len(code)
    assert found.masked.isascii() and found.code.isascii()
    for opening, closing in found.closings.items():
        assert code[opening] + code[closing] in ("()", "[]", "{}") and opening < closing


CONDITIONS = """\
#ifndef GUARD_H
#define GUARD_H
a
#if X > 1
b
#elif defined(Y) || Z
c
# ifdef W
d
# endif
#else
e
#endif
#if 0
f
#else
g
#endif
#if 1
h
#else
i
#endif
#ifdef __cplusplus
j
#endif
#endif
k
"""


@pytest.mark.parametrize(
    ("place", "conditions"),
    [
        ("a", ()),
        ("b", ("X > 1",)),
        ("c", ("!(X > 1) && (defined(Y) || Z)",)),
        ("d", ("!(X > 1) && (defined(Y) || Z)", "defined(W)")),
        ("e", ("!(X > 1) && !(defined(Y) || Z)",)),
        ("g", ()),
        ("h", ()),
        ("j", ()),
        ("k", ()),
    ],
)
def test_conditions(place: str, conditions: tuple[str, ...]) -> None:
    offset = CONDITIONS.index(f"\n{place}\n") + 1
    found = text(CONDITIONS)
    assert found.conditions(offset) == conditions
    assert not found.is_dead(offset)


@pytest.mark.parametrize("place", ["f", "i"])
def test_code_that_is_never_compiled(place: str) -> None:
    assert text(CONDITIONS).is_dead(CONDITIONS.index(f"\n{place}\n") + 1)


def test_branches_that_each_open_a_brace() -> None:
    """Protects the code that follows: the closing brace belongs to both."""
    code = "namespace n {\n#if A\nvoid f() {\n#else\nvoid f(int x) {\n#endif\n body\n}\n} tail"
    found = text(code)
    assert found.scope(code.index("tail")) is None
    around = found.scope(code.index("body"))
    assert around is not None and [one.name for one in around.chain()] == ["n", ""]


@pytest.mark.parametrize(
    ("head", "kind", "name"),
    [
        ("namespace a::b", "namespace", "a::b"),
        ("namespace", "namespace", ""),
        ("inline namespace v1", "namespace", "v1"),
        ("struct S final : public T<int>", "class", "S"),
        ("class alignas(16) [[nodiscard]] C", "class", "C"),
        ("template <class T> struct S<T*>", "class", "S"),
        ('extern "C"', "linkage", ""),
        ("struct S f(int x)", "other", ""),
        ("S s = ", "other", ""),
        ("void f() const", "other", ""),
    ],
)
def test_the_scope_that_a_brace_opens(head: str, kind: str, name: str) -> None:
    scope = text(f"int x; {head} {{ y; }}").scope(7 + len(head) + 2)
    assert scope is not None and (scope.kind, scope.name) == (kind, name)
    assert scope.start == 7 + len(head) + 1


def test_an_unclosed_bracket_ends_with_the_enclosing_brace() -> None:
    code = "{ f(a; } g(b)"
    closings = text(code).closings
    assert closings == {0: 7, 10: 12}


def test_excerpts_omit_branches() -> None:
    code = 'f("a"\n#if X\n"b"\n#else\n"c"\n#endif\n)'
    found = text(code)
    group = found.branches[0].group
    kept = [excerpt(found, 0, len(code), {id(group): index}) for index in (0, 1, 2)]
    assert [" ".join(one.code.split()) for one in kept] == ['f("a" "b" )', 'f("a" "c" )', 'f("a" )']
    assert [one.conditions for one in kept] == [("X",), ("!X",), ()]
