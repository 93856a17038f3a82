"""Which variants are generated, with which attributes. Errors are in tests/golden/errors."""

from __future__ import annotations

import pytest
from resolving import function, generated

from opgen.model.native_function import DeviceCheckType, Variant
from support.inputs import registry_of

_CPU = "\n  dispatch:\n    CPU: k"


def entry(schema: str, autogen: str, more: str = _CPU) -> str:
    return f"- func: {schema}{more}\n  autogen: {autogen}\n"


@pytest.mark.parametrize(
    ("schema", "autogen", "expected"),
    [
        (
            "foo(Tensor self) -> Tensor",
            "foo.out",
            ["foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"],
        ),
        (
            "foo.x(Tensor self, *, int k=1) -> (Tensor v, Tensor w)",
            "foo.x_out",
            [
                "foo.x_out(Tensor self, *, int k=1, Tensor(a!) out0, Tensor(b!) out1)"
                " -> (Tensor(a!), Tensor(b!))"
            ],
        ),
        (
            # An out variant does not return a list that it writes, nor its other results.
            "foo(Tensor self) -> (Tensor[], Tensor)",
            "foo.out",
            ["foo.out(Tensor self, *, Tensor(a!)[] out0, Tensor(b!) out1) -> ()"],
        ),
        (
            "foo(int n, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,"
            " Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None)"
            " -> Tensor",
            "foo.out",
            [
                "foo.out(int n, *, Generator? generator, MemoryFormat? memory_format=None,"
                " Tensor(a!) out) -> Tensor(a!)"
            ],
        ),
        (
            "foo_.x(Tensor(a!) self, int k) -> Tensor(a!)",
            "foo.x, foo.x_out",
            [
                "foo.x_out(Tensor self, int k, *, Tensor(a!) out) -> Tensor(a!)",
                "foo.x(Tensor self, int k) -> Tensor",
            ],
        ),
        (
            "foo_(Tensor(c!)[] self) -> ()",
            "foo, foo.out",
            [
                "foo.out(Tensor[] self, *, Tensor(c!)[] out) -> ()",
                "foo(Tensor[] self) -> Tensor[] self_out",
            ],
        ),
        (
            "__ilshift__(Tensor(a!) self, int k) -> Tensor(a!)",
            "__lshift__, __lshift__.out",
            [
                "__lshift__.out(Tensor self, int k, *, Tensor(a!) out) -> Tensor(a!)",
                "__lshift__(Tensor self, int k) -> Tensor",
            ],
        ),
        (
            # The mutable operator keeps its plain name, and its out variant writes the same
            # argument.
            "foo(Tensor self, Tensor(a!) x) -> (Tensor u, Tensor v)",
            "foo_functional, foo.out",
            [
                "foo.out(Tensor self, Tensor(a!) x, *, Tensor(b!) out0, Tensor(c!) out1)"
                " -> (Tensor(b!), Tensor(c!))",
                "foo_functional(Tensor self, Tensor x) -> (Tensor u, Tensor v, Tensor x_out)",
            ],
        ),
    ],
)
def test_schemas(schema: str, autogen: str, expected: list[str]) -> None:
    """Protects agreement with torchgen: other code calls generated variants by these schemas."""
    more = _CPU.replace("CPU", "CompositeExplicitAutograd")
    if "Generator" in schema:
        more += "\n  tags: nondeterministic_seeded"
    assert generated(entry(schema, autogen, more)) == expected


@pytest.mark.parametrize(
    ("used", "letters"),
    [("b", "ac"), ("ba", "cd"), ("ac", "bd"), ("z", "ab")],
)
def test_outs_of_mutable_operators_get_unused_letters(used: str, letters: str) -> None:
    """Protects aliasing: torchgen reuses a letter if the letters are not in alphabetical order."""
    arguments = "".join(f", Tensor({c}!) {c}" for c in used)
    out, _ = generated(
        entry(f"foo(Tensor self{arguments}) -> (Tensor, Tensor)", "foo_functional, foo.out")
    )
    assert f"*, Tensor({letters[0]}!) out0, Tensor({letters[1]}!) out1)" in out


