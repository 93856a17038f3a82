"""The operators of two packages, called by JAX in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from support.python_package import FAILS, jax_packages, run_python

pytest.importorskip("jax")
pytestmark = pytest.mark.slow

Run = Callable[[str], None]


@pytest.fixture
def run() -> Run:
    """Run lines of Python that can use the packages' modules for JAX, arrays `x` and `w`, `near` and `fails`."""

    def run_lines(lines: str) -> None:
        run_python(_BEFORE + textwrap.dedent(lines), *jax_packages())

    return run_lines


_BEFORE = f"""{FAILS}
import os, warnings
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
import everywhere, everywhere.jax as ej, forms, forms.jax as fj
from jax.sharding import PartitionSpec as P

def near(a, b):
    a, b = jax.tree.leaves(a), jax.tree.leaves(b)
    assert len(a) == len(b)
    for one, other in zip(a, b):
        assert one.shape == other.shape and one.dtype == other.dtype, (one, other)
        np.testing.assert_allclose(one, other, rtol=3e-6, atol=1e-6)

def norm(a, scale=1.0, eps=1e-6):
    return a / jnp.sqrt((a * a).mean(-1, keepdims=True) + eps) * scale

def mix(a, b, weight=0.5):
    return (1 - weight) * a + weight * b

def step(p, v, g, *, lr, momentum=0.9):
    v = momentum * v + g
    return p - lr * v, v

x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4) + 1
w = jnp.arange(4, dtype=jnp.float32) - 2
"""


def test_values_inside_and_outside_of_jit(run: Run) -> None:
    """Protects optional arrays, broadcasting, type promotion, several results and arguments by name."""
    run("""
        for wrap in (lambda f, **k: f, jax.jit):
            near(wrap(ej.blend)(x, w), mix(x, w))
            near(wrap(lambda a, b: ej.blend(self=a, other=b, weight=0.25))(x, w), mix(x, w, 0.25))
            near(wrap(ej.rms_norm)(x), norm(x))
            near(wrap(ej.rms_norm)(x, w), norm(x, w))
            near(wrap(lambda a: ej.rms_norm(a, None, eps=1.0))(x), norm(x, eps=1.0))
            near(wrap(ej.min_max)(x), (x.min(-1), x.max(-1)))
            near(wrap(lambda a: ej.min_max(a, dim=0))(x.astype(jnp.int32)), (x[0].astype(jnp.int32), x[2].astype(jnp.int32)))
        assert ej.blend(x, jnp.arange(4)).dtype == jnp.float32
        assert ej.blend(jnp.zeros((0, 3)), jnp.zeros(3)).shape == (0, 3)
        near(ej.blend(x, 2.0), mix(x, 2.0))
        near(ej.blend(np.ones((2, 2), np.float32), np.zeros(2, np.float32)), jnp.full((2, 2), 0.5))
        assert jax.eval_shape(ej.min_max, x) == (jax.ShapeDtypeStruct((3,), jnp.float32),) * 2
        """)


