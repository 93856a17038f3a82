"""examples/everywhere: one YAML and one file of kernels, with the same values and gradients in each framework."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.build import REPOSITORY
from support.python_package import jax_packages, run_python
from support.torch_extension import require_torch

pytestmark = pytest.mark.slow

EXAMPLE = REPOSITORY / "examples" / "everywhere"

# Each program sets `array`, `ops`, `values` and `gradient`; the rest is the same for all.
_COMMON = """
import json, numpy as np
x = array((np.arange(12).reshape(3, 4) - 5) / 4)
w = array(np.arange(4) - 1.5)
found = {
    "blend": [ops.blend(x, w, 0.25)],
    "blend of two dtypes": [ops.blend(x, array(np.arange(4), "int32"))],
    "min_max": list(ops.min_max(x, 0)),
    "rms_norm": [ops.rms_norm(x), ops.rms_norm(x, w, 1e-5)],
    "step": stepped(x, w),
    "gradient of blend": gradient(lambda a, b: ops.blend(a, b, 0.25) * a, x, w),
    "gradient of rms_norm": gradient(lambda a, b: ops.rms_norm(a, b) * a, x, w),
}
print(json.dumps({name: [np.asarray(one, np.float64).tolist() for one in some] for name, some in found.items()}))
"""
_JAX = """
import jax, jax.numpy as jnp
import everywhere.jax as ops
array = lambda values, dtype="float32": jnp.asarray(values, dtype)
gradient = lambda f, *args: jax.jit(jax.grad(lambda *a: f(*a).sum(), (0, 1)))(*args)
stepped = lambda x, w: jax.jit(lambda *a: ops.momentum_step_(*a, lr=0.5))(x, 0 * x, x * w)
"""
_TORCH = """
import torch, everywhere as ops
array = lambda values, dtype="float32": torch.tensor(values, dtype=getattr(torch, dtype))
def gradient(f, *args):
    return torch.autograd.grad(f(*(a.requires_grad_() for a in args)).sum(), args)
def stepped(x, w):
    p, v = x.clone(), torch.zeros_like(x)
    ops.momentum_step_(p, v, x * w, lr=0.5)
    return p, v
"""


_QUIET = "import warnings; warnings.simplefilter('ignore')"
# The table of docs/guides/frameworks.md: what each operator does in each framework, or the exception that says that it does not.
_TABLE = """
import json

def outcome(f):
    try:
        f()
    except Exception as error:
        return type(error).__name__
    return "yes"

x, w = array([[1.0, 2, 3], [4, 5, 6]]), array([1.0, 2, 3])
calls = {
    "blend": (lambda a, b: ops.blend(a, b), (x, w)),
    "min_max": (lambda a: ops.min_max(a)[0], (x,)),
    "rms_norm": (lambda a, b: ops.rms_norm(a, b), (x, w)),
    "momentum_step_": (step, (x, x, x)),
}
found = {}
for name, (f, given) in calls.items():
    copies = lambda: [copy(one) for one in given]
    wrong = [array([1.0, 2, 3, 4, 5]), *copies()[1:]] if len(given) > 1 else [array(1.0)]
    found[name] = [
        outcome(lambda: f(*copies())),
        outcome(lambda: compiled(f)(*copies())) if compiled else "–",
        outcome(lambda: gradient(lambda a, *rest: f(a, *rest), *copies())) if gradient else "–",
        outcome(lambda: batched(f)(*(batch(one) for one in copies()))) if batched else "–",
        outcome(writes[name]) if callable(writes.get(name)) else writes.get(name, "–"),
        outcome(lambda: f(*wrong)),
    ]
print(json.dumps(found))
"""
_FRAMEWORKS = {
    "the package": """
import everywhere as ops
array = lambda values: ops.tensor(values, dtype="float32")
copy = ops.tensor
batch = lambda one: ops.tensor([one, one])
def step(p, v, g):
    ops.momentum_step_(p, v, g, lr=0.5)
    return p
compiled, batched = None, ops.vmap
writes = {
    "blend": lambda: ops.blend(x, w, out=copy(x)),
    "min_max": lambda: ops.min_max(x, out=(array([0, 0]), array([0, 0]))),
    "momentum_step_": lambda: step(copy(x), copy(x), x),
}
def gradient(f, first, *rest):
    result = f(first.requires_grad_(), *rest)
    return ops.autograd.grad(result, first, ops.tensor(result.detach()))
""",
    "JAX": """
import jax, jax.numpy as jnp, everywhere.jax as ops
array = lambda values: jnp.asarray(values, "float32")
copy = jnp.copy
batch = lambda one: jnp.stack([one, one])
step = lambda p, v, g: ops.momentum_step_(p, v, g, lr=0.5)[0]
compiled, batched, writes = jax.jit, jax.vmap, {"momentum_step_": "donated"}
gradient = lambda f, *given: jax.grad(lambda a: f(a, *given[1:]).sum())(given[0])
""",
    "TVM-FFI": """
import pathlib, torch, tvm_ffi, everywhere
ops = tvm_ffi.load_module(pathlib.Path(everywhere.__file__).parent / "libeverywhere_tvm_ffi.so")
array = lambda values: torch.tensor(values, dtype=torch.float32)
copy = torch.clone
def step(p, v, g):
    ops.momentum_step_(p, v, g, 0.5)
    return p
compiled, gradient, batched = None, None, None
writes = {
    "blend": lambda: ops.blend_out(x, w, torch.empty(2, 3)),
    "min_max": lambda: ops.min_max_out(x, torch.empty(2), torch.empty(2)),
    "momentum_step_": lambda: step(copy(x), copy(x), x),
}
""",
    "PyTorch": """
