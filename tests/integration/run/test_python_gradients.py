"""Gradients from Python: the same program with PyTorch and with a package, hooks, threads, graphs, stubs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.build import run
from support.pages import DOCS, Page
from support.python_package import PYTHON, gradients_package, run_python

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "gradients" / "cases.py"
# Cases in which our text differs from PyTorch's.
DIFFERENT = {
    "y.sum().backward(); y.sum().backward()": "RuntimeError: MulBackward runs backward a second time, but its saved "
    "tensors were freed; pass retain_graph the first time",
    "a.grad = m.zeros(2, dtype=m.float64)": "RuntimeError: attempting to assign a gradient with dtype 'double' to a "
    "tensor with grad_dtype 'Float'. The gradient must match the tensor's dtype.",
}
# From here on, PyTorch's text gives advice for parts of PyTorch.
ADVICE = re.compile(r" +If you (are|were) .*")


def outcomes(module: str, *folders: Path) -> dict[str, str]:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    lines = run([sys.executable, CASES, module], env=variables).splitlines()
    return dict(line.split("  ->  ") for line in lines)


def test_the_same_as_pytorch() -> None:
    """Protects users who know PyTorch: the same calls give the same values, and errors in the same words."""
    expected = outcomes("torch")
    found = outcomes("grads", gradients_package())
    assert len(found) == len(expected) > 100
    differences = {
        case: (ours, expected[case])
        for case, ours in found.items()
        if ours != DIFFERENT.get(case, ADVICE.sub("", expected[case]))
    }
    assert not differences


def program(lines: str) -> str:
    return run_python(lines, gradients_package())


def test_texts_of_tensors_and_nodes() -> None:
    """Protects what a user sees: a tensor shows whether it requires a gradient, and what made it."""
    program("""if True:
        import grads as m
        a = m.tensor([1.0, 2.0], requires_grad=True)
        assert repr(a) == "tensor([1.0, 2.0], requires_grad=True)", a
        assert repr(a.exp() * 0) == "tensor([0.0, 0.0], grad_fn=<MulBackward>)"
        d = m.tensor([1.0], dtype=m.float64, requires_grad=True)
        assert repr(d) == "tensor([1.0], dtype=float64, requires_grad=True)"
        node = a.exp().grad_fn
        assert node.name() == "ExpBackward" and repr(node).startswith("<ExpBackward object at 0x")
        node.metadata["note"] = 1
        assert node.metadata == {"note": 1}
        assert repr(m.set_grad_enabled(True)) == "grads.autograd.grad_mode.set_grad_enabled(mode=True)"
        """)


def test_a_tensor_with_a_gradient_is_not_a_number() -> None:
    """Protects gradients: a number would lose that of the tensor. PyTorch refuses it, too."""
    program("""if True:
        import grads as m
        a, weight = m.tensor([1.0, 2.0]), m.tensor(2.0)
        assert m.add(a, a, alpha=weight).tolist() == [3.0, 6.0]
        try:
            m.add(a, a, alpha=weight.requires_grad_())
            assert False
        except TypeError as error:
            wrong = "argument 'alpha' must be a number, not Tensor that requires a gradient"
            assert wrong in str(error), error
        assert m.add(a, a, alpha=weight.item()).tolist() == [3.0, 6.0]
        """)


def test_errors_of_hooks_reach_the_caller() -> None:
    """Protects exceptions of any class: the object itself, with its traceback, comes out of backward(),
    in anomaly mode too."""
    program("""if True:
        import grads as m
        class Own(BaseException):
            pass
        def hook(gradient):
            raise Own("here")
        a = m.tensor([1.0], requires_grad=True)
        y = a * 2
        y.register_hook(hook)
        for i in range(100):
            try:
                with m.autograd.set_detect_anomaly(i % 2 == 0):
                    (y * y).sum().backward(retain_graph=True)
            except Own as error:
                lines = []
                trace = error.__traceback__
                while trace is not None:
                    lines.append(trace.tb_frame.f_code.co_name)
                    trace = trace.tb_next
                assert lines[-1] == "hook", lines
            else:
                raise AssertionError
        assert a.grad is None
        """)


def test_hooks_are_freed_with_their_graph() -> None:
    """Protects memory: a removed hook, and the hooks of a graph that is gone, are not kept."""
    program("""if True:
        import gc, weakref
        import grads as m
        class Hook:
            def __call__(self, gradient):
                return None
        a = m.tensor([1.0], requires_grad=True)
        hook = Hook()
        seen = weakref.ref(hook)
        handle = a.register_hook(hook)
        del hook
        assert seen() is not None
        handle.remove()
        assert seen() is None
        y = a * 2
        hook = Hook()
        seen = weakref.ref(hook)
        y.register_hook(hook)
        y.grad_fn.register_hook(lambda i, o, hook=hook: None)
        del hook, y
        gc.collect()
        assert seen() is None
        """)


def test_threads() -> None:
    """Protects backward() in several threads at once, with hooks of Python, against deadlocks and lost gradients."""
    program("""if True:
        import threading
        import grads as m
        a = m.tensor([1.0] * 100, requires_grad=True)
        count = []
        def work():
            for _ in range(50):
                y = (a * 2).exp()
                handle = a.register_hook(lambda g: None)
                y.register_hook(lambda g: count.append(1))
                y.grad_fn.register_prehook(lambda g: None)
                (y * 0 + a).sum().backward()
                handle.remove()
                with m.no_grad():
                    assert not (a * 2).requires_grad
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert a.grad.tolist() == [200.0] * 100, a.grad
        assert len(count) == 200
        """)


def test_the_gil_is_free_during_backward() -> None:
    """Protects other threads: while C++ computes gradients, Python code of another thread runs."""
    program("""if True:
        import threading, time
        import grads as m
        a = m.tensor([1.0] * 3_000_000, requires_grad=True)
        y = a
        for _ in range(10):
            y = y.exp() * 0
        y = y.sum()
        ticks = []
        running = True
        def tick():
            while running:
                ticks.append(time.perf_counter())
                time.sleep(0.001)
        thread = threading.Thread(target=tick)
        thread.start()
        start = time.perf_counter()
        y.backward()
        end = time.perf_counter()
        running = False
        thread.join()
        assert sum(start < tick < end for tick in ticks) >= 3, (end - start, len(ticks))
        """)


def test_modes_are_of_one_thread() -> None:
    """Protects the modes: another thread records, and a scope ends in its own thread."""
    program("""if True:
        import threading
        import grads as m
        found = []
        with m.no_grad(), m.inference_mode():
            thread = threading.Thread(target=lambda: found.append((m.is_grad_enabled(), m.is_inference_mode_enabled())))
            thread.start()
            thread.join()
            assert (m.is_grad_enabled(), m.is_inference_mode_enabled()) == (False, True)
        assert found == [(True, False)]
        scope = m.inference_mode()
        scope.__enter__()
        def leave():
            try:
                scope.__exit__()
            except RuntimeError as error:
                found.append(str(error))
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert "leave a scope of inference_mode in the thread that entered it" in found[1]
        """)


def test_graphs_as_text_and_picture() -> None:
    """Protects the two forms of a graph: each node once, after those that lead to it, with its edges."""
    printed = program("""if True:
        import grads as m
        a = m.tensor([1.0, 2.0], requires_grad=True)
        b = m.tensor([3.0, 4.0], dtype=m.float64, requires_grad=True)
        low, high = m.pair(a * b)
        total = (low * high * 2).sum()
        print(m.autograd.graph.as_text(total))
        print("---")
        print(m.autograd.graph.as_svg([total, a * 1]))
        try:
            m.autograd.graph.as_text(m.zeros(1))
        except RuntimeError as error:
            assert str(error) == "a tensor that does not require a gradient has no graph"
        """)
    text, _, picture = printed.partition("---\n")
    assert text.splitlines() == [
        "[0] SumToBackward float64[] -> [1]",
        "[1] MulBackward float64[2] -> [2], -",
        "[2] MulBackward float64[2] -> [3].0, [3].1",
        "[3] PairBackward float64[2], float64[2] -> [4]",
        "[4] MulBackward float64[2] -> [5], [6]",
        "[5] AccumulateGrad float32[2]",
        "[6] AccumulateGrad float64[2]",
    ]
    svg = ElementTree.fromstring(picture)
    texts = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("AccumulateGrad") == 2 and texts.count("MulBackward") == 4
    paths = list(svg.iter("{http://www.w3.org/2000/svg}path"))
    assert len(paths) == 1 + 8  # The tip of the arrows, and an arrow for each edge.


def test_anomaly_mode() -> None:
    """Protects the search for a mistake: the error names the recorded call, and NaN are found."""
    program("""if True:
        import grads as m
        a = m.tensor([0.0], requires_grad=True)
        infinite = m.tensor([float("inf")])
        (a * infinite * 0).sum().backward()
        with m.autograd.detect_anomaly():
            y = (a * infinite).exp()
            try:
                (y * 0).sum().backward()
            except RuntimeError as error:
                assert "nan" in str(error).lower(), error
            else:
                raise AssertionError
        assert not m.is_anomaly_enabled()
        """)


def test_a_wrong_gradient_is_found() -> None:
    """Protects gradcheck: it names output and input of a wrong formula, and shows both Jacobians."""
    program("""if True:
        import grads as m
        d = m.tensor([[1.0, 2.0]], dtype=m.float64, requires_grad=True)
        check = m.autograd.gradcheck
        try:
            check(m.wrong, d)
        except m.autograd.GradcheckError as error:
            text = str(error)
        assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\\nnumerical:"), text
        assert "analytical:tensor([[1.0, 0.0]," in text, text
        assert not check(m.wrong, d, raise_exception=False)
        assert check(lambda x, y: m.pair(x * y), (d, m.tensor(d.detach()).requires_grad_()))
        # As in PyTorch, an output without a gradient is checked only if no output has one.
        assert check(lambda x: (x * x, (x * x).detach()), d, check_forward_ad=True)
        assert not check(lambda x: (x * x).detach(), d, raise_exception=False)
        assert d.tolist() == [[1.0, 2.0]]
        def slope(x):
            y = x * x * x
            return m.autograd.grad((y,), (x,), (m.tensor([[1.0, 1.0]], dtype=m.float64),), create_graph=True)[0]
        assert check(slope, d)
        f = m.tensor([1.0, 2.0], requires_grad=True)
        import warnings
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            check(lambda x: x * 2, f, eps=1e-2, atol=1e-2)
        assert "Input #0 requires gradient and is not a double precision" in str(found[0].message)
        """)


def test_the_module_is_imported_when_it_is_used() -> None:
    """Protects import times: the package does not import autograd, and every way to it gives the same module."""
    program("""if True:
        import sys
        import grads
        assert "grads.autograd" not in sys.modules
        from grads import no_grad, autograd
        import grads.autograd.forward_ad as fw
        assert autograd is grads.autograd and autograd.no_grad is no_grad and fw is autograd.forward_ad
        try:
            grads.is_grad_enabed
        except AttributeError as error:
            assert str(error) == "module 'grads' has no attribute 'is_grad_enabed'"
            assert error.name == "is_grad_enabed"
        """)


def test_stubs(tmp_path: Path) -> None:
    """Protects type checkers: what the stub declares is there, and the modules' own types are consistent."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    packages = str(gradients_package())
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("grads._C..*\ngrads.Tensor.__buffer__\ngrads.UntypedStorage.__buffer__\n")
    (tmp_path / "use.py").write_text("""\
import grads as m
from grads.autograd import forward_ad, graph
from typing_extensions import assert_type

a = m.tensor([1.0], requires_grad=True)
assert_type(a.grad, "m.Tensor | None")
a.grad = None
del a.grad
a.backward(retain_graph=True, inputs=[a])
assert_type(m.autograd.grad(a, [a]), tuple[m.Tensor, ...])
with a.register_hook(lambda g: g * 2), m.no_grad(), m.inference_mode(), m.set_grad_enabled(False):
    pass


@m.no_grad()
def f(x: m.Tensor) -> int:
    return x.dim()


@m.inference_mode
def g(x: m.Tensor) -> int:
    return x.dim()


assert_type(f(a), int)
assert_type(g(a), int)
node = a.grad_fn
assert node is None or isinstance(node, graph.Node)
with forward_ad.dual_level():
    assert_type(forward_ad.unpack_dual(forward_ad.make_dual(a, a)).tangent, "m.Tensor | None")
assert_type(graph.as_svg([a]), str)
assert_type(m.zeros(2, requires_grad=True), m.Tensor)
""")
    variables = {**os.environ, "PYTHONPATH": packages, "MYPYPATH": packages}
    for command in (
        [
            "mypy.stubtest",
            "grads",
            "--allowlist",
            str(allowed),
            "--concise",
            "--ignore-unused-allowlist",
        ],
        ["mypy", "--strict", "use.py"],
    ):
        done = subprocess.run(
            [PYTHON, "-m", *command],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_guide() -> None:
    """Protects the page: its sessions print what it shows."""
    text = Page(DOCS / "guides" / "python.md").session("runtime").replace("mylib", "grads")
    # The last session needs operators of the array API (tests/differential/array_api).
    text = text.partition(">>> x = grads.asarray(")[0]
    folder = gradients_package()
    lines = f"""if True:
        import doctest
        test = doctest.DocTestParser().get_doctest({text!r}, {{}}, "python.md", "python.md", 0)
        runner = doctest.DocTestRunner()
        runner.run(test)
        assert runner.summarize() == (0, len(test.examples)) and len(test.examples) > 15
        """
    run_python(lines, folder)
