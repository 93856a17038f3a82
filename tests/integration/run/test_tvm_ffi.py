"""The operators of two libraries, called through TVM-FFI from Python, in processes of their own, and from C++."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from support.build import RUNTIME_ABI, run
from support.python_package import jax_packages, run_python

pytest.importorskip("tvm_ffi")
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "tvm_ffi"
Run = Callable[[str], None]

_BEFORE = """
import gc, os, sys, threading
import numpy as np, torch, tvm_ffi
from pathlib import Path
folder = Path({folder!r})
e = tvm_ffi.load_module(folder / "everywhere/libeverywhere_tvm_ffi.so")
f = tvm_ffi.load_module(folder / "forms/libforms_tvm_ffi.so")

def fails(kind, call, *texts):
    try:
        call()
    except Exception as error:
        assert type(error) is kind, (type(error), error)
        for text in texts:
            assert text in str(error), str(error)
    else:
        raise AssertionError("no exception")

def near(a, b):
    np.testing.assert_allclose(np.from_dlpack(a), np.from_dlpack(b), rtol=3e-6, atol=1e-6)

x = torch.arange(12, dtype=torch.float32).reshape(3, 4) + 1
w = torch.arange(4, dtype=torch.float32) - 2
"""


def libraries() -> Path:
    """Return the folder of both packages, in each of which is the library that TVM-FFI loads."""
    (folder,) = jax_packages()
    return folder


@pytest.fixture
def python() -> Run:
    """Run lines of Python that can use the modules `e` and `f`, tensors `x` and `w`, `near` and `fails`."""

    def run_lines(lines: str) -> None:
        folder = libraries()
        run_python(_BEFORE.format(folder=str(folder)) + textwrap.dedent(lines), folder)

    return run_lines


def test_values_are_those_of_the_package(python: Run) -> None:
    """Protects the four operators with tensors of PyTorch, JAX and NumPy: values, kinds and defaults."""
    python("""
        import everywhere, jax.numpy as jnp
        def own(t):
            return everywhere.from_dlpack(np.from_dlpack(t).copy())
        for make in (lambda t: t, lambda t: t.numpy(), lambda t: jnp.asarray(t.numpy())):
            a, b = make(x), make(w)
            near(e.blend(a, b), everywhere.blend(own(a), own(b)))
            near(e.blend(a, b, 0.25), everywhere.blend(own(a), own(b), 0.25))
            near(e.blend(a, make(torch.arange(4))), everywhere.blend(own(a), own(torch.arange(4))))
            for ours, theirs in zip(e.min_max(a, 0), everywhere.min_max(own(a), 0), strict=True):
                near(ours, theirs)
            near(e.rms_norm(a), everywhere.rms_norm(own(a)))
            near(e.rms_norm(a, b, 0.5), everywhere.rms_norm(own(a), own(b), 0.5))
            near(e.rms_norm(a, None, 1), everywhere.rms_norm(own(a), eps=1))
        dw = e.rms_norm_backward(x, x, None, 1e-6)[1]
        assert dw is None
        p, v = np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)
        P, V = own(p), own(v)
        for _ in range(2):
            assert e.momentum_step_(p, v, x, 0.5) is None
            everywhere.momentum_step_(P, V, own(x), lr=0.5)
        near(p, P); near(v, V)
        """)


def test_results_are_in_the_callers_memory(python: Run) -> None:
    """Protects tensors of PyTorch's own allocator for small and large results, and the runtime's memory for others."""
    python("""
        big = torch.rand(300, 300)
        for a in (x, big, x[:0]):
            r = e.blend(a, a)
            assert type(r) is torch.Tensor and torch.equal(r, a)
            r.add_(1)
            assert r.is_contiguous() and r.storage_offset() == 0
        r = e.min_max(big)
        assert all(type(one) is torch.Tensor for one in r) and torch.equal(r[0], big.amin(1))
        r = e.blend(big.numpy(), big.numpy())
        assert type(r) is tvm_ffi.Tensor
        view = np.from_dlpack(r)
        del r; gc.collect()
        again = [e.blend(big.numpy(), np.float32(0) * big.numpy()) for _ in range(4)]
        np.testing.assert_array_equal(view, big.numpy())
        # A result that is an argument's memory keeps it alive, and is not copied.
        t = torch.ones(5)
        r = f.front(t)
        assert r.data_ptr() == t.data_ptr()
        del t; gc.collect()
        others = [torch.zeros(5) for _ in range(50)]
        assert r.sum() == 5
        """)


def test_outputs_and_arguments_are_written(python: Run) -> None:
    """Protects out variants, whose tensors come last, also after defaults, and strided ones; and what writes its
    arguments.
    """
    python("""
        out = torch.empty(3, 4)
        assert e.blend_out(x, w, out) is None
        near(out, x * 0.5 + w * 0.5)
        wide = torch.zeros(4, 3)
        e.blend_out(x, w, 0.25, wide.t())
        near(wide.t(), x * 0.75 + w * 0.25)
        lowest, highest = np.zeros(3, np.float32), np.zeros(3, np.float32)
        e.min_max_out(x.numpy(), lowest, highest)
        near(lowest, x.amin(1)); near(highest, x.amax(1))
        t = torch.ones(3)
        (count,) = f.counted_(t, torch.ones(1) * 2).tolist()
        assert count == 3 and t.tolist() == [3, 3, 3]
        fixed = np.zeros((3, 4), np.float32)
        fixed.flags.writeable = False
        fails(BufferError, lambda: e.blend_out(x.numpy(), w.numpy(), fixed), "readonly")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the runtime warns that it resizes
        fails(ValueError, lambda: f.outgrown_out(x, torch.zeros(2000)), "has changed a result of shape [2000] to [1000]")
        fails(RuntimeError, lambda: f.outgrown_out(x, torch.zeros(2)), "does not own cannot be resized")
        assert not fixed.any()
        """)


def test_forms_of_arguments_and_results(python: Run) -> None:
    """Protects all types of arguments, defaults, lists, overloads chosen by their arguments, and results that are no
    tensors.
    """
    python("""
        def described(*a):
            return [float(one) for one in f.describe(x, *a)]
        assert described() == [12, 1, 2, 0.5, 1, 2, 3, 4, 0, -1, -1, -1]
        given = (2.5, 7, 3, False, "abcdefghij", [8, 9], [1, 2.5], (True, False), 5, torch.int32)
        assert described(*given) == [12, 2.5, 7, 3, 0, 10, 8, 9, 2, 1, 5, 3]
        assert described(True, 7, 3.0, False, "", 6, [], None, None, "bfloat16")[-6:] == [6, 6, 0, -1, -1, 15]
        assert described(1, 7, 3.0, False, "", tvm_ffi.Shape((8, 9)))[6:8] == [8, 9]
        assert f.total([x, w]).item() == 78 - 2
        assert f.first_of([None, w]).tolist() == w.tolist()
        assert [type(one) for one in f.halves(x)] == [torch.Tensor] * 2
        assert f.scale(w, torch.tensor([2.0])).tolist() == (w * 2).tolist()
        assert f.scale(w, 2).tolist() == (w * -2).tolist()
        assert f.length(x) == 12 and type(f.length(x)) is int
        assert f.noise(x, tvm_ffi.device("cpu")).shape == x.shape
        assert f.count(x).dtype == torch.int64 and f.count(x).shape == ()
        assert f.positives(x).shape == x.shape
        fails(TypeError, lambda: f.scale(x, "2"), "no overload takes", "scale.Scalar(Tensor x, Scalar by)")
        fails(TypeError, lambda: f.scale(x), "no overload takes")
        fails(TypeError, lambda: described("x"), "forms::describe(): argument 2 (s): expected Scalar, got")
        fails(TypeError, lambda: described(1, 2.5), "argument 3 (i): expected int, got")
        fails(TypeError, lambda: described(1, 2, 3.0, 1), "argument 5 (b): expected bool, got")
        fails(ValueError, lambda: described(1, 2, 3.0, True, "", [1, 2, 3]), "a list of 3 elements")
        fails(TypeError, lambda: described(1, 2, 3.0, True, "", [1, 2], [], None, None, 6), "expected a dtype")
        fails(TypeError, lambda: f.total([x, None]), "argument 1 (parts)")
        fails(TypeError, lambda: f.total(x), "argument 1 (parts): expected Tensor[], got a tensor")
        fails(TypeError, lambda: f.total({}), "got ffi.Map")
        """)


def test_bad_input_is_an_error_in_words(python: Run) -> None:
    """Protects TVM-FFI's own exceptions with the runtime's text, and that nothing is written."""
    python("""
        fails(TypeError, lambda: e.blend(x), "everywhere::blend() takes 2 to 3 arguments, but 1 are given")
        fails(TypeError, lambda: e.blend_out(), "takes 3 to 4 arguments, but 0 are given")
        fails(TypeError, lambda: e.momentum_step_(x, x, x), "takes 4 to 5 arguments")
        fails(TypeError, lambda: e.blend(x, w, "w"), "argument 3 (weight): expected float, got")
        fails(TypeError, lambda: e.blend(x.to(torch.float8_e5m2), w), "argument 1 (self): the runtime has no dtype float8_e5m2")
        fails(ValueError, lambda: e.blend(x.numpy()[::-1], w.numpy()), "negative strides")
        fails(ValueError, lambda: e.blend(x, w, 2**70), "more than 64 bits")
        fails(RuntimeError, lambda: e.blend(x, w[:3]), "do not broadcast", "in everywhere::blend(")
        fails(RuntimeError, lambda: e.rms_norm(x.int()), "not implemented for dtype Int")
        fails(IndexError, lambda: e.min_max(x, 7), "dimension 7 is out of range")
        odd = np.zeros(9, np.int8)[1:].view(np.float32)
        fails(ValueError, lambda: e.rms_norm(odd), "not aligned")
        fails(AttributeError, lambda: e.no_such, "no_such")
        p, v = torch.ones(2, 3).t(), torch.zeros(3, 2)
        fails(RuntimeError, lambda: e.momentum_step_(p, v, v, 0.1), "must be contiguous")
        assert p.min() == 1 and not v.any()
        """)


def test_no_memory_is_lost_and_threads_work(python: Run) -> None:
    """Protects references of tensors and results over many calls, with errors among them, and calls of many threads."""
    python("""
        import resource
        big = torch.rand(100, 100)
        def work(count):
            for i in range(count):
                r = e.blend(big, big)
                s = e.rms_norm(big.numpy())
                e.momentum_step_(big.clone(), torch.zeros_like(big), big, 0.1)
                f.halves(w); f.front(big)
                if i % 50 == 0:
                    fails(IndexError, lambda: e.min_max(big, 5))
            assert torch.equal(r, big)
        def resident():
            gc.collect()
            return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        work(50)
        before = resident()
        work(1000)
        assert resident() - before < 4 << 20, resident() - before
        array, small = np.ones(4, np.float32), resident()
        references = sys.getrefcount(array)
        for _ in range(20_000):
            e.blend(array, array)
            e.blend(w, w)
        assert sys.getrefcount(array) == references and resident() - small < 1 << 20
        threads = [threading.Thread(target=work, args=(100,)) for _ in range(4)]
        for one in threads: one.start()
        for one in threads: one.join()
        """)


def test_metadata_and_typed_stubs(python: Run, tmp_path: Path) -> None:
    """Protects docstrings, signatures, the global functions, and what TVM-FFI's own generator makes of them."""
    python("""
        from tvm_ffi.core import TypeSchema
        assert e.get_function_doc("blend").startswith("blend(Tensor self, Tensor other, float weight=0.5) -> Tensor")
        assert "Element-wise" in e.get_function_doc("blend_out")
        shown = repr(TypeSchema.from_json_str(e.get_function_metadata("min_max")["type_schema"]))
        assert shown == "Callable[[Tensor, int], tuple[Tensor, Tensor]]", shown
        assert torch.equal(tvm_ffi.get_global_func("everywhere.blend")(x, x), x)
        """)
    stub = tmp_path / "api.py"
    stub.write_text("# tvm-ffi-stubgen(begin): global/everywhere\n# tvm-ffi-stubgen(end)\n")
    library = libraries() / "everywhere/libeverywhere_tvm_ffi.so"
    run([sys.executable, "-m", "tvm_ffi.stub.cli", "--dlls", library, stub])
    assert (
        "def rms_norm(_0: Tensor, _1: Tensor | None, _2: float, /) -> Tensor: ..."
        in stub.read_text()
    )


