"""The C++ signatures of an operator: order of arguments, names, defaults."""

from __future__ import annotations

from operators import OPTIONS, SPELLING, operator

from opgen.cpp import signatures
from opgen.cpp.names import kernel_namespace, meta_namespace, return_names
from opgen.cpp.signatures import (
    Signatures,
    parameters,
)
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.model.registry import NativeFunctionsGroup
from support.inputs import registry_of


def public(f: NativeFunction, *, method: bool = False) -> list[str]:
    return [s.decl(SPELLING) for s in Signatures().cpp(f, method=method)]


def test_outs_come_first_in_the_plain_form_and_last_in_the_faithful_one() -> None:
    f = operator("foo.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)")
    assert public(f) == [
        "at::Tensor& foo_out(at::Tensor& out, const at::Tensor& self, int64_t n = 1)",
        "at::Tensor& foo_outf(const at::Tensor& self, int64_t n, at::Tensor& out)",
    ]


def test_tensor_options_are_one_parameter_in_the_plain_form() -> None:
    f = operator(f"foo(int n, *, {OPTIONS}) -> Tensor", "dispatch:", "  CPU: foo")
    assert public(f) == [
        "at::Tensor foo(int64_t n, at::TensorOptions options = {})",
        "at::Tensor foo(int64_t n, ::std::optional<at::ScalarType> dtype,"
        " ::std::optional<at::Layout> layout, ::std::optional<at::Device> device,"
        " ::std::optional<bool> pin_memory)",
    ]


def test_options_take_the_default_long() -> None:
    options = OPTIONS.replace("dtype=None", "dtype=long")
    f = operator(f"foo(int n, *, {options}) -> Tensor", "dispatch:", "  CPU: foo")
    assert public(f)[0] == "at::Tensor foo(int64_t n, at::TensorOptions options = at::kLong)"


def test_symbolic_sizes_add_signatures_with_a_suffix_before_that_of_out() -> None:
    f = operator("foo.out(SymInt[2] size=0, *, Tensor(a!) out) -> Tensor(a!)")
    assert public(f) == [
        "at::Tensor& foo_out(at::Tensor& out, at::IntArrayRef size = 0)",
        "at::Tensor& foo_outf(at::IntArrayRef size, at::Tensor& out)",
        "at::Tensor& foo_symint_out(at::Tensor& out, c10::SymIntArrayRef size = c10::SymInt(0))",
        "at::Tensor& foo_symint_outf(c10::SymIntArrayRef size, at::Tensor& out)",
    ]


def test_a_method_has_no_self() -> None:
    f = operator("foo(int n, Tensor self, int m) -> Tensor", "variants: method")
    assert public(f, method=True) == ["at::Tensor foo(int64_t n, int64_t m)"]


def test_defaults_that_would_make_overloads_ambiguous_are_left_out_for_callers_only() -> None:
    f = operator("foo(Tensor self, int n=1, int m=2) -> Tensor", "cpp_no_default_args: ['n']")
    assert public(f) == ["at::Tensor foo(const at::Tensor& self, int64_t n, int64_t m = 2)"]
    native = Signatures().native(f, symint=False).decl(SPELLING, name="k")
    assert native == "at::Tensor k(const at::Tensor& self, int64_t n = 1, int64_t m = 2)"


def test_operators_that_share_their_arguments_have_the_signatures_that_they_have_alone() -> None:
    """Parameters are cached; the cache key must contain the arguments and everything else in the entry that changes
    them.
    """
    arguments = "(Tensor(a!) self, SymInt n=1, Tensor[] l=[], bool? b=None) -> Tensor(a!)"
    operators = (
        operator(f"a_{arguments}", "variants: function, method"),
        operator(f"b_{arguments}", "cpp_no_default_args: ['n', 'b']"),
        operator(f"c_{arguments}", "use_const_ref_for_mutable_tensors: True"),
        operator(f"d_{arguments}", "structured_delegate: d.out"),
        operator(f"e_{arguments}", "cpp_no_default_args: ['b']", "variants: function, method"),
    )
    together = Signatures()
    for f in (*operators, *operators[::-1]):
        for method in (False, True):
            shared = together.cpp(f, method=method)
            assert [s.decl(SPELLING) for s in shared] == public(f, method=method)
        alone = Signatures().dispatcher(f).decl(SPELLING)
        assert together.dispatcher(f).decl(SPELLING) == alone
        for symint in (False, True):
            kernel = Signatures().native(f, symint=symint).decl(SPELLING)
            assert together.native(f, symint=symint).decl(SPELLING) == kernel
    assert len({together.cpp(f, method=False)[0].arguments for f in operators}) == 5


