"""The text of stubs: overloads, Python's operators, named results, choices, and which library defines the classes."""

from __future__ import annotations

from pathlib import Path

from support.inputs import aten_inputs
from support.trees import make_tree, write_tree


def _stub(folder: Path, yaml: str, module: str = "__init__", name: str = "aten") -> str:
    """Return the stub of a module in the package generated from `yaml`."""
    (folder / "f.yaml").write_text(yaml)
    tree = make_tree(aten_inputs((folder / "f.yaml",), name=name), python=True)
    return tree.files[f"python/{name}/{module}.pyi"]


def _entries(*schemas: str, variants: str = "function") -> str:
    return "\n".join(f"- func: {schema}\n  variants: {variants}\n" for schema in schemas)


def test_overloads_that_are_never_reached_are_left_out(tmp_path: Path) -> None:
    """Type checkers reject an overload whose calls are all accepted by an earlier one."""
    stub = _stub(
        tmp_path,
        _entries(
            "mul.Tensor(Tensor self, Tensor other) -> Tensor",
            "multiply.Tensor(Tensor self, Tensor other) -> Tensor",
            "multiply.Scalar(Tensor self, Scalar other) -> Tensor",
            "twice.Tensor(Tensor self, Tensor other) -> Tensor",
            "twice.Scalar(Tensor self, Scalar other) -> Tensor",
        ),
    )
    assert stub.count("def multiply(") == 1 and "@overload\ndef multiply" not in stub
    assert "def multiply(input: Tensor | _Number, other: Tensor | _Number) -> Tensor: ..." in stub
    assert stub.count("@overload\ndef twice(") == 2


def test_methods_make_the_operators_of_python(tmp_path: Path) -> None:
    schemas = (
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "matmul(Tensor self, Tensor other) -> Tensor",
        "eq.Scalar(Tensor self, Scalar other) -> Tensor",
        "neg(Tensor self) -> Tensor",
    )
    stub = _stub(tmp_path, _entries(*schemas, variants="method"))
    for line in (
        "    def __add__(self, other: Tensor | _Number, /) -> Tensor: ...\n",
        "    def __radd__(self, other: _Number, /) -> Tensor: ...\n",
        "    def __matmul__(self, other: Tensor, /) -> Tensor: ...\n",
        "    def __eq__(self, other: _Number, /) -> Tensor: ...  # type: ignore[override]\n",
        "    def __neg__(self) -> Tensor: ...\n",
        "    def add(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor: ...\n",
    ):
        assert line in stub
    assert "__mul__" not in stub and "__rmatmul__" not in stub


def test_operators_replace_members_of_the_same_name(tmp_path: Path) -> None:
    """An operator takes the place of a member, function or constant of the same name."""
    yaml = _entries("mine::numel(Tensor self) -> int", variants="method")
    yaml += _entries("mine::half(Tensor x) -> Tensor")
    stub = _stub(tmp_path, yaml, name="mine")
    assert stub.count("def numel(self) -> _int: ...") == 1
    assert "half: dtype" not in stub and "def half(x: Tensor) -> Tensor: ..." in stub


def test_one_list_of_ints_may_be_given_as_several(tmp_path: Path) -> None:
    stub = _stub(tmp_path, _entries("fill(int[] size, *, float x=0.5) -> Tensor"))
    assert "@overload\ndef fill(size: _Ints, *, x: _Float = 0.5) -> Tensor: ..." in stub
    assert (
        "@overload\ndef fill(size0: _Int, /, *size: _Int, x: _Float = 0.5) -> Tensor: ..." in stub
    )


def test_texts_that_are_known_are_literals(tmp_path: Path) -> None:
    """Protects the table of PyTorch's choices, which has no operators of other namespaces."""
    schema = "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"
    assert 'rounding_mode: _Literal["trunc", "floor"] | None' in _stub(tmp_path, _entries(schema))
    stub = _stub(tmp_path, _entries(f"mine::{schema}"), name="mine")
    assert "rounding_mode: _str | None" in stub


def test_named_results_are_classes(tmp_path: Path) -> None:
    """Protects classes with one name and different fields, and results for which no class can exist."""
    yaml = _entries(
        "ends(Tensor self) -> (Tensor low, Tensor high)",
        "ends.int(Tensor self, int n) -> (Tensor first, Tensor last)",
        "hidden(Tensor self) -> (Tensor _a, Tensor b)",
    )
    stub = _stub(tmp_path, yaml)
    assert "def ends(input: Tensor) -> return_types.ends: ..." in stub
    assert "def ends(input: Tensor, n: _Int) -> return_types.ends_1: ..." in stub
    assert "def hidden(input: Tensor) -> tuple[Tensor, Tensor]: ..." in stub
    types = _stub(tmp_path, yaml, "return_types")
    assert "class ends(_NamedTuple):\n    low: Tensor\n    high: Tensor\n" in types
    assert "class ends_1(_NamedTuple):\n    first: Tensor\n    last: Tensor\n" in types


def test_in_place_operators_return_self(tmp_path: Path) -> None:
    entry = "- func: _foreach_zero_(Tensor(a!)[] self) -> ()\n  device_check: NoCheck\n  variants: function\n"
    assert "def _foreach_zero_(self: _Tensors) -> _Tensors: ..." in _stub(tmp_path, entry)


def test_a_library_that_extends_another_has_the_classes_of_that(tmp_path: Path) -> None:
    """Protects tensors that are passed from one library to the other: type checkers see one class."""
    (tmp_path / "base.yaml").write_text(_entries("base::f(Tensor x) -> Tensor"))
    base = write_tree(
        make_tree(aten_inputs((tmp_path / "base.yaml",)), python=True), tmp_path / "base"
    )
    (tmp_path / "more.yaml").write_text(
        _entries("more::g(Tensor self, int[2] n) -> (Tensor a, Tensor b)", variants="method")
    )
    inputs = aten_inputs((tmp_path / "more.yaml",), extends=base / "opgen_manifest.json")
    stub = make_tree(inputs, python=True).files["python/more/__init__.pyi"]
    assert "class " not in stub and "from base import (\n" in stub
    assert "    Tensor as Tensor,\n" in stub and "    _Ints as _Ints,\n" in stub
    assert "def g(input: Tensor, n: _Int | _Ints) -> return_types.g: ..." in stub