import torch, everywhere as ops
array = lambda values: torch.tensor(values, dtype=torch.float32)
copy = torch.clone
batch = lambda one: torch.stack([one, one])
def step(p, v, g):
    ops.momentum_step_(p, v, g, lr=0.5)
    return p
compiled = lambda f: torch.compile(f, fullgraph=True, backend="aot_eager")
batched = torch.vmap
# PyTorch calls the operators once for each element, and warns of it.
torch._C._functorch._set_vmap_fallback_warning_enabled(False)
writes = {
    "blend": lambda: ops.blend(x, w, out=torch.empty(2, 3)),
    "min_max": lambda: ops.min_max(x, min=torch.empty(2), max=torch.empty(2)),
    "momentum_step_": lambda: step(copy(x), copy(x), x),
}
gradient = lambda f, *given: torch.autograd.grad(f(given[0].requires_grad_(), *given[1:]).sum(), given[0])
""",
}


def _rms_norm(x: Any, w: Any = 1.0, eps: float = 1e-6) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


@functools.cache
def expected() -> dict[str, list[Any]]:
    """Return the values and gradients in double precision."""
    x, w = (np.arange(12).reshape(3, 4) - 5) / 4, np.arange(4) - 1.5
    r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    # d/dx of the sum of x r w x, where r depends on the row.
    squares = (w * x * x).sum(-1, keepdims=True)
    dx = 2 * w * x * r - x * r**3 * squares / 4
    return {
        "blend": [0.75 * x + 0.25 * w],
        "blend of two dtypes": [0.5 * x + 0.5 * np.arange(4)],
        "min_max": [x.min(0), x.max(0)],
        "rms_norm": [_rms_norm(x), _rms_norm(x, w, 1e-5)],
        "step": [x - 0.5 * x * w, x * w],
        "gradient of blend": [1.5 * x + 0.25 * w, (0.25 * x).sum(0)],
        "gradient of rms_norm": [dx, (x * x * r).sum(0)],
    }


def check(printed: str) -> None:
    found = json.loads(printed)
    assert found.keys() == expected().keys()
    for name, values in expected().items():
        assert len(found[name]) == len(values)
        for one, other in zip(found[name], values, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6, err_msg=name)


def check_table(framework: str, *folders: Path) -> None:
    page = (REPOSITORY / "docs" / "guides" / "frameworks.md").read_text(encoding="utf-8")
    found = json.loads(run_python(_QUIET + _FRAMEWORKS[framework] + _TABLE, *folders))
    for operator, cells in found.items():
        shown = (cell if cell in ("yes", "–", "donated") else f"`{cell}`" for cell in cells)
        row = f"| `{operator}` | {framework} | {' | '.join(shown)} |"
        assert row in page, row


@pytest.mark.parametrize(
    ("framework", "module"),
    [("the package", "numpy"), ("JAX", "jax"), ("TVM-FFI", "tvm_ffi")],
)
def test_the_table_of_the_page(framework: str, module: str) -> None:
    """Protects what the page says of each operator in each framework. That of PyTorch is checked below."""
    pytest.importorskip(module)
    check_table(framework, *jax_packages())


def test_jax() -> None:
    pytest.importorskip("jax")
    check(run_python(_JAX + _COMMON, *jax_packages()))


def test_like() -> None:
    """Protects calls of the package with arrays of NumPy, PyTorch and JAX, whose results are such arrays."""
    pytest.importorskip("jax")
    pytest.importorskip("torch")
    program = """
        import numpy as np, torch, jax, everywhere
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        kinds = {np.ndarray: x, torch.Tensor: torch.from_numpy(x), jax.Array: jax.numpy.asarray(x)}
        for kind, array in kinds.items():
            ops = everywhere.like(array)
            for other in kinds.values():
                result = ops.blend(array, other, 0.25)
                assert isinstance(result, kind) and (np.asarray(result) == x).all()
            lowest, highest = ops.min_max(array, dim=1)
            assert isinstance(lowest, kind) and np.asarray(highest).tolist() == [2, 5]
            def step(parameter):
                return everywhere.like(x).momentum_step_(parameter, 0 * x, array, lr=1.0)
            if kind is jax.Array:
                try:
                    step(array)
                except TypeError as error:
                    assert "momentum_step_ cannot write a ArrayImpl, which is read-only" in str(error)
                else:
                    raise AssertionError("an array of JAX was written")
            else:
                copy = ops.blend(array, array)
                assert step(copy) is None and (np.asarray(copy) == 0).all()
        for what in ([1.0], 2.0, None):
            try:
                everywhere.like(what)
            except TypeError as error:
                assert "a library with from_dlpack(), not a " + type(what).__name__ in str(error)
            else:
                raise AssertionError(what)
        """
    run_python(program, *jax_packages())


def test_torch_stable(tmp_path: Path) -> None:
    """Protects that the kernels compile for PyTorch, unchanged."""
    require_torch()
    words = [
        "build",
        EXAMPLE / "native_functions.yaml",
        "-o",
        tmp_path,
        "--kernels",
        EXAMPLE / "kernels",
    ]
    words += ["--target", "torch-stable", "--python"]
    subprocess.run([sys.executable, "-m", "opgen", *map(str, words)], check=True)
    program = _QUIET + _TORCH + _COMMON
    program = program.replace("np.asarray(one,", "np.asarray(one.detach(),")
    check(run_python(program, tmp_path / "cmake-build" / "python"))
    check_table("PyTorch", tmp_path / "cmake-build" / "python")
