"""A library called from Python: a real package, imported by a separate Python process."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from support.python_package import FAILS, calls_package, run_python

pytestmark = pytest.mark.slow

TYPED = Path(__file__).parent / "python" / "typed"
Run = Callable[[str], None]


@pytest.fixture
def run() -> Run:
    """Run lines of Python that can use `calls`, a tensor `a` of [1, 2, 3] and `fails`."""

    def run_lines(lines: str) -> None:
        run_python(_BEFORE + textwrap.dedent(lines), calls_package())

    return run_lines


_BEFORE = f"""{FAILS}
import calls

a = calls.tensor([1.0, 2.0, 3.0], dtype=calls.float64)
"""


def test_a_function_a_method_out_and_in_place(run: Run) -> None:
    """Protects the four forms of one operator; the returned object is the one that was written."""
    run("""
        assert calls.add(a, a).tolist() == [2, 4, 6]
        assert a.add(a, alpha=2).tolist() == [3, 6, 9]
        assert calls.add(input=a, other=a).tolist() == calls.add(self=a, other=a).tolist()
        o = calls.zeros(3, dtype=float)
        assert calls.add(a, a, out=o) is o and o.tolist() == [2, 4, 6]
        assert calls.add(a, a, out=None).tolist() == [2, 4, 6]
        b = a
        b += a
        assert b is a and a.tolist() == [2, 4, 6]
        assert a.same() is a
        assert a.count() == 3 and type(a.count()) is int
        """)


def test_numbers_for_tensors_and_operators_of_python(run: Run) -> None:
    run("""
        assert calls.add(a, 1).tolist() == [2, 3, 4] == (a + 1).tolist()
        assert (a + True).tolist() == [2, 3, 4]
        assert (a + calls.tensor(1)).tolist() == [2, 3, 4]
        fails(TypeError, lambda: a + "x", "unsupported operand")
        fails(TypeError, lambda: a * 2, "unsupported operand")  # there is no operator mul
        assert {a: 1}[a] == 1
        """)


def test_every_kind_of_number_and_text(run: Run) -> None:
    """Protects conversions and defaults of Scalar, int, float, bool, str and optionals."""
    run("""
        import numpy as np
        d = lambda *a, **k: calls.describe(*a, **k).tolist()
        assert d(1.0) == [1, 3, 0.5, 0, 4, -1]
        assert d(2.5, 4, 1, True, "ab", n=7) == [2.5, 4, 1, 1, 2, 7]
        assert d(np.float32(0.5), np.int64(9), np.float64(2), np.True_, n=None) == [0.5, 9, 2, 1, 4, -1]
        assert d(x=calls.tensor(1.5), i=calls.tensor(2)) == [1.5, 2, 0.5, 0, 4, -1]
        fails(TypeError, lambda: d(1, True), "argument 'i' must be an int, not bool")
        fails(TypeError, lambda: d(1, 2.0), "argument 'i' must be an int, not float")
        fails(OverflowError, lambda: d(1, 2**80), "argument 'i' is too large")
        """)


def test_lists(run: Run) -> None:
    run("""
        d = lambda *a, **k: calls.describe(*a, **k).tolist()
        assert d(5) == [2, 5, 5, 0, -1]
        assert d((5, 6), more=[1] * 50, floats=[2, 3.5]) == [2, 5, 6, 50, 2]
        assert d([a, a], [None, a]) == [2, 2, 0]
        fails(TypeError, lambda: d([a, 1], [a]), "its item 1 is int")
        fails(TypeError, lambda: d([1, "x"]), "its item 1 is str")
        fails(TypeError, lambda: d(5, floats=(1, "x")), "a sequence of floats, but its item 1 is str")
        b = calls.tensor([1.0], dtype="float64")
        given = [a, b]
        assert calls._foreach_double_(given) is given and b.item() == 2
        """)


def test_tensors_that_may_be_none_and_formats(run: Run) -> None:
    run("""
        d = lambda *a, **k: calls.describe(*a, **k).tolist()
        assert d(a) == [3, -1, -1]
        assert d(a, weight=None) == [3, -1, -1]
        assert d(a, weight=a, memory_format=calls.channels_last) == [3, 3, 2]
        """)


def test_factories(run: Run) -> None:
    """Protects sizes as one list or several numbers, and dtypes by object, name and type."""
    run("""
        import numpy as np
        for size in [((2, 3),), ([2, 3],), (2, 3)]:
            assert calls.zeros(*size).shape == (2, 3)
        assert calls.zeros(2).dtype is calls.float32
        for dtype in [calls.int64, "int64", "long", int, np.int64, np.dtype("int64")]:
            assert calls.zeros(2, dtype=dtype).dtype is calls.int64
        assert calls.zeros(2, device="meta").device == calls.device("meta")
        assert calls.zeros(2, device=calls.device("cpu"), layout=calls.strided).tolist() == [0, 0]
        assert calls.zeros(3, out=a) is a and a.tolist() == [0, 0, 0]
        assert calls.zeros(3, out=a, dtype=a.dtype, device="cpu", layout=None) is a
        fails(TypeError, lambda: calls.zeros(3, out=a, dtype=int), "'dtype' does not match the tensor")
        fails(TypeError, lambda: calls.zeros(2, device="nowhere"), "argument 'device'")
        fails(TypeError, lambda: calls.zeros(2, dtype="int7"), "there is no dtype 'int7'")
        """)


def test_several_results(run: Run) -> None:
    run("""
        found = calls.extremes(a)
        assert type(found).__name__ == "extremes" and found._fields == ("low", "high")
        assert found.low is a and found.high.tolist() == [1, 2, 3]
        x, y = calls.tensor([1]), calls.tensor([2])
        found = calls.extremes(a, out=(x, y))
        assert found.low is x and found.high is y
        fails(TypeError, lambda: calls.extremes(a, out=(x,)), "a tuple of 2 Tensors")
        assert [h.tolist() for h in a.halves()] == [[1, 2, 3]] * 2 and type(a.halves()) is tuple
        """)


def test_self_need_not_be_first(run: Run) -> None:
    run("""
        c = calls.tensor([True])
        assert calls.where(c, a, 5).tolist() == [1, 3, 5] == a.where(c, 5).tolist()
        assert a.where(condition=c, other=5).tolist() == [1, 3, 5]
        """)


def test_a_wrong_call_names_every_signature_and_why(run: Run) -> None:
    run('''
        fails(TypeError, lambda: calls.add(a, "x", alpha=1), """\\
        add(Tensor, str, alpha=int) does not match any signature:
          (input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: argument 'other' must be a Tensor or a number, not str""")
        fails(TypeError, lambda: calls.add(a), "argument 'other' is missing")
        fails(TypeError, lambda: calls.add(a, a, a), "it takes 2 arguments by position, not 3")
        fails(TypeError, lambda: calls.add(a, a, beta=1), "it has no argument 'beta'")
        fails(TypeError, lambda: calls.add(a, a, other=a), "argument 'other' is given twice")
        fails(TypeError, lambda: calls.describe(a, a), "describe(Tensor", "pair", "xs", "weight")
        fails(TypeError, lambda: calls.Tensor.add(1, a), "Tensor.add is called on a Tensor, not on int")
        ''')


def test_the_mistakes_of_a_first_day(run: Run) -> None:
    """Protects the remedy in messages: the nearest name, and the function that makes a tensor; names appear once."""
    run("""
        import numpy as np
        fails(TypeError, lambda: calls.zeros(2, dtype="flot32"), "no dtype 'flot32'; did you mean float32?")
        fails(TypeError, lambda: calls.tensor([1], dtype="flot32"), "did you mean float32?")
        fails(TypeError, lambda: calls.dtype("flot32"), "did you mean float32?")
        fails(TypeError, lambda: calls.zeros(2, dtype="nonsense of mine"), "no dtype 'nonsense of mine'")
        fails(TypeError, lambda: calls.extremes(np.ones(3)), "not numpy.ndarray; from_numpy() converts an array")
        fails(TypeError, lambda: calls.extremes([1, 2]), "must be a Tensor, not list; tensor() converts it")
        fails(TypeError, lambda: calls.add(a, a, alhpa=1), "it has no argument 'alhpa'; did you mean 'alpha'?")
        fails(TypeError, lambda: calls.from_numpy([1, 2]), "expected an array, but got list: tensor() converts")
        fails(TypeError, lambda: calls.from_numpy(np.ones(2, '>f4')), "format '>f'", "array.astype('float32')")
        for call in (lambda: calls.add(a, "x"), lambda: calls.extremes(np.ones(3))):
            try:
                call()
            except TypeError as error:
                assert " does not match any signature:\\n  (" in str(error), error
        """)


def test_negative_strides_are_rejected_with_advice(run: Run) -> None:
    """Protects authors of `flip`: each way to ask for a negative stride fails with a message that says what to do
    instead."""
    run("""
        import numpy as np
        backwards = np.arange(3.0)[::-1]
        fails(ValueError, lambda: calls.from_numpy(backwards), "negative strides", "array.copy()", "tensor(array)")
        fails(BufferError, lambda: calls.from_dlpack(backwards), "negative strides", "copy the array")
        fails(ValueError, lambda: a[::-1], "negative strides", "from_numpy(x.numpy()[::-1].copy())")
        assert calls.tensor(backwards).tolist() == calls.from_numpy(backwards.copy()).tolist() == [2, 1, 0]
        assert calls.from_numpy(a.numpy()[::-1].copy()).tolist() == a.tolist()[::-1]
        """)


def test_exceptions_are_those_of_the_same_name(run: Run) -> None:
    run("""
        fails(ValueError, lambda: calls.refuse(a, 1), "one is refused\\n  in aten::refuse(Tensor self, int kind) -> Tensor")
        fails(IndexError, lambda: calls.refuse(a, 2), "two is refused")
        fails(NotImplementedError, lambda: calls.refuse(a, 3), "three is refused")
        """)


def test_arrays_share_their_bytes(run: Run) -> None:
    """Protects sharing without copies in both directions, and the bytes of an array whose tensor is gone."""
    run("""
        import gc
        import numpy as np
        n = np.asarray(a)
        n[0] = 9
        assert a.tolist() == [9, 2, 3]
        del a
        gc.collect()
        assert n.tolist() == [9, 2, 3]
        for name in ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32",
                     "float64", "complex64", "complex128"]:
            m = np.array([[0, 1], [2, 3]], dtype=name)
            t = calls.from_numpy(m.T)
            assert t.dtype is getattr(calls, name) and t.stride() == (1, 2)
            assert np.array_equal(t.numpy(), m.T) and np.shares_memory(t.numpy(), m)
            assert t.tolist() == m.T.tolist()
        k = calls.from_numpy(np.ones(3))
        gc.collect()
        assert k.tolist() == [1, 1, 1]
        fails(ValueError, lambda: calls.from_numpy(np.frombuffer(b"12345678")), "read-only")
        assert calls.tensor(m[::-1]).tolist() == m[::-1].tolist()
        fails(BufferError, lambda: memoryview(calls.zeros(2, dtype="bfloat16")), "no buffer format")
        """)


def test_indices(run: Run) -> None:
    """Protects indexing and assignment: NumPy's results, for every index that both accept."""
    run("""
        import numpy as np
        m = np.arange(24.0).reshape(2, 3, 4)
        t = calls.tensor(m)
        for key in [0, -1, (1, 2), (1, 2, 3), slice(None), (slice(None), 1), (..., 0), (None, 0),
                    (0, ..., slice(1, 9, 2)), (slice(5, 9),), (1, None, ..., None), ()]:
            assert t[key].tolist() == m[key].tolist(), key
            t[key] = m[key] = 7
            assert t.tolist() == m.tolist(), key
        t[0] = calls.tensor([1.0, 2, 3, 4])
        assert t[0, 2].tolist() == [1, 2, 3, 4]
        assert [x.shape for x in t] == [(3, 4)] * 2 and len(t) == 2
        for key in [2, -3, (0, 0, 0, 0), (..., ...)]:
            fails(IndexError, lambda: t[key])
        fails(TypeError, lambda: t["x"], "not by str")
        fails(NotImplementedError, lambda: t[[0]], "calls the operator aten::index.Tensor, which no imported library")
        fails(TypeError, lambda: len(calls.tensor(1)))
        """)


