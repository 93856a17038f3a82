"""Python signatures: names, defaults, out arguments, tensor options, and operators without a signature."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.model.native_function import NativeFunction
from opgen.parse.files.native_functions import builtin_tags
from opgen.python.python_types import NoPythonSignature, parser_type, stub_return_type, stub_type
from opgen.python.signatures import PythonSignature, Spellings
from opgen.targets import TARGETS
from support.entries import parse_native_functions

_TORCH = TARGETS["torch"]
_SPELLINGS = Spellings(_TORCH.cpp.spelling, _TORCH.python)
_OPTIONS = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, "
    "bool? requires_grad=False"
)


def _operator(schema: str, *keys: str) -> NativeFunction:
    lines = [f"- func: {schema}", *(f"  {key}" for key in keys), "  dispatch:", "    CPU: kernel"]
    diagnostics = Diagnostics()
    source = Source("f.yaml", "\n".join(lines) + "\n")
    functions = parse_native_functions([source], builtin_tags(), (), diagnostics)
    assert [d.message for d in diagnostics] == []
    return functions[0]


def _signature(schema: str, *keys: str, method: bool = False) -> PythonSignature:
    return PythonSignature.from_native_function(
        _operator(schema, *keys), _TORCH.cpp.spelling, method=method
    )


def _parser(schema: str, *keys: str, method: bool = False) -> str:
    return _signature(schema, *keys, method=method).signature_str(_SPELLINGS)


def _stub(schema: str, *keys: str, method: bool = False) -> str:
    return _signature(schema, *keys, method=method).signature_str_pyi(_SPELLINGS)


def test_self_is_called_input_in_a_function_and_omitted_in_a_method() -> None:
    schema = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert _parser(schema) == "add(Tensor input, Tensor other, *, Scalar alpha=1)"
    assert _parser(schema, method=True) == "add(Tensor other, *, Scalar alpha=1)"
    assert (
        _stub(schema, method=True)
        == "def add(self, other: Tensor, *, alpha: Number | _complex = 1) -> Tensor: ..."
    )


def test_only_a_tensor_self_is_input() -> None:
    assert _parser("foo(Tensor[] self) -> Tensor") == "foo(TensorList self)"
    assert _parser("foo(Scalar self, Tensor x) -> Tensor") == "foo(Scalar self, Tensor x)"


@pytest.mark.parametrize(
    ("argument", "parser", "stub"),
    [
        ("bool x=True", "bool x=True", "x: _bool = True"),
        ("float x=1e-5", "double x=1e-05", "x: _float = 1e-05"),
        ("int? x=None", "int64_t? x=None", "x: _int | None = None"),
        ("Tensor? x=None", "Tensor? x=None", "x: Tensor | None = None"),
        ("str x='a'", 'c10::string_view x="a"', 'x: str = "a"'),
        ("int[2] x=0", "IntArrayRef[2] x=0", "x: _int | _size = 0"),
        ("int[] x=[0,1]", "IntArrayRef x={0,1}", "x: _size = (0, 1)"),
        ("int[] x=[]", "IntArrayRef x=None", "x: _size = ()"),
        ("bool[2] x=[True,False]", "::std::array<bool,2> x={True,False}", None),
        ("int x=Mean", "int64_t x=at::Reduction::Mean", None),
        ("int? from=None", "int64_t? from=None", "from_: _int | None = None"),
        (
            "MemoryFormat x=contiguous_format",
            "MemoryFormat x=c10::MemoryFormat::Contiguous",
            "x: memory_format = contiguous_format",
        ),
    ],
)
def test_defaults(argument: str, parser: str, stub: str | None) -> None:
    schema = f"foo(Tensor y, {argument}) -> Tensor"
    assert _parser(schema) == f"foo(Tensor y, {parser})"
    if stub is not None:
        assert _stub(schema) == f"def foo(y: Tensor, {stub}) -> Tensor: ..."


def test_one_out_argument_keeps_its_name() -> None:
    schema = "foo.o(Tensor self, *, int n, Tensor(a!) result) -> Tensor(a!)"
    assert _parser(schema) == "foo(Tensor input, *, int64_t n, Tensor result=None)"


def test_several_out_arguments_are_one() -> None:
    schema = "foo.out(Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))"
    signature = _signature(schema)
    assert signature.output_args is not None
    assert [a.name for a in signature.output_args.outputs] == ["a", "b"]
    assert signature.signature_str(_SPELLINGS) == "foo(Tensor x, *, TensorList[2] out=None)"


def test_factories_and_similar_operators_have_tensor_options() -> None:
    assert _parser("foo(int n) -> Tensor") == f"foo(int64_t n, *, {_OPTIONS})"
    assert _parser("foo_like(Tensor self) -> Tensor") == f"foo_like(Tensor input, *, {_OPTIONS})"
    assert _parser("new_foo(Tensor self) -> Tensor") == f"new_foo(Tensor input, *, {_OPTIONS})"
    assert _OPTIONS in _parser("foo(Tensor self) -> Tensor", "category_override: factory")
    assert _OPTIONS not in _parser("foo(int n) -> Tensor", "category_override: dummy")
    assert _OPTIONS not in _parser("foo(int n) -> int")


def test_the_quartet_of_the_schema_is_not_written_twice() -> None:
    quartet = (
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    )
    assert _parser(f"foo(int n, *, {quartet}) -> Tensor") == f"foo(int64_t n, *, {_OPTIONS})"


def test_long_declarations_are_broken() -> None:
    text = _stub("foo(Tensor[] first_tensors, Tensor[] second_tensors) -> (Tensor, Tensor[])")
    assert text == (
        "def foo(\n"
        "    first_tensors: tuple[Tensor, ...] | list[Tensor],\n"
        "    second_tensors: tuple[Tensor, ...] | list[Tensor],\n"
        ") -> tuple[Tensor, tuple[Tensor, ...]]: ..."
    )


def test_returns() -> None:
    assert _stub("foo(Tensor x) -> ()") == "def foo(x: Tensor) -> None: ..."
    assert _stub("foo(Tensor x) -> Device") == "def foo(x: Tensor) -> _device: ..."
    named = _stub("foo(Tensor x) -> (Tensor values, Tensor indices)")
    assert named == "def foo(x: Tensor) -> torch.return_types.foo: ..."


def test_operators_without_a_signature() -> None:
    with pytest.raises(NoPythonSignature, match="named requires_grad"):
        _signature("foo(Tensor self, bool requires_grad) -> Tensor")
    with pytest.raises(NoPythonSignature, match="some of the returns have names"):
        _stub("foo(Tensor self) -> (Tensor a, Tensor)")
    with pytest.raises(
        NoPythonSignature, match="write the default of a list without a size in brackets"
    ):
        _signature("foo(Tensor self, int[] x=1) -> Tensor")
    with pytest.raises(NoPythonSignature, match="the argument parser has no type 'SymBool'"):
        _parser("foo(Tensor self, SymBool x) -> Tensor")
    with pytest.raises(NoPythonSignature, match="needs a size"):
        _parser("foo(Tensor self, bool[] x) -> Tensor")


@pytest.mark.parametrize(
    ("written", "parser", "stub", "returned"),
    [
        ("SymInt[2]", "SymIntArrayRef[2]", "_int | SymInt | Sequence[_int | SymInt]", None),
        ("SymInt[]", "SymIntArrayRef", "Sequence[_int | SymInt]", "tuple[_int | SymInt, ...]"),
        ("float[]?", "ArrayRef<double>?", "Sequence[_float] | None", None),
        ("Scalar[]", "ScalarList", "Sequence[Number | _complex]", None),
        ("Device?", "Device?", "DeviceLikeType | None", "_device | None"),
        (
            "Tensor?[]",
            "c10::List<::std::optional<Tensor>>",
            "tuple[Tensor | None, ...] | list[Tensor | None] | None",
            "tuple[Tensor | None, ...]",
        ),
        ("Tensor[2]", "TensorList[2]", "Tensor | tuple[Tensor, ...] | list[Tensor]", None),
    ],
)
def test_types(written: str, parser: str, stub: str, returned: str | None) -> None:
    type = _operator(f"foo({written} x) -> Tensor").func.arguments.flat_all[0].type
    assert parser_type(type, _TORCH.python) == parser
    assert stub_type(type) == stub
    if returned is not None:
        assert stub_return_type(type) == returned


def test_names_of_libraries_operators_mean_nothing() -> None:
    """Protects authors who name an operator `checker_like` or make one without tensors: it takes no dtype."""
    assert _parser("foo::checker_like(Tensor image) -> Tensor") == "checker_like(Tensor image)"
    assert _parser("foo::new_name(Tensor image) -> Tensor") == "new_name(Tensor image)"
    assert _parser("foo::static(int n) -> Tensor") == "static(int64_t n)"
    options = ", ".join(_OPTIONS.split(", ")[:3]) + ", bool? pin_memory=None"
    assert "requires_grad" in _parser(f"foo::ramp(int n, *, {options}) -> Tensor")