def test_gradients_of_formulas(run: Run) -> None:
    run("""
        for wrap in (lambda f: f, jax.jit):
            ours = wrap(jax.grad(lambda a, b: (ej.rms_norm(a, b) ** 2).sum(), (0, 1)))
            near(ours(x, w), jax.grad(lambda a, b: (norm(a, b) ** 2).sum(), (0, 1))(x, w))
            ours = wrap(jax.grad(lambda a: (ej.rms_norm(a) ** 3).sum()))
            near(ours(x), jax.grad(lambda a: (norm(a) ** 3).sum())(x))
            ours = wrap(jax.grad(lambda a, b: (ej.blend(a, b, 0.25) ** 2).sum(), (0, 1)))
            near(ours(x, w), jax.grad(lambda a, b: (mix(a, b, 0.25) ** 2).sum(), (0, 1))(x, w))
            near(wrap(lambda a, b: jax.jvp(ej.blend, (a, b), (b + 0 * a, b)))(x, w), jax.jvp(mix, (x, w), (w + 0 * x, w)))
        near(jax.jacrev(ej.rms_norm)(x), jax.jacrev(norm)(x))
        near(jax.jacfwd(lambda a: ej.blend(a, w))(x), jax.jacfwd(lambda a: mix(a, w))(x))
        near(jax.linearize(lambda a: ej.blend(a, w), x)[1](x), 0.5 * x)
        near(jax.grad(jax.checkpoint(lambda a: ej.rms_norm(a).sum()))(x), jax.grad(lambda a: norm(a).sum())(x))
        with everywhere.no_grad():
            near(jax.grad(lambda a: ej.rms_norm(a).sum())(x), jax.grad(lambda a: norm(a).sum())(x))
        with everywhere.inference_mode():
            near(jax.grad(lambda a: ej.rms_norm(a).sum())(x), jax.grad(lambda a: norm(a).sum())(x))
            near(jax.jvp(lambda a: ej.blend(a, w), (x,), (x,))[1], 0.5 * x)
        a, b = jax.grad(lambda a, b: ej.blend(a, b).sum(), (0, 1), allow_int=True)(x, jnp.arange(4))
        assert b.dtype == jax.dtypes.float0
        error = jax.errors.JaxRuntimeError
        fails(error, lambda: jax.grad(lambda a: ej.min_max(a)[0].sum())(x), "the derivative for 'everywhere::min_max' is not implemented")
        fails(error, lambda: jax.jvp(ej.rms_norm, (x,), (x,)), "or pass jax.lax.stop_gradient(argument)")
        """)


def test_second_derivatives(run: Run) -> None:
    """Protects gradients of gradients, and that JAX cannot compute others is an error that names the operator."""
    run("""
        def powers(blend):
            return lambda a: (blend(a, a * a, 0.25) ** 2 * a).sum()
        for wrap in (lambda f: f, jax.jit):
            near(wrap(jax.hessian(powers(ej.blend)))(w), jax.hessian(powers(mix))(w))
            near(wrap(jax.jacrev(jax.jacrev(powers(ej.blend))))(w), jax.hessian(powers(mix))(w))
            near(wrap(jax.vmap(jax.hessian(powers(ej.blend))))(x), jax.vmap(jax.hessian(powers(mix)))(x))
            twice = lambda f: wrap(jax.grad(lambda t: jax.grad(f)(t) ** 2))(3.0)
            near(twice(lambda t: ej.blend(t, t * t) ** 2), twice(lambda t: mix(t, t * t) ** 2))
        error = jax.errors.JaxRuntimeError
        layer = lambda a: ej.rms_norm(a).sum()
        fails(error, lambda: jax.grad(lambda a: jax.grad(layer)(a).sum())(x), "the derivative for 'rms_norm_backward' is not implemented")
        fails(error, lambda: jax.hessian(layer)(x), "everywhere::rms_norm has no forward-mode formula")
        tangents = "everywhere::blend has no derivative of tangents in JAX: differentiate gradients"
        fails(NotImplementedError, lambda: jax.jacfwd(jax.jacfwd(powers(ej.blend)))(w), tangents)
        fails(NotImplementedError, lambda: jax.jacrev(jax.hessian(powers(ej.blend)))(w), "everywhere::blend has no")
        """)


def test_batches(run: Run) -> None:
    """Protects a batch of arrays of different ranks, where the batch's dimension must not meet another one."""
    run("""
        near(jax.vmap(ej.blend, (0, None))(x, jnp.ones((5, 4))), jax.vmap(mix, (0, None))(x, jnp.ones((5, 4))))
        near(jax.vmap(ej.blend, (1, 0))(x, w), jax.vmap(mix, (1, 0))(x, w))
        near(jax.vmap(jax.vmap(ej.blend, (0, None)), (None, 0))(x[0], w), jax.vmap(jax.vmap(mix, (0, None)), (None, 0))(x[0], w))
        near(jax.vmap(ej.blend, (0, None))(x, jnp.arange(4)), jax.vmap(mix, (0, None))(x, jnp.arange(4)))
        near(jax.vmap(ej.min_max)(x), (x.min(1), x.max(1)))
        near(jax.vmap(ej.rms_norm, (0, None))(x, w), norm(x, w))
        near(jax.vmap(jax.grad(lambda a: ej.rms_norm(a, w).sum()))(x), jax.vmap(jax.grad(lambda a: norm(a, w).sum()))(x))
        near(jax.vmap(lambda t: jax.jvp(lambda a: ej.blend(a, w), (x[0],), (t,))[1])(x), 0.5 * x)
        near(jax.vmap(lambda p, g: ej.momentum_step_(p, p, g, lr=1.0))(x, x), step(x, x, x, lr=1.0))
        assert "each element" in ej.min_max.__doc__ and "leading dimension" in ej.blend.__doc__
        """)