def test_text_and_numbers_of_a_tensor(run: Run) -> None:
    run("""
        import copy
        assert repr(a) == "tensor([1.0, 2.0, 3.0], dtype=float64)"
        assert repr(calls.tensor([[1, 2], [3, 4]])) == "tensor([[1, 2],\\n        [3, 4]])"
        assert repr(calls.zeros(0, 2)) == "tensor([], size=(0, 2))"
        assert repr(calls.zeros(2, device="meta")) == "tensor(..., size=(2,), device='meta')"
        assert "..." in repr(calls.zeros(2000)) and len(repr(calls.zeros(2000))) < 100
        assert float(calls.tensor(2.5)) == 2.5 and int(calls.tensor([3])) == 3 and calls.tensor(True)
        assert [0, 1, 2][calls.tensor(1)] == 1
        fails(ValueError, lambda: bool(a), "of exactly one element, not 3")
        fails(TypeError, lambda: [0][calls.tensor(0.0)])
        b = copy.deepcopy(a)
        b[0] = 9
        assert copy.copy(a).data_ptr() == a.data_ptr() and a.tolist() == [1, 2, 3]
        fails(ValueError, lambda: calls.tensor([[1], [2, 3]]), "not all have the same length")
        assert calls.tensor([1, 2.5]).dtype is calls.float32 and calls.tensor([1j]).dtype is calls.complex64
        """)


