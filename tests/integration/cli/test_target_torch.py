"""`--target torch`: what is generated for it, and what is rejected."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import Opgen

CUSTOM = """\
- func: custom::plus(Tensor self, Tensor other) -> Tensor
  variants: function, method
  structured_delegate: plus.out
  tags: core

- func: custom::plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: plus_out_cpu

- func: custom::grown(Tensor self, SymInt[2] size) -> Tensor
  dispatch:
    CPU: grown_cpu
  autogen: grown.out
"""


def one_line(path: Path) -> str:
    """Return a generated source without its line ends, whose places depend on the lengths of names."""
    return " ".join(path.read_text().split())


@pytest.fixture
def tree(opgen: Opgen) -> Path:
    Path("custom.yaml").write_text(CUSTOM)
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.output
    return Path("out")


def test_pytorchs_own_parts_are_not_generated(tree: Path) -> None:
    """No class Tensor, slots or tables of the runtime: the dispatcher is PyTorch's."""
    paths = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert {"src/RegisterCPU.cpp", "src/RegisterSchema.cpp", "stubs/MetaStubs.cpp"} <= paths
    assert not [p for p in paths if "TensorBody" in p or "TensorMethods" in p or "python" in p]
    for path in paths:
        text = (tree / path).read_text()
        assert "OperatorSlot" not in text and "KernelTable" not in text, path
    manifest = json.loads((tree / "opgen_manifest.json").read_text())
    assert manifest["target"] == "torch" and manifest["tensor"] == ""


def test_schemas_have_their_tags(tree: Path) -> None:
    text = (tree / "src/RegisterSchema.cpp").read_text()
    assert "OPGEN_LIBRARY(custom, m) {" in text
    assert "m.def(custom::_ops::plus::schema_str, {at::Tag::core});" in text
    # Without its tag `out`: see opgen.targets.base.
    assert "plus_out::schema_str, {}" in text
    assert "grown_out::schema_str, {at::Tag::generated}" in text


def test_kernels_are_registered_under_their_overloads(tree: Path) -> None:
    text = (tree / "src/RegisterCPU.cpp").read_text()
    assert "OPGEN_LIBRARY_IMPL(custom, CPU, m) {" in text
    for operator in ("plus", "plus.out", "grown"):
        assert f'"{operator}",' in text
    composite = (tree / "src/RegisterCompositeExplicitAutograd.cpp").read_text()
    assert '"grown.out",' in composite


def test_sizes_are_numbers_or_symbols(tree: Path) -> None:
    """Protects the second C++ signature of operators with a SymInt."""
    text = (tree / "include/custom/ops/grown.h").read_text()
    assert "grown(const at::Tensor& self, at::IntArrayRef size)" in text
    assert "grown_symint(const at::Tensor& self, c10::SymIntArrayRef size)" in text


def test_a_method_is_a_function_and_a_warning(opgen: Opgen) -> None:
    Path("custom.yaml").write_text(CUSTOM)
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert "warning[W1001]: 'plus' cannot be a method" in result.stderr
    assert "custom.yaml:2" in result.stderr
    assert " plus(const at::Tensor& self" in Path("out/include/custom/ops/plus.h").read_text()


REFUSED = (
    ("E0753", "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n", "1:9"),
    (
        "E0754",
        "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  structured_inherits: TensorIteratorBase\n"
        "  ufunc_inner_loop:\n    Generic: foo (AllAndComplex)\n\n"
        "- func: custom::foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n",
        "4:3",
    ),
    (
        "E0755",
        "- func: custom::foo(Tensor self) -> Tensor\n  tags: mine\n  dispatch:\n    CPU: foo_cpu\n",
        "2:9",
    ),
)


