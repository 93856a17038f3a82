"""One structured entry that asks for its other variants stands for the entries that could be written in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_human
from opgen.emit.reports.dump import dump_rows
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import read_registry
from opgen.targets import TARGETS
from support.trees import make_tree

_POINTWISE = (
    """\
# Add two tensors.
- func: my::foo(Tensor self, Tensor other) -> Tensor
  variants: function, method
  structured: True
  structured_inherits: TensorIteratorBase
  autogen: foo.out, foo_
  dispatch:
    CPU: foo_cpu
    CUDA: foo_cuda
  tags: pointwise
""",
    """\
# Add two tensors.
- func: my::foo(Tensor self, Tensor other) -> Tensor
  variants: function, method
  structured_delegate: foo.out
  tags: pointwise

- func: my::foo_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  variants: function, method
  structured_delegate: foo.out
  tags: pointwise

- func: my::foo.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: foo_cpu
    CUDA: foo_cuda
  tags: pointwise
""",
)
# With an overload, keyword arguments, defaults, and rows that are the functional operator's own.
_OVERLOAD = (
    """\
- func: my::foo.Scalar(Tensor self, Scalar other=2, *, int[2] size=[1, 1], str? mode=None) -> Tensor
  autogen: foo_.Scalar, foo.Scalar_out
  structured: True
  device_check: NoCheck
  precomputed:
  - size -> int rows, int columns
  - float scale
  dispatch:
    CPU: foo_cpu
    AutogradCPU: foo_autograd
    SparseCPU: foo_sparse
""",
    """\
- func: my::foo.Scalar(Tensor self, Scalar other=2, *, int[2] size=[1, 1], str? mode=None) -> Tensor
  structured_delegate: foo.Scalar_out
  device_check: NoCheck
  dispatch:
    AutogradCPU: foo_autograd
    SparseCPU: foo_sparse

- func: my::foo_.Scalar(Tensor(a!) self, Scalar other=2, *, int[2] size=[1, 1], str? mode=None) -> Tensor(a!)
  structured_delegate: foo.Scalar_out
  device_check: NoCheck

- func: my::foo.Scalar_out(Tensor self, Scalar other=2, *, int[2] size=[1, 1], str? mode=None, Tensor(a!) out) -> Tensor(a!)
  structured: True
  device_check: NoCheck
  precomputed:
  - size -> int rows, int columns
  - float scale
  dispatch:
    CPU: foo_cpu
""",
)
# Several outputs, in a file with a header, and names of arguments and returns.
_OUTPUTS = (
    """\
- namespace: my

- func: foo(Tensor x, int dim, *, bool keep=False) -> (Tensor values, Tensor indices)
  structured: True
  autogen: foo.out
  dispatch:
    CPU: foo_cpu
""",
    """\
- namespace: my

- func: foo(Tensor x, int dim, *, bool keep=False) -> (Tensor values, Tensor indices)
  structured_delegate: foo.out

- func: foo.out(Tensor x, int dim, *, bool keep=False, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))
  structured: True
  dispatch:
    CPU: foo_cpu
""",
)
# A second operator of the same name, and an in-place variant in an entry of its own.
_BESIDE = (
    """\
- func: my::foo(Tensor self) -> Tensor
  structured: True
  autogen: foo.out
  dispatch:
    CPU: foo_cpu

- func: my::foo_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: foo.out

- func: my::foo.Tensor(Tensor self, Tensor x) -> Tensor
  structured: True
  autogen: foo_.Tensor, foo.Tensor_out
  dispatch:
    CPU: foo_tensor_cpu
""",
    """\
- func: my::foo(Tensor self) -> Tensor
  structured_delegate: foo.out

- func: my::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_cpu

- func: my::foo_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: foo.out

- func: my::foo.Tensor(Tensor self, Tensor x) -> Tensor
  structured_delegate: foo.Tensor_out

- func: my::foo_.Tensor(Tensor(a!) self, Tensor x) -> Tensor(a!)
  structured_delegate: foo.Tensor_out