def test_loops_devices_and_export(run: Run) -> None:
    run("""
        near(jax.lax.scan(lambda c, a: (ej.blend(c, a), ej.rms_norm(c)), x[0], x), jax.lax.scan(lambda c, a: (mix(c, a), norm(c)), x[0], x))
        ours = jax.grad(lambda a: jax.lax.scan(lambda c, b: (ej.blend(c, b), ej.rms_norm(c, w)), a[0], a)[1].sum())
        near(ours(x), jax.grad(lambda a: jax.lax.scan(lambda c, b: (mix(c, b), norm(c, w)), a[0], a)[1].sum())(x))
        devices = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
        big = jnp.arange(32, dtype=jnp.float32).reshape(8, 4) + 1
        spread = jax.shard_map(lambda a: ej.rms_norm(a, w), mesh=devices, in_specs=P("i"), out_specs=P("i"))
        near(spread(big), norm(big, w))
        near(jax.jit(jax.grad(lambda a: (spread(a) ** 2).sum()))(big), jax.grad(lambda a: (norm(a, w) ** 2).sum())(big))
        both = jax.shard_map(ej.rms_norm, mesh=devices, in_specs=(P("i"), P()), out_specs=P("i"))
        near(jax.grad(lambda a: (both(big, a) ** 2).sum())(w), jax.grad(lambda a: (norm(big, a) ** 2).sum())(w))
        near(jax.pmap(ej.rms_norm)(big.reshape(4, 2, 4)), norm(big.reshape(4, 2, 4)))
        named = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
        with jax.set_mesh(named):
            divided = jax.device_put(big, jax.NamedSharding(named, P("i")))
            near(jax.jit(ej.blend)(divided, w), mix(big, w))
            ours = jax.jit(jax.grad(lambda a: (ej.rms_norm(a, w) ** 2).sum()))(divided)
            near(np.asarray(ours), np.asarray(jax.grad(lambda a: (norm(a, w) ** 2).sum())(divided)))
            assert ours.sharding.spec == P("i", None)
        allowed = [jax.export.DisabledSafetyCheck.custom_call("everywhere_call")]
        exported = jax.export.export(jax.jit(ej.blend), disabled_checks=allowed)(x, w)
        near(exported.call(x, w), mix(x, w))
        """)


def test_arguments_that_are_written(run: Run) -> None:
    """Protects that donated memory is written in place, and other arrays stay as they are."""
    run("""
        zeros = jnp.zeros_like(x)
        near(ej.momentum_step_(x, zeros, w + 0 * x, lr=0.5), step(x, zeros, w + 0 * x, lr=0.5))
        assert (zeros == 0).all()
        update = jax.jit(lambda p, v, g: ej.momentum_step_(p, v, g, lr=0.5), donate_argnums=(0, 1))
        p, v = jnp.copy(x), jnp.zeros_like(x)
        places = p.unsafe_buffer_pointer(), v.unsafe_buffer_pointer()
        new = update(p, v, x)
        near(new, step(x, zeros, x, lr=0.5))
        assert tuple(a.unsafe_buffer_pointer() for a in new) == places and p.is_deleted()
        fails(RuntimeError, lambda: ej.blend(p, p), "deleted")
        ours = jax.lax.scan(lambda c, g: (ej.momentum_step_(*c, g, lr=0.5), None), (x[0], zeros[0]), x)[0]
        near(ours, jax.lax.scan(lambda c, g: (step(*c, g, lr=0.5), None), (x[0], zeros[0]), x)[0])
        count, new = fj.counted_(x, jnp.float32(2))
        near((count, new), (jnp.array([12.0]), x + 2))
        fails(NotImplementedError, lambda: jax.grad(lambda a: fj.counted_(a, a)[1].sum())(x), "forms::counted_ writes its arguments")
        """)


