"""Conversions between signatures: every argument is passed on, unchanged, under its name."""

from __future__ import annotations

import pytest
from operators import CONVERSIONS, OPTIONS, operator

from opgen.cpp.cpp_types import (
    INT,
    SYM_INT,
    TENSOR,
    TENSOR_OPTIONS,
    Base,
    ConstRef,
    MutRef,
    Optional,
    structured_argument_type,
)
from opgen.cpp.signatures import (
    Binding,
    Signatures,
)
from opgen.cpp.translate import NoConversion, translate
from opgen.model.native_function import NativeFunction


def call(f: NativeFunction, *, method: bool = False) -> list[tuple[str, ...]]:
    """Return the call of the dispatcher in the public functions of `f`."""
    want = Signatures().dispatcher(f).arguments
    return [
        translate(s.arguments, want, CONVERSIONS, method=method)
        for s in Signatures().cpp(f, method=method)
    ]


def kernel_call(f: NativeFunction) -> tuple[str, ...]:
    """Return the call of a kernel without SymInt, from the dispatcher's arguments."""
    have = Signatures().dispatcher(f).arguments
    want = Signatures().native(f, symint=False).arguments
    return translate(have, want, CONVERSIONS)


def test_outs_are_passed_on_by_name() -> None:
    f = operator("foo.out(Tensor self, Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
    assert call(f) == [("self", "x", "out"), ("self", "x", "out")]


def test_a_method_passes_on_its_tensor() -> None:
    f = operator("foo(Tensor self) -> Tensor", "variants: method")
    assert call(f, method=True) == [("const_cast<Tensor&>(*this)",)]


def test_options_are_scattered() -> None:
    f = operator(f"foo(int n, *, {OPTIONS}) -> Tensor", "dispatch:", "  CPU: foo")
    plain, faithful = call(f)
    assert plain == (
        "n",
        "c10::optTypeMetaToScalarType(options.dtype_opt())",
        "options.layout_opt()",
        "options.device_opt()",
        "options.pinned_memory_opt()",
    )
    assert faithful == ("n", "dtype", "layout", "device", "pin_memory")


def test_a_memory_format_may_be_in_the_options() -> None:
    f = operator(
        f"foo(Tensor self, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
        *("dispatch:", "  CPU: foo"),
    )
    plain, faithful = call(f)
    joined = "c10::impl::check_tensor_options_and_extract_memory_format(options, memory_format)"
    assert plain[-1] == joined
    assert faithful[-1] == "memory_format"


def test_the_functional_form_of_a_filling_factory_copies_its_options() -> None:
    have = (Binding("out", MutRef(TENSOR)),)
    want = (
        Binding("dtype", Optional(Base("ScalarType"))),
        Binding("pin_memory", Optional(Base("bool"))),
    )
    assert translate(have, want, CONVERSIONS) == ("out.scalar_type()", "::std::nullopt")


def test_options_are_gathered() -> None:
    names = {"dtype": "ScalarType", "layout": "Layout", "device": "Device", "pin_memory": "bool"}
    have = tuple(Binding(name, Optional(Base(type))) for name, type in names.items())
    (text,) = translate(have, (Binding("options", TENSOR_OPTIONS),), CONVERSIONS)
    assert all(f"({name})" in text for name in names)


def test_symbolic_sizes_are_guarded_for_a_kernel_that_takes_integers() -> None:
    f = operator("foo(SymInt n, SymInt? m, SymInt[] size, SymInt[]? sizes) -> Tensor")
    n, m, size, sizes = kernel_call(f)
    assert n == "n.guard_int(__FILE__, __LINE__)"
    assert m.startswith("m.has_value() ?") and "m->guard_int" in m
    assert size == "C10_AS_INTARRAYREF_SLOW(size)"
    assert sizes.startswith("sizes.has_value() ?") and "(*sizes)" in sizes


def test_only_a_binding_of_the_same_name_is_used() -> None:
    """Two arguments of one type must never be mistaken for each other."""
    with pytest.raises(NoConversion) as caught:
        translate((Binding("x", INT),), (Binding("y", INT),), CONVERSIONS)
    assert caught.value.wanted.name == "y"


def test_const_is_cast_away_only_for_tensors() -> None:
    have = (Binding("x", ConstRef(TENSOR)), Binding("y", ConstRef(SYM_INT)))
    assert translate(have, (Binding("x", MutRef(TENSOR)),), CONVERSIONS) == (
        "const_cast<Tensor&>(x)",
    )
    with pytest.raises(NoConversion):
        translate(have, (Binding("y", MutRef(SYM_INT)),), CONVERSIONS)


def test_structured_kernels_borrow_optional_arguments() -> None:
    f = operator("foo(Tensor? t, Scalar? s, Tensor?[] l) -> Tensor")
    have = Signatures().dispatcher(f).arguments
    want = tuple(
        Binding(a.name, structured_argument_type(a.type)) for a in f.func.arguments.flat_all
    )
    t, s, tensors = translate(have, want, CONVERSIONS)
    assert "at::OptionalTensorRef(*t)" in t
    assert "at::OptionalScalarRef(&(s.value()))" in s
    assert tensors == "at::IOptTensorListRef(l)"