def test_manual_bindings_get_a_prefix() -> None:
    f = operator("foo(Tensor self) -> Tensor", "manual_cpp_binding: True")
    assert public(f) == ["at::Tensor __dispatch_foo(const at::Tensor& self)"]


def test_the_dispatcher_takes_the_schema_order_without_defaults() -> None:
    f = operator("foo.out(Tensor self, SymInt n=1, *, Tensor(a!) out) -> Tensor(a!)")
    assert Signatures().dispatcher(f).decl(SPELLING) == (
        "at::Tensor& foo_out(const at::Tensor& self, c10::SymInt n, at::Tensor& out)"
    )


def test_kernels_always_take_optional_tensor_options() -> None:
    f = operator(
        "foo(int n, *, ScalarType dtype, Layout layout, Device device, bool pin_memory) -> Tensor",
        *("dispatch:", "  CPU: foo"),
    )
    assert Signatures().native(f, symint=False).decl(SPELLING, name="k") == (
        "at::Tensor k(int64_t n, ::std::optional<at::ScalarType> dtype = {},"
        " ::std::optional<at::Layout> layout = {}, ::std::optional<at::Device> device = {},"
        " ::std::optional<bool> pin_memory = {})"
    )


def test_kernels_of_out_variants_have_no_defaults() -> None:
    f = operator("foo.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)")
    assert Signatures().native(f, symint=False).decl(SPELLING) == (
        "at::Tensor& foo_out_out(const at::Tensor& self, int64_t n, at::Tensor& out)"
    )


def test_namespaces_follow_the_schema() -> None:
    """Kernels of custom operators are not put into at::native, where they would collide with libtorch's."""
    assert operator_namespace("aten") == "at"
    assert operator_namespace("custom") == "custom"
    assert meta_namespace("custom") == "custom::meta"
    assert kernel_namespace("aten", None) == "at::native"
    assert kernel_namespace("custom", None) == "custom::native"
    assert kernel_namespace("aten", "other::ns") == "other::ns::native"


def test_names_of_returns() -> None:
    assert return_names(operator("foo_(Tensor(a!) self) -> Tensor(a!)")) == ("self",)
    assert return_names(operator("foo(Tensor self) -> Tensor")) == ("result",)
    assert return_names(operator("foo(Tensor self) -> (Tensor, Tensor)")) == ("result0", "result1")
    named = operator("foo(Tensor self, Tensor x) -> (Tensor x, Tensor y)")
    assert return_names(named) == ("x_return", "y")
    out = operator("foo.out(Tensor self, *, Tensor(a!) values) -> Tensor(a!)")
    assert return_names(out) == ("values",)


def structured_group(precomputed: str = "") -> NativeFunctionsGroup:
    registry = registry_of(
        "- func: foo(Tensor self, int dim, Tensor? w) -> Tensor\n"
        "  structured_delegate: foo.out\n"
        "- func: foo.out(Tensor self, int dim, Tensor? w, *, Tensor(a!) out) -> Tensor(a!)\n"
        f"  structured: True\n{precomputed}  dispatch:\n    CPU: foo_out\n"
    )
    (group,) = registry.groups
    return group


def test_structured_kernels_take_outs_last_and_const() -> None:
    group = structured_group()
    assert signatures.struct_name(group) == "structured_foo"
    assert parameters(signatures.meta_arguments(group), SPELLING) == (
        "const at::Tensor& self, int64_t dim, at::OptionalTensorRef w"
    )
    assert parameters(signatures.impl_arguments(group), SPELLING) == (
        "const at::Tensor& self, int64_t dim, at::OptionalTensorRef w, const at::Tensor& out"
    )


def test_precomputed_values_replace_the_argument_and_additions_precede_outs() -> None:
    group = structured_group("  precomputed:\n  - dim -> int d, Tensor t\n  - int n\n")
    assert parameters(signatures.impl_arguments(group), SPELLING) == (
        "const at::Tensor& self, int64_t d, const at::Tensor& t, at::OptionalTensorRef w,"
        " int64_t n, const at::Tensor& out"
    )
    members = parameters(signatures.precomputed_elements(group), SPELLING)
    assert members == "int64_t d, at::Tensor t, int64_t n"