def test_every_kind_of_argument(run: Run) -> None:
    run("""
        d = lambda *a, **k: fj.describe(*a, **k).tolist()
        assert d(x) == [12, 1, 2, 0.5, 1, 2, 3, 4, 0, -1, -1, -1]
        assert d(x, 2.5, 7, 1, False, "", pair=9, numbers=(1, 2.5), mask=[True, False], n=8, dtype=jnp.int32) == [12, 2.5, 7, 1, 0, 0, 9, 9, 2, 1, 8, 3]
        assert d(x, True, np.int64(5), np.float32(0.25), np.True_, pair=np.array([5, 6]), dtype="bfloat16") == [12, 1, 5, 0.25, 1, 2, 5, 6, 0, -1, -1, 15]
        assert d(x, jnp.float32(2), jnp.int32(3))[1:3] == [2, 3]  # their values are known
        assert jax.jit(fj.describe, static_argnames="i")(x, i=4).tolist()[2] == 4
        assert jax.jit(fj.describe, static_argnames=("s", "i"))(x, 1, 4).tolist()[2] == 4
        assert [bool(jnp.signbit(fj.scale(x, zero)[0, 0])) for zero in (0.0, -0.0)] == [True, False]
        text = jax.jit(lambda a: [fj.describe(a, s) for s in (1, 1.0, True)]).lower(x).as_text()
        assert all(f"a0000 = {value}" in text for value in ("1 : i64", "1.000000e+00 : f64", "true")), text
        assert fj.total([x, w]).tolist() == [76.0] and fj.total((w,)).tolist() == [-2.0]
        assert fj.first_of([None, w]).tolist() == w.tolist()
        near(fj.halves(x), (x / 2, x / 4))
        near(fj.scale(x, 2), -2 * x)  # scale.Scalar
        near(fj.scale(x, jnp.float32(2)), 2 * x)  # scale.Tensor
        assert fj.count(x).dtype == jnp.int32 and int(fj.count(x)) == 12
        with jax.enable_x64(True):
            assert fj.count(jnp.ones(3, jnp.float32)).dtype == jnp.int64
            wide = jnp.ones((2, 4), jnp.float64)
            assert ej.blend(wide, jnp.ones(4, jnp.float32)).dtype == jnp.float64
            near(ej.min_max(jnp.arange(3)), (jnp.int64(0), jnp.int64(2)))
        assert ej.rms_norm(wide, w).dtype == jnp.float32
        """)


