"""From entries to NativeFunctions: the meaning of each key. Rejected entries are in tests/golden/errors."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import (
    DeviceCheckType,
    Kernel,
    NativeFunction,
    ScalarType,
    UfuncKey,
    Variant,
)
from opgen.model.profile import Tag, TagSet
from opgen.parse.files.native_functions import builtin_tags, parse_tags
from opgen.parse.yaml.nodes import decode_source
from support.entries import parse_native_functions

OUT = "foo.out(Tensor self, int dim, int x, *, Tensor(a!) out) -> Tensor(a!)"


def parse_all(text: str, *ignore: DispatchKey, tags: TagSet | None = None) -> list[NativeFunction]:
    diagnostics = Diagnostics()
    known = builtin_tags() if tags is None else tags
    found = parse_native_functions([Source("f.yaml", text)], known, ignore, diagnostics)
    assert [d.message for d in diagnostics] == []
    return list(found)


def parse(entry: str, *ignore: DispatchKey, tags: TagSet | None = None) -> NativeFunction:
    (found,) = parse_all(f"- func: {entry}\n", *ignore, tags=tags)
    return found


def rows(f: NativeFunction) -> list[tuple[str, str]]:
    return [(key.name, kernel.name) for key, kernel in f.dispatch]


def test_an_entry_of_one_line() -> None:
    foo = parse("foo.x(Tensor self) -> Tensor")
    assert foo.full_name == "aten::foo.x"
    assert foo.variants == {Variant.function}
    assert rows(foo) == [("CompositeImplicitAutograd", "foo")]
    assert foo.tags == {"pt2_compliant_tag"}
    assert foo.device_guard and foo.device_check is DeviceCheckType.ExactSame
    assert not foo.is_abstract
    assert not foo.structured and not foo.part_of_structured_group
    assert foo.has_composite_implicit_autograd_kernel and foo.has_composite_kernel


def test_a_namespace() -> None:
    foo = parse("custom::foo(Tensr self) -> Tensor".replace("Tensr", "Tensor"))
    assert foo.namespace == "custom"
    assert str(foo.func.name) == "foo"
    assert foo.tags == set()


@pytest.mark.parametrize(
    ("schema", "kernel"),
    [
        ("foo(Tensor self) -> Tensor", "foo"),
        ("foo_(Tensor(a!) self) -> Tensor(a!)", "foo_"),
        ("__iand__(Tensor(a!) self) -> Tensor(a!)", "__iand__"),
        ("foo_functional(Tensor self) -> Tensor", "foo_functional"),
        (OUT, "foo_out"),
    ],
)
def test_the_default_kernel(schema: str, kernel: str) -> None:
    assert rows(parse(schema)) == [("CompositeImplicitAutograd", kernel)]


def test_plain_keys() -> None:
    foo = parse(
        "foo(Tensor self, int x=1) -> Tensor\n"
        "  variants: function, method\n"
        "  device_guard: False\n"
        "  device_check: NoCheck\n"
        "  manual_cpp_binding: yes\n"
        "  manual_kernel_registration: true\n"
        "  use_const_ref_for_mutable_tensors: True\n"
        "  category_override: dummy\n"
        "  cpp_no_default_args: ['x']\n"
        "  autogen: foo.out, foo_.x\n"
        "  tags: [core, pointwise]\n"
    )
    assert foo.variants == {Variant.function, Variant.method}
    assert not foo.device_guard
    assert foo.device_check is DeviceCheckType.NoCheck
    assert foo.manual_cpp_binding and foo.manual_kernel_registration
    assert foo.use_const_ref_for_mutable_tensors
    assert foo.category_override == "dummy"
    assert foo.cpp_no_default_args == {"x"}
    assert [str(name) for name in foo.autogen] == ["foo.out", "foo_.x"]
    assert foo.tags == {"core", "pointwise", "pt2_compliant_tag"}


def test_empty_values_that_mean_the_default() -> None:
    foo = parse(
        "foo(Tensor self) -> Tensor\n"
        "  dispatch:\n  device_check:\n  structured_delegate:\n  structured_inherits:\n"
        "  python_module:\n  category_override:\n  precomputed:\n  autogen: ''\n  tags: []\n"
        "  ufunc_inner_loop: {}\n"
    )
    plain = parse("foo(Tensor self) -> Tensor")
    assert foo == plain


def test_dispatch_tables() -> None:
    foo = parse(
        "foo(Tensor self) -> Tensor\n"
        "  dispatch:\n    CPU, CUDA: a::b::foo_kernel\n    Meta: a::b::foo_meta_symint\n"
    )
    assert rows(foo) == [("CPU", "foo_kernel"), ("CUDA", "foo_kernel"), ("Meta", "foo_meta_symint")]
    meta = foo.find_kernel(DispatchKey.Meta)
    assert meta == Kernel("foo_meta_symint", "a::b", structured=False)
    assert meta.supports_symint
    assert foo.find_kernel(DispatchKey.MPS) is None
    assert foo.is_abstract and not foo.has_composite_kernel


def test_ignored_keys_are_dropped_but_counted() -> None:
    text = "foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: a\n    XLA: b\n"
    assert rows(parse(text, DispatchKey.XLA)) == [("CPU", "a")]
    alone = parse("foo(Tensor self) -> Tensor\n  dispatch:\n    MPS: a\n", DispatchKey.MPS)
    assert alone.dispatch == ()
    assert alone.is_abstract
    text = (
        "foo(Tensor self) -> Tensor\n"
        "  dispatch:\n    CompositeImplicitAutograd: foo\n    MPS: foo_mps\n"
    )
    assert rows(parse(text, DispatchKey.MPS)) == [("CompositeImplicitAutograd", "foo")]


def test_an_empty_table_is_not_a_missing_table() -> None:
    foo = parse("foo(Tensor self) -> Tensor\n  dispatch: {}\n")
    assert foo.dispatch == ()
    assert foo.is_abstract


def test_structured_operators() -> None:
    delegate = parse("foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n")
    assert str(delegate.structured_delegate) == "foo.out"
    assert delegate.part_of_structured_group and delegate.is_abstract
    assert delegate.dispatch == ()
    out = parse(
        f"{OUT}\n  structured: True\n  structured_inherits: TensorIteratorBase\n"
        "  dispatch:\n    CPU, CUDA: k\n    SparseCPU: s\n"
    )
    assert [kernel.structured for _, kernel in out.dispatch] == [True, True, False]
    assert out.structured_inherits == "TensorIteratorBase"


def test_precomputed() -> None:
    out = parse(
        f"{OUT}\n  structured: True\n  precomputed:\n"
        "  - dim -> int dim, DimVector sizes\n  - int n,int m\n".replace("n,int", "n, int")
    )
    assert out.precomputed is not None
    ((name, arguments),) = out.precomputed.replace
    assert name == "dim"
    assert [str(a) for a in arguments] == ["int dim", "DimVector sizes"]
    assert [str(a) for a in out.precomputed.add] == ["int n", "int m"]


def test_ufuncs() -> None:
    out = parse(
        f"{OUT}\n  structured: True\n  ufunc_inner_loop:\n"
        "    Generic: foo (AllAndComplex, Half, Int)\n    ScalarOnly: foo (Bool)\n"
    )
    assert [key for key, _ in out.ufunc_inner_loop] == [UfuncKey.Generic, UfuncKey.ScalarOnly]
    loop = out.ufunc_inner_loop[0][1]
    assert loop.name == "foo"
    assert len(loop.supported_dtypes) == 10
    assert loop.supported_dtypes[-1] is ScalarType.Half
    assert rows(out) == [("CPU", "ufunc_foo_CPU"), ("CUDA", "ufunc_foo_CUDA")]
    assert all(kernel.structured for _, kernel in out.dispatch)
    text = parse(f"{OUT}\n  structured: True\n  ufunc_inner_loop: foo (Bool)\n")
    assert text.ufunc_inner_loop[0][0] is UfuncKey.Generic


def test_implicit_tags_are_given_if_declared() -> None:
    inplace = parse("foo_(Tensor(a!) self) -> Tensor(a!)")
    assert inplace.tags == {"pt2_compliant_tag", "inplace"}
    assert parse(OUT).tags == {"pt2_compliant_tag", "out"}
    assert parse(OUT, tags=TagSet((Tag("core", "x."),))).tags == set()


def test_aliased_tag_lists_do_not_leak() -> None:
    out, foo = parse_all(
        f"- func: {OUT}\n  tags: &t [core]\n- func: foo(Tensor self) -> Tensor\n  tags: *t\n"
    )
    assert "out" in out.tags
    assert "out" not in foo.tags


def test_merged_entries() -> None:
    foo, bar = parse_all(
        "- &x\n  func: foo(Tensor self) -> Tensor\n  tags: core\n  dispatch: {CPU: k}\n"
        "- <<: *x\n  func: bar(Tensor self) -> Tensor\n"
    )
    assert bar.tags == foo.tags
    assert bar.dispatch == foo.dispatch
    assert bar.span.text == "bar"


def test_positions() -> None:
    text = (
        "- func: a::foo.x(Tensor self, int dim=1, *, bool b=True) -> (Tensor r, int)\n"
        "  variants: function, method\n"
        "  tags: [core, pointwise]\n"
        "  dispatch:\n"
        "    CPU, CUDA: k\n"
        "    Meta: m\n"
    )
    (foo,) = parse_all(text)
    spans = foo.spans
    assert foo.span.text == "foo.x"
    assert foo.argument_span("dim").text == "int dim=1"
    assert foo.argument_type_span("dim").text == "int"
    assert foo.argument_name_span("b").text == "b"
    assert foo.argument_default_span("b").text == "True"
    assert foo.return_span(0).text == "Tensor r"
    assert foo.return_span(1).text == "int"
    assert spans.key("tags").text == "tags"
    assert spans.value("variants").text == "function, method"
    assert spans.item("variants", "method").text == "method"
    assert spans.item("tags", "pointwise").text == "pointwise"
    assert spans.dispatch_key(DispatchKey.CUDA).text == "CUDA"
    assert spans.kernel(DispatchKey.CUDA).text == "k"
    assert spans.kernel(DispatchKey.Meta).text == "m"
    assert spans.entry.text == text[2:]


def test_positions_of_missing_keys_are_near() -> None:
    foo = parse("foo(Tensor self) -> Tensor")
    assert foo.spans.key("tags").text == "foo"
    assert foo.spans.item("tags", "x").text == "foo"
    assert foo.spans.kernel(DispatchKey.CPU).text == "foo"
    assert foo.argument_span("x").text == "foo"
    assert foo.return_span(7).text == "foo"


def test_an_entry_with_errors_does_not_hide_the_others() -> None:
    diagnostics = Diagnostics()
    text = "- func: foo(Tensr self) -> Tensor\n- func: bar(Tensor self) -> Tensor\n"
    found = parse_native_functions([Source("f", text)], builtin_tags(), (), diagnostics)
    assert [str(f.func.name) for f in found] == ["bar"]
    assert diagnostics.has_errors


def test_an_empty_list_is_a_file_without_operators() -> None:
    assert parse_all("[]\n") == []


def test_several_files_are_one_list_in_any_order() -> None:
    texts = ("- func: c(Tensor self) -> Tensor\n- func: a(Tensor self) -> Tensor\n",)
    texts += ("- func: b(Tensor self) -> Tensor\n",)
    for given in (texts, texts[::-1]):
        sources = [Source(f"{n}.yaml", text) for n, text in enumerate(given)]
        found = parse_native_functions(sources, builtin_tags(), (), Diagnostics())
        assert [str(f.func.name) for f in found] == ["c", "a", "b"]


def test_tag_files() -> None:
    diagnostics = Diagnostics()
    text = "- tag: b\n  desc: B.\n  more: x\n- tag: a\n  desc: |\n    A.\n- tag: b\n  desc: C.\n"
    tags = parse_tags(Source("tags.yaml", text), diagnostics)
    assert len(diagnostics) == 0
    assert tags == TagSet((Tag("b", "B."), Tag("a", "A.\n")))
    assert parse_tags(Source("tags.yaml", "[]"), diagnostics).names == ()


def test_bytes_are_decoded() -> None:
    diagnostics = Diagnostics()
    assert decode_source("f", b"\xef\xbb\xbfa\xc3\xa9", diagnostics).text == "aé"
    assert len(diagnostics) == 0
    source = decode_source("f", b"\xef\xbb\xbf\xc3\xa9\xffb", diagnostics)
    assert source.text == "é\ufffdb"
    (item,) = diagnostics
    assert item.span is not None and item.span.text == "\ufffd"