def test_names_and_help(run: Run) -> None:
    run("""
        assert calls.add.__module__ == "calls" and calls.Tensor.add.__qualname__ == "Tensor.add"
        assert calls.special.special_twice(a).tolist() == [2, 4, 6]
        import calls.special
        """)


def test_help_shows_signatures_and_schemas(run: Run) -> None:
    """Protects docstrings: signatures, schemas, variants, kernels; those of methods have no self."""
    run('''
        assert calls.add.__doc__ == """\\
        add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor

        aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
            function and method; kernels for CompositeImplicitAutograd
        aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
            called with out=; kernels for CompositeImplicitAutograd
        """
        assert calls.Tensor.add_.__doc__ == """\\
        add_(other: Tensor | Number, *, alpha: Number = 1) -> Tensor

        aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
            method; kernels for CompositeImplicitAutograd; writes self
        """
        assert calls.Tensor.where.__doc__.startswith("where(condition: Tensor, other: Number) -> Tensor\\n")
        assert calls.describe.__doc__.count("describe(") == 5
        ''')


def test_help_shows_the_documentation_of_the_author(run: Run) -> None:
    """Protects the key `doc` and comments: any text arrives unchanged, and each overload has its own."""
    run(r"""
        import pydoc
        where = "where(condition: Tensor, other: Number) -> Tensor\n\nTake self where condition holds, and other elsewhere.\n\naten"
        assert calls.Tensor.where.__doc__.startswith(where)
        text = 'Return "self" \\ */ ??/ %s {} \u202e ünï\U0001F600\n\n  two \\\n'
        assert f"\n\n{text}\naten::same" in calls.Tensor.same.__doc__
        ints = "Tensor\n    Show two ints.\n\n        describe(1)\ndescribe("
        assert ints in calls.describe.__doc__ and calls.describe.__doc__.count("Show") == 1
        shown = pydoc.plain(pydoc.render_doc(calls.Tensor.where))
        assert "where(self, condition, other)" in shown and "Take self where" in shown
        """)