def test_errors_say_what_to_change(run: Run) -> None:
    """Protects that no mistake of a caller or of a kernel ends the process or writes outside of a result."""
    run("""
        error = jax.errors.JaxRuntimeError
        fails(RuntimeError, lambda: ej.blend(x, jnp.ones(3)), "shapes [3, 4] and [3] do not broadcast", "in everywhere::blend")
        fails(RuntimeError, lambda: jax.jit(ej.rms_norm)(x, w[1:]), "one weight for each column")
        fails(TypeError, lambda: ej.blend(x), "argument 'other' is missing")
        fails(TypeError, lambda: ej.blend(x, x, 0.5, 1), "takes 3 positional arguments, and 4 are given")
        fails(TypeError, lambda: ej.blend(x, x, wait=1), "there is no argument 'wait'")
        fails(TypeError, lambda: ej.blend(x, x, self=x), "argument 'self' is given twice")
        fails(TypeError, lambda: ej.blend(x, "a"), "argument 'other' must be an array, not str")
        fails(TypeError, lambda: ej.min_max(x, dim=0.5), "argument 'dim' must be an int, not float")
        fails(TypeError, lambda: fj.describe(x, i=2**63), "argument 'i' must be an int of 64 bits")
        fails(TypeError, lambda: fj.describe(x, f=10**400), "argument 'f' must be a float of 64 bits")
        fails(TypeError, lambda: fj.describe(x, numbers=[x]), "argument 'numbers' must be a list whose elements are a float")
        fails(TypeError, lambda: ej.blend(np.array(["a"]), x), "argument 'self' must be an array")
        fails(TypeError, lambda: ej.rms_norm_backward(x, x, None, 1e-6), "returns no tensor for these arguments")
        fails(AttributeError, lambda: ej.front, "has no attribute 'front'")  # of another package
        fails(TypeError, lambda: jax.jit(lambda a, b: fj.describe(a, dtype=b))(x, 1), "argument 'dtype' must be a dtype")
        result = jax.ShapeDtypeStruct((3, 4), jnp.float32)
        call = lambda results, **words: jax.ffi.ffi_call("forms_call", results)(x, **words)
        fails(error, lambda: call((result,) * 3, operator="forms::halves", plan="t"), "the kernel returns 2 tensors, and its Meta kernel 3")
        fails(error, lambda: call(result, operator=np.int64(5), plan="t"), "the attribute 'operator' is missing, or no text")
        fails(error, lambda: call(result, operator="forms::total", plan="["), "called without any of the tensors")
        fails(TypeError, lambda: fj.describe(x, dtype="float3"), "argument 'dtype' must be a dtype")
        fails(TypeError, lambda: jax.jit(ej.blend)(x, x, 0.5), "argument 'weight' must be a float", "static_argnames")
        fails(TypeError, lambda: ej.min_max(x.astype(jnp.uint16)), "everywhere has no dtype uint16")
        fails(error, lambda: ej.min_max(x > 1), "UNIMPLEMENTED: 'min_max' is not implemented for dtype Bool")
        fails(error, lambda: fj.liar(x), "forms::liar: the kernel returns shape [1000], and its Meta kernel [3, 4]")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fails(error, lambda: fj.outgrown(x), "was resized")
            fails(UserWarning, lambda: forms.outgrown(forms.tensor(np.ones(3, np.float32)), out=forms.tensor(np.ones(2, np.float32))), "was resized")
        warnings.simplefilter("ignore")  # of its kernel
        fails(error, lambda: fj.outgrown(x), "that the runtime does not own cannot be resized", "forms::outgrown")
        assert (fj.total([x]) == 78).all()
        fails(AttributeError, lambda: ej.nothing, "has no attribute 'nothing'")
        fails(TypeError, lambda: fj.front(x), "it returns a view, and JAX has none")
        fails(TypeError, lambda: fj.length(x), "its result of type int would have to be known before the call")
        fails(TypeError, lambda: fj.noise(x, "cpu"), "it needs an argument of type Device")
        fails(TypeError, lambda: fj.positives(x), "it has the tag dynamic_output_shape")
        assert {"blend", "min_max", "rms_norm", "momentum_step_"} <= set(dir(ej))
        """)


def test_a_new_package_for_jax(tmp_path: Path) -> None:
    """Protects the command that makes one, its build and its tests, as they are written."""
    folder = tmp_path / "hop"
    opgen = (sys.executable, "-m", "opgen")
    subprocess.run([*opgen, "new", "hop", "--frameworks", "jax", "-o", folder], check=True)
    subprocess.run([*opgen, "build"], cwd=folder, check=True)
    environment = {**os.environ, "PYTHONPATH": str(folder / "build/opgen/cmake-build/python")}
    tests = [sys.executable, "-m", "pytest", "-q", "tests/test_jax.py"]
    subprocess.run(tests, cwd=folder, check=True, env=environment)
    refused = subprocess.run(
        [*opgen, "new", "hop", "--target", "torch", "--frameworks", "jax"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert refused.returncode == 1 and "error[E0910]: jax calls libraries for" in refused.stderr
