"""The C++ types of schema types, for each API: what kernel authors and callers of the functions see.

The expected texts are what torchgen derives; a wrong one compiles for some operators and breaks others.
"""

from __future__ import annotations

import pytest
from operators import SPELLING, operator

from opgen.cpp.cpp_types import (
    ArrayRef,
    Base,
    ConstRef,
    CType,
    NoCppType,
    Optional,
    TypeContext,
    argument_type,
    holds_references,
    native_argument_type,
    return_type,
    returns_type,
    spell,
    structured_argument_type,
    without_reference,
)
from opgen.model.function_schema import Argument

PLAIN = TypeContext(structured_group=False, use_const_ref=False)


def argument(declaration: str) -> Argument:
    return operator(f"foo({declaration} x) -> ()").func.arguments.flat_all[0]


def public(declaration: str, *, symint: bool = True, context: TypeContext = PLAIN) -> str:
    a = argument(declaration)
    ctype = argument_type(a.type, mutable=a.is_write, symint=symint, context=context)
    return spell(ctype, SPELLING)


def native(declaration: str, *, symint: bool = True, context: TypeContext = PLAIN) -> str:
    a = argument(declaration)
    ctype = native_argument_type(a.type, mutable=a.is_write, symint=symint, context=context)
    return spell(ctype, SPELLING)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("Tensor", "const at::Tensor&"),
        ("Tensor(a!)", "at::Tensor&"),
        ("Tensor?", "const ::std::optional<at::Tensor>&"),
        ("Tensor[]", "at::TensorList"),
        ("Tensor[2]", "at::TensorList"),
        ("Tensor?[]", "const c10::List<::std::optional<at::Tensor>>&"),
        ("int", "int64_t"),
        ("int[]", "at::IntArrayRef"),
        ("int[2]", "at::IntArrayRef"),
        ("int[]?", "at::OptionalIntArrayRef"),
        ("SymInt", "c10::SymInt"),
        ("SymInt?", "::std::optional<c10::SymInt>"),
        ("SymInt[]", "c10::SymIntArrayRef"),
        ("SymInt[2]?", "at::OptionalSymIntArrayRef"),
        ("SymBool", "c10::SymBool"),
        ("float", "double"),
        ("float[]", "at::ArrayRef<double>"),
        ("float[]?", "::std::optional<at::ArrayRef<double>>"),
        ("bool", "bool"),
        ("bool[3]", "::std::array<bool, 3>"),
        ("str", "c10::string_view"),
        ("str?", "::std::optional<c10::string_view>"),
        ("Scalar", "const at::Scalar&"),
        ("Scalar?", "const ::std::optional<at::Scalar>&"),
        ("Scalar[]", "at::ArrayRef<at::Scalar>"),
        ("ScalarType?", "::std::optional<at::ScalarType>"),
        ("Storage", "at::Storage"),
        ("Tensor[]?", "::std::optional<at::TensorList>"),
    ],
)
def test_public_api(declaration: str, expected: str) -> None:
    assert public(declaration) == expected


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("SymInt", "int64_t"),
        ("SymInt?", "::std::optional<int64_t>"),
        ("SymInt[]", "at::IntArrayRef"),
        ("SymInt[]?", "at::OptionalIntArrayRef"),
        ("SymBool", "c10::SymBool"),
    ],
)
def test_without_symbolic_sizes(declaration: str, expected: str) -> None:
    assert public(declaration, symint=False) == expected
    assert native(declaration, symint=False) == expected


def test_a_written_optional_tensor_is_optional_only_for_kernels() -> None:
    assert public("Tensor(a!)?") == "at::Tensor&"
    assert native("Tensor(a!)?") == "::std::optional<at::Tensor>&"


def test_lists_in_structured_groups_may_be_of_either_kind() -> None:
    context = TypeContext(structured_group=True, use_const_ref=False)
    assert public("Tensor[]", context=context) == "const at::ITensorListRef&"
    assert native("Tensor[]", context=context) == "const at::ITensorListRef&"


def test_const_references_to_written_tensors() -> None:
    context = TypeContext(structured_group=False, use_const_ref=True)
    assert public("Tensor(a!)", context=context) == "const at::Tensor&"
    assert native("Tensor(a!)?", context=context) == "const ::std::optional<at::Tensor>&"
    f = operator("foo_(Tensor(a!) self) -> Tensor(a!)", "use_const_ref_for_mutable_tensors: True")
    assert spell(returns_type(f), SPELLING) == "const at::Tensor&"


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("Tensor(a!)", "const at::Tensor&"),
        ("Tensor?", "at::OptionalTensorRef"),
        ("Tensor[]", "const at::ITensorListRef&"),
        ("Tensor?[]", "at::IOptTensorListRef"),
        ("Scalar?", "at::OptionalScalarRef"),
        ("SymInt", "int64_t"),
        ("SymInt[]", "at::ArrayRef<int64_t>"),
        ("int[]", "at::IntArrayRef"),
        ("int[]?", "at::OptionalIntArrayRef"),
    ],
)
def test_structured_kernels(declaration: str, expected: str) -> None:
    """Structured kernels never see symbolic sizes, and take optional arguments as borrowed references."""
    assert spell(structured_argument_type(argument(declaration).type), SPELLING) == expected


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("()", "void"),
        ("Tensor", "at::Tensor"),
        ("Tensor?", "::std::optional<at::Tensor>"),
        ("Tensor[]", "::std::vector<at::Tensor>"),
        ("SymInt", "c10::SymInt"),
        ("SymInt[]", "::std::vector<c10::SymInt>"),
        ("Scalar", "at::Scalar"),
        ("bool[2]", "::std::array<bool, 2>"),
        ("(Tensor, int)", "::std::tuple<at::Tensor, int64_t>"),
    ],
)
def test_returns(returns: str, expected: str) -> None:
    """SymInt is returned as SymInt even when arguments are plain integers."""
    assert spell(returns_type(operator(f"foo(Tensor self) -> {returns}")), SPELLING) == expected


@pytest.mark.parametrize("declaration", ["bool[]", "GraphModule", "__torch__.torch.classes.a.B"])
def test_arguments_without_a_cpp_type(declaration: str) -> None:
    with pytest.raises(NoCppType):
        public(declaration)


@pytest.mark.parametrize("returned", ["Tensor[2]", "Scalar?", "int[]?"])
def test_returns_without_a_cpp_type(returned: str) -> None:
    r = operator(f"foo(Tensor self) -> {returned}").func.returns[0]
    with pytest.raises(NoCppType):
        return_type(r.type, mutable=False, context=PLAIN)


def test_references_inside_templates_are_found_at_any_depth() -> None:
    inner: CType = ConstRef(Base("Tensor"))
    assert holds_references(Optional(inner))
    assert holds_references(ConstRef(ArrayRef(Optional(inner))))
    assert not holds_references(inner)
    assert without_reference(inner) == Base("Tensor")