@pytest.mark.parametrize(("code", "yaml", "where"), REFUSED, ids=[row[0] for row in REFUSED])
def test_it_is_rejected_and_nothing_is_written(
    opgen: Opgen, code: str, yaml: str, where: str
) -> None:
    Path("tags.yaml").write_text("- tag: mine\n  desc: of this library\n")
    Path("bad.yaml").write_text(yaml)
    result = opgen("generate", "bad.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 1 and not Path("out").exists()
    assert f"error[{code}]" in result.stderr and f"bad.yaml:{where}" in result.stderr
    linted = opgen("lint", "bad.yaml", "--target", "torch")
    assert linted.exit_code == 1 and f"error[{code}]" in linted.stderr
    namespaced = yaml.replace("func: foo", "func: custom::foo")
    Path("bad.yaml").write_text(namespaced)
    assert (
        opgen("generate", "bad.yaml", "-o", "out").exit_code == 0
    ), "the runtime accepts all of it"


OPTIONS = (("--extends", "other.json"),)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option[0])
def test_options_of_the_runtime_are_rejected(opgen: Opgen, option: tuple[str, ...]) -> None:
    Path("custom.yaml").write_text(CUSTOM)
    Path("other.json").write_text('{"name": "o", "tensor": "o::Tensor", "operators": {}}')
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out", *option)
    assert result.exit_code == 1 and not Path("out").exists()
    assert "error[E0910]: target torch has no" in result.stderr
    assert f"leave out {option[0]}" in result.stderr


def test_a_selective_build(opgen: Opgen) -> None:
    """Protects the size of the library: operators that are not selected are in no table and no source, and calling
    them raises an error.
    """
    Path("custom.yaml").write_text(CUSTOM)
    Path("few.yaml").write_text(
        "operators:\n  custom::grown: {}\nkernel_metadata:\n  grown: [Half]\n"
    )
    given = ("custom.yaml", "--target", "torch", "--select", "few.yaml")
    result = opgen("generate", *given, "-o", "out")
    assert result.exit_code == 0, result.output
    for source in (*Path("out/src").iterdir(), *Path("out/stubs").iterdir()):
        lines = source.read_text().splitlines()
        assert not [line for line in lines if "plus" in line and "#include" not in line], source
    assert "m.def(custom::_ops::grown::schema_str" in Path("out/src/RegisterSchema.cpp").read_text()
    left_out = Path("out/include/custom/ops/plus_ops.h").read_text()
    assert "struct plus : opgen::NotSelected<plus, " in left_out
    assert "opgen::Operator<grown, " in Path("out/include/custom/ops/grown_ops.h").read_text()
    assert "opgen::ScalarType::Half" in Path("out/include/custom/SelectedDtypes.h").read_text()


def test_a_fragment_shares_its_namespace(opgen: Opgen) -> None:
    """Protects several libraries that share a namespace: none of the fragments claims it."""
    Path("part.yaml").write_text(
        "- namespace: custom\n  fragment: True\n- func: part(Tensor self) -> Tensor\n  dispatch:\n    CPU: part_cpu\n"
    )
    command = ("generate", "part.yaml", "--target", "torch", "-o", "fragment")
    assert opgen(*command).exit_code == 0
    assert (
        "OPGEN_LIBRARY_FRAGMENT(custom, m) {" in Path("fragment/src/RegisterSchema.cpp").read_text()
    )
    Path("part.yaml").write_text(Path("part.yaml").read_text().replace("True", "1"))
    result = opgen(*command)
    assert result.exit_code == 1 and "error[E0252]: 'fragment' takes true or false" in result.stderr


def test_the_module_of_fakes_is_registered(opgen: Opgen) -> None:
    """Protects fakes that the author registers: PyTorch names their module if they are missing."""
    header = "- namespace: custom\n  fake_module: custom.fakes\n"
    Path("part.yaml").write_text(
        f"{header}- func: part(Tensor self) -> Tensor\n  dispatch:\n    CPU: part_cpu\n"
        "- func: faked(Tensor self) -> Tensor\n  dispatch:\n    CPU: faked_cpu\n  fake: self\n"
        "- func: other(Tensor self) -> Tensor\n  dispatch:\n    CPU: other_cpu\n  fake_module: more.fakes\n"
    )
    own, of_entry, of_package = (
        '"custom.fakes", ""',
        '"more.fakes", ""',
        '"custom", "it registers the fake"',
    )
    for more, modules in (((), [own, of_entry]), (("--python",), [own, of_package, of_entry])):
        tree = f"tree{len(more)}"
        assert opgen("generate", "part.yaml", "--target", "torch", "-o", tree, *more).exit_code == 0
        text = Path(tree, "src/RegisterSchema.cpp").read_text()
        assert re.findall(r"set_python_module\((.*)\);", text) == modules