def test_functions_have_signatures(run: Run) -> None:
    """Protects inspect and editors: the signature accepts every call that one of the overloads accepts."""
    run("""
        import inspect
        signature = lambda f: str(inspect.signature(f))
        assert signature(calls.add) == "(input, other, *, alpha=1, out=None)"
        assert signature(calls.Tensor.add) == "(self, other, *, alpha=1)"
        assert signature(a.add) == "(other, *, alpha=1)"
        assert signature(a.where) == "(condition, other)" and signature(a.count) == "()"
        assert signature(calls.describe) == "(*args, **kwargs)"
        assert signature(calls.zeros) == (
            "(*size, out=None, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False)"
        )
        assert inspect.isroutine(calls.add) and inspect.isroutine(a.add)
        assert inspect.unwrap(calls.add) is calls.add
        """)


def test_named_results_are_of_return_types(run: Run) -> None:
    """Protects the named tuples in stubs: one class for function and method, which can be pickled."""
    run("""
        import pickle
        from calls import return_types
        assert dir(return_types) == ["extremes"]
        assert type(calls.extremes(a)) is type(a.extremes()) is return_types.extremes
        assert pickle.loads(pickle.dumps(return_types.extremes(1, 2))) == (1, 2)
        fails(AttributeError, lambda: return_types.others, "no attribute 'others'")
        """)


def test_stubs_and_module_agree_on_valid_calls(run: Run) -> None:
    """Protects stubs and module from diverging: the files that type checkers read (test_stub_checkers.py) are run."""
    run(f"""
        import contextlib, io, pathlib
        source = pathlib.Path({str(TYPED / "good.py")!r}).read_text()
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, {{}})
        known = dict(calls=calls, Tensor=calls.Tensor, a=calls.tensor([1.0]))
        lines = pathlib.Path({str(TYPED / "bad.py")!r}).read_text().splitlines()
        bad = [line.removesuffix("  # bad") for line in lines if line.endswith("  # bad")]
        assert len(bad) > 25
        for line in bad:
            fails(Exception, lambda: exec(line + (" pass" if line.endswith(":") else ""), known))
        """)


def test_nothing_is_kept_by_calls(run: Run) -> None:
    """Protects long runs: neither valid nor invalid calls leak references or blocks."""
    run("""
        import gc, sys
        o = calls.zeros(3, dtype=float)

        def some():
            for _ in range(2000):
                calls.add(a, 1.5, out=o)
                a.add(a, alpha=2)
                calls.extremes(a)
                calls.zeros(2, 3)
                try:
                    calls.add(a, "x")
                except TypeError:
                    pass

        some()
        gc.collect()
        before, references = sys.getallocatedblocks(), sys.getrefcount(a)
        some()
        gc.collect()
        assert sys.getallocatedblocks() - before < 50
        assert sys.getrefcount(a) == references
        """)


def test_threads_run_while_a_kernel_works(run: Run) -> None:
    """Protects calls from many threads: results are right with the GIL released and held."""
    run("""
        from concurrent.futures import ThreadPoolExecutor
        large = calls.zeros(20000, dtype=float)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda i: (large + i)[7].item() + (a + i)[0].item(), range(200)))
        assert found == [2 * i + 1 for i in range(200)]
        """)
