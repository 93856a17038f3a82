"""`--target torch-stable`: what is generated for it, and what is rejected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Opgen

from support.build import REPOSITORY

CUSTOM = """\
- func: custom::plus(Tensor self, Tensor other) -> Tensor
  structured_delegate: plus.out

- func: custom::plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: plus_out_cpu

- func: custom::scaled(Tensor self, Scalar by) -> Tensor
  dispatch:
    CPU: scaled_cpu
    Meta: scaled_meta
"""
FOO = "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"


@pytest.fixture
def tree(opgen: Opgen) -> Path:
    Path("custom.yaml").write_text(CUSTOM)
    given = ("custom.yaml", "--target", "torch-stable", "--python", "--torch", "2.12", "-o", "out")
    result = opgen("generate", *given)
    assert result.exit_code == 0, result.output
    assert "warning[W1305]: 'scaled' is called through Python" in result.stderr
    return Path("out")


def test_no_source_includes_a_header_of_pytorch(tree: Path) -> None:
    """Protects the library from declarations that change from release to release."""
    texts = {path: path.read_text() for path in [*tree.rglob("*.h"), *tree.rglob("*.cpp")]}
    assert len(texts) > 10
    for path, text in texts.items():
        assert "<ATen/" not in text and "<c10/" not in text and "<torch/" not in text, path
        assert "at::" not in text and "c10::" not in text, path


def test_kernels_and_schemas_are_rows_of_tables(tree: Path) -> None:
    kernels = (tree / "src/RegisterCPU.cpp").read_text()
    assert "opgen::kernel<custom::_ops::plus, custom::cpu::opgen_kernel_plus.function>()" in kernels
    assert '"custom", "CPU"' in " ".join(kernels.split())
    schemas = (tree / "src/RegisterSchema.cpp").read_text()
    assert "opgen_scalar_scaled(Tensor self, SymInt[] by) -> Tensor" in schemas


def test_the_oldest_release_is_in_the_build_file_and_the_manifest(tree: Path) -> None:
    assert "TORCH 2.12" in (tree / "CMakeLists.txt").read_text()
    manifest = json.loads((tree / "opgen_manifest.json").read_text())
    assert manifest["target"] == "torch-stable" and manifest["tensor"] == ""
    assert manifest["options"]["torch"] == "2.12"


def test_python_registers_what_the_library_cannot(tree: Path) -> None:
    """Protects tracing: fakes that call the library's meta functions, functionalization, numbers."""
    text = (tree / "python/custom/_operators.py").read_text()
    assert '"custom::plus"' in text and "_fakes.register" in text
    assert "_functional.replace(" in text and "_numbers.register" in text
    for path in tree.glob("python/custom/*.py"):
        compile(path.read_text(), str(path), "exec")


RELEASES = (
    ("2.9", "E1301", "'2.9' is not a release that torch-stable supports"),
    ("two", "E1301", "'two' is not a release that torch-stable supports"),
    ("3.1", "E1301", "'3.1' is not a release that torch-stable supports"),
)


@pytest.mark.parametrize(("release", "code", "words"), RELEASES, ids=[row[0] for row in RELEASES])
def test_a_release_that_it_cannot_serve(opgen: Opgen, release: str, code: str, words: str) -> None:
    Path("custom.yaml").write_text(FOO)
    given = ("custom.yaml", "--target", "torch-stable", "--torch", release)
    for command in (("lint", *given), ("generate", *given, "-o", "out")):
        result = opgen(*command)
        assert result.exit_code == 1 and f"error[{code}]: {words}" in result.stderr
        assert "2.10" in result.stderr and not Path("out").exists()


def test_other_targets_serve_one_release(opgen: Opgen) -> None:
    Path("custom.yaml").write_text(FOO)
    result = opgen("generate", "custom.yaml", "--target", "torch", "--torch", "2.12", "-o", "out")
    assert result.exit_code == 1 and "error[E0910]" in result.stderr


