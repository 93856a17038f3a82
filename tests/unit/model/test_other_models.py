"""Types, dispatch keys, C++ names, tags and the registry."""

from __future__ import annotations

import pytest

from opgen import data
from opgen.diagnostics import Diagnostics, Source, Span
from opgen.model.cpp_words import CPP_KEYWORDS, cpp_identifier, is_identifier
from opgen.model.dispatch_key import (
    GUARDED_DISPATCH_KEYS,
    STRUCTURED_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.native_function import NativeFunction, OneSpan, ViewSchemaKind
from opgen.model.registry import NativeFunctionsGroup, NativeFunctionsViewGroup, Registry
from opgen.model.types import BaseTy, BaseType, CustomClassType, ListType, OptionalType
from opgen.parse.files.native_functions import builtin_tags
from support.entries import parse_native_functions

TENSOR = BaseType(BaseTy.Tensor)


def functions(text: str) -> tuple[NativeFunction, ...]:
    diagnostics = Diagnostics()
    found = parse_native_functions([Source("f", text)], builtin_tags(), (), diagnostics)
    assert list(diagnostics) == []
    return found


def test_types_answer_for_their_elements() -> None:
    lists = ListType(OptionalType(TENSOR), 3)
    assert str(lists) == "Tensor?[3]"
    assert lists.is_tensor_like()
    assert lists.is_nullable()
    assert lists.is_list_like() is lists
    assert OptionalType(lists).is_list_like() is lists
    assert not TENSOR.is_nullable()
    assert TENSOR.is_list_like() is None
    assert OptionalType(BaseType(BaseTy.SymInt)).is_symint_like()
    assert BaseType(BaseTy.Generator).is_generator_like()


def test_custom_classes_are_not_like_other_types() -> None:
    custom = CustomClassType("a.B")
    assert str(custom) == "__torch__.torch.classes.a.B"
    assert not custom.is_tensor_like()
    assert not custom.is_nullable()
    assert custom.is_list_like() is None


def test_every_type_of_the_table_is_a_member() -> None:
    names = {*data.read_names("types.txt"), *data.read_names("library_types.txt")}
    assert names == {ty.name for ty in BaseTy}


def test_supported_keys_are_in_the_order_of_register_files() -> None:
    assert len(SUPPORTED_DISPATCH_KEYS) == 30
    assert SUPPORTED_DISPATCH_KEYS[0] is DispatchKey.CPU
    assert SUPPORTED_DISPATCH_KEYS[-1] is DispatchKey.MTIA


def test_sets_of_keys() -> None:
    assert set(STRUCTURED_DISPATCH_KEYS) <= set(SUPPORTED_DISPATCH_KEYS)
    assert DispatchKey.NestedTensorXPU in GUARDED_DISPATCH_KEYS
    assert len(GUARDED_DISPATCH_KEYS) == 12
    assert DispatchKey.CatchAll is DispatchKey.Undefined
    assert str(DispatchKey.CPU) == "CPU"
    assert DispatchKey.SparseCPU.lower() == "sparsecpu"


@pytest.mark.parametrize("word", ["and", "bitor", "default", "co_await", "xor_eq", "int"])
def test_keywords_get_an_underscore(word: str) -> None:
    assert cpp_identifier(word) == f"{word}_"


def test_other_names_are_kept() -> None:
    assert cpp_identifier("self") == "self"
    assert len(CPP_KEYWORDS) == 92


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("a", True),
        ("_a1", True),
        ("1a", False),
        ("", False),
        ("é", False),
        ("a b", False),
        ("a\n", False),
    ],
)
def test_identifiers(text: str, valid: bool) -> None:
    assert is_identifier(text) is valid


def test_built_in_tags() -> None:
    tags = builtin_tags()
    assert len(tags.names) == 20
    assert "core" in tags
    assert "bogus" not in tags
    assert all(tag.desc.endswith(".") for tag in tags.tags)


GROUP = """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
  dispatch:
    SparseCPU: foo_sparse
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: foo.out
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
    CompositeExplicitAutograd: foo_any
- func: bar(Tensor(a) self) -> Tensor(a)
- func: bar_copy(Tensor self) -> Tensor
  tags: view_copy
"""


def registry() -> Registry:
    foo, foo_, out, bar, bar_copy = functions(GROUP)
    return Registry(
        functions=(foo, foo_, out, bar, bar_copy),
        groups=(NativeFunctionsGroup(foo, out, foo_),),
        view_groups=(NativeFunctionsViewGroup(bar, bar_copy),),
        dispatch_keys=SUPPORTED_DISPATCH_KEYS,
    )


def test_groups_are_found_by_their_members() -> None:
    found = registry()
    foo, foo_, out, bar, bar_copy = found.functions
    group = found.group_of(foo_)
    assert group is found.groups[0]
    assert group.structured
    assert group.root_name == "foo"
    assert list(group.functions()) == [foo, out, foo_]
    assert found.group_of(bar) is None
    views = found.view_group_of(bar_copy)
    assert views is found.view_groups[0]
    assert views.composite
    assert list(views.functions()) == [bar, bar_copy]
    assert found.find_function("aten::foo.out") is out
    assert found.find_function("aten::nothing") is None


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("foo(Tensor self) -> Tensor", ViewSchemaKind.non_aliasing),
        ("foo(Tensor(a) self) -> Tensor(a)", ViewSchemaKind.aliasing),
        ("foo(Tensor(a -> *) self) -> Tensor[]", ViewSchemaKind.aliasing),
        ("foo_(Tensor(a!) self) -> Tensor(a!)", ViewSchemaKind.non_aliasing),
        (
            "foo_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view",
            ViewSchemaKind.aliasing_inplace,
        ),
        (
            "resize_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view",
            ViewSchemaKind.non_aliasing,
        ),
    ],
)
def test_views(entry: str, kind: ViewSchemaKind) -> None:
    (found,) = functions(f"- func: {entry}\n")
    assert found.view_schema_kind is kind


def test_one_place_for_everything() -> None:
    span = Span(Source("f", "abc"), 0, 1)
    spans = OneSpan(span)
    assert spans.key("func") is spans.value("x") is spans.item("tags", "core") is span
    assert spans.dispatch_key(DispatchKey.CPU) is spans.kernel(DispatchKey.CPU) is span
    assert spans.schema(3, 4) is span