@pytest.mark.parametrize(("used", "letter"), [("a", "b"), ("b", "a"), ("ab", "c"), ("ac", "b")])
def test_outs_of_functional_operators_get_torchgens_letters(used: str, letter: str) -> None:
    """Protects agreement with torchgen, although any letter would be correct: the functional variant has no
    annotations.
    """
    arguments = "".join(f", Tensor({c}) {c}" for c in used)
    (out,) = generated(entry(f"foo(Tensor self{arguments}) -> Tensor", "foo.out"))
    assert f"Tensor({letter}!) out)" in out


def test_a_functional_variant_completes_a_group() -> None:
    """Protects in-place operators with a hand-written out variant: they must be callable as functions."""
    text = entry("foo_(Tensor(a!) self) -> Tensor(a!)", "foo")
    text += (
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: k\n"
    )
    assert generated(text) == ["foo(Tensor self) -> Tensor"]


@pytest.mark.parametrize(
    "text",
    [
        # It is composite.
        entry("foo(Tensor self) -> Tensor", "foo.out", ""),
        # It bypasses the dispatcher.
        entry("foo(Tensor self) -> Tensor", "foo.out", f"{_CPU}\n  manual_cpp_binding: True"),
        # It is a view.
        entry("foo_inverse(Tensor(a) self) -> Tensor(a)", "foo_inverse.out"),
        # Its functional variant has another signature.
        entry("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", "polygamma, polygamma.out"),
        # None of the names is that of an out variant.
        entry("foo(Tensor self) -> Tensor", "foo.x"),
    ],
)
def test_nothing_is_generated(text: str) -> None:
    """Protects agreement with torchgen, which ignores `autogen` in these cases."""
    assert generated(text) == []


def test_core_operators_get_variants_even_if_they_decompose() -> None:
    """Protects compilers that do not decompose core operators and so need all their variants."""
    assert len(generated(entry("foo(Tensor self) -> Tensor", "foo.out", "\n  tags: core"))) == 1


def test_attributes() -> None:
    """Protects agreement with torchgen: a generated operator is not a method, has no device guard, and has one kernel,
    which opgen generates.
    """
    text = entry(
        "custom::foo.x(Tensor self, SymInt n) -> Tensor",
        "foo.x_out",
        f"{_CPU}\n  variants: function, method\n  tags: [core, nondeterministic_seeded]",
    )
    registry = registry_of(text)
    out = function(registry, "custom::foo.x_out")
    assert [(k.name, v.name, v.namespace) for k, v in out.dispatch] == [
        ("CompositeExplicitAutograd", "foo_x_out_symint", None)
    ]
    assert out.tags == {"generated", "out", "nondeterministic_seeded"}
    assert out.variants == {Variant.function}
    assert out.device_guard is False and out.device_check is DeviceCheckType.NoCheck
    assert out.is_abstract and out.namespace == "custom"
    assert out.span.text == "foo.x"


def test_the_tag_out_is_given_if_it_is_declared() -> None:
    """Protects files of releases whose tags.yaml does not declare it."""
    text = entry("foo(Tensor self) -> Tensor", "foo.out")
    assert (
        "out"
        not in function(
            registry_of(text, tags="- tag: core\n  desc: of this release\n"), "foo.out"
        ).tags
    )


def test_kernels_are_named_after_the_functional_operator() -> None:
    """Protects the kernels that opgen generates: two overloads must not share an out kernel."""
    text = entry("foo_.x(Tensor(a!) self, int k) -> Tensor(a!)", "foo.x, foo.x_out")
    registry = registry_of(text)
    names = [function(registry, n).dispatch[0][1].name for n in ("foo.x", "foo.x_out")]
    assert names == ["foo", "foo_x_out"]


def test_generated_operators_come_last_in_order_of_their_groups() -> None:
    """Protects stable output: a new entry moves only its own generated variants."""
    text = entry("b(Tensor self) -> Tensor", "b.out")
    text += entry("a_(Tensor(a!) self) -> Tensor(a!)", "a, a.out")
    names = [str(f.func.name) for f in registry_of(text).functions]
    assert names == ["b", "a_", "b.out", "a.out", "a"]