- func: my::foo.Tensor_out(Tensor self, Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_tensor_cpu
""",
)
_UFUNC = (
    """\
- func: my::foo(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured: True
  structured_inherits: TensorIteratorBase
  ufunc_inner_loop: foo (AllAndComplex)
  autogen: foo.out, foo_
""",
    """\
- func: my::foo(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: foo.out

- func: my::foo_(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: foo.out

- func: my::foo.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  ufunc_inner_loop: foo (AllAndComplex)
""",
)
_FORMS = {
    "pointwise": _POINTWISE,
    "overload": _OVERLOAD,
    "outputs": _OUTPUTS,
    "beside": _BESIDE,
    "ufunc": _UFUNC,
}
# PyTorch's targets have no ufuncs.
_CASES = [(name, t) for name in _FORMS for t in TARGETS if name != "ufunc" or t == "runtime"]
_FORMULAS = """\
- name: my::foo(Tensor self, Tensor other) -> Tensor
  self: grad
  other: grad
  result: auto_linear
"""


def _inputs(folder: Path, text: str, target: str = "runtime", **options: object) -> Inputs:
    folder.mkdir(exist_ok=True)
    (folder / "ops.yaml").write_text(text)
    return Inputs((folder / "ops.yaml",), target=target, **options)  # type: ignore[arg-type]


def _files(folder: Path, text: str, target: str, *, python: bool) -> dict[str, str]:
    inputs = _inputs(folder, text, target)
    return dict(make_tree(inputs, python=python).files)


@pytest.mark.parametrize(("name", "target"), _CASES)
def test_both_forms_generate_the_same_files(tmp_path: Path, name: str, target: str) -> None:
    """Protects the promise of the keys page: not a byte differs, for any target, with Python or without."""
    one, written = _FORMS[name]
    for python in (False, True):
        files = _files(tmp_path / "one", one, target, python=python)
        assert files == _files(tmp_path / "written", written, target, python=python)
        assert any("foo_cpu" in text or "ufunc" in text for text in files.values())


@pytest.mark.parametrize("target", TARGETS)
def test_both_forms_have_the_same_gradients(tmp_path: Path, target: str) -> None:
    files = []
    for name, text in zip(("one", "written"), _POINTWISE):
        (tmp_path / name).mkdir()
        (tmp_path / name / "derivatives.yaml").write_text(_FORMULAS)
        files.append(_files(tmp_path / name, text, target, python=True))
    assert files[0] == files[1]
    assert files[0] != _files(tmp_path / "none", _POINTWISE[0], target, python=True)


def _read(inputs: Inputs) -> tuple[Registry, str]:
    """Return the registry, and the report of its errors without the file's name."""
    diagnostics = Diagnostics()
    registry = read_registry(inputs, diagnostics)
    return registry, render_human(diagnostics, color=False)


@pytest.mark.parametrize("name", _FORMS)
def test_both_forms_are_the_same_operators(tmp_path: Path, name: str) -> None:
    """`dump`, `compat`, `select` and `explain` read the registry: only places differ."""
    rows = []
    for folder, text in zip(("one", "written"), _FORMS[name]):
        registry, errors = _read(_inputs(tmp_path / folder, text))
        assert not errors
        found = dump_rows(registry, TARGETS["runtime"], "signatures", None)
        rows.append([{k: v for k, v in row.items() if k != "line"} for row in found])
    assert rows[0] == rows[1]


def test_diagnostics_about_variants_point_into_the_entry(tmp_path: Path) -> None:
    """Protects against a caret past the end of the schema: that of a variant is longer than the one written."""
    registry, _ = _read(_inputs(tmp_path, _POINTWISE[0]))
    for f in registry.functions:
        assert f.span.text == str(f.func.name)
        assert f.argument_span("other").text == "Tensor other"
        assert f.argument_name_span("self").text in ("self", "Tensor self")
        assert f.spans.kernel(DispatchKey.CUDA).text == "foo_cuda"
        assert f.spans.key("structured_inherits").text == "structured_inherits"
        assert f.spans.key("precomputed") == f.span
        assert f.spans.entry.text.startswith("func: my::foo(")
    out = next(f for f in registry.functions if f.structured)
    assert out.argument_span("out").text == "foo.out"
    assert out.return_span(0).text == "foo.out"


@pytest.mark.parametrize(
    ("func", "autogen", "message"),
    [
        ("foo(Tensor x) -> Tensor", "foo.out, foo_", "no positional argument is named 'self'"),
        ("foo(*, Tensor self) -> Tensor", "foo.out, foo_", "no positional argument is named 'self'"),
        ("foo(Tensor? self) -> Tensor", "foo.out, foo_", "'self' is a Tensor?, not a Tensor"),
        ("foo(Tensor self) -> (Tensor, Tensor)", "foo.out, foo_", "it returns 2 values"),
        ("__foo__(Tensor self) -> Tensor", "__foo__.out, __ifoo__", "not the name of an augmented assignment"),
        ("foo(Tensor(a) self) -> Tensor(a)", "foo.out", "it returns a view of an argument"),
        ("foo(Tensor self) -> int", "foo.out", "returns no tensor"),
        ("foo(Tensor self) -> (Tensor, int)", "foo.out", "it returns int besides tensors"),
        ("foo(Tensor self, Tensor out) -> Tensor", "foo.out", "two arguments called 'out'"),
        ("foo(Tensor self) -> Tensor", "foo_", "but not for 'foo.out'"),
        ("foo(Tensor self) -> Tensor", "foo.uot", "did you mean 'foo.out'?"),
        ("foo.x(Tensor self) -> Tensor", "foo.out", "are 'foo.x_out' and 'foo_.x'"),
        ("foo(Tensor self) -> Tensor", "bar.out, foo.out", "asks for 'bar.out'"),
    ],
)  # fmt: skip
def test_a_variant_that_cannot_be_is_an_error_with_the_reason(
    tmp_path: Path, func: str, autogen: str, message: str
) -> None:
    """Each is the only error: nothing is a consequence of it."""
    text = f"- func: my::{func}\n  structured: True\n  autogen: {autogen}\n  dispatch:\n    CPU: foo_cpu\n"
    _, report = _read(_inputs(tmp_path, text))
    assert message in report and report.count("error[") == 1, report


@pytest.mark.parametrize(
    "key",
    [
        "Meta",
        "CompositeImplicitAutograd",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    ],
)
def test_a_kernel_that_would_serve_no_variant_is_an_error(tmp_path: Path, key: str) -> None:
    _, report = _read(_inputs(tmp_path, f"{_POINTWISE[0].replace('CUDA', key)}"))
    assert report.count("error[") == 1 and f"cannot have a kernel for {key}" in report, report


def test_a_variant_that_is_also_written_is_defined_twice(tmp_path: Path) -> None:
    """The place is the name in the list of variants."""
    text = (
        _POINTWISE[0]
        + "\n- func: my::foo_(Tensor(a!) self, Tensor other) -> Tensor(a!)\n  structured_delegate: foo.out\n"
    )
    _, report = _read(_inputs(tmp_path, text))
    assert "'foo_' is defined twice" in report and "first defined here" in report
    assert "|   autogen: foo.out, foo_\n" in report and report.count("error[") == 1, report


@pytest.mark.parametrize(
    ("namespace", "strict", "code"), [("aten", False, "E0530"), ("my", True, "E0241")]
)
def test_torchgen_has_no_such_entries(
    tmp_path: Path, namespace: str, strict: bool, code: str
) -> None:
    text = _POINTWISE[0].replace("my::", f"{namespace}::")
    _, report = _read(_inputs(tmp_path, text, strict_torchgen=strict))
    assert f"error[{code}]" in report


def test_torch_stable_says_how_to_get_the_out_variant_it_needs(tmp_path: Path) -> None:
    text = _POINTWISE[0].replace("  autogen: foo.out, foo_\n", "")
    _, report = _read(_inputs(tmp_path, text, "torch-stable"))
    assert "E0241" in report and "add 'autogen: foo.out'" in report, report