def test_writing_operators_get_functional_twins(tree: Path) -> None:
    """Protects torch.compile: otherwise PyTorch rejects custom operators that return what they write."""
    text = one_line(tree / "src/RegisterFunctionalize.cpp")
    assert "OPGEN_LIBRARY_IMPL(custom, Functionalize, m) {" in text
    assert '"plus.out",' in text and '"grown.out",' in text and '"plus",' not in text
    arguments = "custom::_ops::plus_out, custom::_ops::plus, 0, ::std::index_sequence<0, 1>"
    third = "::std::index_sequence<2>"
    assert f"using opgen_plus_out = opgen::Functionalize<{arguments}, {third}, {third}>;" in text
    assert "opgen::kernel<custom::_ops::plus_out, &opgen_plus_out::call>()" in text


def test_views_are_replaced_and_tracked(opgen: Opgen) -> None:
    """Protects writes to views: functionalization and autograd know which tensor a view belongs to."""
    Path("custom.yaml").write_text(
        "- func: custom::line(Tensor(a) self, SymInt at) -> Tensor(a)\n"
        "  dispatch:\n    CompositeExplicitAutograd: line\n\n"
        "- func: custom::line_copy(Tensor self, SymInt at) -> Tensor\n"
        "  dispatch:\n    CompositeExplicitAutogradNonFunctional: line_copy\n"
        "  tags: view_copy\n  autogen: line_copy.out\n"
    )
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.output
    text = one_line(Path("out/src/RegisterFunctionalize.cpp"))
    view = "opgen::FunctionalizeView<custom::_ops::line, custom::_ops::line_copy>"
    assert f"using opgen_line = {view};" in text
    assert "opgen::kernel<custom::_ops::line, &opgen_line::call>()" in text
    text = Path("out/src/RegisterAutograd.cpp").read_text()
    assert 'm.impl("line", opgen::tracked_view<custom::_ops::line>());' in text


def test_several_views_are_tracked(opgen: Opgen) -> None:
    """Protects writes to one of several views: autograd knows that they are views, and which results are."""
    kernel = "  dispatch:\n    CompositeExplicitAutograd: own\n"
    Path("custom.yaml").write_text(
        f"- func: custom::halves(Tensor(a) self) -> (Tensor(a), Tensor(a))\n{kernel}\n"
        f"- func: custom::counted(Tensor(a) self) -> (Tensor, Tensor(a))\n{kernel}"
    )
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.output
    text = Path("out/src/RegisterAutograd.cpp").read_text()
    assert 'm.impl("halves", opgen::tracked_view<custom::_ops::halves, 0, 1>());' in text
    assert 'm.impl("counted", opgen::tracked_view<custom::_ops::counted, 1>());' in text


def test_a_factory_that_writes_is_replaced(opgen: Opgen) -> None:
    """Protects the options of the functional factory: they are those of the written argument."""
    options = (
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    )
    Path("custom.yaml").write_text(
        f"- func: custom::made(int n, *, {options}) -> Tensor\n"
        "  dispatch:\n    CompositeExplicitAutograd: made\n\n"
        "- func: custom::made.out(int n, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CompositeExplicitAutograd: made_out\n"
    )
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.output
    text = one_line(Path("out/src/RegisterFunctionalize.cpp"))
    given = "0, opgen::kDtypeOfOut, opgen::kLayoutOfOut, opgen::kDeviceOfOut, opgen::kPinnedOfOut"
    assert f"custom::_ops::made, 0, ::std::index_sequence<{given}>" in text


def test_gradients_without_a_formula_are_rejected(opgen: Opgen) -> None:
    Path("custom.yaml").write_text(
        CUSTOM + "\n- func: custom::made_of_others(Tensor self) -> Tensor\n"
    )
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.output
    text = Path("out/src/RegisterAutograd.cpp").read_text()
    # The key Autograd is left to torch.library.register_autograd, for operators that it supports.
    autograd, above = text.split("OPGEN_LIBRARY_IMPL(custom, ADInplaceOrView, m) {")
    assert 'm.impl("plus",' not in autograd
    boxed = 'm.impl("plus", torch::CppFunction::makeFromBoxedFunction<&opgen::refuse_gradients>());'
    assert boxed in above
    boxed = 'm.impl("plus.out", torch::CppFunction::makeFromBoxedFunction<&opgen::'
    assert f"{boxed}count_writes>());" in text
    assert f"{boxed}autograd_of_out>());" in text
    assert '"made_of_others"' not in text