def test_library_loaded_twice_and_other_versions(tmp_path: Path) -> None:
    """Protects the words for a copy of the library, and for another TVM-FFI than the headers."""
    folder = libraries()
    shutil.copy(folder / "everywhere/libeverywhere_tvm_ffi.so", tmp_path)
    before = _BEFORE.format(folder=str(folder))
    # The copy finds the same library of operators, and the functions of both work.
    run_python(
        before
        + "copy = tvm_ffi.load_module("
        + repr(str(tmp_path / "libeverywhere_tvm_ffi.so"))
        + ")\n"
        "assert torch.equal(copy.blend(x, x), x) and torch.equal(e.blend(x, x), x)\n",
        folder,
    )
    (tmp_path / "newer.c").write_text(
        "struct V { unsigned a, b, c; };\nvoid TVMFFIGetVersion(struct V* v) { v->a = 0; v->b = 99; v->c = 0; }\n"
    )
    run(["cc", "-shared", "-fPIC", "-o", tmp_path / "newer.so", tmp_path / "newer.c"])
    lines = (
        before
        + "fails(RuntimeError, lambda: e.blend(x, x), 'but 0.99 is loaded: build the library again')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", lines],
        env={**os.environ, "LD_PRELOAD": str(tmp_path / "newer.so")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_calls_from_cpp(tmp_path: Path) -> None:
    """Protects the calls that TVM-FFI documents for C++, borrowed memory, and CUDA tensors in a library without CUDA."""
    folder = libraries()
    asked = [sys.executable, "-m", "tvm_ffi.config", "--cxxflags", "--ldflags", "--libs"]
    flags, paths = (
        run(asked).split(),
        run([sys.executable, "-m", "tvm_ffi.config", "--libdir"]).strip(),
    )
    program = tmp_path / "program"
    run(["g++", HERE / "program.cpp", "-o", program, *flags, f"-Wl,-rpath,{paths}"])
    arguments = [folder / f"{name}/lib{name}_tvm_ffi.so" for name in ("everywhere", "forms")]
    shown = run([program, *arguments]).splitlines()
    assert shown[0] == "0 1.5 3 2 3.5 5 1 1 5"
    assert shown[1].startswith(
        "TypeError: everywhere::blend(): argument 2 (other): expected Tensor, got"
    )
    assert shown[2].startswith(
        "ValueError: everywhere::min_max(): argument 1 (self): the tensor is on cuda:1, and no library"
    )


def test_only_the_library_for_tvm_ffi_needs_it() -> None:
    """Protects the other users of the library of operators."""
    folder = libraries()
    needed = run(["readelf", "-d", folder / "everywhere/libeverywhere_tvm_ffi.so"])
    assert f"libopgen_core.so.{RUNTIME_ABI}" in needed and "libtvm_ffi.so" in needed
    assert "tvm" not in run(["readelf", "-d", folder.parent / "libeverywhere.so"])