def test_formulas_without_a_package_are_an_error(opgen: Opgen) -> None:
    """Protects gradients: without this error they would be zero."""
    Path("custom.yaml").write_text(FOO)
    Path("derivatives.yaml").write_text("- name: custom::foo\n  self: grad\n")
    given = ("custom.yaml", "--target", "torch-stable")
    assert opgen("lint", *given).exit_code == 0
    result = opgen("generate", *given, "-o", "out")
    assert result.exit_code == 1 and not Path("out").exists()
    assert "error[E1309]" in result.stderr and "derivatives.yaml:1:9" in result.stderr
    assert "--python" in result.stderr


def test_the_modules_of_every_package_are_copied(tree: Path) -> None:
    modules = sorted(REPOSITORY.glob("runtime/torch_stable/package/*.py"))
    assert len(modules) > 5
    for path in modules:
        assert (tree / "python/custom" / path.name).read_bytes() == path.read_bytes()


def test_formulas_are_python(opgen: Opgen) -> None:
    """Protects the module of formulas, and that operators without one are registered as errors."""
    Path("custom.yaml").write_text(CUSTOM + FOO)
    Path("derivatives.yaml").write_text(
        "- name: custom::plus\n  self: grad\n  other: grad * 1.5f\n"
        "- name: custom::scaled\n  self: grad * by\n"
    )
    given = ("custom.yaml", "--target", "torch-stable", "--python")
    assert opgen("lint", *given).exit_code == 0
    result = opgen("generate", *given, "-o", "out")
    assert result.exit_code == 0, result.output
    formulas = Path("out/python/custom/_formulas.py").read_text()
    compile(formulas, "_formulas.py", "exec")
    assert "call.give(1, (grad * 1.5))" in formulas
    registered = Path("out/python/custom/_operators.py").read_text()
    assert "_formulas.Node_custom_plus," in registered
    for function, name in (("refuse", "custom::foo"), ("refuse_out", "custom::plus.out")):
        _, _, after = registered.partition(f"_gradients.{function}(")
        assert name in after.partition("_gradients.")[0]


REFUSED = (
    ("self: '[&] { return grad; }()'", "'[' cannot be written in Python", ":2:10"),
    ("self: grad * own_function(grad)", "'own_function' is a C++ function of a header", ":3:16"),
    ("self: grad * self.options()", "'options' cannot be written in Python", ":2:9"),
    ("dispatch:\n    AutogradCUDA:\n      self: grad", "no formulas for AutogradCUDA", ""),
)


@pytest.mark.parametrize(("formula", "words", "place"), REFUSED, ids=[r[1] for r in REFUSED])
def test_formulas_that_python_cannot_compute(
    opgen: Opgen, formula: str, words: str, place: str
) -> None:
    Path("custom.yaml").write_text(FOO)
    header = ""
    if "own_function" in formula:
        Path("own.h").write_text("namespace custom { Tensor own_function(const Tensor& x); }\n")
        header = "- {namespace: custom, include: own.h}\n"
    Path("derivatives.yaml").write_text(f"{header}- name: custom::foo\n  {formula}\n")
    given = ("custom.yaml", "--target", "torch-stable", "--python")
    for command in (("lint", *given), ("generate", *given, "-o", "out")):
        result = opgen(*command)
        assert result.exit_code == 1, result.output
        assert "error[E1309]" in result.stderr and words in result.stderr, result.stderr
        assert f"derivatives.yaml{place}" in result.stderr, result.stderr
        assert not Path("out").exists()


def test_parts_that_only_other_targets_have(opgen: Opgen) -> None:
    Path("custom.yaml").write_text(FOO)
    Path("other.json").write_text('{"name": "o", "tensor": "o::Tensor", "operators": {}}')
    given = ("generate", "custom.yaml", "--target", "torch-stable", "-o", "out")
    result = opgen(*given, "--extends", "other.json")
    assert result.exit_code == 1 and "error[E0910]: target torch-stable has no" in result.stderr
    Path("backend.yaml").write_text("backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- foo\n")
    result = opgen(*given, "--backend-yaml", "backend.yaml")
    assert result.exit_code == 1 and "error[E0813]" in result.stderr and not Path("out").exists()