def test_a_factory_has_no_kernel_for_autograd(opgen: Opgen) -> None:
    """Protects the time of its calls: none of its arguments has a gradient, so no boxed kernel looks for one."""
    options = (
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    )
    Path("custom.yaml").write_text(
        f"- func: custom::made(int n, *, {options}) -> Tensor\n  dispatch:\n    CPU: made\n\n"
        "- func: custom::of_a_dict(Dict(str, Tensor) of) -> Tensor\n  dispatch:\n    CPU: of_a_dict\n"
    )
    result = opgen("generate", "custom.yaml", "--target", "torch", "-o", "out")
    assert result.exit_code == 0, result.output
    text = Path("out/src/RegisterAutograd.cpp").read_text()
    assert '"made"' not in text
    assert '"of_a_dict"' in text


def test_a_package_names_the_functions_that_pytorch_has(opgen: Opgen) -> None:
    """Protects `--python`: the package has names and a stub in addition to the library, and no extension module."""
    Path("custom.yaml").write_text(CUSTOM)
    command = ("generate", "custom.yaml", "--target", "torch", "-o", "out", "--python")
    assert opgen(*command).exit_code == 0
    folder = Path("out/python")
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {
        f"custom/{name}"
        for name in ("__init__.py", "__init__.pyi", "_loading.py", "_signatures.py", "py.typed")
    }
    names = "    grown=_torch.ops.custom.grown,\n    plus=_torch.ops.custom.plus,\n"
    assert names in (folder / "custom/__init__.py").read_text()
    stub = (folder / "custom/__init__.pyi").read_text()
    plus = "class _Op_plus(_OpOverloadPacket):\n    @_type_check_only\n    class _Overload_default(_OpOverload):\n"
    call = "def __call__(_self, /, self: _Tensor, other: _Tensor) -> _Tensor: ...\n"
    assert f"{plus}        {call}\n" in stub and f"    @_overload\n    {call}" in stub
    assert "    default: _Overload_default\n" in stub and "\nplus: _Op_plus\n" in stub
    assert "    size: _Sequence[_int | _SymInt],\n" in stub
    assert opgen("check", *command[1:]).exit_code == 0
    assert "opgen_add_torch_python_package(custom " in Path("out/CMakeLists.txt").read_text()


def test_operators_of_other_namespaces_stay_where_they_are(opgen: Opgen) -> None:
    entry = "- func: {0}(Tensor self) -> Tensor\n  dispatch:\n    CPU: k_cpu\n"
    Path("two.yaml").write_text(entry.format("custom::foo") + entry.format("other::bar"))
    command = ("generate", "two.yaml", "--target", "torch", "-o", "out", "--python")
    assert opgen(*command, "--name", "custom").exit_code == 0
    text = Path("out/python/custom/__init__.py").read_text()
    assert "    foo=_torch.ops.custom.foo,\n" in text and "    torch.ops.other\n" in text
    compile(text, "custom", "exec")


def test_structured_kernels_for_cuda_check_devices(opgen: Opgen) -> None:
    """Protects the checks that ATen's wrappers make: first outs, then positional arguments, unless an entry disables
    them.
    """
    unchecked = CUSTOM.replace("tags: core", "device_check: NoCheck").replace(
        "CPU: plus_out_cpu", "CPU, CUDA: plus_out"
    )
    Path("custom.yaml").write_text(unchecked)
    assert opgen("generate", "custom.yaml", "--target", "torch", "-o", "out").exit_code == 0
    text = one_line(Path("out/src/RegisterCUDA.cpp"))
    assert "#include <opgen/cuda.h>" in text
    out = "opgen::Out<opgen::DispatchKey::CUDA, custom::native::structured_plus_out, custom::_ops::plus_out>"
    positions = "::std::index_sequence<2, 0, 1>"
    assert f"opgen::DeviceChecked<custom::_ops::plus_out, &{out}::call, {positions}>::call" in text
    assert "DeviceChecked<custom::_ops::plus," not in text
    cpu = Path("out/src/RegisterCPU.cpp").read_text()
    assert "DeviceChecked" not in cpu and "cuda" not in cpu
